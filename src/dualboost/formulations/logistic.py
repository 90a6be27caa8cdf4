"""Logistic boosting, the default."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from .._typing import Vector
from ..algebra.rows import Rows
from .base import Formulation
from .programme import Programme
from .terms import LogisticTerm
from .weight_sets import Cone

ROWS_PER_C = 8.0
"""The default is one C for so many distinct rows: the ridge where the loss is a sum over distinct rows."""
LEAST_ROWS = 300
"""With fewer distinct rows the default is that of so many: few distinct rows may stand for many rows each."""
LEAST_C, MOST_C = 10.0, 10000.0
"""The ends of the grid."""


@dataclass
class LogisticBoost(Formulation):
    """Logistic loss with a ridge and a free intercept: the scores are log-odds.

    Primal, over the values v of all leaves (``corrects="leaves"``, the default), with F(x) = b + sum_t v_t[leaf_t(x)]
    and M the total of the multiplicities::

        min  1/2 |v|^2 + C/M sum_i c_i log(1 + exp(-y_i F(x_i)))

    or over one weight w >= 0 for each tree (``corrects="trees"``), with F(x) = b + sum_j w_j h_j(x)::

        min  1/2 |w|^2 + C/M sum_i c_i log(1 + exp(-y_i F(x_i)))

    Dual, with P_i = C c_i/M and e the edges: e_l = sum of u_i y_i over the rows of leaf l, or those of the trees::

        max  -sum_i [u_i log(u_i/P_i) + (P_i - u_i) log(1 - u_i/P_i)] - 1/2 |e|^2     (for trees: max(0, e)^2)
        s.t. 0 <= u_i <= P_i,   sum_i y_i u_i = 0

    Pricing: the tree with the largest sum over its leaves of e^2/(h + 1), where h is the sum of the curvature
    u_i (1 - u_i/P_i): twice what the objective falls to second order if the leaves of that tree alone move. With
    ``corrects="trees"``, a column improves when its edge is positive.

    C: the price of the mean loss, above 0; one half of the squared values costs one. It does not depend on the number
    of rows, nor on the scale of the sample weights: rows that are repeated change nothing. Default: the number of
    distinct rows, at least 300, divided by 8, which makes the ridge 8 where the loss is a sum over distinct rows. Grid:
    10 to 10,000.

    Papers: Friedman, "Greedy function approximation: a gradient boosting machine", Annals of Statistics 29 (2001), for
    the pricing; Johnson & Zhang, "Learning nonlinear functions using regularized greedy forest", IEEE PAMI 36 (2014),
    for the fully corrective leaves.
    """

    name: ClassVar[str] = "logistic"
    title: ClassVar[str] = "Logistic"
    optimises: ClassVar[str] = "logistic loss plus half the squared norm of all leaf values"
    meaning_of_C: ClassVar[str] = "the price of the mean loss, above 0"
    use: ClassVar[str] = "The default: the most accurate at a given number of trees, with probabilities of its own."
    objective_sign: ClassVar[int] = 1
    corrects: ClassVar[str] = "leaves"
    has_intercept: ClassVar[bool] = True
    gives_log_odds: ClassVar[bool] = True

    def programme(self, rows: Rows, n_columns: int) -> Programme:
        scale = rows.counts * (self.strength / rows.n_samples)
        return Programme(rows, rows.full(0.0), scale, LogisticTerm(scale), Cone(ridge=1.0))

    def resolve_for(self, rows: Rows) -> Formulation:
        return self.resolve(rows.n_data)

    def default_C(self, n_samples: float) -> float:
        """The default for that many distinct rows."""
        return max(n_samples, LEAST_ROWS) / ROWS_PER_C

    def C_grid(self, n_samples: float, k: int = 10) -> Vector:
        return np.geomspace(LEAST_C, MOST_C, k)
