"""A master that merges the rows that no column tells apart, and solves over the merged rows.

Merging such rows does not change the optimum, since in every formulation a row of multiplicity two is the same as the
row twice. A new column divides some merged rows; the inner master then goes on from its iterate, divided likewise.
Among a million rows, stumps often tell only a few thousand kinds apart. Once most rows differ, nothing is merged.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from .._typing import Integers, Vector
from ..algebra.columns import Columns
from ..algebra.partition import Partition
from ..algebra.rows import Rows
from ..deadlines import time_is_up
from ..formulations.programme import Programme
from .base import Candidate, MasterFailed, MasterSolution, Reoptimiser
from .certificate import certify

LEAST_ROWS = 10_000
"""With fewer rows than this, merging takes longer than it saves."""
MOST_DISTINCT = 0.7
"""Once the kinds of rows are more than this fraction of the rows, the rows are no longer merged."""


class DistinctRows:
    """Solves by ``inner`` over one row of each kind while there are few kinds; returns solutions over all rows."""

    def __init__(self, inner: Reoptimiser) -> None:
        self.tolerance, self.is_exact = inner.tolerance, inner.is_exact
        self._inner = inner
        self._partition: Partition | None = None
        self._held: Columns | None = None
        self._shares: Vector = np.zeros(0)
        self._programme: Programme | None = None
        self._n_columns = 0

    def solve(self, columns: Columns, programme: Programme) -> MasterSolution:
        self._follow(columns, programme)
        if self._held is None:
            return self._inner.solve(columns, programme)
        return self._spread(self._inner.solve(self._held, self._merged(programme)), programme)

    def polish(self, columns: Columns, programme: Programme) -> MasterSolution:
        """The optimum, with a certificate that is computed over all rows."""
        self._follow(columns, programme)
        if self._held is None:
            return self._inner.polish(columns, programme)
        try:
            found = self._spread(self._inner.polish(self._held, self._merged(programme)), programme)
        except MasterFailed as failure:
            if failure.best is not None:
                failure.best = self._spread(failure.best, programme)
            raise
        solution = certify(columns, programme, Candidate(found.w, found.u, found.rho))
        if solution.gap <= self.tolerance or time_is_up(columns.rows.workers):
            return solution
        self.forget()
        return self._inner.polish(columns, programme)

    def move_to(self, columns: Columns, programme: Programme) -> None:
        self._programme = None
        self._follow(columns, programme)
        if self._held is None:
            self._inner.move_to(columns, programme)
        else:
            self._inner.move_to(self._held, self._merged(programme))

    def divide_rows(self, parents: Integers, shares: Vector) -> None:
        self.forget()

    def forget(self) -> None:
        self._inner.forget()
        self._partition = self._held = self._programme = None
        self._n_columns = 0

    def _follow(self, columns: Columns, programme: Programme) -> None:
        """Divide the rows that new columns tell apart; if the programme forbids merging, solve over all rows."""
        if not programme.can_merge_rows or (self._partition is None and not programme.is_uniform()):
            if self._held is not None:
                self.forget()
            self._n_columns = columns.n_columns
            return
        if columns.n_columns < self._n_columns:
            self.forget()
        if columns.n_columns == self._n_columns or (self._n_columns and self._held is None):
            self._n_columns = columns.n_columns
            return
        partition = self._partition or Partition.trivial(columns.n_data)
        parents = np.arange(partition.n_kinds)
        for j in range(self._n_columns, columns.n_columns):
            partition, of_last = partition.refined(columns.entries(j))
            parents = parents[of_last]
        is_first, self._n_columns, self._programme = self._held is None, columns.n_columns, None
        if partition.n_kinds > MOST_DISTINCT * columns.n_data:
            if not is_first and self._partition is not None:
                self._inner.divide_rows(self._partition.kind, self._shares)
            self._partition, self._held = None, None
            return
        self._hold(columns, partition, None if is_first else parents)

    def _hold(self, columns: Columns, partition: Partition, parents: Integers | None) -> None:
        """Solve over one row of each kind from now on."""
        counts = partition.sums(columns.rows.gathered(columns.rows.counts))
        rows, before = Rows(counts, n_jobs=columns.rows.n_jobs), self._held
        if before is None or parents is None:
            self._held = columns.over(rows, partition.examples)
        else:  # the columns known so far are the same in all parts of a divided row
            self._held = before.over(rows, parents)
            for j in range(before.n_columns, columns.n_columns):
                self._held.append(columns.entries(j)[partition.examples])
        self._partition, self._shares = partition, columns.rows.counts / counts[partition.kind]
        if before is not None and parents is not None:
            self._inner.divide_rows(parents, counts / before.rows.counts[parents])

    def _merged(self, programme: Programme) -> Programme:
        """The programme over one row of each kind, computed once for the same columns."""
        if self._programme is None:
            assert self._held is not None
            assert self._partition is not None
            sums = self._partition.sums
            lower, upper, term = sums(programme.lower), sums(programme.upper), programme.term.merged(sums)
            self._programme = replace(programme, rows=self._held.rows, lower=lower, upper=upper, term=term)
        return self._programme

    def _spread(self, merged: MasterSolution, programme: Programme) -> MasterSolution:
        """The solution over all rows: each row has the margin of its kind, and its share of the dual of its kind."""
        assert self._partition is not None
        kind = self._partition.kind
        return replace(merged, u=merged.u[kind] * self._shares, margins=merged.margins[kind], programme=programme)
