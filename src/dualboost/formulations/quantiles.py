"""Quantiles: one, or several at once over leaves that have a value for each, whose order is a constraint."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from sklearn.metrics import make_scorer, mean_pinball_loss

from .._typing import Matrix, Vector
from ..errors import InvalidParameterError, UnsupportedFormulationError
from ..matrix.rows import Rows
from ..workers.base import cached_property
from .base import Intercepts
from .programme import Programme
from .regression import NumberLoss, RowLoss
from .terms import LinearTerm


@dataclass(frozen=True, eq=False)
class QuantilesProgramme:
    """Pinball losses over leaves whose values are vectors, one number for each of the levels tau_1 < ... < tau_K.

    Primal, with F_i = b + sum_t V_t[leaf_t(x_i)] and prices P_i of the rows::

        min  ridge/2 |V|^2 + sum_ik P_i [tau_k (y_i - F_ik)+ + (1 - tau_k) (F_ik - y_i)+]
        s.t. F_ik <= F_i,k+1   for every row i and every k < K

    Dual, with lambda_ik >= 0 the multipliers of the order, the residual R_ik = u_ik - lambda_ik + lambda_i,k-1 and the
    edges E_lk = sum of R_ik over the rows of leaf l::

        max  sum_ik y_i u_ik - |E|^2/(2 ridge)
        s.t. (tau_k - 1) P_i <= u_ik <= tau_k P_i,   sum_i R_ik = 0 for every k

    Pricing: the tree with the largest sum over its leaves and levels of E_lk^2/(H_l + ridge), H being the total price
    of the rows of a leaf, since the losses have no curvature.

    Papers: Koenker & Bassett, "Regression quantiles", Econometrica 46 (1978); Takeuchi, Le, Sears & Smola,
    "Nonparametric quantile estimation", JMLR 7 (2006), for the order as a constraint.
    """

    rows: Rows
    prices: Vector
    levels: Vector
    alone: Sequence[Programme]
    """The programme of each level by itself, without the order."""
    ridge: float = 1.0

    leaf_solver: ClassVar[str] = "quantiles"

    @property
    def n_levels(self) -> int:
        return len(self.levels)

    @cached_property
    def lower(self) -> Matrix:
        return np.asarray((self.levels - 1.0) * self.prices[:, None])

    @cached_property
    def upper(self) -> Matrix:
        return np.asarray(self.levels * self.prices[:, None])

    def for_growing(self) -> SeparateLevels:
        return SeparateLevels(self.rows, [programme.for_growing() for programme in self.alone])

    def expansion(self, scores: Matrix) -> tuple[float, Matrix, Matrix]:
        """The total loss, and by row and level the dual and the curvature.

        The curvature is the width of the box, since the loss bends only in its kink.
        """
        distances = self.rows.values[:, None] - scores
        duals = np.where(distances > 0, self.upper, self.lower)
        lost = self.rows.add_up(lambda block: float((duals[block] * distances[block]).sum()))
        return lost, duals, self.upper - self.lower

    def feasible(self, duals: Matrix, order: Matrix) -> tuple[Matrix, Matrix]:
        """u and lambda close to these, with the sums that the intercepts require."""
        duals, order = np.clip(duals, self.lower, self.upper), np.maximum(order, 0.0)
        least, most = self._sums(self.lower), self._sums(self.upper)
        required = -self._sums(residual_of(np.zeros_like(duals), order))
        order = order * _largest_share(required, least, most)
        required = -self._sums(residual_of(np.zeros_like(duals), order))
        for _ in range(2):  # the second pass removes rounding errors of the first
            missing = required - self._sums(duals)
            room = np.where(missing > 0, self.upper - duals, self.lower - duals)
            space = np.maximum(np.abs(self._sums(room)), np.finfo(float).tiny)
            duals = np.clip(duals + room * np.minimum(np.abs(missing) / space, 1.0), self.lower, self.upper)
        return duals, order

    def dual_value(self, duals: Matrix, edges: Matrix) -> float:
        """A lower bound on the optimum, for feasible u and the edges of their residual."""
        y = self.rows.values
        gained = self.rows.add_up(lambda block: float((y[block] @ duals[block]).sum()))
        return gained - float((edges**2).sum()) / (2.0 * self.ridge)

    def ordered(self, scores: Matrix, intercept: Vector) -> Vector:
        """Intercepts close to these with which no row's quantiles cross; the middle level keeps its own."""
        intercept, middle = intercept.copy(), self.n_levels // 2
        for k in range(self.n_levels - 1):
            crossed = self.rows.largest(scores[:, k] + intercept[k] - (scores[:, k + 1] + intercept[k + 1]))
            if crossed > 0:
                # A little more, since sums may be rounded otherwise elsewhere.
                shift = crossed * (1.0 + 1e-9) + 1e-15 * float(np.abs(intercept).max())
                if k < middle:
                    intercept[: k + 1] -= shift
                else:
                    intercept[k + 1 :] += shift
        return intercept

    def _sums(self, values: Matrix) -> Vector:
        sums: Vector = self.rows.add_up(lambda block: values[block].sum(axis=0))
        return sums


@dataclass(frozen=True, eq=False)
class SeparateLevels:
    """Levels without the order: the programme for growing trees."""

    rows: Rows
    alone: Sequence[Programme]

    leaf_solver: ClassVar[str] = "separate"

    @property
    def ridge(self) -> float:
        return self.alone[0].weight_set.ridge

    @property
    def n_levels(self) -> int:
        return len(self.alone)

    def expansion(self, scores: Matrix) -> tuple[float, Matrix, Matrix]:
        """The total loss, and by row and level the dual and the second derivative."""
        duals, curvature = np.empty_like(scores), np.empty_like(scores)

        def work(block: slice) -> float:
            total = 0.0
            for k, programme in enumerate(self.alone):
                part = programme.block(block)
                losses, duals[block, k], curvature[block, k] = part.term.expansion(
                    scores[block, k], part.lower, part.upper
                )
                total += float(losses.sum())
            return total

        return float(self.rows.add_up(work)), duals, curvature


