"""MLPBoost."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from .lp_nu import NuLPBoost
from .within_epsilon import WithinEpsilon


@dataclass
class MLPBoost(WithinEpsilon, NuLPBoost):
    """MLPBoost: the worst soft margin, to a guarantee, by Frank-Wolfe steps on a smoothed margin or by the master.

    Primal and Dual of the weights are those of ``lp-nu`` over the columns held. Between pricings u attains::

        f(v) = max  sum_i -u_i y_i sum_j v_j h_j(x_i) - 1/eta sum_i u_i log(u_i M/c_i)
               s.t. sum_i u_i = 1,   0 <= u_i <= c_i/(C M)

    with M the total of the multiplicities, eta = max(1/2, 2 ln(1/C)/epsilon), and v the weights of lower f among two:
    those after a short Frank-Wolfe step towards the column with the largest edge, and the optimal weights over the
    columns held. Let gamma be the smallest, over all pricings, of the largest edge found. Where f(v) + gamma is at most
    epsilon/2, the ensemble is within epsilon of the optimum: the fit ends.

    Pricing: the column with the largest edge enters, whatever its edge.

    C: the paper's nu as a fraction of the rows, above 0 and at most 1. Default: 0.3. Paper's range: above 0 and at most
    1; the grid is that of ``lp-nu``. ``epsilon``: the guarantee, met after at most 32 ln(1/C)/epsilon^2 pricings.

    The steps, eta and the number of pricings are the defaults of the author's own library, miniboosts.

    Paper: Mitsuboshi, Hatano & Takimoto, "Boosting as Frank-Wolfe", 2022.
    """

    name: ClassVar[str] = "mlp"
    title: ClassVar[str] = "MLPBoost"
    optimises: ClassVar[str] = "the worst soft margin, within epsilon, by the better of two steps"
    use: ClassVar[str] = "As soft, with more pricings, each at a smaller cost."
    guide: ClassVar[str] = "frank-wolfe"
    corrects_for_classes: ClassVar[tuple[str, ...]] = ()
