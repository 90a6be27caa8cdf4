"""MD-Boost."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from .._typing import Vector
from ..algebra.rows import Rows
from ..errors import InvalidParameterError
from .base import Formulation
from .programme import Programme
from .terms import QuadraticTerm
from .weight_sets import Simplex


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
        if self.negative_weights not in ("flip", "clip"):
            raise InvalidParameterError(f"negative_weights={self.negative_weights!r}: choose 'flip' or 'clip'.")

    def programme(self, rows: Rows, n_columns: int) -> Programme:
        free = rows.full(np.inf)
        term = QuadraticTerm(linear=-1.0, curvatures=1.0 / rows.counts, constant=0.5 * rows.counts)
        return Programme(rows, -free, free, term, Simplex(total=self.strength))

    def default_C(self, n_samples: float) -> float:
        return 3.0

    def C_grid(self, n_samples: float, k: int = 10) -> Vector:
        return np.linspace(1.0, 120.0, k)

    @property
    def prices_all_duals(self) -> bool:
        return self.negative_weights == "flip"

    def priced_duals(self, u: Vector) -> Vector:
        return u if self.prices_all_duals else np.maximum(u, 0.0)