def residual_of(duals: Matrix, order: Matrix) -> Matrix:
    """R, given u and lambda."""
    residual = duals.copy()
    residual[:, :-1] -= order
    residual[:, 1:] += order
    return residual


def _largest_share(required: Vector, least: Vector, most: Vector) -> float:
    """The largest share, at most one, of the required sums that is between the bounds, which enclose zero."""
    with np.errstate(divide="ignore", invalid="ignore"):
        shares = np.where(required > 0, most / required, np.where(required < 0, least / required, 1.0))
    return float(min(1.0, shares.min(initial=1.0)))


@dataclass
class QuantileLoss(NumberLoss):
    """The quantile loss of one level, or of several levels whose order is a constraint.

    With tau the level, loss = tau (y - F) above F and (1 - tau) (F - y) below: (tau-1) P <= u <= tau P, g(u) = -y u.
    At tau = 1/2 this is half of the absolute error, and the scores are medians. For several levels the losses are
    added, and every leaf has a value for each: see ``QuantilesProgramme``.

    ``quantiles`` is a number inside (0, 1), or two or more of them, increasing.

    Koenker & Bassett, "Regression quantiles", Econometrica 46 (1978).
    """

    quantiles: float | Sequence[float] = field(default=0.5, metadata={"is_levels": True})

    name: ClassVar[str] = "quantile"
    title: ClassVar[str] = "Quantile loss"
    optimises: ClassVar[str] = "the pinball losses of the levels plus half the squared norm of all leaf values"
    use: ClassVar[str] = "Medians and other quantiles, or several at once, never crossing: prediction intervals."

    def __post_init__(self) -> None:
        given: Any = self.quantiles
        if not isinstance(given, Real):
            self.quantiles = require_levels("quantiles", given)
        elif not 0 < float(given) < 1:  # which refuses True and False
            raise InvalidParameterError(
                f"quantiles={given!r} must be a number above 0 and below 1, or several of them."
            )

    @property
    def levels(self) -> tuple[float, ...]:
        """The levels, one or several."""
        given: Any = self.quantiles
        return (float(given),) if isinstance(given, Real) else tuple(given)

    @property
    def link(self) -> str:  # type: ignore[override]
        return "robust" if len(self.levels) == 1 else "quantiles"

    @property
    def scorer(self) -> Any:
        if len(self.levels) == 1:
            return make_scorer(mean_pinball_loss, greater_is_better=False, alpha=self.quantiles)
        return PinballScorer(self.levels)

    def over_leaves(self, rows: Rows, operator: Intercepts, n_outputs: int) -> Any:
        if len(self.levels) == 1:
            return super().over_leaves(rows, operator, 1)
        alone = [QuantileLoss(self.C, level).over_leaves(rows, operator, 1) for level in self.levels]
        return QuantilesProgramme(rows, self.prices(rows), np.array(self.levels), alone)

    def row_loss(self, y: Vector, prices: Vector) -> RowLoss:
        if len(self.levels) > 1:
            raise UnsupportedFormulationError(
                f"quantiles={list(self.levels)} needs leaves with a value for each quantile: use optimize='leaves'."
            )
        level = self.levels[0]
        return RowLoss((level - 1.0) * prices, level * prices, LinearTerm(y, np.zeros_like(y)))


@dataclass(frozen=True)
class PinballScorer:
    """The negative mean pinball loss over the levels, as a scorer of scikit-learn's."""

    levels: tuple[float, ...]
    __name__: ClassVar[str] = "neg_mean_pinball_loss"

    def __call__(self, estimator: Any, X: Any, y: Any, sample_weight: Any = None) -> float:
        found = self.quantiles(np.asarray(estimator.predict_quantiles(X)), np.asarray(y), sample_weight)
        losses = [
            mean_pinball_loss(y, own, alpha=level, sample_weight=sample_weight)
            for level, own in zip(self.levels, found.T, strict=True)
        ]
        return -float(np.mean(losses))

    def quantiles(self, found: Matrix, y: Vector, sample_weight: Vector | None) -> Matrix:
        """The quantiles that the loss is computed for."""
        return found


LEVEL_DIGITS = 12
"""Levels are rounded to so many digits: ``np.linspace(0.1, 0.9, 9)`` has 0.30000000000000004 among them."""


def require_levels(name: str, levels: Any) -> tuple[float, ...]:
    """Several increasing levels inside (0, 1), or an error; such a tuple as it is, which ``clone`` relies on."""
    try:
        found = tuple(round(float(level), LEVEL_DIGITS) for level in levels)
    except (TypeError, ValueError) as error:
        raise InvalidParameterError(
            f"{name}={levels!r} must be a list of levels, for example [0.05, 0.5, 0.95]."
        ) from error
    if len(found) < 2:
        raise InvalidParameterError(
            f"{name}={levels!r} must have two levels or more; for one pass loss=QuantileLoss(quantiles=0.9)."
        )
    if not all(0 < level < 1 for level in found) or any(b <= a for a, b in pairwise(found)):
        raise InvalidParameterError(f"{name}={levels!r} must be increasing numbers above 0 and below 1.")
    return levels if isinstance(levels, tuple) and levels == found else found
