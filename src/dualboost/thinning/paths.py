"""Backward elimination of a model's members, with the values of all leaves refitted."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np

from .._typing import Integers, Matrix, Vector
from ..formulations.classes import SoftLabelProgramme
from ..formulations.convex import LogisticBoost
from ..matrix.leaves import LeafColumns, LeafNumbers, RoundLeafColumns, VectorLeafColumns
from ..matrix.rows import Rows
from ..solvers import Solution, SolverFailed
from ..solvers.leaf_elimination import ELIMINATED_AT_ONCE, Elimination, RoundElimination, round_improved, round_optimum
from ..solvers.leaf_newton import certified, optimum, softmax_certified, softmax_improved, softmax_optimum
from ..solvers.leaf_points import LeafPoint, SoftmaxPoint
from ..solvers.leaf_sweeps import sweep
from ..targets import Operator
from ..targets.classes import BinaryOperator
from .members import ClassLeaves, LeafOfRows, NewLeaves, refittable_kinds
from .rows import ClassRows, MemberRows, NumberLeaves, NumberRows

# With F(x) = b + the sum of the values of the leaves of x in the members held, logistic loss and a ridge::
#
#     min  1/2 |v|^2 + C/M sum_i c_i log(1 + exp(-y_i F(x_i)))
#
# is solved over all members first. Then the members that are missed least, to second order, are removed, the others
# moved to their new optimum, and so on: every ensemble on the way is a candidate.

ROUGHLY = 1e-2
"""The relative gap of the first ensemble of a path, which is only there to eliminate from."""
SWEEPS = 2
"""How many sweeps the members left get after some were removed."""
EXACT = 1e-6
"""The relative gap of the ensemble that is returned."""
SEED = 0
"""The order of the rows, of which the solver takes the first ones as a sample."""


@dataclass(frozen=True, eq=False)
class Stage:
    """Some members with the values of their leaves."""

    members: Integers
    leaves: tuple[Any, ...]
    """``NewLeaves`` of each member; for several classes ``ClassLeaves``, for numbers ``NumberLeaves``."""
    intercept: Any
    solution: Solution | None
    """The certificate of the values, computed for the ensemble that is returned."""


class LeafPath:
    """The leaves of a model's members on some rows, for one C after another."""

    def __init__(self, rows: MemberRows) -> None:
        order = np.random.default_rng(SEED).permutation(len(rows.labels))
        self.members, self._kinds = refittable_kinds(rows.leaf_outputs)
        """The members that take part; those that cannot, or say the same of all rows, are left out."""
        self._trees: list[Any] = [
            (own.numbers(rows.leaf_outputs[j][order]).astype(np.min_scalar_type(len(own) - 1)), len(own))
            for j, own in zip(self.members, self._kinds, strict=True)
        ]
        """What the columns hold of each member: the leaf of each row, and the number of leaves."""
        self._rows = Rows(rows.counts[order])
        self._operator: Operator = BinaryOperator(rows.labels[order])
        self._columns: Any = LeafColumns(self._rows, self._operator)
        self._held: list[int] = []

    def stages(self, C: float, sizes: Sequence[int]) -> Iterator[Stage]:
        """The ensembles of these sizes, the largest first; sizes that cannot be had are left out."""
        for point in self._points(C, sizes):
            yield self._stage(point)

    def down_to(self, C: float, size: int, sizes: Sequence[int]) -> tuple[Stage, Stage]:
        """The ensemble of one of the sizes, as on the way, and with the optimal values for its leaves."""
        *_, point = self._points(C, [s for s in sizes if s >= size])
        rough = self._stage(point, self._certified(point))
        try:
            return rough, self._stage(*self._optimum(point, EXACT))
        except SolverFailed:
            return rough, rough

    def _points(self, C: float, sizes: Sequence[int]) -> Iterator[Any]:
        point = self._start(C)
        elimination, from_size = None, len(self._held)
        for size in sizes:
            if size > len(self.members):
                continue
            if elimination is None or size < (1 - ELIMINATED_AT_ONCE) * from_size:
                elimination, from_size, base = self._elimination(point), len(self._held), list(self._held)
            elimination.remove_down_to(size)
            point = self._after(point, elimination, base)
            yield point

    def _start(self, C: float) -> Any:
        """All members, with values that are about optimal."""
        self._hold(range(len(self.members)))
        point = self._zero(C)
        try:
            return self._optimum(point, ROUGHLY)[0]
        except SolverFailed:
            return self._improved(point)

    def _after(self, point: Any, elimination: Any, base: Sequence[int]) -> Any:
        """The members that elimination has left, moved towards their optimum."""
        values = np.concatenate([elimination.values_of(k) for k in elimination.kept])
        self._hold([base[k] for k in elimination.kept])
        point = point.at(values, elimination.intercept, self._columns.scores(values))
        for _ in range(SWEEPS):
            point = self._improved(point)
        return point

    def _hold(self, members: Sequence[int]) -> None:
        self._held = list(members)
        self._columns.hold([self._trees[k] for k in self._held])

    def _stage(self, point: Any, solution: Solution | None = None) -> Stage:
        parts = [point.values[low:high] for low, high in pairwise(self._columns.starts.tolist())]
        leaves = tuple(self._new_leaves(k, own) for k, own in zip(self._held, parts, strict=True))
        return Stage(self.members[self._held], leaves, point.intercept, solution)

    def _zero(self, C: float) -> Any:
        """The point of all members whose values are zero."""
        programme = self._plain_programme(C).over_leaves(self._operator.intercepts())
        n = self._columns.n_columns
        return LeafPoint(programme, self._columns, np.zeros(n), 0.0, np.zeros(self._rows.n_data))

    def _plain_programme(self, C: float) -> Any:
        return LogisticBoost(C=C).resolve(self._rows.n_samples).programme(self._rows, 1)

    def _new_leaves(self, k: int, values: Any) -> Any:
        """The values of one member's leaves, as its adapter takes them."""
        return NewLeaves(self._kinds[k], values)

    def _optimum(self, point: Any, tolerance: float) -> tuple[Any, Solution]:
        return optimum(point, tolerance)

    def _certified(self, point: Any) -> Solution:
        return certified(point)

    def _improved(self, point: Any) -> Any:
        return sweep(point)

    def _elimination(self, point: Any) -> Any:
        return Elimination(point)


