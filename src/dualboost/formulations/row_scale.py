"""What C means on more rows: the meaning of the paper, or one that is free of their number and of their weights."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from .._typing import Vector
from ..algebra.rows import Rows
from ..errors import InvalidParameterError
from .base import Formulation, regularisation_grid


@dataclass
class CountsRows(Formulation):
    """A formulation whose paper states a C that has to change with the number of rows in order to mean the same.

    ``scale_free=True`` gives the multiplicities c_i as shares of their total M, c_i/M, to the formulas of the paper, in
    which M is then 1: C depends neither on the number of rows nor on the scale of the sample weights.
    """

    scale_free: bool = field(default=False, kw_only=True, metadata={"may_lack": True})

    usual_C: ClassVar[float]
    """The default of C where M is 1."""

    def __post_init__(self) -> None:
        if not isinstance(self.scale_free, (bool, np.bool_)):
            raise InvalidParameterError(
                f"scale_free={self.scale_free!r} must be False, the paper's C, or True, a C that means the same on any "
                "number of rows."
            )

    @property
    def power_of_paper(self) -> int:
        """The power of M that the paper's C has to grow with: -1 for the price of a row, 1 for a number of rows."""
        return -1

    @property
    def power_of_rows(self) -> int:
        return 0 if self.scale_free else self.power_of_paper

    def multiplicities(self, rows: Rows) -> Vector:
        return rows.counts / rows.n_samples if self.scale_free else rows.counts

    def total(self, n_samples: float) -> float:
        """M, as the formulas have it."""
        return 1.0 if self.scale_free else n_samples


@dataclass
class PricesLoss(CountsRows):
    """C is the price of a unit of loss of one row; with ``scale_free=True`` that of the mean loss, as in "logistic"."""

    usual_C: ClassVar[float] = 50.0

    def default_C(self, n_samples: float) -> float:
        return self.usual_C / self.total(n_samples)

    def C_grid(self, n_samples: float, k: int = 10) -> Vector:
        return np.geomspace(2.0, 2000.0, k) if self.scale_free else regularisation_grid(k)
