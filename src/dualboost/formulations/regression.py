"""Losses for targets that are numbers."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from .._typing import Vector
from ..errors import InvalidParameterError
from ..matrix.rows import Rows
from .base import Effort, PricesMeanLoss
from .programme import Programme
from .terms import LinearTerm, PoissonTerm, QuadraticTerm, RowTerm
from .weight_sets import Cone

THOROUGH = Effort(overgrowth=3.0, n_regrown=2, exchanges_stumps=True)
"""How trees are searched for under the squared loss, whose leaves are quickly solved. On 14 data sets that the
benchmark does not have (10 and 30 trees of depths 1 and 3), the error was 0.991 of that of twice as many trees, each
grown once more (0.98 to 0.99 in three of the four cells, 1.003 with 30 trees of depth 3); 1.6 to 2 times the time. An
overgrowth of 5 brought 0.2 to 1 percent more there and 0.1 on the benchmark, for twice the time; regrowing each tree
more often than twice changed nothing. Stumps are exchanged instead."""
MANY_ROWS = 50_000
"""Above so many distinct rows, that would take minutes."""
LARGEST_MEAN = 1e8
"""The largest mean under the Poisson loss, where that of y is one."""


class RowLoss(NamedTuple):
    """The box of the duals, and the term."""

    lower: Vector
    upper: Vector
    term: RowTerm


@dataclass
class NumberLoss(PricesMeanLoss):
    """A loss for numbers: a subclass states its box and its term."""

    argument: ClassVar[str] = "loss"
    meaning_of_C: ClassVar[str] = "the price of the mean loss, above 0 (default: rows / 20)"
    has_final_scores: ClassVar[bool] = True
    default_ridge: ClassVar[float] = 20.0
    growing_ridges: ClassVar[tuple[float, ...]] = (0.5, 5.0, 50.0)
    grid_ridges: ClassVar[tuple[float, float]] = (300.0, 0.03)
    least_growing_rows: ClassVar[int] = 0
    link: ClassVar[str] = "identity"
    """The relation of scores to y: y itself ("identity"; "robust" where the slope of the loss is bounded; "tube" where
    the loss bends on both sides of y; "quantiles" for several levels), or its logarithm ("log")."""

    scorer: ClassVar[Any] = "neg_mean_absolute_error"
    """The default score for held-out rows: a scorer of scikit-learn's, or its name."""

    @abstractmethod
    def row_loss(self, y: Vector, prices: Vector) -> RowLoss:
        """The loss of rows with these targets and prices."""

    def programme(self, rows: Rows, n_columns: int) -> Programme:
        size = min(self.C_value, self.size_of(rows))  # a larger one would make any gap small where y is met exactly
        return Programme(rows, *self.row_loss(rows.values, self.prices(rows)), Cone(cost=1.0), size=size)

    def first_duals(self, rows: Rows) -> Vector:
        """The residuals of the mean."""
        centred = rows.values - rows.dot(rows.values, rows.counts) / rows.n_samples
        duals: Vector = centred * rows.counts
        return duals

    def effort(self, rows: Rows) -> Effort:
        return Effort(overgrowth=2.0, n_regrown=1)


@dataclass
class SquaredLoss(NumberLoss):
    """loss = (y - F)^2/2: u is free, g(u) = u^2/(2P) - y u. The scores are means."""

    name: ClassVar[str] = "squared"
    title: ClassVar[str] = "Squared loss"
    optimises: ClassVar[str] = "half the squared error plus half the squared norm of all leaf values"
    use: ClassVar[str] = "The default: means."
    scorer: ClassVar[Any] = "neg_mean_squared_error"

    def effort(self, rows: Rows) -> Effort:
        return THOROUGH if rows.n_all_data <= MANY_ROWS else super().effort(rows)

    def row_loss(self, y: Vector, prices: Vector) -> RowLoss:
        free = np.full_like(y, np.inf)
        return RowLoss(-free, free, QuadraticTerm(-y, 1.0 / prices, np.zeros_like(y)))


