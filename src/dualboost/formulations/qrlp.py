"""QRLP-Boost."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from .._typing import Vector
from .capped import CappedDistribution
from .terms import QuadraticTerm


@dataclass
class QRLPBoost(CappedDistribution):
    """QRLP-Boost: the worst soft margin, with a quadratic pull of the duals to uniform.

    Programme in u (the paper's)::

        min  max_j sum_i u_i y_i h_j(x_i) + 1/eta sum_i (u_i log u0 + u_i^2 / (2 u0_i))
        s.t. sum_i u_i = 1,   0 <= u_i <= c_i/C

    with u0_i = c_i/M and M the total of the multiplicities. The logarithm is that of a single row's share 1/M,
    so that a row of multiplicity two equals the row twice; it is a constant, since the u_i sum to one.

    Dual, in w on the simplex (the weights) and rho (the soft margin)::

        max  rho - sum_i max over 0 <= v <= c_i/C of (rho - m_i) v - (v log u0 + v^2/(2 u0_i))/eta,   m = A w

    Pricing: a column improves when its edge exceeds the largest edge held.

    C: 1/C caps the share of a single row; above 0 and at most M. C/M is the fraction of rows that the margin may
    give up. Default: 0.3 M. Paper's range: 1 to 0.06 M. ``epsilon``: the paper's stopping constant, through
    eta = max(1/2, ln M / (epsilon/2)); the larger it is, the stronger the pull to uniform.
    ``scale_free=True`` has c_i/M in place of c_i: C is the fraction itself, above 0 and at most 1, with a default of
    0.3 and a grid from 0.01 to 0.5; the M of eta is then the number of distinct rows.

    Paper: Akkerman, Ferry, Artigues, Hebrard & Vidal, "Boosting revisited", TMLR 2025.
    """

    name: ClassVar[str] = "qrlp"
    title: ClassVar[str] = "QRLP-Boost"
    optimises: ClassVar[str] = "the worst soft margin, with a quadratic pull of the duals to uniform"
    meaning_of_C: ClassVar[str] = "1/C caps a row's share, above 0 and at most M (default 0.3 M)"
    use: ClassVar[str] = "Few trees, and a margin that gives up a chosen fraction C/M of the rows."
    objective_sign: ClassVar[int] = -1

    def regulariser(self, shares: Vector, n_rows: float) -> QuadraticTerm:
        eta = self.eta(n_rows)
        return QuadraticTerm(-np.log(n_rows) / eta, 1.0 / (eta * shares), np.zeros_like(shares))
