"""LP-Boost."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ..algebra.rows import Rows
from .programme import Programme
from .row_scale import PricesLoss
from .terms import LinearTerm
from .weight_sets import Cone


@dataclass
class LPBoost(PricesLoss):
    """LP-Boost: the soft-margin linear programme with a fixed margin of one.

    Primal::

        min  sum_j w_j + C sum_i c_i xi_i
        s.t. y_i sum_j w_j h_j(x_i) + xi_i >= 1,   w, xi >= 0

    Dual::

        max  sum_i u_i
        s.t. sum_i u_i y_i h_j(x_i) <= 1 for every column j,   0 <= u_i <= C c_i

    Pricing: a column improves when its edge exceeds 1.

    C: the cost of a unit of slack, above 0. The empty ensemble is optimal while C times the largest edge under u = c,
    the multiplicities, is at most 1 (so below about 1/M nothing is learnt, M being the total of the multiplicities).
    Default: 50/M. Paper's range: 10^-4 to 10^-0.33. ``scale_free=True`` has c_i/M in place of c_i: C is the cost of the
    mean slack, with a default of 50 and a grid from 2 to 2000.

    Paper: Demiriz, Bennett & Shawe-Taylor, "Linear programming boosting via column generation",
    Machine Learning 46 (2002), eq. 2.
    """

    name: ClassVar[str] = "lp"
    title: ClassVar[str] = "LP-Boost"
    optimises: ClassVar[str] = "hinge loss plus the sum of the weights"
    meaning_of_C: ClassVar[str] = "the cost of slack, above 0 (default 50/M for M rows)"
    use: ClassVar[str] = "The classic, and the fastest to solve; a smaller C uses fewer trees."
    objective_sign: ClassVar[int] = 1

    def programme(self, rows: Rows, n_columns: int) -> Programme:
        lower, upper = rows.full(0.0), self.strength * self.multiplicities(rows)
        return Programme(rows, lower, upper, LinearTerm(1.0, lower), Cone(cost=1.0))

    def smallest_useful_C(self, largest_edge: float) -> float | None:
        return 1.0 / largest_edge if largest_edge > 0 else None