@dataclass
class HuberLoss(NumberLoss):
    """loss = (y - F)^2/2 up to an error of delta, and linear beyond: ``|u| <= delta P``, g(u) = u^2/(2P) - y u.

    ``delta`` is in deviations of y, read off its deciles.

    Huber, "Robust estimation of a location parameter", Ann. Math. Statist. 35 (1964).
    """

    delta: float = 1.0

    name: ClassVar[str] = "huber"
    title: ClassVar[str] = "Huber loss"
    optimises: ClassVar[str] = "the squared error of small errors, the absolute error of large ones, plus a ridge"
    use: ClassVar[str] = "Means, with outliers in y."
    link: ClassVar[str] = "robust"

    def __post_init__(self) -> None:
        if not (isinstance(self.delta, (int, float)) and 0 < self.delta < np.inf):
            raise InvalidParameterError(f"delta={self.delta!r} must be a number above 0, in deviations of y; try 1.")

    def row_loss(self, y: Vector, prices: Vector) -> RowLoss:
        bound = self.delta * prices
        return RowLoss(-bound, bound, QuadraticTerm(-y, 1.0 / prices, np.zeros_like(y)))


@dataclass
class PoissonLoss(NumberLoss):
    """loss = exp(F) - y F, the deviance of counts: u <= P y, g(u) = P (q log q - q) with q = y - u/P.

    The scores are logarithms of means. Means beyond 1e8 times the mean of y count as such, which bounds u below.
    McCullagh & Nelder, "Generalized linear models", Chapman & Hall (1989).
    """

    name: ClassVar[str] = "poisson"
    title: ClassVar[str] = "Poisson loss"
    optimises: ClassVar[str] = "the deviance of counts plus half the squared norm of all leaf values"
    use: ClassVar[str] = "Counts and rates, which are never negative."
    link: ClassVar[str] = "log"
    scorer: ClassVar[Any] = "neg_mean_poisson_deviance"

    def row_loss(self, y: Vector, prices: Vector) -> RowLoss:
        return RowLoss(prices * (y - LARGEST_MEAN), prices * y, PoissonTerm(y, prices))


@dataclass
class AbsoluteLoss(NumberLoss):
    """loss = ``|y - F|``, twice the quantile loss at one half: ``|u| <= P``, g(u) = -y u. The scores are medians."""

    name: ClassVar[str] = "absolute"
    title: ClassVar[str] = "Absolute loss"
    optimises: ClassVar[str] = "the absolute error plus half the squared norm of all leaf values"
    use: ClassVar[str] = "Medians: the mean absolute error."
    link: ClassVar[str] = "robust"

    def row_loss(self, y: Vector, prices: Vector) -> RowLoss:
        return RowLoss(-prices, prices, LinearTerm(y, np.zeros_like(y)))


@dataclass
class EpsilonInsensitiveLoss(NumberLoss):
    """loss = ``max(0, |y - F| - epsilon)``: ``|u| <= P``, ``g(u) = epsilon |u| - y u``, as two duals a row.

    ``epsilon`` is in deviations of y, read off its deciles.

    Vapnik, "The nature of statistical learning theory", Springer (1995).
    """

    epsilon: float = 0.1

    name: ClassVar[str] = "epsilon_insensitive"
    title: ClassVar[str] = "Epsilon-insensitive loss"
    optimises: ClassVar[str] = "the absolute error beyond epsilon plus half the squared norm of all leaf values"
    use: ClassVar[str] = "Errors up to a known size do not matter."
    link: ClassVar[str] = "tube"

    def __post_init__(self) -> None:
        if not (isinstance(self.epsilon, (int, float)) and 0 <= self.epsilon < np.inf):
            raise InvalidParameterError(f"epsilon={self.epsilon!r} must be a number of at least 0, in deviations of y.")

    def advice_for_splits(self, targets: Vector) -> str:
        if np.ptp(targets) > 2.0 * self.epsilon:
            return super().advice_for_splits(targets)
        return f"One number is within epsilon={self.epsilon:g} deviations of every y: a smaller epsilon may help."

    def row_loss(self, y: Vector, prices: Vector) -> RowLoss:
        """``y`` has both signs of each target, so that the multiplicities of the rows add up to twice their total."""
        lower = np.zeros_like(y)
        return RowLoss(lower, 2.0 * prices, LinearTerm(y - self.epsilon, lower))
