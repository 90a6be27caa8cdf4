"""Fully corrective boosting with a convex loss and a norm of the weights."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from .._typing import Vector
from ..algebra.rows import Rows
from ..errors import InvalidParameterError
from .losses import LOSSES
from .programme import Programme
from .row_scale import PricesLoss
from .weight_sets import Box, Cone, WeightSet

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
    One that is held keeps a positive edge, often the largest: the best other one is asked for.

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
        if self.loss not in LOSSES:
            raise InvalidParameterError(f"loss={self.loss!r} is not known; choose one of {list(LOSSES)}.")
        if self.penalty not in PENALTIES:
            raise InvalidParameterError(f"penalty={self.penalty!r} is not known; choose one of {list(PENALTIES)}.")

    def programme(self, rows: Rows, n_columns: int) -> Programme:
        sets: dict[str, WeightSet] = {"l1": Cone(cost=1.0), "l2": Cone(ridge=1.0), "linf": Box(self.strength)}
        is_free = self.penalty == "linf"
        scale = rows.counts if is_free else self.strength * self.multiplicities(rows)
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
