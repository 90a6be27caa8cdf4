"""Smaller and smaller ensembles of a model's members, the values of all leaves refitted: backward elimination.

With F(x) = b + the sum of the values of the leaves of x in the members held, logistic loss and a ridge::

    min  1/2 |v|^2 + C/M sum_i c_i log(1 + exp(-y_i F(x_i)))

is solved over all members first. Then the members that are missed least, to second order, are removed, the others
moved to their new optimum, and so on: every ensemble on the way is a candidate.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from .._typing import Integers
from ..algebra.leaves import LeafColumns, LeafNumbers
from ..algebra.rows import Rows
from ..formulations.logistic import LogisticBoost
from ..formulations.programme import Programme
from ..masters import MasterFailed, MasterSolution
from ..masters.leaf_elimination import ELIMINATED_AT_ONCE, Elimination
from ..masters.leaf_newton import certified, optimum
from ..masters.leaf_point import LeafPoint
from ..masters.leaf_sweeps import sweep
from ..tasks.binary import Signs
from .kinds import NewLeaves, refittable
from .rows import MemberRows

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
    leaves: tuple[NewLeaves, ...]
    intercept: float
    solution: MasterSolution | None
    """The certificate of the values, computed for the ensemble that is returned."""


class LeafPath:
    """The leaves of a model's members on some rows, for one C after another."""

    def __init__(self, rows: MemberRows) -> None:
        order = np.random.default_rng(SEED).permutation(len(rows.labels))
        self.members, self._kinds = refittable(rows.leaf_outputs)
        """The members that take part; those that cannot, or say the same of all rows, are left out."""
        self._numbers: list[LeafNumbers] = [
            own.numbers(rows.leaf_outputs[j][order]).astype(np.min_scalar_type(len(own) - 1))
            for j, own in zip(self.members, self._kinds, strict=True)
        ]
        self._rows, self._operator = Rows(rows.counts[order]), Signs(rows.labels[order])
        self._columns = LeafColumns(self._rows, self._operator)
        self._held: list[int] = []

    def stages(self, C: float, sizes: Sequence[int]) -> Iterator[Stage]:
        """The ensembles of these sizes, the largest first; sizes that cannot be had are left out."""
        for point in self._points(C, sizes):
            yield self._stage(point)

    def down_to(self, C: float, size: int, sizes: Sequence[int]) -> tuple[Stage, Stage]:
        """The ensemble of one of the sizes, as on the way, and with the optimal values for its leaves."""
        *_, point = self._points(C, [s for s in sizes if s >= size])
        rough = self._stage(point, certified(point))
        try:
            return rough, self._stage(*optimum(point, EXACT))
        except MasterFailed:
            return rough, rough

    def _points(self, C: float, sizes: Sequence[int]) -> Iterator[LeafPoint]:
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

    def _start(self, C: float) -> LeafPoint:
        """All members, with values that are about optimal."""
        self._hold(range(len(self.members)))
        n, programme = self._columns.n_columns, self._programme(C)
        point = LeafPoint(programme, self._columns, np.zeros(n), 0.0, np.zeros(self._rows.n_data))
        try:
            return optimum(point, ROUGHLY)[0]
        except MasterFailed:
            return sweep(point)

    def _after(self, point: LeafPoint, elimination: Elimination, base: Sequence[int]) -> LeafPoint:
        """The members that elimination has left, moved towards their optimum."""
        values = np.concatenate([elimination.values_of(k) for k in elimination.kept])
        self._hold([base[k] for k in elimination.kept])
        scores = self._columns.scores(values)
        point = LeafPoint(point.programme, self._columns, values, elimination.intercept, scores)
        for _ in range(SWEEPS):
            point = sweep(point)
        return point

    def _hold(self, members: Sequence[int]) -> None:
        self._held = list(members)
        self._columns.hold([(self._numbers[k], len(self._kinds[k])) for k in self._held])

    def _programme(self, C: float) -> Programme:
        plain = LogisticBoost(C=C).resolve(self._rows.n_samples).programme(self._rows, 1)
        return plain.over_leaves(self._operator.intercepts())

    def _stage(self, point: LeafPoint, solution: MasterSolution | None = None) -> Stage:
        parts = [point.values[low:high] for low, high in pairwise(self._columns.starts.tolist())]
        leaves = tuple(NewLeaves(self._kinds[k], own) for k, own in zip(self._held, parts, strict=True))
        return Stage(self.members[self._held], leaves, point.intercept, solution)
