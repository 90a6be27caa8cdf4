"""The family: other programmes of the margin."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from .._typing import Vector
from ..errors import InvalidParameterError
from ..matrix.rows import Rows
from .base import Formulation, require_epsilon
from .paper import MDBoost
from .programme import Programme, TwoStageProgramme
from .terms import LinearTerm
from .weight_sets import Simplex


@dataclass
class WithinEpsilon(Formulation):
    """A mixin for a formulation: its fit ends when the optimum is proven to be within ``epsilon``."""

    epsilon: float = 0.01

    def __post_init__(self) -> None:
        require_epsilon(self.epsilon)

    @property
    def guarantee(self) -> float:
        return self.epsilon


@dataclass
class HardMarginBoost(Formulation):
    """Hard-margin LP-Boost: the worst margin of all rows.

    Primal, in w (the weights) and rho (the margin)::

        max  rho
        s.t. y_i sum_j w_j h_j(x_i) >= rho,   sum_j w_j = 1,   w >= 0

    Dual::

        min  max_j sum_i u_i y_i h_j(x_i)
        s.t. sum_i u_i = 1,   u >= 0

    The programme's upper bounds on u are at least one, so that none of them binds.

    Pricing: a column improves when its edge exceeds the largest edge held.

    C: not used; it must be None or 1. Default: 1. Paper's range: there is no hyperparameter.

    Paper: Grove & Schuurmans, "Boosting in the limit: maximizing the margin of learned ensembles", AAAI 1998.
    """

    name: ClassVar[str] = "hard"
    title: ClassVar[str] = "Hard-margin LP"
    optimises: ClassVar[str] = "the worst margin of all rows"
    meaning_of_C: ClassVar[str] = "not used: None or 1 (default 1)"
    use: ClassVar[str] = "Data without noise; elsewhere a few rows decide everything: then take lp-nu."
    objective_sign: ClassVar[int] = -1
    has_C: ClassVar[bool] = False

    def programme(self, rows: Rows, n_columns: int) -> Programme:
        lower, upper = rows.full(0.0), rows.counts / rows.least_count
        return Programme(rows, lower, upper, LinearTerm(0.0, lower), Simplex(), total=1.0)

    def resolve(self, n_samples: float) -> Formulation:
        if self.C is not None and self.C != 1.0:
            raise InvalidParameterError(
                f"C={self.C!r} is outside the range of formulation {self.name!r}, which has no hyperparameter: leave "
                "C=None, or choose 'lp-nu' to give up a fraction of the rows."
            )
        return super().resolve(n_samples)

    def C_bounds(self, n_samples: float) -> tuple[float, float]:
        return 0.0, 1.0

    def default_C(self, n_samples: float) -> float:
        return 1.0

    def C_grid(self, n_samples: float, k: int = 10) -> Vector:
        return np.ones(k)


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
        upper = rows.counts / (self.C_value * rows.n_samples)
        return Programme(rows, lower, upper, LinearTerm(0.0, lower), Simplex(), total=1.0)

    def C_bounds(self, n_samples: float) -> tuple[float, float]:
        return 0.0, 1.0

    def default_C(self, n_samples: float) -> float:
        return 0.3

    def C_grid(self, n_samples: float, k: int = 10) -> Vector:
        return np.geomspace(0.01, 0.5, k)


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
    use: ClassVar[str] = "As md, where margins should be similar but need not be near one."

    def programme(self, rows: Rows, n_columns: int) -> Programme:
        return replace(super().programme(rows, n_columns), total=rows.n_samples)


@dataclass
class SoftBoost(WithinEpsilon, NuLPBoost):
    """SoftBoost: the worst soft margin, to a guarantee, by the distribution nearest to uniform with small edges.

    Primal and Dual of the weights: as for ``lp-nu``, over the columns held. Between pricings u is::

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
    dual_strategy: ClassVar[str] = "projection"
    optimizes_for_classes: ClassVar[tuple[str, ...]] = ()


