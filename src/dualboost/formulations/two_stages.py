"""A programme in two stages: first the least loss of each class alone, then the smallest excess over these losses.

With b_i the share of row i in its class k, and L_k(w) = sum over its rows of b_i (1 - m_i)_+ the mean loss there::

    stage one   L*_k = min over w in W  of  L_k(w),   for each class k alone
    stage two   min over w in W  of  max over k  of   L_k(w) - L*_k

Stage two is a saddle problem: the largest value, over class weights p_k >= 0 that add up to one, of an ordinary
programme (``programme.py``) with u_i in [0, p_k b_i], minus the constant sum_k p_k L*_k. So for any w, and any p and u,
max_k L_k(w) - L*_k is an upper bound of the optimum, and the dual value of that programme is a lower bound. L*_k is
known as an interval: the primal value uses its lower end and the dual value its upper end, so that both stay bounds.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from .._typing import Matrix, Vector
from ..algebra.rows import Rows
from .programme import Programme
from .terms import LinearTerm
from .weight_sets import WeightSet

LEAST_CLASS_WEIGHT = 1e-13
"""The least class weight that solvers are given: at zero the box of the duals would have an empty interior."""


@dataclass(frozen=True, eq=False)
class TwoStageProgramme(Programme):
    """Stage two at given class weights, with what stage one has found."""

    shares: Vector = field(kw_only=True)
    """b."""
    class_weights: tuple[float, float] = field(kw_only=True)
    least: Matrix = field(kw_only=True)
    """For each class the lower and the upper bound of its least loss; zeros before stage one."""

    @classmethod
    def of(cls, rows: Rows, weight_set: WeightSet) -> TwoStageProgramme:
        """The programme for rows of two classes, at equal class weights, before stage one."""
        shares, zeros = rows.counts / rows.put(rows.totals_of_groups).take(rows.groups), rows.full(0.0)
        return cls(
            rows=rows,
            lower=zeros,
            upper=0.5 * shares,
            term=LinearTerm(1.0, zeros),
            weight_set=weight_set,
            size=1.0,  # the loss of the empty ensemble
            shares=shares,
            class_weights=(0.5, 0.5),
            least=np.zeros((2, 2)),
        )

    @property
    def stages(self) -> TwoStageProgramme:
        return self

    def at(self, class_weights: tuple[float, float], least: Matrix | None = None) -> TwoStageProgramme:
        """The programme at other class weights, and with other least losses if they are given."""
        least = self.least if least is None else least
        of_rows, least_of_rows = (
            self.rows.put(one).take(self.rows.groups) for one in (np.array(class_weights), least[:, 1])
        )
        upper = of_rows * self.shares
        term = LinearTerm(1.0, upper * least_of_rows)
        return replace(self, upper=upper, term=term, class_weights=class_weights, least=least)

    def alone(self, k: int) -> TwoStageProgramme:
        """Stage one: the loss of class k, and of no other."""
        return self.at((1.0 - k, float(k)), np.zeros((2, 2)))

    def inner(self) -> Programme:
        """The ordinary programme at these class weights, with boxes that have an interior, as solvers require."""
        first, second = (max(weight, LEAST_CLASS_WEIGHT) for weight in self.class_weights)
        inside = self.at((first, second))
        return Programme(
            self.rows, self.lower, inside.upper, inside.term, self.weight_set, self.total, self.intercepts, self.size
        )

    def losses(self, margins: Vector, rho: Vector) -> Vector:
        """L_k of both classes."""
        hinges = self.shares * np.maximum(1.0 - self.shifted(margins, rho), 0.0)
        return self.rows.totals_by_group(hinges)

    def primal_terms(self, w: Vector, margins: Vector, rho: Vector) -> tuple[float, float]:
        """The larger excess, and the larger loss or ``size`` if that is larger, over the classes with a weight."""
        has_weight = np.array(self.class_weights) > 0
        losses = self.losses(margins, rho)
        return float((losses - self.least[:, 0])[has_weight].max()), max(float(losses[has_weight].max()), self.size)
