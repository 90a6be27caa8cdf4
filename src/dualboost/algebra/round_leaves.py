"""Rounds of trees, one tree for each class: products with matrices that have one column for each class.

A round is a block of as many rows of values as its largest tree has leaves: entry (l, k) is the value of leaf l in the
tree of class k. Smaller trees have empty leaves there, whose values stay zero under a ridge.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .._typing import Integers, Matrix
from .leaves import LeafColumns, LeafNumbers
from .outputs import OutputsThemselves
from .rows import Rows

Round = tuple[Sequence[LeafNumbers], int]
"""For each class the leaf of each row, and the number of leaves of the largest tree."""


class RoundLeafColumns:
    """The leaves of the rounds held."""

    def __init__(self, rows: Rows, n_classes: int) -> None:
        self.rows = rows
        self.of_class = [LeafColumns(rows, OutputsThemselves()) for _ in range(n_classes)]
        """The trees of each class."""

    @property
    def n_trees(self) -> int:
        """The number of rounds."""
        return self.of_class[0].n_trees

    @property
    def n_columns(self) -> int:
        return self.of_class[0].n_columns

    @property
    def starts(self) -> Integers:
        """The first row of values of each round, and the number of these rows as the last entry."""
        return self.of_class[0].starts

    def hold(self, rounds: Sequence[Round]) -> None:
        """Hold these rounds instead."""
        for k, columns in enumerate(self.of_class):
            columns.hold([(leaves[k], size) for leaves, size in rounds])

    def sums(self, values: Matrix) -> Matrix:
        """For each leaf, the sum of its class's column over its rows."""
        return np.column_stack([columns.sums(values[:, k]) for k, columns in enumerate(self.of_class)])

    def scores(self, values: Matrix) -> Matrix:
        """For each row and class, the sum of the values of its leaves."""
        return np.column_stack([columns.scores(values[:, k]) for k, columns in enumerate(self.of_class)])
