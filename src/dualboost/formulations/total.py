"""TotalBoost."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from .hard import HardMarginBoost
from .within_epsilon import WithinEpsilon


@dataclass
class TotalBoost(WithinEpsilon, HardMarginBoost):
    """TotalBoost: the worst margin of all rows, to a guarantee; SoftBoost without a cap on the duals.

    Primal and Dual of the weights are those of ``hard`` over the columns held. Between pricings u is::

        min  sum_i u_i log(u_i M/c_i)
        s.t. sum_i u_i y_i h_j(x_i) <= gamma - epsilon for every column j held,   sum_i u_i = 1,   u >= 0

    with M the total of the multiplicities and gamma the smallest, over all pricings, of the largest edge found. Where
    no u satisfies this, the ensemble is within epsilon of gamma, and so of the optimum: the fit ends.

    Pricing: the column with the largest edge enters, whatever its edge.

    C: not used; it must be None or 1. Default: 1. Paper's range: there is no C. ``epsilon``: the guarantee (the
    paper's nu), met after at most 2 ln(M)/epsilon^2 pricings.

    Paper: Warmuth, Liao & Rätsch, "Totally corrective boosting algorithms that maximize the margin", ICML 2006.
    """

    name: ClassVar[str] = "total"
    title: ClassVar[str] = "TotalBoost"
    optimises: ClassVar[str] = "the worst margin of all rows, within epsilon, by the duals nearest to uniform"
    use: ClassVar[str] = "As hard, with the guarantee on the number of iterations that its paper proves."
    guide: ClassVar[str] = "projection"
    corrects_for_classes: ClassVar[tuple[str, ...]] = ()
