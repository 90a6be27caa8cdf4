"""LP-Boost in its nu-form."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from .._typing import Vector
from ..algebra.rows import Rows
from .base import Formulation
from .programme import Programme
from .terms import LinearTerm
from .weight_sets import Simplex


@dataclass
class NuLPBoost(Formulation):
    """LP-Boost in its nu-form: the worst margin after giving up a fraction of the rows.

    Primal, in w (the weights) and rho (the soft margin)::

        max  rho - 1/(C M) sum_i c_i xi_i
        s.t. y_i sum_j w_j h_j(x_i) + xi_i >= rho,   sum_j w_j = 1,   w, xi >= 0

    with M the total of the multiplicities.

    Dual::

        min  max_j sum_i u_i y_i h_j(x_i)
        s.t. sum_i u_i = 1,   0 <= u_i <= c_i/(C M)

    Where the optimal value v is positive, w/rho solves LP-Boost's programme ``lp`` with 1/(C M v) as its C.

    Pricing: a column improves when its edge exceeds the largest edge held.

    C: the papers' nu, above 0 and at most 1; scale-free. At most the fraction C of the rows has a margin below rho, and
    at least that fraction has one of at most rho. Default: 0.3. Paper's range: above 0 and at most 1; the grid is 0.01
    to 0.5, uniform in the exponent.

    Paper: Demiriz, Bennett & Shawe-Taylor, "Linear programming boosting via column generation",
    Machine Learning 46 (2002), eq. 4; Rätsch, Schölkopf, Smola, Mika, Onoda & Müller, "Robust ensemble learning",
    Advances in Large Margin Classifiers (2000).
    """

    name: ClassVar[str] = "lp-nu"
    title: ClassVar[str] = "LP-Boost (nu)"
    optimises: ClassVar[str] = "the worst margin, after giving up a fraction of the rows"
    meaning_of_C: ClassVar[str] = "nu, the fraction of rows given up, above 0 and at most 1 (default 0.3)"
    use: ClassVar[str] = "As lp, with a C that means the same on data of any size."
    objective_sign: ClassVar[int] = -1
    sparser_with_larger_C: ClassVar[bool] = True

    def programme(self, rows: Rows, n_columns: int) -> Programme:
        lower = rows.full(0.0)
        upper = rows.counts / (self.strength * rows.n_samples)
        return Programme(rows, lower, upper, LinearTerm(0.0, lower), Simplex(), total=1.0)

    def C_bounds(self, n_samples: float) -> tuple[float, float]:
        return 0.0, 1.0

    def default_C(self, n_samples: float) -> float:
        return 0.3

    def C_grid(self, n_samples: float, k: int = 10) -> Vector:
        return np.geomspace(0.01, 0.5, k)
