"""A model that is of little use on its own training rows is told of, once, with what to do; a good one is not."""

import re
import warnings

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from dualboost import DualBoostClassifier, DualBoostClassifierCV, DualBoostRegressor
from dualboost.errors import ConstantPredictionWarning, DegenerateEnsembleWarning, DualBoostWarning
from dualboost.formulations import FORMULATIONS, LPBoost

from ..conftest import small_dataset

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
