"""The master over the members of a model: few of them take part at a time, all of them certify the result."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from .._typing import Integers, Vector
from ..columns import Columns
from ..formulations import Formulation, Programme
from ..masters import MASTERS, WEIGHT_TOLERANCE, Candidate, Interleaved, Ladder, MasterSolution, certify

FIRST = 20
"""Columns that the first programme begins with: those of the largest edges."""
GROWTH = 0.5
"""Of the columns that would improve the master, the best ones enter, up to this part of those that take part."""
MAX_ROUNDS = 50
AIM = 0.5
"""The part of the tolerance that the columns taking part are solved to; the others may open the gap by the rest."""


class Precision(NamedTuple):
    """How exactly a programme is solved, and from what part of the largest one a weight counts as used."""

    tolerance: float
    least_weight: float
    vertices: bool

    def master(self) -> Interleaved:
        ladder = Ladder(list(MASTERS.values()), self.tolerance, self.vertices)
        return Interleaved(ladder) if self.vertices else Interleaved(ladder, aim=1.0)

    def used(self, w: Vector) -> Integers:
        return np.flatnonzero(w > self.least_weight * w.max(initial=0.0))


EXACT = Precision(1e-6, WEIGHT_TOLERANCE, vertices=True)
"""For the weights that are returned."""
LOOSE = Precision(1e-3, 1e-3, vertices=False)
"""For comparisons: small beside the differences between values of C."""


@dataclass(frozen=True)
class ProgrammeFamily:
    """The programmes of one formulation for every C, as if ``n_columns`` columns were held, with an intercept or not."""

    formulation: Formulation
    n_columns: int
    has_intercept: bool

    def at(self, C: float, columns: Columns) -> Programme:
        formulation = replace(self.formulation, C=C).resolve(float(columns.counts.sum()))
        programme = formulation.programme(columns.counts, self.n_columns)
        return programme.with_intercept(columns.labels) if self.has_intercept else programme


class MemberMaster:
    """Optimal weights over many columns, for one programme after the other."""

    def __init__(self, columns: Columns, precision: Precision) -> None:
        self._columns = columns
        self._precision = precision
        self._active: Integers = np.zeros(0, dtype=np.intp)
        self._is_active = np.zeros(columns.n_columns, dtype=bool)
        self._part = columns.subset(self._active)
        self._master = Precision(AIM * precision.tolerance, precision.least_weight, vertices=False).master()

    def solve(self, programme: Programme) -> MasterSolution:
        """The optimum over all columns, begun from that of the last programme; else ``MasterFailed``."""
        if not len(self._active):
            self._enter(self._columns.edges(programme.feasible(self._columns.counts)), FIRST)
        else:
            self._master.move_to(self._part, programme)
        for _ in range(MAX_ROUNDS):
            found = self._master.polish(self._part, programme)
            edges = self._columns.edges(found.u)
            solution = self._over_all(programme, found, edges)
            improving = ~self._is_active & (edges > found.threshold)
            if solution.gap <= self._precision.tolerance or not improving.any():
                break
            n_new = min(int(improving.sum()), max(int(GROWTH * len(self._active)), FIRST))
            self._enter(np.where(improving, edges, -np.inf), n_new)
            self._master.solve(self._part, programme)
        if self._precision.vertices:
            ladder = Ladder(list(MASTERS.values()), self._precision.tolerance)
            found = ladder.tidy(self._part, programme, found, is_vertex=False)
            solution = self._over_all(programme, found, self._columns.edges(found.u))
        return solution

    def _over_all(self, programme: Programme, found: MasterSolution, edges: Vector) -> MasterSolution:
        """The solution over the part as one over all columns, with its certificate."""
        w = np.zeros(self._columns.n_columns)
        w[self._active] = found.w
        return certify(self._columns, programme, Candidate(w, found.u, found.rho), (found.margins, edges))

    def _enter(self, edges: Vector, n: int) -> None:
        """Let the columns with the largest edges take part."""
        best = np.argsort(-edges, kind="stable")[: min(n, self._columns.n_columns - len(self._active))]
        self._part.take(self._columns, best)
        self._active = np.concatenate([self._active, best])
        self._is_active[best] = True
