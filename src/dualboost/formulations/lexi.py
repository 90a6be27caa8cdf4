"""A lexicographic soft margin for unbalanced classes, after LexiBoost."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from .._typing import Vector
from .base import Formulation
from .programme import Programme
from .terms import LinearTerm
from .weight_sets import Simplex

SECOND_STAGE = 1e-3
"""The weight of the second stage: the first one is at most about twice this below its best."""


@dataclass(frozen=True)
class LexiBoost(Formulation):
    """After LexiBoost: the soft margin where both classes count the same, then the mean margin of the classes.

    The paper's own programmes were not at hand. It is cited for two stages: the least hinge loss of each class alone,
    then the least deviation from these losses, with no costs to tune. This is not that: here both classes share one
    soft margin rho, no class's own optimum is computed, and the second stage is a term of small weight d = 0.001.

    Primal, with b_i = c_i/(2 M_k) for a row of class k, M_k being the total of the multiplicities of that class::

        max  (1 - d) (rho - 1/C sum_i b_i xi_i) + d sum_i b_i y_i sum_j w_j h_j(x_i)
        s.t. y_i sum_j w_j h_j(x_i) + xi_i >= rho,   sum_j w_j = 1,   w, xi >= 0

    Dual::

        min  max_j sum_i u_i y_i h_j(x_i)
        s.t. sum_i u_i = 1,   d b_i <= u_i <= (d + (1 - d)/C) b_i

    Up to C = 1/2 all of the 1 - d may go to one class: rho - 1/C sum_i b_i xi_i is at most the mean margin of the worst
    fraction 2C of either class. But for the second stage this is ``lp-nu`` with rows weighted by b.

    Pricing: a column improves when its edge exceeds the largest edge held.

    C: the fraction of the classes' equal masses that is given up, above 0 and at most 1; scale-free. Default: 0.3.
    Paper's range: not at hand; the grid is that of ``lp-nu``, 0.01 to 0.5, uniform in the exponent.

    Paper: Datta, Nag & Das, "Boosting with lexicographic programming: addressing class imbalance without cost tuning",
    IEEE Transactions on Knowledge and Data Engineering 32 (2020).
    """

    name: ClassVar[str] = "lexi"
    title: ClassVar[str] = "Lexi (balanced)"
    optimises: ClassVar[str] = "the soft margin of two classes that count the same, then their mean margin"
    meaning_of_C: ClassVar[str] = "the fraction of the classes' masses given up, above 0 and at most 1 (default 0.3)"
    use: ClassVar[str] = "A rare class that matters as much as the other one; no costs to tune."
    objective_sign: ClassVar[int] = -1
    sparser_with_larger_C: ClassVar[bool] = True

    def programme(self, counts: Vector, n_columns: int) -> Programme:
        share = counts / counts.sum()
        lower = SECOND_STAGE * share
        upper = lower + (1.0 - SECOND_STAGE) / self.strength * share
        return Programme(lower, upper, LinearTerm(0.0, lower), Simplex(), total=1.0)

    def programme_of(self, labels: Vector, counts: Vector, n_columns: int) -> Programme:
        positive = labels > 0
        class_totals = np.where(positive, counts[positive].sum(), counts[~positive].sum())
        return self.programme(counts / class_totals, n_columns)

    def C_bounds(self, n_samples: float) -> tuple[float, float]:
        return 0.0, 1.0

    def default_C(self, n_samples: float) -> float:
        return 0.3

    def C_grid(self, n_samples: float, k: int = 10) -> Vector:
        return np.geomspace(0.01, 0.5, k)
