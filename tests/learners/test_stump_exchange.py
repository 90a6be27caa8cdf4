"""Stumps that are exchanged: against dense ridge regressions, and no exchange that is left lowers the objective."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dualboost import DualBoostRegressor
from dualboost.learners.base import PricingContext, TrainingData, TreeLimits
from dualboost.learners.stump_exchange import Steps, StumpExchange

RIDGE = 3.0
EVERY = 0.0
"""No fall of the objective is too small to count."""


def loss_of(indicators: np.ndarray, z: np.ndarray, curvature: np.ndarray, ridge: float = RIDGE) -> float:
    """The least objective of stumps with two free leaves each and a free intercept."""
    A = np.column_stack([*indicators, *(1.0 - np.array(indicators)), np.ones(len(z))])
    penalty = np.diag([ridge] * (2 * len(indicators)) + [0.0])
    values = np.linalg.lstsq(A.T @ (curvature[:, None] * A) + penalty, A.T @ (curvature * z), rcond=None)[0]
    errors = z - A @ values
    return 0.5 * float(curvature @ errors**2) + 0.5 * float(values @ penalty @ values)


class Regression:
    """All stumps of some rows, and the steps of none of them."""

    def __init__(self, seed: int, n_places: int, n_rows: int = 30, n_stumps: int = 9) -> None:
        rng = np.random.default_rng(seed)
        self.stumps = (rng.random((n_stumps, n_rows)) < 0.5).astype(float)
        self.z, self.curvature = rng.normal(size=n_rows), rng.uniform(0.2, 2.0, n_rows)
        sums = [self.stumps @ values for values in (self.curvature * self.z, self.curvature)]
        totals = [float(values.sum()) for values in (self.curvature * self.z, self.curvature)]
        self.steps = Steps(*sums, *totals, RIDGE, n_places)

    def put(self, place: int, k: int) -> None:
        self.steps.put(place, k, self.stumps @ (self.curvature * self.stumps[k]))

    def loss(self, stumps: list[int]) -> float:
        return loss_of(self.stumps[stumps], self.z, self.curvature)

    def check(self, held: list[int]) -> None:
        """Every figure of the steps is that of dense regressions."""
        everything = np.ones(len(self.stumps), dtype=bool)
        own, none = self.loss(held), self.loss([])
        assert self.steps.objective_decrease == pytest.approx(none - own, abs=1e-9)
        k, objective_decrease = self.steps.best(everything)
        losses = [self.loss([*held, other]) for other in range(len(self.stumps))]
        assert objective_decrease == pytest.approx(own - min(losses), abs=1e-9)
        assert losses[k] == pytest.approx(min(losses), abs=1e-9)
        for stump in held:
            place, rest = self.steps.held.tolist().index(stump), [other for other in held if other != stump]
            assert self.steps.lost_without(place) == pytest.approx(self.loss(rest) - own, abs=1e-9)
            _, objective_decrease = self.steps.best(everything, place)
            instead = min(self.loss([*rest, other]) for other in range(len(self.stumps)))
            assert objective_decrease == pytest.approx(own - instead, abs=1e-9)


@given(st.integers(0, 10_000), st.permutations(range(9)))
def test_falls_are_those_of_dense_regressions_as_stumps_enter_and_leave(seed: int, order: list[int]) -> None:
    regression = Regression(seed, n_places=4)
    for place, k in enumerate(order[:4]):
        regression.put(place, k)
    regression.check(order[:4])
    regression.steps.remove(1)
    regression.steps.remove(2)
    regression.check([order[0], order[3]])
    regression.put(2, order[5])
    regression.check([order[0], order[3], order[5]])


def test_a_copy_goes_its_own_way() -> None:
    regression = Regression(0, n_places=2)
    regression.put(0, 3)
    before = regression.steps.objective_decrease
    other = regression.steps.copy()
    other.remove(0)
    assert other.objective_decrease == 0.0
    assert regression.steps.objective_decrease == before > 0.0


def mixed_rows(n_rows: int = 120) -> tuple[np.ndarray, np.ndarray]:
    """A number, a number with missing values and a category, and a target of all three."""
    rng = np.random.default_rng(5)
    X = np.column_stack([rng.normal(size=n_rows), rng.integers(0, 12, n_rows), rng.integers(0, 4, n_rows)]).astype(
        float
    )
    y = np.sin(2 * X[:, 0]) + 0.3 * X[:, 1] + (X[:, 2] == 2) + 0.3 * rng.normal(size=n_rows)
    X[rng.random(n_rows) < 0.2, 1] = np.nan
    return X, y


def test_the_rows_of_a_stump_are_those_of_its_tree() -> None:
    X, y = mixed_rows()
    exchange = StumpExchange(TrainingData(X, [2]), fewest_rows=1)
    poor = [X[:, 0] < 2.0, X[:, 2] == 0]
    found = exchange.exchanged(poor, y, np.full(len(y), 0.25), 1.0, EVERY)
    assert set(found) == {0, 1}
    for grown in found.values():
        assert np.array_equal(grown.tree.leaves(X), grown.leaves)
        assert grown.tree.gain[0] > 0


def test_places_that_are_fixed_keep_their_stumps() -> None:
    X, y = mixed_rows()
    exchange = StumpExchange(TrainingData(X, [2]), fewest_rows=1)
    poor = [X[:, 0] < 2.0, X[:, 2] == 0]
    assert set(exchange.exchanged(poor, y, np.full(len(y), 0.25), 1.0, EVERY, n_fixed=1)) == {1}
    assert not exchange.exchanged(poor, y, np.full(len(y), 0.25), 1.0, EVERY, n_fixed=2)


def test_leaves_have_the_fewest_rows_allowed() -> None:
    X, y = mixed_rows()
    exchange = StumpExchange(TrainingData(X, [2]), fewest_rows=40)
    found = exchange.exchanged([X[:, 2] == 0] * 3, y, np.full(len(y), 0.25), 0.1, EVERY)
    assert found
    assert all(min(np.bincount(grown.leaves, minlength=2)) >= 40 for grown in found.values())


def test_where_no_stump_is_allowed_nothing_is_exchanged() -> None:
    X, y = mixed_rows()
    exchange = StumpExchange(TrainingData(X, [2]), fewest_rows=len(y))
    assert exchange.exchanged([X[:, 0] < 2.0], y, np.full(len(y), 0.25), 1.0, EVERY) == {}
    constant = StumpExchange(TrainingData(np.ones((len(y), 1)), []), fewest_rows=1)
    assert constant.exchanged([X[:, 0] < 2.0], y, np.full(len(y), 0.25), 1.0, EVERY) == {}


@pytest.mark.parametrize(("n_trees", "C"), [(2, 30.0), (5, 30.0), (5, 8.0), (5, 2.0)])
def test_no_exchange_of_one_stump_improves_a_regressor(n_trees: int, C: float) -> None:
    rng = np.random.default_rng(1)
    X = rng.integers(0, 8, (90, 3)).astype(float)
    y = X[:, 0] * (1 + X[:, 1]) + np.cos(X[:, 2]) + rng.normal(size=90)
    reg = DualBoostRegressor(C=C, max_depth=1, max_trees=n_trees).fit(X, y)
    z, ridge = (y - y.mean()) / y.std(), len(y) / C
    held = [X[:, tree.feature[0]] <= tree.threshold[0] for tree in reg.estimators_]
    every = [X[:, j] <= cut for j in range(3) for cut in np.unique(X[:, j])[:-1]]
    every = [left for left in every if min(left.sum(), (~left).sum()) >= 4 * max(ridge / 20, 1.0)]

    def loss(stumps: list[np.ndarray]) -> float:
        return loss_of(np.array(stumps, dtype=float), z, np.ones(len(z)), ridge)

    own = loss(held)
    assert reg.objective_ == pytest.approx(own * C / len(y), rel=1e-6)
    others = [loss([*held[:k], left, *held[k + 1 :]]) for k in range(n_trees) for left in every]
    assert own <= min(others) * (1 + 2e-6)


def test_only_free_stumps_are_exchanged() -> None:
    assert PricingContext(max_depth=1).has_free_stumps
    assert PricingContext(max_depth=3, limits=TreeLimits(most_leaves=2, fewest_rows=5)).has_free_stumps
    assert not PricingContext(max_depth=2).has_free_stumps
    for limits in (TreeLimits(signs=(1, 0)), TreeLimits(n_features=1), TreeLimits(groups=(frozenset({0}),))):
        assert not PricingContext(max_depth=1, limits=limits).has_free_stumps


def test_an_earlier_fit_keeps_its_stumps() -> None:
    X, y = mixed_rows()
    reg = DualBoostRegressor(max_depth=1, max_trees=3, warm_start=True).fit(X, y)
    earlier = [(tree.feature[0], tree.threshold[0]) for tree in reg.estimators_]
    reg.set_params(max_trees=6).fit(X, y)
    assert [(tree.feature[0], tree.threshold[0]) for tree in reg.estimators_][:3] == earlier
    assert reg.n_trees_ == 6
