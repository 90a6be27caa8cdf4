"""CG-Boost."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ..algebra.rows import Rows
from .programme import Programme
from .row_scale import PricesLoss
from .terms import LinearTerm
from .weight_sets import Cone


@dataclass
class CGBoost(PricesLoss):
    """CG-Boost: LP-Boost with the squared l2 norm of the weights in place of their sum.

    Primal::

        min  1/2 sum_j w_j^2 + C sum_i c_i xi_i
        s.t. y_i sum_j w_j h_j(x_i) + xi_i >= 1,   w, xi >= 0

    Dual::

        max  sum_i u_i - 1/2 sum_j max(0, sum_i u_i y_i h_j(x_i))^2
        s.t. 0 <= u_i <= C c_i

    At the optimum w_j is the positive part of column j's edge.

    Pricing: a column improves when its edge is positive. A column that is held already must not enter again: two
    halves of a weight have a smaller l2 norm than the whole. The best other one is asked for.

    C: the cost of a unit of slack, above 0. Default: 50/M, where M is the total of the multiplicities.
    Paper's range: 10^-4 to 10^-0.33. ``scale_free=True`` has c_i/M in place of c_i: C is the cost of the mean slack,
    with a default of 50 and a grid from 2 to 2000.

    Paper: Bi, Zhang & Bennett, "Column-generation boosting methods for mixture of kernels", KDD 2004.
    """

    name: ClassVar[str] = "cg"
    title: ClassVar[str] = "CG-Boost"
    optimises: ClassVar[str] = "hinge loss plus half the squared norm of the weights"
    meaning_of_C: ClassVar[str] = "the cost of slack, above 0 (default 50/M for M rows)"
    use: ClassVar[str] = "Accurate and smooth; keeps nearly every tree that it generates."
    objective_sign: ClassVar[int] = 1

    def programme(self, rows: Rows, n_columns: int) -> Programme:
        lower, upper = rows.full(0.0), self.strength * self.multiplicities(rows)
        return Programme(rows, lower, upper, LinearTerm(1.0, lower), Cone(ridge=1.0))
