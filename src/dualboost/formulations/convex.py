"""Convex losses of the margin: logistic boosting, which is the default, and named losses."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from .._typing import Vector
from ..arguments import require_choice
from ..matrix.rows import Rows
from .base import Intercepts, PricesLoss, PricesMeanLoss
from .classes import SoftmaxProgramme
from .programme import Programme
from .terms import EntropyTerm, LogisticTerm, QuadraticTerm, RowTerm
from .weight_sets import Box, Cone, WeightSet


class Loss(NamedTuple):
    """A decreasing convex loss of a margin."""

    term: Callable[[Vector], RowTerm]
    """The conjugate of the scaled loss, given the factor that scales the loss of each row."""
    at_zero: float
    """The loss at a margin of zero."""
    slope_at_zero: float
    """How fast the loss falls at a margin of zero."""
    steepest: Callable[[float], float]
    """``steepest(times)`` bounds how fast the loss falls wherever it is at most ``times`` the loss at zero; at an
    optimum the loss of a row is at most that of all rows at zero."""


def _squared_hinge(scale: Vector) -> QuadraticTerm:
    return QuadraticTerm(-1.0, 0.5 / scale, np.zeros_like(scale))


LOSSES: dict[str, Loss] = {
    "exponential": Loss(lambda scale: EntropyTerm(math.e * scale, 1.0), 1.0, 1.0, lambda times: 2.0 * times),
    "logistic": Loss(LogisticTerm, float(np.log(2.0)), 0.5, lambda times: 1.0),
    "squared_hinge": Loss(_squared_hinge, 1.0, 2.0, lambda times: 4.0 * float(np.sqrt(times))),
    "huber": Loss(_squared_hinge, 1.0, 2.0, lambda times: 4.0),
}


PENALTIES = ("l1", "l2", "linf")


@dataclass
class ConvexBoost(PricesLoss):
    """Fully corrective boosting: any convex loss of the margins, any norm of the weights.

    Primal, one of::

        min  sum_j w_j + C sum_i c_i loss(m_i)                    penalty "l1"
        min  1/2 sum_j w_j^2 + C sum_i c_i loss(m_i)              penalty "l2"
        min  sum_i c_i loss(m_i)   s.t. w_j <= C for every j      penalty "linf"
        s.t. m_i = y_i sum_j w_j h_j(x_i),   w >= 0

    ``loss``: "exponential" exp(-m), "logistic" log(1 + exp(-m)), "squared_hinge" max(0, 1 - m)^2, or "huber", the
    squared hinge above -1 and -4m below.

    Dual, with loss* the conjugate of the loss, P = C (P = 1 for "linf") and e_j = sum_i u_i y_i h_j(x_i)::

        max  -sum_i P c_i loss*(-u_i/(P c_i))                                s.t. e_j <= 1        "l1"
        max  -sum_i P c_i loss*(-u_i/(P c_i)) - 1/2 sum_j max(0, e_j)^2                           "l2"
        max  -sum_i P c_i loss*(-u_i/(P c_i)) - C sum_j max(0, e_j)                               "linf"
        s.t. u >= 0

    Where the loss leaves u without an upper bound, the programme has one that no optimum reaches, since the loss of an
    optimum is at most that of w = 0.

    Pricing: a column improves when its edge exceeds 1 ("l1"), or is positive and the column is not held ("l2", "linf").
    A column that is held keeps a positive edge, often the largest: the pricer returns the best other one.

    C: the cost of a unit of loss, above 0, or for "linf" the largest weight. Default: 50/M, where M is the total of the
    multiplicities, and 1 for "linf". Paper's range: chosen by cross-validation; the grid is 10^-4 to 10^-0.33, and
    for "linf" 0.1 to 10. ``scale_free=True`` has c_i/M in place of c_i: C is the cost of the mean loss, with a default
    of 50 and a grid from 2 to 2000; the C of "linf" is free of M anyway. The defaults of ``loss`` and ``penalty`` make
    it the totally corrective form of AdaBoost.

    Paper: Shen, Li & van den Hengel, "Fully corrective boosting with arbitrary loss and regularization", Neural
    Networks 48 (2013). Its nu is 1/C; it bounds or penalises the norms, which is the same along a path of C.
    """

    loss: str = "exponential"
    penalty: str = "l1"

    name: ClassVar[str] = "convex"
    title: ClassVar[str] = "Convex"
    optimises: ClassVar[str] = "a convex loss (exponential by default) plus a norm of the weights (their sum)"
    meaning_of_C: ClassVar[str] = "the cost of a unit of loss, above 0 (default 50/M for M rows)"
    use: ClassVar[str] = "AdaBoost's loss or another one, to its optimum: ConvexBoost(loss='logistic', penalty='l2')."
    objective_sign: ClassVar[int] = 1

    def __post_init__(self) -> None:
        super().__post_init__()
        require_choice("loss", self.loss, LOSSES)
        require_choice("penalty", self.penalty, PENALTIES)

    def programme(self, rows: Rows, n_columns: int) -> Programme:
        sets: dict[str, WeightSet] = {"l1": Cone(cost=1.0), "l2": Cone(ridge=1.0), "linf": Box(self.C_value)}
        is_free = self.penalty == "linf"
        scale = rows.counts if is_free else self.C_value * self.multiplicities(rows)
        loss = LOSSES[self.loss]
        upper = scale * loss.steepest(rows.n_samples / rows.least_count)
        empty = rows.n_samples * loss.at_zero if is_free else 0.0  # without a cost of the weights the optimum may be 0
        return Programme(rows, rows.full(0.0), upper, loss.term(scale), sets[self.penalty], size=empty)

    def default_C(self, n_samples: float) -> float:
        return 1.0 if self.penalty == "linf" else super().default_C(n_samples)

    def C_grid(self, n_samples: float, k: int = 10) -> Vector:
        return np.geomspace(0.1, 10.0, k) if self.penalty == "linf" else super().C_grid(n_samples, k)

    @property
    def power_of_paper(self) -> int:
        return 0 if self.penalty == "linf" else super().power_of_paper

    def smallest_useful_C(self, largest_edge: float) -> float | None:
        if self.penalty != "l1" or largest_edge <= 0:
            return None
        return 1.0 / (LOSSES[self.loss].slope_at_zero * largest_edge)


@dataclass
class LogisticBoost(PricesMeanLoss):
    """Logistic loss with a ridge and a free intercept: the scores are log-odds.

    Primal, over the values v of all leaves (``optimize="leaves"``, the default), with F(x) = b + sum_t v_t[leaf_t(x)]
    and M the total of the multiplicities::

        min  1/2 |v|^2 + C/M sum_i c_i log(1 + exp(-y_i F(x_i)))

    or over one weight w >= 0 for each tree (``optimize="weights"``), with F(x) = b + sum_j w_j h_j(x)::

        min  1/2 |w|^2 + C/M sum_i c_i log(1 + exp(-y_i F(x_i)))

    Dual, with P_i = C c_i/M and e the edges: e_l = sum of u_i y_i over the rows of leaf l, or the edges of the trees::

        max  -sum_i [u_i log(u_i/P_i) + (P_i - u_i) log(1 - u_i/P_i)] - 1/2 |e|^2     (for trees: max(0, e)^2)
        s.t. 0 <= u_i <= P_i,   sum_i y_i u_i = 0

    Pricing: the tree with the largest sum over its leaves of e^2/(h + 1), where h is the sum of the curvature
    u_i (1 - u_i/P_i): twice the decrease of the objective to second order if the leaves of that tree alone move. With
    ``optimize="weights"``, a column improves when its edge is positive.

    With more than two classes the loss is the cross-entropy and a leaf has a value for each class; its primal, dual and
    pricing are stated in ``SoftmaxProgramme`` and ``VectorTrees``.

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
    has_final_scores: ClassVar[bool] = True
    optimizes_for_classes: ClassVar[tuple[str, ...]] = ("leaves",)

    def programme(self, rows: Rows, n_columns: int) -> Programme:
        scale = self.prices(rows)
        return Programme(rows, rows.full(0.0), scale, LogisticTerm(scale), Cone(ridge=1.0))

    def over_leaves(self, rows: Rows, operator: Intercepts, n_outputs: int) -> Any:
        if n_outputs == 1:
            return super().over_leaves(rows, operator, n_outputs)
        return SoftmaxProgramme(rows, rows.groups, self.prices(rows), n_outputs)

    def size_of(self, rows: Rows) -> float:
        """The number of rows, so that ridges mean as much for one of K evenly likely classes as for two.

        The curvature of a row is p(1-p) for each class, which is (K-1)/K^2 against a quarter.
        """
        n_classes = max(len(rows.totals_of_groups), 2)
        return rows.n_observed * n_classes**2 / (4.0 * (n_classes - 1))
