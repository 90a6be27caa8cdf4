"""Odd data for every formulation, and warnings about models that are of little use on their training rows."""

import re
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn import multioutput
from sklearn.metrics import roc_auc_score

from dualboost import DualBoostClassifier, DualBoostClassifierCV, DualBoostRegressor
from dualboost.datasets import make_twonorm
from dualboost.errors import (
    ConstantPredictionWarning,
    DegenerateEnsembleWarning,
    DualBoostWarning,
    InvalidDataError,
    InvalidParameterError,
    TiedEnsembleWarning,
    UnsupportedFormulationError,
)
from dualboost.formulations import FORMULATIONS, LPBoost

from ..conftest import ALL_FORMULATIONS, small_dataset
from ..thoroughness import SHAPES, every

TIED = ("hard", "lexi", "lp-nu", "soft", "total", "mlp")
"""Those that look at the worst rows or the worse class: where nothing can be learnt, a tie is their optimum."""


def fit(name, X, y, **options):
    return DualBoostClassifier(name, **{"max_trees": 20, "calibration": "training", **options}).fit(X, y)


def test_one_class_only(formulation_name):
    with pytest.raises(InvalidDataError, match="one class only"):
        fit(formulation_name, np.arange(4.0)[:, None], [1, 1, 1, 1])


def test_one_class_left_by_the_weights(formulation_name):
    with pytest.raises(InvalidDataError, match="two classes"):
        DualBoostClassifier(formulation_name).fit(np.arange(4.0)[:, None], [0, 0, 1, 1], sample_weight=[1, 1, 0, 0])


def test_more_than_two_classes(formulation_name):
    X, y = np.arange(6.0)[:, None], [0, 0, 1, 1, 2, 2]
    if FORMULATIONS[formulation_name].optimizes_for_classes:
        np.testing.assert_array_equal(fit(formulation_name, X, y).predict(X), y)
        return
    with pytest.raises(UnsupportedFormulationError, match=r"Only binary classification.*OneVsRest"):
        fit(formulation_name, X, y)


def test_one_row_per_class(formulation_name):
    clf = fit(formulation_name, [[0.0], [1.0]], ["a", "b"])
    assert list(clf.predict([[0.0], [1.0]])) == ["a", "b"]
    assert clf.gap_ <= 1e-6


@pytest.mark.filterwarnings("ignore::dualboost.errors.DegenerateEnsembleWarning")
def test_constant_features_predict_the_majority(formulation_name):
    clf = fit(formulation_name, np.ones((10, 3)), [0] * 2 + [1] * 8)
    if formulation_name in TIED:
        assert (clf.decision_function(np.ones((2, 3))) == 0).all()
    else:
        assert (clf.predict(np.ones((2, 3))) == 1).all()
    assert clf.stop_reason_ == "converged"
    assert clf.feature_importances_.sum() == 0


@pytest.mark.filterwarnings("ignore::dualboost.errors.DegenerateEnsembleWarning")
def test_identical_rows_with_opposite_labels(formulation_name):
    """Nothing can be learnt: the certificate still holds and the answer is one of the classes, equally likely."""
    clf = fit(formulation_name, np.ones((6, 2)), [0, 1, 0, 1, 0, 1])
    assert clf.gap_ <= 1e-6
    assert clf.score(np.ones((6, 2)), [0, 1, 0, 1, 0, 1]) == 0.5
    np.testing.assert_allclose(clf.predict_proba(np.ones((1, 2))), 0.5, atol=0.02)


def test_single_feature(formulation_name):
    X = np.linspace(0, 1, 50)[:, None]
    y = (X.ravel() > 0.3) & (X.ravel() < 0.7)
    clf = fit(formulation_name, X, y, max_depth=2)
    assert clf.score(X, y) == 1.0
    assert clf.feature_importances_ == pytest.approx([1.0])


@pytest.mark.parametrize("formulation_name", every(ALL_FORMULATIONS, SHAPES))
def test_many_more_features_than_rows(formulation_name):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(50, 4_000)), np.repeat([0, 1], 25)
    clf = fit(formulation_name, X, y, max_trees=5)
    assert clf.gap_ <= 1e-6
    assert clf.score(X, y) > 0.7
    assert clf.feature_importances_.shape == (4_000,)


