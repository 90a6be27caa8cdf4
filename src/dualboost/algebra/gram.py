"""A cache of A' diag(d) A: where d stays the same, as under a quadratic loss, only new columns are multiplied.

Of rows that are spread over workers, each remembers its own part of the matrix.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np

from .._typing import Matrix, Vector
from .rows import Rows


class Multiplied(Protocol):
    """The products that a Gram matrix is computed from."""

    rows: Rows

    @property
    def n_columns(self) -> int: ...

    def whole_gram(self, d: Vector) -> Matrix:
        """A' diag(d) A over the rows held here, computed from the start."""

    def column(self, j: int) -> Vector:
        """The entries of one column in all rows."""

    def edges_here(self, u: Vector) -> Vector:
        """A'u over the rows held here."""


class GramCache:
    """The last d and its matrix, of which only the upper triangle is defined."""

    def __init__(self) -> None:
        self._d: Vector = np.empty(0)
        self._gram: Matrix = np.empty((0, 0))

    def gram(self, products: Multiplied, d: Vector) -> Matrix:
        """A' diag(d) A over the rows held here, for d > 0."""
        n_known = len(self._gram) if len(self._gram) and np.array_equal(d, self._d) else 0
        extends = n_known > products.n_columns // 2
        self._gram = self._extended(products, d) if extends else products.whole_gram(d)
        self._d = d
        return self._gram

    def keep_first(self, n_columns: int) -> None:
        """Forget the columns that came after the first ``n_columns``."""
        self._gram = self._gram[:n_columns, :n_columns]

    def _extended(self, products: Multiplied, d: Vector) -> Matrix:
        n, n_known = products.n_columns, len(self._gram)
        gram = np.zeros((n, n))
        gram[:n_known, :n_known] = self._gram
        for new in range(n_known, n):
            gram[: new + 1, new] = products.edges_here(d * products.column(new))[: new + 1]
        return gram
