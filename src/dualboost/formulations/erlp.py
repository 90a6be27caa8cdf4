"""ERLP-Boost."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from .._typing import Vector
from .capped import CappedDistribution
from .terms import EntropyTerm


@dataclass
class ERLPBoost(CappedDistribution):
    """ERLP-Boost: the worst soft margin, with a relative-entropy pull of the duals to uniform.

    Programme in u (the paper's, with the true relative entropy in place of its repeated linearisation)::

        min  max_j sum_i u_i y_i h_j(x_i) + 1/eta sum_i u_i log(u_i / u0_i)
        s.t. sum_i u_i = 1,   0 <= u_i <= c_i/C

    with u0_i = c_i/M and M the total of the multiplicities.

    Dual, in w on the simplex (the weights) and rho (the soft margin)::

        max  rho - sum_i max over 0 <= v <= c_i/C of (rho - m_i) v - v log(v/u0_i)/eta,   m = A w

    Pricing: a column improves when its edge exceeds the largest edge held.

    C: 1/C caps the share of a single row; above 0 and at most M. C/M is the fraction of rows that the margin may
    give up. Default: 0.3 M. Paper's range: 1 to 0.06 M. ``epsilon``: the guarantee sought, through
    eta = max(1/2, ln M / (epsilon/2)); the larger it is, the stronger the pull to uniform.
    ``scale_free=True`` has c_i/M in place of c_i: C is the fraction itself, above 0 and at most 1, with a default of
    0.3 and a grid from 0.01 to 0.5; the M of eta is then the number of distinct rows.

    Paper: Warmuth, Glocer & Vishwanathan, "Entropy regularized LPBoost", ALT 2008.
    """

    name: ClassVar[str] = "erlp"
    title: ClassVar[str] = "ERLP-Boost"
    optimises: ClassVar[str] = "the worst soft margin, with an entropic pull of the duals to uniform"
    meaning_of_C: ClassVar[str] = "1/C caps a row's share, above 0 and at most M (default 0.3 M)"
    use: ClassVar[str] = "As qrlp, with the guarantee on the number of iterations that its paper proves."
    objective_sign: ClassVar[int] = -1

    def regulariser(self, shares: Vector, n_rows: float) -> EntropyTerm:
        return EntropyTerm(reference=shares, eta=self.eta(n_rows))
