"""The paper's six formulations: NM-, MD-, LP-, CG-, QRLP- and ERLP-Boost."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from .._typing import Vector
from ..arguments import require_choice
from ..matrix.rows import Rows
from .base import CountsRows, Formulation, PricesLoss, regularisation_grid, require_epsilon
from .programme import Programme
from .terms import EntropyTerm, LinearTerm, QuadraticTerm, RowTerm
from .weight_sets import Cone, Simplex


@dataclass
class CappedDistribution(CountsRows):
    """sum_i u_i = 1 with 0 <= u_i <= c_i/C, and a term of strength 1/eta, eta = max(1/2, ln M / (epsilon/2)).

    With ``scale_free=True`` u_i <= c_i/(C M), and the M of eta is the number of distinct rows.
    """

    epsilon: float = 0.01

    sparser_with_larger_C: ClassVar[bool] = True
    usual_C: ClassVar[float] = 0.3

    def __post_init__(self) -> None:
        super().__post_init__()
        require_epsilon(self.epsilon)

    def eta(self, n_samples: float) -> float:
        return max(0.5, np.log(n_samples) / (0.5 * self.epsilon))

    @abstractmethod
    def regulariser(self, shares: Vector, n_rows: float) -> RowTerm:
        """The term g for rows with these shares c_i/M, where eta is that of so many rows."""

    @property
    def power_of_paper(self) -> int:
        return 1

    def programme(self, rows: Rows, n_columns: int) -> Programme:
        n_rows = rows.n_all_data if self.scale_free else rows.n_samples
        term = self.regulariser(rows.counts / rows.n_samples, n_rows)
        upper = self.multiplicities(rows) / self.C_value
        return Programme(rows, rows.full(0.0), upper, term, Simplex(), total=1.0)

    def C_bounds(self, n_samples: float) -> tuple[float, float]:
        return 0.0, self.total(n_samples)

    def default_C(self, n_samples: float) -> float:
        return self.usual_C * self.total(n_samples)

    def C_grid(self, n_samples: float, k: int = 10) -> Vector:
        if self.scale_free:
            return np.geomspace(0.01, 0.5, k)
        return np.linspace(1.0, max(1.0, 0.06 * n_samples), k)


@dataclass
class NMBoost(Formulation):
    """NM-Boost: maximise all margins, the negative ones with a greater weight.

    Primal::

        max  sum_i c_i (n_i + C r_i)
        s.t. r_i <= y_i sum_j w_j h_j(x_i),   n_i <= 0,   n_i <= r_i - 1/T,   sum_j w_j = 1,   w >= 0

    T is the number of columns held, so the offset 1/T shrinks as columns enter.

    Dual::

        min  max_j sum_i u_i y_i h_j(x_i) - sum_i (u_i - C c_i)/T
        s.t. C c_i <= u_i <= (1 + C) c_i

    Pricing: a column improves when its edge exceeds the largest edge held.

    C: the weight of a margin beyond the offset, relative to one below it; above 0 and scale-free. A small C attends to
    the mistakes only, a large one to the sum of all margins. Default: 0.1. Paper's range: 10^-4 to 10^-0.33.

    Paper: Akkerman, Ferry, Artigues, Hebrard & Vidal, "Boosting revisited", TMLR 2025.
    """

    name: ClassVar[str] = "nm"
    title: ClassVar[str] = "NM-Boost"
    optimises: ClassVar[str] = "all margins, the negative ones more"
    meaning_of_C: ClassVar[str] = "the weight of margins beyond the offset, above 0 (default 0.1)"
    use: ClassVar[str] = "The fewest trees, at some cost in accuracy."
    objective_sign: ClassVar[int] = -1
    sparser_with_larger_C: ClassVar[bool] = True
    depends_on_columns: ClassVar[bool] = True

    def programme(self, rows: Rows, n_columns: int) -> Programme:
        lower = self.C_value * rows.counts
        term = LinearTerm(1.0 / n_columns, lower)
        return Programme(rows, lower, lower + rows.counts, term, Simplex(), size=rows.n_samples / n_columns)

    def default_C(self, n_samples: float) -> float:
        return 0.1

    def C_grid(self, n_samples: float, k: int = 10) -> Vector:
        return regularisation_grid(k)


@dataclass
class MDBoost(Formulation):
    """MD-Boost: a large mean and a small spread of the margins, with the identity in place of the matrix A.

    Primal::

        max  sum_i c_i (r_i - r_i^2/2)
        s.t. r_i = y_i sum_j w_j h_j(x_i),   sum_j w_j = C,   w >= 0

    Dual (u free in sign; a negative u_i belongs to a row whose margin exceeds one)::

        min  C max_j sum_i u_i y_i h_j(x_i) + 1/2 sum_i (u_i - c_i)^2 / c_i

    At the optimum u_i = c_i (1 - r_i).

    Pricing: a column improves when its edge exceeds the largest edge held. A negative u_i counts as a positive one
    with the opposite label; ``negative_weights="clip"`` hides such rows from the pricer, as the authors' code does.

    C: the sum of the weights, above 0 and scale-free. Default: 3. Paper's range: 1 to 120.

    Paper: Shen & Li, "Boosting through optimization of margin distributions", IEEE Trans. Neural Networks 21 (2010).
    """

    negative_weights: str = "flip"

    name: ClassVar[str] = "md"
    title: ClassVar[str] = "MD-Boost"
    optimises: ClassVar[str] = "a large mean and a small spread of the margins"
    meaning_of_C: ClassVar[str] = "the sum of the weights, above 0 (default 3)"
    use: ClassVar[str] = "Accurate with stumps; keeps most trees, and more of them at a larger C."
    objective_sign: ClassVar[int] = -1
    has_loss_a_class: ClassVar[bool] = True

    def __post_init__(self) -> None:
        require_choice("negative_weights", self.negative_weights, ("flip", "clip"))

    def programme(self, rows: Rows, n_columns: int) -> Programme:
        free = rows.full(np.inf)
        term = QuadraticTerm(linear=-1.0, curvatures=1.0 / rows.counts, constant=0.5 * rows.counts)
        return Programme(rows, -free, free, term, Simplex(total=self.C_value))

    def default_C(self, n_samples: float) -> float:
        return 3.0

    def C_grid(self, n_samples: float, k: int = 10) -> Vector:
        return np.linspace(1.0, 120.0, k)

    @property
    def prices_all_duals(self) -> bool:
        return self.negative_weights == "flip"

    def priced_duals(self, u: Vector) -> Vector:
        return u if self.prices_all_duals else np.maximum(u, 0.0)


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
        lower, upper = rows.full(0.0), self.C_value * self.multiplicities(rows)
        return Programme(rows, lower, upper, LinearTerm(1.0, lower), Cone(cost=1.0))

    def smallest_useful_C(self, largest_edge: float) -> float | None:
        return 1.0 / largest_edge if largest_edge > 0 else None


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
    halves of a weight have a smaller l2 norm than the whole. The pricer returns the best other one.

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
        lower, upper = rows.full(0.0), self.C_value * self.multiplicities(rows)
        return Programme(rows, lower, upper, LinearTerm(1.0, lower), Cone(ridge=1.0))


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
