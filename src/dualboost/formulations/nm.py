"""NM-Boost."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from .._typing import Vector
from ..algebra.rows import Rows
from .base import Formulation, regularisation_grid
from .programme import Programme
from .terms import LinearTerm
from .weight_sets import Simplex


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
        lower = self.strength * rows.counts
        term = LinearTerm(1.0 / n_columns, lower)
        return Programme(rows, lower, lower + rows.counts, term, Simplex(), size=rows.n_samples / n_columns)

    def default_C(self, n_samples: float) -> float:
        return 0.1

    def C_grid(self, n_samples: float, k: int = 10) -> Vector:
        return regularisation_grid(k)
