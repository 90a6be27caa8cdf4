"""A programme in two stages: the least loss of each class alone, then the least of the larger excess over these.

With b_i the share of row i in its class k, and L_k(w) = sum over its rows of b_i (1 - m_i)_+ the mean loss there::

    stage one   L*_k = min over w in W  of  L_k(w),   for each class k alone
    stage two   min over w in W  of  max over k  of   L_k(w) - L*_k

As a saddle, stage two is the largest value, over prices p_k >= 0 of the classes that add up to one, of a programme of
the one shape: u_i is in [0, p_k b_i], and from its value the constant sum_k p_k L*_k is taken. So for any w, and any p
and u, max_k L_k(w) - L*_k and the dual value of that programme enclose the optimum. What is known of L*_k is an
interval: the primal value takes its lower end and the dual value its upper end, so that both remain bounds.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from .._typing import Integers, Matrix, Vector
from .programme import Programme
from .terms import LinearTerm
from .weight_sets import WeightSet

LEAST_PRICE = 1e-13
"""The least price that solvers are given: at zero the box of a class would have no inside."""


@dataclass(frozen=True, eq=False)
class TwoStageProgramme(Programme):
    """Stage two at given prices of the classes, with what stage one has found."""

    shares: Vector = field(kw_only=True)
    """b."""
    classes: Integers = field(kw_only=True)
    """The class of each row, 0 or 1."""
    prices: tuple[float, float] = field(kw_only=True)
    least: Matrix = field(kw_only=True)
    """For each class the lower and the upper end of its least loss; zeros before stage one."""

    @classmethod
    def of(cls, labels: Vector, counts: Vector, weight_set: WeightSet) -> TwoStageProgramme:
        """The programme for rows of two classes, at equal prices, before stage one."""
        classes = (labels > 0).astype(np.intp)
        shares = counts / np.bincount(classes, weights=counts)[classes]
        zeros, equal = np.zeros_like(shares), (0.5, 0.5)
        return cls(
            lower=zeros,
            upper=0.5 * shares,
            term=LinearTerm(1.0, zeros),
            weight_set=weight_set,
            size=1.0,  # the loss of the empty ensemble
            shares=shares,
            classes=classes,
            prices=equal,
            least=np.zeros((2, 2)),
        )

    def at(self, prices: tuple[float, float], least: Matrix | None = None) -> TwoStageProgramme:
        """The programme at other prices, and with other least losses if they are given."""
        least = self.least if least is None else least
        upper = np.array(prices)[self.classes] * self.shares
        return replace(
            self, upper=upper, term=LinearTerm(1.0, upper * least[self.classes, 1]), prices=prices, least=least
        )

    def alone(self, k: int) -> TwoStageProgramme:
        """Stage one: the loss of class k, and of no other."""
        return self.at((1.0 - k, float(k)), np.zeros((2, 2)))

    def inner(self) -> Programme:
        """The programme of the one shape at these prices, with an inside for solvers."""
        inside = self.at((max(self.prices[0], LEAST_PRICE), max(self.prices[1], LEAST_PRICE)))
        return Programme(self.lower, inside.upper, inside.term, self.weight_set, self.total, self.labels, self.size)

    def losses(self, margins: Vector, rho: Vector) -> Vector:
        """L_k of both classes."""
        hinges = self.shares * np.maximum(1.0 - self.shifted(margins, rho), 0.0)
        return np.array([hinges[self.classes == k].sum() for k in (0, 1)])

    def primal_terms(self, w: Vector, margins: Vector, rho: Vector) -> tuple[float, float]:
        """The larger excess, of the classes that have a price; and the larger loss, or ``size`` if that is more."""
        has_price = np.array(self.prices) > 0
        losses = self.losses(margins, rho)
        return float((losses - self.least[:, 0])[has_price].max()), max(float(losses[has_price].max()), self.size)
