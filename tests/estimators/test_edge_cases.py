"""Odd data, each with a stated outcome, for every formulation."""

import re
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn import multioutput

from dualboost import DualBoostClassifier, DualBoostRegressor
from dualboost.datasets import make_twonorm
from dualboost.errors import (
    DegenerateEnsembleWarning,
    InvalidDataError,
    InvalidParameterError,
    TiedEnsembleWarning,
    UnsupportedFormulationError,
)
from dualboost.formulations import FORMULATIONS

from ..conftest import ALL_FORMULATIONS
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
