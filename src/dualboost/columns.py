"""The growing vote matrix A[i, j] = y_i h_j(x_i): the only place that touches rows times columns.

Every product a master needs is one of three: ``margins(w) = A w``, ``edges(u) = A'u`` and ``gram(d) = A' diag(d) A``.
"""

from __future__ import annotations

import hashlib

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.blas import dsyrk

from ._typing import Integers, Matrix, Vector

ROWS_PER_BLOCK = 2048
"""Rows multiplied at a time in ``gram``, so that a block stays in the processor's cache."""


class Columns:
    """Columns held by the master, over rows with multiplicities ``counts`` and labels in {-1, +1}."""

    def __init__(self, labels: Vector, counts: Vector, capacity: int = 16) -> None:
        self.labels = labels
        self.counts = counts
        self._signed = np.empty((max(capacity, 1), len(labels)))
        self._keys: set[bytes] = set()
        self._row_keys = np.zeros(len(labels), dtype=np.uint64)
        self._multipliers = np.random.default_rng(0)
        self.n_columns = 0

    @property
    def n_rows(self) -> int:
        return len(self.labels)

    @property
    def signed(self) -> Matrix:
        """A', one contiguous row for each column held."""
        return self._signed[: self.n_columns]

    def holds(self, votes: Vector) -> bool:
        """Whether a column with exactly these votes is held already."""
        return self._key(votes) in self._keys

    def append(self, votes: Vector) -> None:
        if self.n_columns == len(self._signed):
            self._signed = np.concatenate([self._signed, np.empty_like(self._signed)])
        np.multiply(self.labels, votes, out=self._signed[self.n_columns])
        self._keys.add(self._key(votes))
        bits = self._signed[self.n_columns].view(np.uint64)
        self._row_keys += (bits ^ (bits >> np.uint64(29))) * self._multipliers.integers(2**63, dtype=np.uint64)
        self.n_columns += 1

    def keep_first(self, n_columns: int) -> None:
        """Forget the columns that came after the first ``n_columns``."""
        self.n_columns = min(n_columns, self.n_columns)

    def margins(self, w: Vector) -> Vector:
        return w @ self._signed[: len(w)]

    def edges(self, u: Vector) -> Vector:
        return self.signed @ u

    def edges_of_last(self, n: int, u: Vector) -> Vector:
        """The edges of the last n columns only."""
        return self.signed[self.n_columns - n :] @ u

    def gram(self, d: Vector) -> Matrix:
        """A' diag(d) A for d > 0, accumulated over blocks of rows; only its upper triangle is filled."""
        n = self.n_columns
        total = np.zeros((n, n), order="F")
        root = np.sqrt(d)
        for start in range(0, self.n_rows, ROWS_PER_BLOCK):
            stop = start + ROWS_PER_BLOCK
            block = self._signed[:n, start:stop] * root[start:stop]
            total = dsyrk(1.0, block.T, trans=1, beta=1.0, c=total, overwrite_c=1)
        return total

    def distinct(self, rows: NDArray[np.bool_]) -> tuple[Integers, Integers]:
        """Among the rows marked: one of each kind that some column tells apart, and the kind of every one."""
        marked = np.flatnonzero(rows)
        _, first, group = np.unique(self._row_keys[marked], return_index=True, return_inverse=True)
        return marked[first], group

    @staticmethod
    def _key(votes: Vector) -> bytes:
        return hashlib.blake2b(np.ascontiguousarray(votes).data, digest_size=16).digest()
