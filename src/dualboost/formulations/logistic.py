"""Logistic boosting, the default."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from .._typing import Vector
from ..algebra.rows import Rows
from .base import LARGEST_C, SMALLEST_C, Formulation, Intercepts
from .programme import Programme
from .softmax import SoftmaxProgramme
from .terms import LogisticTerm
from .weight_sets import Cone

DEFAULT_RIDGE = 25.0
"""The ridge of the default C, where the loss is a sum over rows."""
GROWING_RIDGES = (5.0, 20.0, 100.0)
"""The ridges, likewise, that trees are grown with: the one that is nearer to the ridge asked for."""
LEAST_ROWS = 100
"""With fewer rows the default is that of so many."""
LARGEST_RIDGE, SMALLEST_RIDGE = 300.0, 1.0
"""The ends of the grid, as ridges where the loss is a sum over the rows."""


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

    With more than two classes the loss is the cross-entropy and a leaf has a value for each class; its primal, dual and
    pricing are those of ``SoftmaxProgramme`` and ``VectorTrees``.

    C: the price of the mean loss, above 0; one half of the squared values costs one. It does not depend on the number
    of rows, nor on the scale of the sample weights: all rows four times give the model of all rows once. Default: the
    number of rows, at least 100, divided by 25, which makes the ridge 25 where the loss is a sum over rows; for K
    classes times K^2/(4(K-1)), as the curvature of a row is that much smaller.
    Grid: the number of rows divided by ridges from 300 to 1. Trees are grown at a ridge of 5, 20 or 100, whichever is
    nearest, so that all values of C share three sets of trees.

    Papers: Friedman, "Greedy function approximation: a gradient boosting machine", Annals of Statistics 29 (2001), for
    the pricing; Johnson & Zhang, "Learning nonlinear functions using regularized greedy forest", IEEE PAMI 36 (2014),
    for the fully corrective leaves.
    """

    name: ClassVar[str] = "logistic"
    title: ClassVar[str] = "Logistic"
    optimises: ClassVar[str] = "logistic loss plus half the squared norm of all leaf values"
    meaning_of_C: ClassVar[str] = "the price of the mean loss, above 0 (default: rows / 25)"
    use: ClassVar[str] = "The default: the most accurate at a given number of trees, with probabilities of its own."
    objective_sign: ClassVar[int] = 1
    corrects: ClassVar[str] = "leaves"
    has_intercept: ClassVar[bool] = True
    has_final_scores: ClassVar[bool] = True
    corrects_for_classes: ClassVar[tuple[str, ...]] = ("leaves",)

    def programme(self, rows: Rows, n_columns: int) -> Programme:
        scale = rows.counts * (self.strength / rows.n_samples)
        return Programme(rows, rows.full(0.0), scale, LogisticTerm(scale), Cone(ridge=1.0))

    def over_leaves(self, rows: Rows, operator: Intercepts, n_outputs: int) -> Any:
        if n_outputs == 1:
            return super().over_leaves(rows, operator, n_outputs)
        return SoftmaxProgramme(rows, rows.groups, rows.counts * (self.strength / rows.n_samples), n_outputs)

    def size_of(self, rows: Rows) -> float:
        """The number of rows, so that ridges mean as much for one of K evenly likely classes as for two.

        The curvature of a row is p(1-p) for each class, which is (K-1)/K^2 against a quarter.
        """
        n_classes = max(len(rows.totals_of_groups), 2)
        return rows.n_observed * n_classes**2 / (4.0 * (n_classes - 1))

    def C_bounds(self, n_samples: float) -> tuple[float, float]:
        return SMALLEST_C, LARGEST_C

    def default_C(self, n_samples: float) -> float:
        """The default for that many rows."""
        return max(n_samples, LEAST_ROWS) / DEFAULT_RIDGE

    def for_growing(self, rows: Rows) -> Formulation:
        n_rows = max(self.size_of(rows), LEAST_ROWS)
        ridge = min(GROWING_RIDGES, key=lambda one: abs(np.log(one * self.strength / n_rows)))
        return replace(self, C=n_rows / ridge)

    def C_grid(self, n_samples: float, k: int = 10) -> Vector:
        return n_samples / np.geomspace(LARGEST_RIDGE, SMALLEST_RIDGE, k)
