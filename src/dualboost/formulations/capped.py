"""What QRLP-Boost and ERLP-Boost share: a capped distribution on the rows, pulled towards the uniform one."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from .._typing import Vector
from ..algebra.rows import Rows
from .base import Formulation, require_epsilon
from .programme import Programme
from .terms import RowTerm
from .weight_sets import Simplex


@dataclass
class CappedDistribution(Formulation):
    """sum_i u_i = 1 with 0 <= u_i <= c_i/C, and a term of strength 1/eta, eta = max(1/2, ln M / (epsilon/2))."""

    epsilon: float = 0.01

    sparser_with_larger_C: ClassVar[bool] = True

    def __post_init__(self) -> None:
        require_epsilon(self.epsilon)

    def eta(self, n_samples: float) -> float:
        return max(0.5, np.log(n_samples) / (0.5 * self.epsilon))

    @abstractmethod
    def regulariser(self, counts: Vector, n_samples: float) -> RowTerm:
        """The term g for rows with these multiplicities."""

    def programme(self, rows: Rows, n_columns: int) -> Programme:
        term = self.regulariser(rows.counts, rows.n_samples)
        return Programme(rows, rows.full(0.0), rows.counts / self.strength, term, Simplex(), total=1.0)

    def C_bounds(self, n_samples: float) -> tuple[float, float]:
        return 0.0, n_samples

    def default_C(self, n_samples: float) -> float:
        return 0.3 * n_samples

    def C_grid(self, n_samples: float, k: int = 10) -> Vector:
        return np.linspace(1.0, max(1.0, 0.06 * n_samples), k)
