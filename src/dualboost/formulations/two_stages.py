"""A programme in two stages: the least loss of each class alone, then the least of the larger excess over these.

With b_i the share of row i in its class k, and L_k(w) = sum over its rows of b_i (1 - m_i)_+ the class's mean hinge loss::

    stage one   L*_k = min over w in W  of  L_k(w),   for each class alone
    stage two   min over w in W  of  max over k  of   L_k(w) - L*_k

As a saddle, stage two is the largest value over the *price* p in [0, 1] of the first class, 1 - p being that of the
second, of a programme of the one shape: u_i is in [0, p_k b_i], and its value is less the constant sum_k p_k L*_k. So for
any w and any (p, u), primal(w) = max_k L_k(w) - L*_k and the dual value of that programme enclose the optimum. L*_k is
known to lie in an interval: the primal value takes its lower end and the dual value its upper end, which keeps both
bounds valid.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from .._typing import Vector
from .programme import Programme
from .terms import LinearTerm
from .weight_sets import WeightSet

KINK = 1.0
"""The margin up to which a row has a loss."""
LEAST_PRICE = 1e-13
"""The least price that solvers are given: at zero the box of a class would have no inside."""


@dataclass(frozen=True, eq=False)
class TwoStageProgramme(Programme):
    """Stage two at one price, with the intervals that stage one has left of the least losses."""

    shares: Vector = field(kw_only=True)
    """b."""
    classes: NDArray[np.intp] = field(kw_only=True)
    """The class of each row, 0 or 1."""
    prices: tuple[float, float] = field(kw_only=True)
    least: NDArray[np.float64] = field(kw_only=True, default_factory=lambda: np.zeros((2, 2)))
    """For each class the lower and the upper end of what is known of its least loss."""

    @classmethod
    def of(cls, labels: Vector, counts: Vector, weight_set: WeightSet) -> TwoStageProgramme:
        """The programme of rows of two classes, at equal prices, before stage one."""
        classes = (labels > 0).astype(np.intp)
        shares = counts / np.bincount(classes, weights=counts)[classes]
        zeros = np.zeros_like(shares)
        term, size = LinearTerm(KINK, zeros), KINK
        made = cls(
            zeros, shares, term, weight_set, size=size, shares=shares, classes=classes, prices=(0.5, 0.5)
        )
        return made.at((0.5, 0.5))

    def at(self, prices: tuple[float, float], least: NDArray[np.float64] | None = None) -> TwoStageProgramme:
        """The programme at other prices, and after stage one if its intervals are given."""
        least = self.least if least is None else least
        priced = np.asarray(prices)[self.classes] * self.shares
        term = LinearTerm(KINK, priced * (least[:, 1] / KINK)[self.classes])
        return replace(self, upper=priced, term=term, prices=prices, least=least)

    def alone(self, k: int) -> TwoStageProgramme:
        """Stage one: the loss of one class and no other."""
        return self.at((float(k == 0), float(k == 1)), np.zeros((2, 2)))

    def inner(self) -> Programme:
        """The programme of the one shape at these prices, for solvers."""
        least = np.maximum(self.prices, LEAST_PRICE)
        inside = self.at((float(least[0]), float(least[1])))
        return Programme(
            inside.lower, inside.upper, inside.term, self.weight_set, self.total, self.labels, self.size
        )

    def losses(self, margins: Vector, rho: Vector) -> Vector:
        """L_k of both classes."""
        hinge = self.shares * np.maximum(KINK - self.shifted(margins, rho), 0.0)
        return np.bincount(self.classes, weights=hinge, minlength=2)

    def primal_terms(self, w: Vector, margins: Vector, rho: Vector) -> tuple[float, float]:
        losses = self.losses(margins, rho)
        excess = np.where(np.asarray(self.prices) == 0.0, -np.inf, losses - self.least[:, 0])
        return float(excess.max()), max(float(losses[np.argmax(excess)]), self.size)
