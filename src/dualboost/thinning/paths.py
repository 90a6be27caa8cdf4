"""Backward elimination of a model's members, with the values of all leaves refitted."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from .._typing import Integers, Matrix
from ..formulations.classes import SoftLabelProgramme
from ..matrix.leaves import LeafColumns, RoundLeafColumns, VectorLeafColumns
from ..matrix.rows import Rows
from ..solvers import Solution, SolverFailed
from ..solvers.leaf_elimination import ELIMINATED_AT_ONCE, Elimination
from ..solvers.leaf_newton import improved, optimum
from ..solvers.leaf_points import LeafPoint, SoftmaxPoint
from ..solvers.leaf_sweeps import sweep
from ..targets import Operator
from ..targets.base import Units

if TYPE_CHECKING:
    from .rows import ModelRows

# With F(x) = b + the sum of the values of the leaves of x in the members held, and a ridge::
#
#     min  1/2 |v|^2 + C/M sum_i c_i loss(y_i, F(x_i))
#
# is solved over all members first. The loss is the logistic one, the softmax of several classes, where the target may
# be a share of each class, or the squared or Poisson's. Then the members that are missed least, to second order, are
# removed, the others moved to their new optimum, and so on: every ensemble on the way is a candidate.

ROUGHLY = 1e-2
"""The relative gap of the first ensemble of a path, which is only there to eliminate from."""
SWEEPS = 2
"""How many sweeps the members left get after some were removed."""
WARMING_UP = 5
"""The number of cheap steps before the steps with second derivatives, for several classes."""
EXACT = 1e-6
"""The relative gap of the ensemble that is returned."""
SEED = 0
"""The order of the rows, of which the solver takes the first ones as a sample."""


def shuffled(n: int) -> Integers:
    return np.random.default_rng(SEED).permutation(n)


@dataclass(frozen=True, eq=False)
class LeafProblem:
    """The fit of leaves to some targets."""

    which: Integers
    """The rows that are fitted, in the order of the solver; a row may occur twice."""
    columns: Any
    start: Callable[[float], Any]
    """The point for one C where all columns have the value zero."""
    improved: Callable[[Any], Any]
    """A cheap step towards the optimum."""
    units: Units
    """From the scores of the fit to raw scores."""


def scalar_problem(which: Integers, rows: Rows, operator: Operator, loss: type[Any], units: Units) -> LeafProblem:
    """One score for each row."""
    columns = LeafColumns(rows, operator)

    def start(C: float) -> LeafPoint:
        programme = loss(C=C).resolve(rows.n_samples).programme(rows, 1).over_leaves(operator.intercepts())
        return LeafPoint(programme, columns, np.zeros(columns.n_columns), 0.0, np.zeros(rows.n_data))

    return LeafProblem(which, columns, start, sweep, units)


def softmax_problem(which: Integers, rows: Rows, shares: Matrix, has_rounds: bool) -> LeafProblem:
    """A score for each class: of trees with vectors, or of rounds of one tree for each class."""
    n_classes = shares.shape[1]
    columns: Any = (RoundLeafColumns if has_rounds else VectorLeafColumns)(rows, n_classes)

    def start(C: float) -> SoftmaxPoint:
        costs = rows.counts * (C / rows.n_samples)
        programme = SoftLabelProgramme(rows, rows.groups, costs, n_classes, shares=shares)
        point = SoftmaxPoint.start(programme, columns)
        point = point.at(np.zeros((columns.n_columns, n_classes)), point.intercept, point.scores)
        for _ in range(WARMING_UP):
            point = improved(point)
        return point

    return LeafProblem(which, columns, start, improved, Units())


@dataclass(frozen=True, eq=False)
class Stage:
    """Some members with the values of their leaves."""

    members: Integers
    leaves: tuple[Matrix, ...]
    """For each tree of these members the values of its leaves; a leaf without rows gets zero, as under a ridge."""
    intercept: Any
    solution: Solution | None
    """The certificate of the values, computed for the ensemble that is returned."""


class LeafPath:
    """The leaves of a model's members on some rows, for one C after another."""

    def __init__(self, rows: ModelRows) -> None:
        self.members, self._fitted_leaves = rows.refittable
        """The members that take part; those with one leaf for all rows are left out."""
        self._model, self._problem = rows.members, rows.link.leaf_problem(rows)
        self._columns = self._problem.columns
        self._trees = [self._held_leaves(rows, k) for k in range(len(self.members))]
        """What the columns hold of each member: the leaf of each row in its trees, and the number of leaves."""
        self._held: list[int] = []

    def stages(self, C: float, sizes: Sequence[int]) -> Iterator[Stage]:
        """The ensembles of these sizes, the largest first; sizes that cannot be had are left out."""
        for point in self._points(C, sizes):
            yield self._stage(point)

    def down_to(self, C: float, size: int, sizes: Sequence[int]) -> tuple[Stage, Stage]:
        """The ensemble of one of the sizes, as on the way, and with the optimal values for its leaves."""
        *_, point = self._points(C, [s for s in sizes if s >= size])
        rough = self._stage(point, point.certified())
        try:
            return rough, self._stage(*optimum(point, EXACT))
        except SolverFailed:
            return rough, rough

    def _points(self, C: float, sizes: Sequence[int]) -> Iterator[Any]:
        point = self._start(C)
        elimination, from_size = None, len(self._held)
        for size in sizes:
            if size > len(self.members):
                continue
            if elimination is None or size < (1 - ELIMINATED_AT_ONCE) * from_size:
                elimination, from_size, base = Elimination(point), len(self._held), list(self._held)
            elimination.remove_down_to(size)
            point = self._after(point, elimination, base)
            yield point

    def _start(self, C: float) -> Any:
        self._hold(range(len(self.members)))
        point = self._problem.start(C)
        try:
            return optimum(point, ROUGHLY)[0]
        except SolverFailed:
            return self._problem.improved(point)

    def _after(self, point: Any, elimination: Any, base: Sequence[int]) -> Any:
        values = np.concatenate([elimination.values_of(k) for k in elimination.kept])
        self._hold([base[k] for k in elimination.kept])
        point = point.at(values, elimination.intercept, self._columns.scores(values))
        for _ in range(SWEEPS):
            point = self._problem.improved(point)
        return point

    def _hold(self, members: Sequence[int]) -> None:
        self._held = list(members)
        self._columns.hold([self._trees[k] for k in self._held])

    def _held_leaves(self, rows: ModelRows, k: int) -> tuple[Any, int]:
        fitted = self._fitted_leaves[k]
        n_leaves = max(int(own.max()) + 1 for own in fitted)
        dtype, trees = np.min_scalar_type(n_leaves - 1), self._model.trees_of(self.members[k : k + 1])
        leaves = [
            own.astype(dtype)[rows.leaf_ids[tree]][self._problem.which] for tree, own in zip(trees, fitted, strict=True)
        ]
        return leaves if self._model.trees_per_member > 1 else leaves[0], n_leaves

    def _stage(self, point: Any, solution: Solution | None = None) -> Stage:
        starts, (origin, unit) = self._columns.starts.tolist(), self._problem.units
        leaves = []
        for k, (low, high) in zip(self._held, pairwise(starts), strict=True):
            values = np.vstack(
                [unit * point.values[low:high].reshape(high - low, -1), np.zeros(point.values.shape[1:])]
            )
            for tree, fitted in zip(self._model.trees_of(self.members[k : k + 1]), self._fitted_leaves[k], strict=True):
                leaves.append(values[fitted][:, self._model.columns_of(tree)])
        return Stage(self.members[self._held], tuple(leaves), origin + unit * point.intercept, solution)