# With F(x) = b + the sum of what the members say of x, one number for each class, and t_i the shares of row i in the
# classes (its label, or the model's own probabilities)::
#
#     min  1/2 |v|^2 + C/M sum_i c_i [log sum_k exp F_k(x_i) - t_i'F(x_i)]
#
# is solved over all members, and the members missed least are removed, as ``leaf_path.py`` does for two classes.

WARMING_UP = 5
"""How many cheap steps come before those that need second derivatives."""


class ClassLeafPath(LeafPath):
    """Trees with a value for each class in every leaf."""

    def __init__(self, rows: ClassRows) -> None:
        order = np.random.default_rng(SEED).permutation(len(rows.labels))
        self.members, self._present = rows.refittable
        self._members, self._shares = rows.trees, rows.shares[order]
        self._rows = Rows(rows.counts[order], rows.labels[order].astype(np.intp))
        self._trees = [
            self._held_of([rows.leaves[tree][order] for tree in rows.trees.trees_of(member)], present)
            for member, present in zip(self.members.tolist(), self._present, strict=True)
        ]
        self._columns = self._no_columns(rows.trees.n_classes)
        self._held = []

    def _held_of(self, leaves: list[LeafOfRows], present: list[Integers]) -> Any:
        return _numbers(leaves[0], present[0], len(present[0])), len(present[0])

    def _no_columns(self, n_classes: int) -> Any:
        return VectorLeafColumns(self._rows, n_classes)

    def _zero(self, C: float) -> SoftmaxPoint:
        C_grid, n_classes = self._rows.counts * (C / self._rows.n_samples), self._members.n_classes
        programme = SoftLabelProgramme(self._rows, self._rows.groups, C_grid, n_classes, shares=self._shares)
        start = SoftmaxPoint.start(programme, self._columns)
        point = start.at(np.zeros((self._columns.n_columns, n_classes)), start.intercept, start.scores)
        for _ in range(WARMING_UP):
            point = self._improved(point)
        return point

    def _new_leaves(self, k: int, values: Matrix) -> ClassLeaves:
        trees = self._members.trees_of(int(self.members[k]))
        found = []
        for tree, classes, present in zip(trees, self._members.speaks_for, self._present[k], strict=True):
            own = np.zeros_like(self._members.values[tree], dtype=float)
            own[present] = values[: len(present), classes]
            found.append(own)
        return ClassLeaves(tuple(found))

    def _optimum(self, point: SoftmaxPoint, tolerance: float) -> tuple[SoftmaxPoint, Solution]:
        return softmax_optimum(point, tolerance)

    def _certified(self, point: SoftmaxPoint) -> Solution:
        return softmax_certified(point)

    def _improved(self, point: SoftmaxPoint) -> SoftmaxPoint:
        return softmax_improved(point)

    def _elimination(self, point: SoftmaxPoint) -> Any:
        return Elimination(point)