@dataclass
class TotalBoost(WithinEpsilon, HardMarginBoost):
    """TotalBoost: the worst margin of all rows, to a guarantee; SoftBoost without a cap on the duals.

    Primal and Dual of the weights: as for ``hard``, over the columns held. Between pricings u is::

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
    dual_strategy: ClassVar[str] = "projection"
    optimizes_for_classes: ClassVar[tuple[str, ...]] = ()


@dataclass
class MLPBoost(WithinEpsilon, NuLPBoost):
    """MLPBoost: the worst soft margin, to a guarantee, by Frank-Wolfe steps on a smoothed margin or by the solver.

    Primal and Dual of the weights: as for ``lp-nu``, over the columns held. Between pricings u attains::

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
    dual_strategy: ClassVar[str] = "frank-wolfe"
    optimizes_for_classes: ClassVar[tuple[str, ...]] = ()


@dataclass
class LexiBoost(Formulation):
    """LexiBoost: the loss of each class as near as possible to the least loss that this class can have alone.

    Primal, with L_k(w) = sum of b_i xi_i over the rows of class k and b_i = c_i/M_k, M_k being the total of c there::

        L*_k = min L_k(w) for each class k alone, then   min  max_k L_k(w) - L*_k
        s.t. y_i sum_j w_j h_j(x_i) + xi_i >= 1,   sum_j w_j = C,   w, xi >= 0   (in both stages)

    Dual of the second stage, in u and the class weights p_k::

        max  sum_i u_i - C max_j sum_i u_i y_i h_j(x_i) - sum_k p_k L*_k
        s.t. 0 <= u_i <= p_k b_i for every row i of class k,   sum_k p_k = 1,   p >= 0

    So the costs of the classes, which other methods leave to be tuned, are a part of the solution. Of the paper only
    the abstract was available, which states the two stages. Our choices are the mean over a class, the margin of one,
    the sum of the weights, and L*_k as the least loss over the columns held. More columns can only lower L*_k; a column
    that would lower L*_k and nothing else is not searched for. L*_k is computed again for every solution returned, and
    to a rough tolerance between pricings (``solvers/two_stages.py``).

    Pricing: a column improves when its edge exceeds the largest edge held; the first column is priced with u = b.

    C: the sum of the weights, above 0 and scale-free: a row has a loss if its margin is below 1/C of this sum. No
    margin exceeds C, so that at C <= 1 every row has a loss, only mean margins matter, and few trees are used.
    Default: 3. Paper's range: not known to us; the grid is 1.5 to 50, uniform in the exponent.

    Paper: Datta, Nag & Das, "Boosting with lexicographic programming: addressing class imbalance without cost tuning",
    IEEE Transactions on Knowledge and Data Engineering 32 (2020).
    """

    name: ClassVar[str] = "lexi"
    title: ClassVar[str] = "LexiBoost"
    optimises: ClassVar[str] = "the larger excess of the classes' hinge losses over the least that each has alone"
    meaning_of_C: ClassVar[str] = "the sum of the weights, above 0 (default 3)"
    use: ClassVar[str] = "A rare class that matters as much as the other one; no costs to tune."
    objective_sign: ClassVar[int] = 1
    balances_classes: ClassVar[bool] = True
    optimizes_for_classes: ClassVar[tuple[str, ...]] = ()

    def programme(self, rows: Rows, n_columns: int) -> Programme:
        if np.count_nonzero(rows.totals_of_groups) == 1:  # with a single class there are no two excesses to compare
            lower, shares = rows.full(0.0), rows.counts / rows.n_samples
            return Programme(rows, lower, shares, LinearTerm(1.0, lower), Simplex(self.C_value), size=1.0)
        return TwoStageProgramme.of(rows, Simplex(self.C_value))

    def first_duals(self, rows: Rows) -> Vector:
        return rows.counts / rows.put(rows.totals_of_groups).take(rows.groups)

    def default_C(self, n_samples: float) -> float:
        return 3.0

    def C_grid(self, n_samples: float, k: int = 10) -> Vector:
        return np.geomspace(1.5, 50.0, k)
