"""A ridge regression on stumps, as stumps enter and leave it, and what every other stump would bring.

Where the intercept is free, a stump whose leaves differ by d has the values -d/2 and d/2, whose ridge is
``ridge/4 d^2``: d is its *step*. Let a_k be the indicator of the rows that stump k sends left, less its mean under the
curvature D, S the stumps held, w their steps, z the targets and B = (A_S'DA_S + ridge/2 I)^-1. With stump k in addition
the objective falls, after all steps have moved, by::

    1/2 e_k^2/d_k,   e_k = a_k'D(z - A_S w),   d_k = a_k'Da_k + ridge/2 - a_k'DA_S B A_S'Da_k

That is the steepest edge of the simplex method, and the choice of orthogonal matching pursuit (Pati, Rezaiifar &
Krishnaprasad, "Orthogonal matching pursuit", Asilomar 1993). Without stump i of S, e_k is larger by Y_ik w_i/B_ii and
d_k by Y_ik^2/B_ii, where Y = B A_S'DA. So one pass compares all stumps for a place.
"""

from __future__ import annotations

from copy import deepcopy

import numpy as np
from numpy.typing import NDArray

from .._typing import Vector

SAME = 1e-9
"""A stump of which the stumps held leave a smaller share is one of their sums, up to rounding, and brings nothing."""


class Steps:
    """The stumps in so many places, and e and d of all stumps.

    ``pull`` and ``curvature`` are sums over the rows that each stump sends left, ``all_pull`` and ``all_curvature``
    those over all rows; the pull of a row is its curvature times its target.
    """

    def __init__(
        self, pull: Vector, curvature: Vector, all_pull: float, all_curvature: float, ridge: float, n_places: int
    ) -> None:
        self._curvature, self._share = curvature, curvature / all_curvature
        self._edges = pull - self._share * all_pull
        self._sizes = curvature * (1.0 - self._share) + 0.5 * ridge
        self._e, self._d, self._least = self._edges.copy(), self._sizes.copy(), SAME * self._sizes
        self._Y = np.zeros((n_places, len(curvature)))
        self._products = np.zeros((n_places, len(curvature)))
        self._B, self._w = np.zeros((n_places, n_places)), np.zeros(n_places)
        self.held = np.full(n_places, -1)
        """The stump in each place; -1 where there is none."""

    def copy(self) -> Steps:
        """Steps that may go another way."""
        return deepcopy(self)

    @property
    def fall(self) -> float:
        """How much lower the objective is than without any stump."""
        return float(0.5 * (self._edges[self.held] * self._w)[self.held >= 0].sum())

    def lost_without(self, place: int) -> float:
        """How much of it is lost without the stump in this place, after all other steps have moved."""
        return float(0.5 * self._w[place] ** 2 / self._B[place, place])

    def put(self, place: int, k: int, products: Vector) -> None:
        """Put stump k into an empty place, given the curvature that it shares with every stump on their left."""
        centred = products - self._share * self._curvature[k]
        own, d, e = self._Y[:, k].copy(), max(self._d[k], self._least[k]), self._e[k]
        rest = centred - own @ self._products  # what the stumps held leave of it; the empty place has zeros
        own[place] = -1.0
        self._products[place] = centred
        self._B += np.outer(own, own) / d
        self._Y -= np.outer(own, rest / d)
        self._w -= own * (e / d)
        self._e -= rest * (e / d)
        self._d -= rest * rest / d
        self.held[place] = k

    def remove(self, place: int) -> None:
        """Empty a place."""
        beta, w, own = self._B[place, place], self._w[place], self._Y[place].copy()
        column = self._B[:, place] / beta
        self._e += own * (w / beta)
        self._d += own * own / beta
        self._w -= column * w
        self._Y -= np.outer(column, own)
        self._B -= np.outer(column, column) * beta
        self._products[place] = self._Y[place] = self._B[place] = self._B[:, place] = self._w[place] = 0.0
        self.held[place] = -1

    def best(self, may_enter: NDArray[np.bool_], place: int | None = None) -> tuple[int, float]:
        """The stump that lowers the objective most, in addition or in this place instead, and by how much."""
        e, d, lost = self._e, self._d, 0.0
        if place is not None:
            own, beta = self._Y[place], self._B[place, place]
            e, d, lost = e + own * (self._w[place] / beta), d + own * own / beta, self.lost_without(place)
        falls = np.where(may_enter & (d > self._least), 0.5 * e * e / np.maximum(d, self._least), 0.0)
        k = int(falls.argmax())
        return k, float(falls[k]) - lost