class RoundLeafPath(ClassLeafPath):
    """Rounds of one tree for each class."""

    def _held_of(self, leaves: list[LeafOfRows], present: list[Integers]) -> Any:
        largest = max(map(len, present))
        return [_numbers(own, those, largest) for own, those in zip(leaves, present, strict=True)], largest

    def _no_columns(self, n_classes: int) -> Any:
        return RoundLeafColumns(self._rows, n_classes)

    def _optimum(self, point: SoftmaxPoint, tolerance: float) -> tuple[SoftmaxPoint, Solution]:
        return round_optimum(point, tolerance)

    def _improved(self, point: SoftmaxPoint) -> SoftmaxPoint:
        return round_improved(point)

    def _elimination(self, point: SoftmaxPoint) -> Any:
        return RoundElimination(point)


def _numbers(leaves: LeafOfRows, present: Integers, n_leaves: int) -> LeafNumbers:
    """The leaf of each row among those present."""
    return np.searchsorted(present, leaves).astype(np.min_scalar_type(n_leaves - 1))


# With F(x) = b + the sum of the values of the leaves of x in the trees held::
#
#     min  1/2 |v|^2 + C/M sum_i c_i loss(y_i, F(x_i))
#
# is solved over all trees, and the trees missed least are removed, as ``leaf_path.py`` does for two classes. Targets
# are standardised before, so that C means the same for every unit of y; the values found are in the units of the
# model.


class NumberLeafPath(LeafPath):
    """Trees with a number in every leaf."""

    def __init__(self, rows: NumberRows) -> None:
        order = np.random.default_rng(SEED).permutation(len(rows.labels))
        self.members, present = rows.refittable
        self._present = [of_tree for (of_tree,) in present]
        self._sizes = [len(values) for values in rows.values]
        self._loss = rows.link.loss
        target, targets = rows.link.target.read(rows.targets[order], rows.counts[order])
        self._units = target.units
        self._rows = target.rows(targets, rows.counts[order])
        self._operator = target.operator(targets)
        self._trees = [
            (np.searchsorted(own, rows.leaves[j][order]).astype(np.min_scalar_type(len(own) - 1)), len(own))
            for j, own in zip(self.members.tolist(), self._present, strict=True)
        ]
        self._columns = LeafColumns(self._rows, self._operator)
        self._held = []

    def _plain_programme(self, C: float) -> Any:
        return self._loss(C=C).resolve(self._rows.n_samples).programme(self._rows, 1)

    def _stage(self, point: Any, solution: Solution | None = None) -> Stage:
        stage = super()._stage(point, solution)
        return replace(stage, intercept=self._units.origin + self._units.unit * stage.intercept)

    def _new_leaves(self, k: int, values: Vector) -> NumberLeaves:
        own = np.zeros(self._sizes[int(self.members[k])])
        own[self._present[k]] = self._units.unit * values
        return NumberLeaves(own)
