"""One tree for all classes, by growers that know of one residual only, such as those of exact trees.

The residual has a column for each class. Along its first singular vectors it is one number for each row, as for two
classes, so that any grower finds a tree. Of these trees the one enters whose leaves, with a value for every class,
lower the objective most.
"""

from __future__ import annotations

import numpy as np

from .._typing import Matrix
from .newton_trees import Grower, GrownTree

N_DIRECTIONS = 3
"""How many singular vectors are tried."""
LEAST_SHARE = 1e-12
"""A direction with a smaller share of the squared residual has nothing to be grown from."""


class ClassTrees:
    """Grows trees for residuals and curvatures with one column for each class."""

    def __init__(self, grower: Grower) -> None:
        self._grower = grower

    def grow(self, residual: Matrix, curvature: Matrix, ridge: float) -> GrownTree | None:
        offers = []
        for direction in _directions(residual):
            grown = self._grower.grow(residual @ direction, curvature @ direction**2, ridge)
            if grown is not None:
                offers.append(grown)
        return max(offers, key=lambda offer: offer.fall(residual, curvature, ridge), default=None)


def _directions(residual: Matrix) -> Matrix:
    """The first right singular vectors, as rows; the largest entry of each is positive, so that signs are defined."""
    squares, vectors = np.linalg.eigh(residual.T @ residual)
    order = np.argsort(squares)[::-1][:N_DIRECTIONS]
    chosen = vectors.T[order[squares[order] > LEAST_SHARE * squares.sum()]]
    largest = np.take_along_axis(chosen, np.abs(chosen).argmax(axis=1)[:, None], axis=1)
    directions: Matrix = chosen * np.sign(largest)
    return directions
