"""LexiBoost."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from .._typing import Vector
from ..algebra.rows import Rows
from .base import Formulation
from .programme import Programme
from .terms import LinearTerm
from .two_stages import TwoStageProgramme
from .weight_sets import Simplex


@dataclass
class LexiBoost(Formulation):
    """LexiBoost: the loss of each class as near as possible to the least loss that this class can have alone.

    Primal, with L_k(w) = sum of b_i xi_i over the rows of class k and b_i = c_i/M_k, M_k being the total of c there::

        L*_k = min L_k(w) for each class k alone, then   min  max_k L_k(w) - L*_k
        s.t. y_i sum_j w_j h_j(x_i) + xi_i >= 1,   sum_j w_j = C,   w, xi >= 0   (in both stages)

    Dual of the second stage, in u and the class weights p_k::

        max  sum_i u_i - C max_j sum_i u_i y_i h_j(x_i) - sum_k p_k L*_k
        s.t. 0 <= u_i <= p_k b_i for every row i of class k,   sum_k p_k = 1,   p >= 0

    So the costs of the classes, which other methods leave to be tuned, are a part of the solution. We know only the
    abstract of the paper, which states the two stages. Our choices are the mean over a class, the margin of one, the
    sum of the weights, and L*_k as the least loss over the columns held. More columns can only lower L*_k; a column
    that would lower L*_k and nothing else is not searched for. L*_k is computed again for every solution returned, and
    to a rough tolerance between pricings (``masters/stages.py``).

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
    corrects_for_classes: ClassVar[tuple[str, ...]] = ()

    def programme(self, rows: Rows, n_columns: int) -> Programme:
        if np.count_nonzero(rows.totals_of_groups) == 1:  # with a single class there are no two excesses to compare
            lower, shares = rows.full(0.0), rows.counts / rows.n_samples
            return Programme(rows, lower, shares, LinearTerm(1.0, lower), Simplex(self.strength), size=1.0)
        return TwoStageProgramme.of(rows, Simplex(self.strength))

    def first_duals(self, rows: Rows) -> Vector:
        return rows.counts / rows.put(rows.totals_of_groups).take(rows.groups)

    def default_C(self, n_samples: float) -> float:
        return 3.0

    def C_grid(self, n_samples: float, k: int = 10) -> Vector:
        return np.geomspace(1.5, 50.0, k)
