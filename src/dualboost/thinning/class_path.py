"""Backward elimination for models of several classes: cross-entropy over the values of all leaves, and a ridge.

With F(x) = b + the sum of what the members say of x, one number for each class, and t_i the shares of row i in the
classes (its label, or the model's own probabilities)::

    min  1/2 |v|^2 + C/M sum_i c_i [log sum_k exp F_k(x_i) - t_i'F(x_i)]

is solved over all members, and the members missed least are removed, as ``leaf_path.py`` does for two classes.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .._typing import Integers, Matrix
from ..algebra.leaves import LeafNumbers
from ..algebra.round_leaves import RoundLeafColumns
from ..algebra.rows import Rows
from ..algebra.vector_leaves import VectorLeafColumns
from ..formulations.soft_labels import SoftLabelProgramme
from ..masters import MasterSolution
from ..masters.leaf_elimination import Elimination
from ..masters.round_leaves import RoundElimination, round_improved, round_optimum
from ..masters.softmax_newton import softmax_certified, softmax_improved, softmax_optimum
from ..masters.softmax_point import SoftmaxPoint
from .class_members import ClassLeaves, LeafOfRows
from .class_rows import ClassRows
from .leaf_path import SEED, LeafPath

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
        prices, n_classes = self._rows.counts * (C / self._rows.n_samples), self._members.n_classes
        programme = SoftLabelProgramme(self._rows, self._rows.groups, prices, n_classes, shares=self._shares)
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

    def _optimum(self, point: SoftmaxPoint, tolerance: float) -> tuple[SoftmaxPoint, MasterSolution]:
        return softmax_optimum(point, tolerance)

    def _certified(self, point: SoftmaxPoint) -> MasterSolution:
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

    def _optimum(self, point: SoftmaxPoint, tolerance: float) -> tuple[SoftmaxPoint, MasterSolution]:
        return round_optimum(point, tolerance)

    def _improved(self, point: SoftmaxPoint) -> SoftmaxPoint:
        return round_improved(point)

    def _elimination(self, point: SoftmaxPoint) -> Any:
        return RoundElimination(point)


def _numbers(leaves: LeafOfRows, present: Integers, n_leaves: int) -> LeafNumbers:
    """The leaf of each row among those present."""
    return np.searchsorted(present, leaves).astype(np.min_scalar_type(n_leaves - 1))
