"""What QRLP-Boost and ERLP-Boost share: a capped distribution on the rows, pulled towards the uniform one."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from .._typing import Vector
from ..algebra.rows import Rows
from .base import require_epsilon
from .programme import Programme
from .row_scale import CountsRows
from .terms import RowTerm
from .weight_sets import Simplex


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
        upper = self.multiplicities(rows) / self.strength
        return Programme(rows, rows.full(0.0), upper, term, Simplex(), total=1.0)

    def C_bounds(self, n_samples: float) -> tuple[float, float]:
        return 0.0, self.total(n_samples)

    def default_C(self, n_samples: float) -> float:
        return self.usual_C * self.total(n_samples)

    def C_grid(self, n_samples: float, k: int = 10) -> Vector:
        if self.scale_free:
            return np.geomspace(0.01, 0.5, k)
        return np.linspace(1.0, max(1.0, 0.06 * n_samples), k)
