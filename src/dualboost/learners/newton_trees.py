"""Trees for leaves that are re-optimised: grown by LightGBM from the gradient and the curvature of the loss.

For a leaf with G = sum(r) and H = sum(h), LightGBM maximises the sum of G^2/(H + ridge): twice the decrease of the
objective to second order if the values of these leaves alone move.

Splits that divide the rows of a small node alike are equally good. Rounding errors must not decide between them, or
another unit of y, another scale of the weights, or another order of the sums would give another tree. So gradients and
Hessians are whole multiples of a step, whose sums are exact in any order, and of equal splits LightGBM takes that of
the first feature. LightGBM adds 1e-15 to sums of Hessians; that vanishes beside Hessians in units of ``UNIT``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import lightgbm
import numpy as np
from numpy.typing import NDArray

from .._typing import Features, Matrix, Vector
from ..matrix.leaves import leaf_indicators
from ..matrix.rows import MEMORY, Device
from ..trees.ordering import LeafOrder, leaf_order
from ..trees.tree import Tree, column_values
from ..workers import ALONE, Communicator
from .base import PricingContext, TrainingData
from .lightgbm import LightGBMRows, tree_parameters, varies, with_heavier_leaves

if TYPE_CHECKING:
    from .stump_exchange import StumpExchange


LIGHTEST_LEAVES = (1.0, 5.0)
"""The smallest sum of the curvature in a leaf, where that of a row of even odds is a quarter: at ridges up to 20, and
from 100 on. Where noise needs a strong ridge, leaves of few rows follow it: with 140 rows and a fifth of the labels
wrong, heavier leaves brought 0.2 to 0.3 points."""
LAST_RESORT = 1e-3
"""The same where no split at all has such leaves: of few rows, a pattern of a single one may be all there is."""
HEAVIER = (1.0, 10.0, 100.0)
"""By how much heavier leaves must be where LightGBM fails on lighter ones."""
UNIT = 2.0**32
"""The factor of gradients, Hessians and ridges. ``cat_smooth`` is not: LightGBM takes it for a number of rows
too. So it no longer evens out the order of categories, which changed no log loss by more than chance
(``benchmarks/categories.py``)."""
DIGITS = 24
"""The bits of the largest gradient, and of the largest Hessian: as many as single precision has."""
LEAST_STEP_OF_GRADIENTS = 2.0**-100
"""Smaller powers of two are near the smallest number of single precision."""
LEAST_STEP_OF_HESSIANS = 16.0
"""Beside 16 of that unit, and whatever is larger, 1e-15 is less than half a digit."""
FEW_LEAVES = 32
"""Up to this many leaves, comparing all rows with each leaf is faster than a binary search for every row."""


def lightest_leaf(ridge: float) -> float:
    """The smallest sum of the curvature in a leaf of trees that are grown with this ridge."""
    return float(np.clip(ridge / 20.0, *LIGHTEST_LEAVES))


class GrownTree(NamedTuple):
    """A tree, the leaf of each training row, and how the values of its leaves must be ordered, if they must."""

    tree: Tree
    leaves: NDArray[np.unsignedinteger]
    order: LeafOrder | None = None

    @classmethod
    def of(cls, tree: Tree, X: Features) -> GrownTree:
        """A tree, and the leaf of each of these rows."""
        return cls(tree, tree.leaves(X).astype(np.min_scalar_type(tree.n_leaves - 1)))

    def ordered_by(self, signs: Sequence[int] | None) -> GrownTree:
        """The tree with the order for these signs of features."""
        return self if signs is None else self._replace(order=leaf_order(self.tree, signs))

    def objective_decrease(
        self,
        residual: Vector | Matrix,
        curvature: Vector | Matrix,
        ridge: float,
        workers: Communicator = ALONE,
        device: Device = MEMORY,
    ) -> float:
        """How much the objective falls, to second order, if the leaves of this tree alone move from zero."""
        own = [device.host(self._sums(values)) for values in (residual, curvature)]
        edges, curvatures = workers.sum(np.array(own))
        return float(0.5 * (edges**2 / (curvatures + ridge)).sum())

    def _sums(self, values: Vector | Matrix) -> Vector | Matrix:
        """The sum over the rows of each leaf, of a vector or of a matrix with a column for each class."""
        if values.ndim == 1:
            return np.bincount(self.leaves, weights=values, minlength=self.tree.n_leaves).astype(float, copy=False)
        return np.asarray(leaf_indicators(self.leaves, self.tree.n_leaves) @ values)


class Grower(Protocol):
    """Grows trees for leaves that are optimised."""

    def grow(self, residual: Vector, curvature: Vector, ridge: float) -> GrownTree | None:
        """A tree that lowers the objective much, or None if no split lowers it.

        ``residual`` is the negative gradient of the loss by row, ``curvature`` its second derivative. All three are in
        units in which the curvature of a row of even odds is about a quarter.
        """

    # A grower of stumps may have ``stumps``, a ``StumpExchange``.


def _to_multiples(values: NDArray[np.float32], least: float) -> None:
    """Round values in place to multiples of a power of two: of which the largest has ``DIGITS`` bits, or the least."""
    exponent = np.frexp(np.abs(values).max())[1]
    step = max(2.0 ** float(exponent - DIGITS), least)
    values /= step
    np.rint(values, out=values)
    values *= step


class NewtonTrees:
    """Grows one tree for each call on binned training rows."""

    def __init__(self, data: TrainingData, context: PricingContext, stumps: StumpExchange | None = None) -> None:
        n_rows = data.X.shape[0]
        self.stumps = stumps
        self._X = data.X
        self._data, self._limits = data, context.limits
        self._parameters = tree_parameters(data, context)
        self._parameters["min_data_in_leaf"] = max(1, self._parameters["min_data_in_leaf"])
        self._parameters["cat_l2"] *= UNIT
        self._lightgbm_rows = LightGBMRows(data, self._parameters, context.n_jobs)
        self._gradients = np.empty(n_rows, dtype=np.float32)
        self._hessians = np.empty(n_rows, dtype=np.float32)
        self._scores = np.zeros(n_rows)
        self._ridge = self._lightest = np.nan
        self._can_split = varies(data.X)
        self._with_gaps = [k for k in data.categorical if np.isnan(column_values(data.X, k, slice(None))).any()]
        self._has_grown = False

    def grow(self, residual: Vector, curvature: Vector, ridge: float) -> GrownTree | None:
        if not self._can_split:
            return None
        np.multiply(residual, -UNIT, out=self._gradients, casting="same_kind")
        np.multiply(curvature, UNIT, out=self._hessians, casting="same_kind")
        _to_multiples(self._gradients, LEAST_STEP_OF_GRADIENTS)
        _to_multiples(self._hessians, LEAST_STEP_OF_HESSIANS)
        self._set_ridge(ridge)
        grown = self._grown()
        if grown is None and not self._has_grown:
            self._booster.reset_parameter({"min_data_in_leaf": 0})
            self._allow(LAST_RESORT)
            grown = self._grown()
        self._has_grown |= grown is not None
        return grown

    def _grown(self) -> GrownTree | None:
        held = self._booster.num_trees()
        self._add_tree()
        if self._booster.num_trees() == held and self._limits.n_features is not None:
            self._booster.reset_parameter({"feature_fraction_bynode": 1.0})
            self._add_tree()
            self._booster.reset_parameter({"feature_fraction_bynode": self._parameters["feature_fraction_bynode"]})
        if self._booster.num_trees() == held:
            return None
        tree = self._lightgbm_rows.tree(self._booster, held)
        if tree.n_leaves < 2:
            return None
        grown = GrownTree(tree, self._leaves(tree))
        again = self._limits.for_second_time(tree)
        return self._held_to_limits(grown if again is None else self._grown_again(again))

    def _grown_again(self, options: dict[str, Any]) -> GrownTree:
        def grow(lightest: float) -> Tree:
            stronger, rows = options | {"min_sum_hessian_in_leaf": UNIT * lightest}, self._lightgbm_rows
            return rows.tree_beside(self._booster, stronger, rows.dataset, self._derivatives)

        return GrownTree.of(with_heavier_leaves(grow, [factor * self._lightest for factor in HEAVIER]), self._X)

    def _held_to_limits(self, grown: GrownTree) -> GrownTree | None:
        tree = self._data.held_to(self._limits, grown.tree)
        if tree.n_leaves < 2:
            return None
        grown = grown if tree is grown.tree else GrownTree.of(tree, self._X)
        return grown.ordered_by(self._limits.signs)

    def _add_tree(self) -> None:
        with_heavier_leaves(self._update, [factor * self._lightest for factor in HEAVIER])

    def _update(self, lightest: float) -> None:
        """Add a tree; heavier leaves are an exception for this tree only."""
        allowed = self._lightest
        self._allow(lightest)
        try:
            self._lightgbm_rows.update(self._booster, self._derivatives)
        finally:
            self._allow(allowed)

    def _allow(self, lightest: float) -> None:
        if lightest != self._lightest:
            self._booster.reset_parameter({"min_sum_hessian_in_leaf": UNIT * lightest})
            self._lightest = lightest

    def _set_ridge(self, ridge: float) -> None:
        if ridge == self._ridge:
            return
        lightest = lightest_leaf(ridge)
        C_value = {"lambda_l2": UNIT * ridge, "min_sum_hessian_in_leaf": UNIT * lightest}
        if not hasattr(self, "_booster"):
            self._booster = lightgbm.Booster(self._parameters | C_value, self._lightgbm_rows.dataset)
        else:
            self._booster.reset_parameter(C_value)
        self._ridge, self._lightest = ridge, lightest

    def _leaves(self, tree: Tree) -> NDArray[np.unsignedinteger]:
        """The leaf of each row, from how much the tree has added to LightGBM's own scores of the rows."""
        scores: list[Vector] = []

        def note(predictions: Vector, rows: lightgbm.Dataset) -> tuple[str, float, bool]:
            scores.append(predictions.copy())
            return "scores", 0.0, True

        self._booster.eval_train(note)
        added, self._scores = scores[0] - self._scores, scores[0]
        if np.isin(tree.feature, self._with_gaps).any():  # LightGBM trains rows without a category as rows of another
            return GrownTree.of(tree, self._X).leaves
        order = np.argsort(tree.votes, kind="stable")
        values = tree.votes[order]
        distances = np.diff(values)
        if distances.min() <= 1e-9 * max(np.abs(scores[0]).max(), np.abs(values).max()):
            return GrownTree.of(tree, self._X).leaves
        middles = values[:-1] + distances / 2
        kind = np.min_scalar_type(tree.n_leaves - 1)
        if tree.n_leaves > FEW_LEAVES:
            return order.astype(kind)[np.searchsorted(middles, added)]
        place = np.zeros(len(added), dtype=kind)
        for middle in middles.tolist():
            place += added > middle
        return order.astype(kind)[place]

    def _derivatives(self, predictions: Vector, rows: lightgbm.Dataset) -> tuple[Any, Any]:
        return self._gradients, self._hessians
