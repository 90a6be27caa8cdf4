"""MD-Boost with its full matrix A."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from ..algebra.rows import Rows
from .md import MDBoost
from .programme import Programme


@dataclass
class MDFullBoost(MDBoost):
    """MD-Boost as its paper derives it: a large mean and a small variance of the margins.

    Primal, in w and rho (the mean of the margins, at the optimum)::

        max  sum_i c_i (r_i - (r_i - rho)^2/2)
        s.t. r_i = y_i sum_j w_j h_j(x_i),   sum_j w_j = C,   w >= 0

    This is sum(r) - r'Ar/2 with A = I - 11'/M, M being the total of the multiplicities. The paper's A is M/(M - 1)
    times this one (the variance of a sample); without that factor, the scale of ``sample_weight`` does not matter.
    ``md`` has A = I.

    Dual (u free in sign; a negative u_i belongs to a row whose margin exceeds the mean by more than one)::

        min  C max_j sum_i u_i y_i h_j(x_i) + 1/2 sum_i (u_i - c_i)^2 / c_i
        s.t. sum_i u_i = M

    At the optimum u_i = c_i (1 + rho - r_i): the mean is the multiplier of the total, and no matrix of M x M is needed.

    Pricing: a column improves when its edge exceeds the largest edge held. Negative u_i are priced as in ``md``.

    C: the sum of the weights, above 0 and scale-free. Default: 3. Paper's range: 1 to 120.

    Paper: Shen & Li, "Boosting through optimization of margin distributions", IEEE Trans. Neural Networks 21 (2010).
    """

    name: ClassVar[str] = "md-full"
    title: ClassVar[str] = "MD-Boost (full)"
    optimises: ClassVar[str] = "a large mean and a small variance of the margins"
    use: ClassVar[str] = "As md, where margins should be alike but need not be near one."

    def programme(self, rows: Rows, n_columns: int) -> Programme:
        return replace(super().programme(rows, n_columns), total=rows.n_samples)
