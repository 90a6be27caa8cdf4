"""The master over the members of a model: few of them take part at a time, all of them certify the result."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from .._typing import Integers, Vector
from ..columns import Columns
from ..formulations import Formulation, Programme
from ..masters import MASTERS, Candidate, Interleaved, Ladder, MasterSolution, certify

FIRST = 20
"""Columns that the first programme begins with: those of the largest edges."""
GROWTH = 0.3
"""Of the columns that would improve the master, the best ones enter, up to this part of those that take part."""
MAX_ROUNDS = 30


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

    def __init__(self, columns: Columns, tolerance: float) -> None:
        self._columns = columns
        self._tolerance = tolerance
        self._active: Integers = np.zeros(0, dtype=np.intp)
        self._part = columns.subset(self._active)
        self._master = new_master(tolerance)

    def solve(self, programme: Programme) -> MasterSolution:
        """The optimum over all columns, begun from that of the last programme; else ``MasterFailed``."""
        if not len(self._active):
            self._enter(self._columns.edges(programme.feasible(self._columns.counts)), FIRST)
        else:
            self._master.move_to(self._part, programme)
        for _ in range(MAX_ROUNDS):
            solution = self._master.polish(self._part, programme)
            edges = self._columns.single.edges(solution.u)
            edges[self._active] = -np.inf
            slack = self._tolerance * float(np.abs(solution.u).sum())
            n_improving = int(np.count_nonzero(edges > solution.threshold + slack))
            if not n_improving:
                break
            self._enter(edges, min(n_improving, max(int(GROWTH * len(self._active)), FIRST)))
            self._master.solve(self._part, programme)
        w = np.zeros(self._columns.n_columns)
        w[self._active] = solution.w
        return certify(self._columns, programme, Candidate(w, solution.u, solution.rho))

    def _enter(self, edges: Vector, n: int) -> None:
        """Let the columns with the largest edges take part."""
        best = np.argsort(-edges, kind="stable")[: min(n, self._columns.n_columns - len(self._active))]
        self._part.take(self._columns, best)
        self._active = np.concatenate([self._active, best])


def new_master(tolerance: float) -> Interleaved:
    return Interleaved(Ladder(list(MASTERS.values()), tolerance))
