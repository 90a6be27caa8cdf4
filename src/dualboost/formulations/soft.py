"""SoftBoost."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from .lp_nu import NuLPBoost
from .within_epsilon import WithinEpsilon


@dataclass
class SoftBoost(WithinEpsilon, NuLPBoost):
    """SoftBoost: the worst soft margin, to a guarantee, by the distribution nearest to uniform with small edges.

    Primal and Dual of the weights are those of ``lp-nu`` over the columns held. Between pricings u is::

        min  sum_i u_i log(u_i M/c_i)
        s.t. sum_i u_i y_i h_j(x_i) <= gamma - epsilon for every column j held,   sum_i u_i = 1,   0 <= u_i <= c_i/(C M)

    with M the total of the multiplicities and gamma the smallest, over all pricings, of the largest edge found. Where
    no u satisfies this, the ensemble is within epsilon of gamma, and so of the optimum: the fit ends.

    Pricing: the column with the largest edge enters, whatever its edge.

    C: the paper's nu as a fraction of the rows, above 0 and at most 1. Default: 0.3. Paper's range: above 0 and at most
    1; the grid is that of ``lp-nu``. ``epsilon``: the guarantee (the paper's delta), met after at most
    2 ln(1/C)/epsilon^2 pricings.

    Paper: Warmuth, Glocer & Rätsch, "Boosting algorithms for maximizing the soft margin", NIPS 2007.
    """

    name: ClassVar[str] = "soft"
    title: ClassVar[str] = "SoftBoost"
    optimises: ClassVar[str] = "the worst soft margin, within epsilon, by the duals nearest to uniform"
    use: ClassVar[str] = "As lp-nu, with the guarantee on the number of iterations that its paper proves."
    guide: ClassVar[str] = "projection"
    corrects_for_classes: ClassVar[tuple[str, ...]] = ()