@pytest.mark.parametrize("bad", [np.inf, -np.inf])
def test_infinite_values_are_refused(formulation_name, bad):
    X = np.ones((4, 2))
    X[1, 1] = bad
    with pytest.raises(ValueError, match="infinity"):
        fit(formulation_name, X, [0, 1, 0, 1])


def test_infinite_values_are_refused_in_predict(formulation_name):
    clf = fit(formulation_name, [[0.0], [1.0], [0.0], [1.0]], [0, 1, 0, 1])
    with pytest.raises(ValueError, match="infinity"):
        clf.predict([[np.inf]])


def test_perfectly_separable(formulation_name):
    X = np.r_[np.linspace(-2, -1, 30), np.linspace(1, 2, 30)][:, None]
    y = np.repeat(["left", "right"], 30)
    clf = fit(formulation_name, X, y)
    assert clf.score(X, y) == 1.0
    assert clf.gap_ <= 1e-6
    assert clf.stop_reason_ in ("converged", "max_trees")  # copies of a tree make a ridge on its leaves cheaper
    assert clf.predict_proba(X).min() > 0


def test_a_rare_pattern_is_found_when_equal_rows_are_merged(formulation_name):
    X = np.zeros((1000, 1))
    X[:20] = 1.0
    clf = fit(formulation_name, X, X.ravel(), C={"lp": 1.0, "cg": 1.0, "logistic": 40.0}.get(formulation_name))
    assert clf.score(X, X.ravel()) == 1.0


def test_a_tie_for_most_rows_is_told():
    X, y = make_twonorm(300, random_state=0)
    noisy = np.where(np.arange(300) % 10 == 0, -y, y)
    with pytest.warns(TiedEnsembleWarning, match="a tie, for .* of the training rows"):
        fit("hard", X, noisy)
    with warnings.catch_warnings():
        warnings.simplefilter("error", TiedEnsembleWarning)
        fit("lp-nu", X, noisy)


def test_cg_has_no_use_for_a_learner_without_an_edge():
    with pytest.warns(DegenerateEnsembleWarning):
        clf = fit("cg", np.ones((20, 2)), [0] * 10 + [1] * 10)
    assert clf.n_trees_ == 0


