"""The master over the members of a model: few of them take part at a time, all of them certify the result."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from .._typing import Integers, Vector
from ..algebra.columns import Columns
from ..formulations import Formulation, Programme, TwoStageProgramme
from ..loop.path import PATH_TOLERANCE
from ..masters import MASTERS, WEIGHT_TOLERANCE, Candidate, Interleaved, Ladder, MasterSolution, certify, in_stages
from ..masters.stages import INNER

FIRST = 20
"""Columns that the first programme begins with: those of the largest edges."""
FAST, PACE = 1.0, 0.15
"""Columns that enter at a time, as a part of those that take part, at least one: where only the optimum is of interest,
and where every ensemble on the way is."""
MAX_ROUNDS = 50


class Precision(NamedTuple):
    """How exactly a programme is solved, and from what part of the largest one a weight counts as used."""

    tolerance: float
    least_weight: float
    vertices: bool

    def master(self) -> Interleaved:
        """A master that returns solutions of this precision."""
        return Interleaved(Ladder(list(MASTERS.values()), self.tolerance, self.vertices))

    def interior_master(self) -> Interleaved:
        """A master for the columns that take part, which leaves others half of the tolerance, and no vertices."""
        return Interleaved(Ladder(list(MASTERS.values()), 0.5 * self.tolerance, vertices=False), aim=1.0)

    def tightened(self) -> Precision:
        """The precision of programmes that are a part of another one."""
        return self._replace(tolerance=INNER * self.tolerance)

    def used(self, w: Vector) -> Integers:
        return np.flatnonzero(w > self.least_weight * w.max(initial=0.0))


EXACT = Precision(1e-6, WEIGHT_TOLERANCE, vertices=True)
"""For the weights that are returned."""
LOOSE = Precision(PATH_TOLERANCE, 1e-3, vertices=False)
"""For comparisons, as when C is tuned."""


@dataclass(frozen=True)
class ProgrammeFamily:
    """The programmes of one formulation for every C, as if ``n_columns`` columns were held."""

    formulation: Formulation
    n_columns: int
    has_intercept: bool

    def at(self, C: float, columns: Columns) -> Programme:
        formulation = replace(self.formulation, C=C).resolve(float(columns.counts.sum()))
        programme = formulation.programme_over(columns, self.n_columns)
        return programme.with_intercept(columns.labels) if self.has_intercept else programme


class MemberMaster:
    """Optimal weights over many columns, for one programme after the other; few columns take part at a time."""

    def __init__(self, columns: Columns, precision: Precision) -> None:
        self._columns = columns
        self._precision = precision
        self._is_active = np.zeros(columns.n_columns, dtype=bool)
        self.active: Integers = np.zeros(0, dtype=np.intp)
        """The columns that take part, in the order in which they entered."""
        self._part = columns.subset(self.active)
        self._master = precision.interior_master()

    def solve(self, programme: Programme) -> MasterSolution:
        """The optimum over all columns, begun from that of the last programme; else ``MasterFailed``."""
        if isinstance(programme, TwoStageProgramme):
            inner = MemberMaster(self._columns, self._precision.tightened())
            return in_stages(self._columns, programme, inner.solve, self._precision.tolerance)
        if len(self.active):
            self._master.move_to(self._part, programme)
        else:
            self._enter(self._columns.edges(programme.feasible(self._columns.counts)), FIRST)
        for _ in range(MAX_ROUNDS):
            while self._enter_improving(self._master.solve(self._part, programme), FAST):
                pass
            found = self._master.polish(self._part, programme)
            edges = self._columns.edges(found.u)
            solution = self._over_all(programme, found, edges)
            if solution.gap <= self._precision.tolerance or not self._enter_improving(found, FAST, edges):
                break
        if self._precision.vertices:
            ladder = Ladder(list(MASTERS.values()), self._precision.tolerance)
            found = ladder.tidy(self._part, programme, found, is_vertex=False)
            solution = self._over_all(programme, found, self._columns.edges(found.u))
        return solution

    def grow(self, programme: Programme) -> Iterator[MasterSolution]:
        """Column generation among the members: after each entry, the optimum over the columns that take part."""
        self._enter(self._columns.edges(programme.feasible(self._columns.counts)), 1)
        found = self._master.polish(self._part, programme)
        yield found
        while self._enter_improving(found, PACE):
            self._master.solve(self._part, programme)
            found = self._master.polish(self._part, programme)
            yield found

    def _enter_improving(self, found: MasterSolution, growth: float, edges: Vector | None = None) -> bool:
        """Let columns take part that would improve the solution, the best ones first; whether there were any."""
        edges = self._columns.edges(found.u) if edges is None else edges
        improving = ~self._is_active & (edges > found.threshold)
        most = max(int(growth * len(self.active)), 1)
        self._enter(np.where(improving, edges, -np.inf), min(most, int(improving.sum())))
        return bool(improving.any())

    def _over_all(self, programme: Programme, found: MasterSolution, edges: Vector) -> MasterSolution:
        """The solution over the part as one over all columns, with its certificate."""
        w = np.zeros(self._columns.n_columns)
        w[self.active] = found.w
        return certify(self._columns, programme, Candidate(w, found.u, found.rho), (found.margins, edges))

    def _enter(self, edges: Vector, n: int) -> None:
        """Let the columns with the largest edges take part."""
        order = np.argsort(-edges, kind="stable")
        best = order[~self._is_active[order]][:n]
        self._part.take(self._columns, best)
        self.active = np.concatenate([self.active, best])
        self._is_active[best] = True
