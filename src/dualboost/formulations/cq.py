"""CqBoost."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from .._typing import Vector
from ..algebra.rows import Rows
from ..algebra.side_rows import MeanMargin
from .base import Formulation
from .programme import Programme
from .terms import QuadraticTerm
from .weight_sets import Simplex

PENALTY = 1000.0
"""B, the cost of each unit by which the mean margin falls short of C."""


@dataclass
class CqBoost(Formulation):
    """CqBoost: the least second moment of the margins among ensembles with a given mean margin, the C-bound's parts.

    Primal, with M the total of the multiplicities and B = 1000::

        min  1/M sum_i c_i m_i^2 + B max(0, C - 1/M sum_i c_i m_i)
        s.t. m_i = y_i sum_j w_j h_j(x_i),   sum_j w_j = 1,   w >= 0

    The paper requires a mean margin of C, but there may be no ensemble that has it. Here falling short of C has a cost.
    Where some ensemble of the columns held has a mean margin of C + 1/B, the optimum is the paper's own; where none
    reaches C, the mean margin is maximised first, and the fit warns if it ends there.

    Dual (u free in sign, with bounds of 4 c_i/M that it never reaches, as no margin exceeds one)::

        max  C b - M/4 sum_i u_i^2/c_i - max_j sum_i (u_i + b c_i/M) y_i h_j(x_i)
        s.t. 0 <= b <= B

    b is the dual of a side row, the mean margin. At the optimum u_i = -2 c_i m_i/M.

    Pricing: a column improves when its edge under u_i + b c_i/M, the duals that the pricer sees, exceeds the largest
    edge held. A negative dual counts as a positive one with the opposite label.

    C: mu, the mean margin asked for, above 0 and at most 1; scale-free. Default: 0.1; deeper trees need a larger C.
    Paper's range: cross-validated, over values that we have not seen; the grid is ours, 0.01 to 0.3, uniform in the
    exponent.

    Paper: Roy, Marchand & Laviolette, "A column generation bound minimization approach with PAC-Bayesian generalization
    guarantees", AISTATS 2016.
    """

    name: ClassVar[str] = "cq"
    title: ClassVar[str] = "CqBoost"
    optimises: ClassVar[str] = "the least second moment of the margins, given their mean"
    meaning_of_C: ClassVar[str] = "mu, the mean margin asked for, above 0 and at most 1 (default 0.1)"
    use: ClassVar[str] = "As md, with a C that says how large the mean margin is to be."
    objective_sign: ClassVar[int] = 1
    sparser_with_larger_C: ClassVar[bool] = True
    has_sides: ClassVar[bool] = True
    corrects_for_classes: ClassVar[tuple[str, ...]] = ()

    def programme(self, rows: Rows, n_columns: int) -> Programme:
        shares = rows.counts / rows.n_samples
        term = QuadraticTerm(linear=0.0, curvatures=0.5 / shares, constant=rows.full(0.0))
        return Programme(rows, -4.0 * shares, 4.0 * shares, term, Simplex())

    def side_rows(self, rows: Rows, n_features: int) -> MeanMargin:
        return MeanMargin(rows.counts / rows.n_samples)

    def with_sides(self, programme: Programme, rows: Rows) -> Programme:
        return programme.with_sides(rows, np.zeros(1), np.array([PENALTY]), np.array([-self.strength]))

    def shortcoming(self, side_margins: Vector) -> str | None:
        mean = float(side_margins[0])
        if mean >= (1.0 - 1e-6) * self.strength:  # an optimum that reaches C does so up to rounding
            return None
        return (
            f"No ensemble of the learners found has a mean margin of C={self.strength:.3g}; that of the one returned "
            f"is {mean:.3g}. Choose a smaller C for formulation {self.name!r}, deeper trees or more of them."
        )

    def C_bounds(self, n_samples: float) -> tuple[float, float]:
        return 0.0, 1.0

    def default_C(self, n_samples: float) -> float:
        return 0.1

    def C_grid(self, n_samples: float, k: int = 10) -> Vector:
        return np.geomspace(0.01, 0.3, k)