@pytest.mark.parametrize("name", ["erlp", "qrlp"])
def test_an_optimum_of_zero_is_certified(name):
    """Noise has no soft margin: the gap cannot be relative to an objective of zero."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 3)), rng.integers(0, 2, 40)
    clf = fit(name, X, y, epsilon=1e-9)
    assert clf.gap_ <= 1e-6
    assert clf.stop_reason_ != "solver_failed"


def test_a_column_of_missing_values_only(formulation_name):
    X = np.column_stack([np.full(20, np.nan), np.arange(20.0)])
    y = np.arange(20) > 9
    assert fit(formulation_name, X, y).score(X, y) == 1.0


def test_enormous_and_tiny_values(formulation_name):
    X = np.array([[1e-300], [2e300], [3e-300], [4e300]] * 5)
    y = [0, 1, 0, 1] * 5
    assert fit(formulation_name, X, y).score(X, y) == 1.0


def test_weights_all_zero(formulation_name):
    with pytest.raises(InvalidDataError, match="zero for every row"):
        DualBoostClassifier(formulation_name).fit([[0.0], [1.0]], [0, 1], sample_weight=[0, 0])


@pytest.mark.parametrize("C", [-0.5, 0.0, np.inf, np.nan])
def test_C_outside_its_range(formulation_name, C):
    with pytest.raises(InvalidParameterError, match=r"C=.*outside the range"):
        fit(formulation_name, [[0.0], [1.0]], [0, 1], C=C)


@pytest.mark.parametrize("name", ["erlp", "qrlp"])
def test_C_above_the_number_of_rows(name):
    with pytest.raises(InvalidParameterError, match="at most 4"):
        fit(name, np.arange(4.0)[:, None], [0, 1, 0, 1], C=5.0)


def test_lp_below_its_smallest_useful_C_predicts_the_majority():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3))
    y = np.where(X[:, 0] + rng.normal(size=300) > -0.5, "many", "few")
    with pytest.warns(DegenerateEnsembleWarning, match="smallest C that uses a learner is about") as caught:
        clf = fit("lp", X, y, C=1e-4)
    assert clf.n_trees_ == 0
    assert (clf.predict(X) == "many").all()
    assert clf.gap_ <= 1e-6
    assert clf.predict_proba(X)[0, 1] == pytest.approx((y == "many").mean(), abs=0.01)
    named = float(str(caught[0].message).split()[-1].rstrip("."))
    assert fit("lp", X, y, C=1.05 * named).n_trees_ > 0


def test_lp_at_the_papers_smallest_C_on_many_rows_learns():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20_000, 3))
    y = X[:, 0] > 0.2
    assert fit("lp", X, y, C=2e-4, max_trees=3).n_trees_ > 0


@pytest.mark.parametrize("estimator", [DualBoostClassifier, DualBoostRegressor])
@pytest.mark.parametrize("as_table", [False, True])
def test_several_targets_are_told_how_to_be_learnt(estimator, as_table):
    X, y = np.arange(40.0)[:, None], np.column_stack([np.arange(40) % 4 > 1, np.arange(40) > 20]).astype(int)
    model, targets = estimator(max_trees=2), pd.DataFrame(y) if as_table else y
    with pytest.raises(InvalidDataError, match=r"y .* has 2 columns: .*MultiOutput") as told:
        model.fit(X, targets)
    wrapper = getattr(multioutput, re.search(r"MultiOutput\w+", str(told.value))[0])
    assert wrapper(model).fit(X, y).predict(X).shape == (40, 2)


# Warnings about models of little use: one a fit, with advice.

FLAT_ONES = ("qrlp", "lp", "erlp", "lp-nu", "soft", "mlp", "spatial")
"""Those whose optimum over stumps is one tree with two equal leaves where a class is rare."""


def rare(share=0.035, n=1200, seed=0):
    """A rare class that is hard to predict: no row has a probability above one half."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 5))
    score = X[:, 0] + X[:, 1] * X[:, 2] + 2.0 * rng.normal(size=n)
    return X, np.where(score > np.quantile(score, 1.0 - share), "sick", "healthy")


def stepwise(n=1000, seed=1):
    """One feature says much, the others a little each: an optimum of one tree forgets them."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 6)).round(1)
    score = 2.0 * (X[:, 0] > 0.7) + 0.4 * X[:, 1:].sum(axis=1) + 0.5 * rng.normal(size=n)
    return X, score > np.quantile(score, 0.65)


def three_kinds(n=600, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    one, other = X[:, 0] + 2 * rng.normal(size=n) > 2.5, X[:, 1] + 2 * rng.normal(size=n) > 2.8
    return X, np.where(one, 1, np.where(other, 2, 0))


def told(X, y, estimator=DualBoostClassifier, **parameters):
    """The warnings of a fit, and the model."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        clf = estimator(**{"max_depth": 1, "max_trees": 15} | parameters).fit(X, y)
    return [one for one in caught if issubclass(one.category, DualBoostWarning)], clf


def test_a_rare_class_that_is_never_predicted_is_told_once_with_what_to_do():
    X, y = rare()
    found, clf = told(X, y)
    assert [one.category for one in found] == [ConstantPredictionWarning]
    assert set(clf.predict(X)) == {"healthy"}
    for words in ("'healthy' for every training row", "96.5% of them", "predict_proba", "class_weight='balanced'"):
        assert words in str(found[0].message)
    assert found[0].filename == __file__


@pytest.mark.parametrize("seed", [1, 3])
def test_a_rare_class_that_is_predicted_for_next_to_no_row_is_told(seed):
    found, clf = told(*rare(seed=seed), C=300)
    assert (clf.predict(rare(seed=seed)[0]) == "sick").sum() == 1
    assert [one.category for one in found] == [ConstantPredictionWarning]
    assert "'healthy' for all but 0.08% of the training rows, and is right for 96.6% of them" in str(found[0].message)


def test_a_rare_class_that_is_found_in_part_is_not_doubted():
    found, clf = told(*rare(seed=3), C=300, max_depth=2, max_trees=5)
    assert (clf.predict(rare(seed=3)[0]) == "sick").sum() == 7
    assert not found


