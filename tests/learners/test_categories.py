"""Splits by category, and many categories."""

import numpy as np
import pandas as pd
import pytest

from dualboost import DualBoostClassifier, DualBoostRegressor
from dualboost.errors import InvalidDataError
from dualboost.learners import CartLearner, OptimalLearner, PricingContext, TrainingData
from dualboost.learners.lightgbm import FEW, FEWEST_ROWS, MOST_TOGETHER

N = 400


def stump(codes, residual, n_outputs=1, rows_each=1.0):
    """The codes that the first split by CART sends left; empty if there is no split."""
    data = TrainingData(np.asarray(codes, dtype=float)[:, None], [0], rows_each)
    tree = CartLearner().pricer(data, PricingContext(n_outputs=n_outputs)).price(residual, None).learner
    return set(tree.categories.get(0, np.empty(0)).tolist())


def residual_of(classes, n_outputs):
    if n_outputs == 1:
        return np.where(classes, 1.0, -1.0)
    own = np.eye(n_outputs)[classes.astype(int)]
    return own - (1 - own) / (n_outputs - 1)


@pytest.mark.parametrize("n_outputs", [1, 3])
def test_a_category_of_few_rows_is_not_split_off(n_outputs):
    """Nine rows of a category are of one class, and no other category says anything."""
    for n_rows in (int(FEWEST_ROWS) - 1, 2 * int(FEWEST_ROWS)):
        codes = np.r_[np.repeat(0, n_rows), 1 + np.arange(N) % 8]
        classes = np.r_[np.ones(n_rows, dtype=bool), np.arange(N) // 8 % 2 == 0]
        is_split = 0 in stump(codes, residual_of(classes, n_outputs), n_outputs)
        assert is_split == (n_rows > FEWEST_ROWS)


def test_rows_that_stand_for_many_count_as_many():
    n_rows = int(FEWEST_ROWS) - 1
    codes = np.r_[np.repeat(0, n_rows), 1 + np.arange(N) % 8]
    classes = np.r_[np.ones(n_rows, dtype=bool), np.arange(N) // 8 % 2 == 0]
    assert 0 not in stump(codes, residual_of(classes, 1))
    assert stump(codes, residual_of(classes, 1), rows_each=5.0) == {0}


@pytest.mark.parametrize("n_outputs", [1, 3])
def test_few_categories_are_not_held_back(n_outputs):
    n_rows = int(FEWEST_ROWS) - 1
    codes = np.r_[np.zeros(n_rows), 1 + np.arange(N) % (FEW - 1)]
    classes = np.r_[np.ones(n_rows, dtype=bool), np.arange(N) // (FEW - 1) % 2 == 0]
    assert stump(codes, residual_of(classes, n_outputs), n_outputs) == {0}


def test_few_categories_go_left_together():
    """Half of forty categories are of one class, but a split gathers some of them only."""
    codes = np.repeat(np.arange(40), 20)
    left = stump(codes, residual_of(codes % 2 == 0, 1))
    assert len(left) == MOST_TOGETHER
    assert len({code % 2 for code in left}) == 1


def table(n_rows, rows_a_value, seed=0):
    """A number that decides, and a column of so many rows a value."""
    rng = np.random.default_rng(seed)
    size = rng.normal(size=n_rows)
    y = (size + 0.5 * rng.normal(size=n_rows) > 0).astype(int)
    who = rng.permutation(np.arange(n_rows) // rows_a_value)
    return pd.DataFrame({"size": size, "who": pd.Categorical([f"u{k}" for k in who])}), y


@pytest.mark.parametrize("rows_a_value", [1, 3])
@pytest.mark.parametrize(
    "estimator",
    [
        DualBoostClassifier(max_trees=5, subsample=1.0),
        DualBoostClassifier("nm", max_depth=2, max_trees=10, calibration="training"),
        DualBoostClassifier("lp", learner="optimal", max_trees=10, calibration="training"),
        DualBoostClassifier(learner=CartLearner(criterion="edge"), max_depth=2, max_trees=5, subsample=1.0),
        DualBoostRegressor(max_trees=5, subsample=1.0),
    ],
    ids=lambda estimator: f"{type(estimator).__name__}-{estimator.learner}",
)
@pytest.mark.filterwarnings("ignore::dualboost.errors.DataWarning")
def test_who_a_row_is_is_not_learnt(estimator, rows_a_value):
    X, y = table(N, rows_a_value)
    learnt = estimator.fit(X, y).predict(X)
    np.testing.assert_allclose(learnt, estimator.fit(X[["size"]], y).predict(X[["size"]]), rtol=1e-6)


@pytest.mark.filterwarnings("ignore::dualboost.errors.DataWarning")
def test_nor_of_several_classes():
    X, y = table(N, 3)
    y = y + (X["size"] > 1)
    for name in ("logistic", "nm"):
        clf = DualBoostClassifier(name, max_depth=2, max_trees=5)
        np.testing.assert_array_equal(clf.fit(X, y).predict(X), clf.fit(X[["size"]], y).predict(X[["size"]]))


def test_a_single_column_of_categories_is_learnt():
    """Its rows merge into two for each category, which stand for hundreds."""
    rng = np.random.default_rng(0)
    share = rng.random(20)
    group = rng.integers(0, 20, 8000)
    y = rng.random(8000) < share[group]
    X = pd.DataFrame({"group": [f"g{k}" for k in group]})
    best = np.mean((pd.Series(y).groupby(group).transform("mean") > 0.5) == y)
    assert DualBoostClassifier(max_trees=20).fit(X, y).score(X, y) == pytest.approx(best, abs=1e-3)
    assert DualBoostClassifier("nm", max_trees=50, calibration="training").fit(X, y).score(X, y) > best - 0.05


N_CATEGORIES = 40_000
EVERY_CATEGORY = TrainingData(np.arange(N_CATEGORIES, dtype=float)[:, None], [0])
BY_EDGE = [CartLearner(criterion="edge"), OptimalLearner()]


@pytest.mark.parametrize("learner", BY_EDGE, ids=lambda learner: learner.name)
def test_the_category_with_the_largest_edge_is_found(learner):
    residual = np.full(N_CATEGORIES, 0.01)
    residual[39_000] = -1.0
    column = learner.pricer(EVERY_CATEGORY, PricingContext()).price(residual, None)
    np.testing.assert_array_equal(column.votes, np.sign(residual))


def test_the_same_for_several_classes():
    residual = np.tile([0.02, -0.01, -0.01], (N_CATEGORIES, 1))
    residual[39_000] = [-0.5, 1.0, -0.5]
    column = CartLearner(criterion="edge").pricer(EVERY_CATEGORY, PricingContext(n_outputs=3)).price(residual, None)
    np.testing.assert_array_equal(column.votes, np.eye(3)[residual.argmax(axis=1)])


def test_more_splits_than_can_be_paired_are_refused():
    with pytest.raises(InvalidDataError, match=r"X has 40000 splits, more than the 16384 .* put rare categories"):
        OptimalLearner(max_depth=2).pricer(EVERY_CATEGORY, PricingContext())
