"""The hard-margin linear programme."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from .._typing import Vector
from ..algebra.rows import Rows
from ..errors import InvalidParameterError
from .base import Formulation
from .programme import Programme
from .terms import LinearTerm
from .weight_sets import Simplex


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