def test_what_the_warning_advises_works():
    X, y = rare()
    found, balanced = told(X, y, class_weight="balanced")
    assert not found
    assert set(balanced.predict(X)) == {"healthy", "sick"}
    _, plain = told(X, y)
    ranked = plain.predict_proba(X)[:, 1]
    assert roc_auc_score(y, ranked) > 0.7
    assert 0 < np.mean(ranked > 0.1) < 0.5


@pytest.mark.parametrize("name", FLAT_ONES)
def test_a_tree_that_says_the_same_of_all_rows_is_told(name):
    found, clf = told(*rare(), formulation=name, calibration="training")
    assert clf.n_leaves_ == 1 or name == "spatial"
    assert [one.category for one in found] == [ConstantPredictionWarning]
    direction = "A smaller C" if FORMULATIONS[name].sparser_with_larger_C else "A larger C"
    assert re.search(rf"the same probability.*class_weight='balanced'.*{direction}", str(found[0].message))


def test_other_trees_with_one_leaf_are_told_where_the_ensemble_is_no_better_than_the_majority():
    X, y = three_kinds()
    found, clf = told(X, y, formulation="convex", max_trees=25, calibration="training")
    assert len(set(clf.predict(X))) > 1
    (message,) = (str(one.message) for one in found)
    assert "with the same vote in all leaves" in message
    assert "no better than the majority class" in message


def test_several_classes_of_which_one_is_predicted():
    X, y = rare()
    y = np.where((y == "sick") & (X[:, 3] > 0), "very sick", y)
    found, _ = told(X, y)
    assert [one.category for one in found] == [ConstantPredictionWarning]
    assert "threshold" not in str(found[0].message)


def test_worse_than_the_majority_class():
    X, y = three_kinds()
    found, clf = told(X, y, formulation="hard", max_depth=3, max_trees=25, calibration="training")
    majority = np.mean(y == 0)
    assert clf.score(X, y) < majority
    (message,) = (str(one.message) for one in found)
    assert f"right for {clf.score(X, y):.1%} of the training rows" in message
    assert f"the majority class would be for {majority:.1%}" in message
    assert "C=" not in message  # 'hard' has none


def test_a_formulation_that_balances_the_classes_may_cost_accuracy():
    X, y = rare(share=0.1)
    found, clf = told(X, y, formulation="lexi", calibration="training")
    assert clf.score(X, y) < np.mean(y == "healthy") - 0.02
    assert not found


def test_an_optimum_of_one_tree_that_is_behind_the_ensembles_before_it():
    X, y = stepwise()
    found, clf = told(X, y, formulation=LPBoost(12, scale_free=True), max_depth=3, max_trees=25)
    best = clf.history_["train_score"].max()
    assert clf.score(X, y) < best - 0.005
    (message,) = (str(one.message) for one in found)
    assert f"uses 1 of {clf.n_generated_} trees" in message
    assert f"on the way to it was for {best:.1%}. A larger C" in message
    found, more = told(X, y, formulation=LPBoost(100, scale_free=True), max_depth=3, max_trees=25)
    assert not found
    assert more.score(X, y) > clf.score(X, y)


@pytest.mark.parametrize("name", [name for name in FORMULATIONS if name != "soft"])  # it ends with one tree of 15 here
def test_good_models_are_not_doubted(name):
    depth = 3 if FORMULATIONS[name].has_C else 4  # those without slack tie where they cannot separate the classes
    found, clf = told(*small_dataset("twonorm"), formulation=name, max_depth=depth, max_trees=25)
    assert not [str(one.message) for one in found]
    assert clf.score(*small_dataset("twonorm")) > 0.9


def test_tuned_models_are_told_of_once():
    found, _ = told(*rare(), estimator=DualBoostClassifierCV, Cs=2, random_state=0)
    assert [one.category for one in found] == [ConstantPredictionWarning]


def test_numbers_are_not_classes():
    found, _ = told(np.arange(50.0)[:, None], np.r_[np.zeros(49), 1.0], estimator=DualBoostRegressor)
    assert not [one for one in found if one.category is not DegenerateEnsembleWarning]
