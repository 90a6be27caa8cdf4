"""Losses that users define: a loss of the margin for classifiers, a loss of the residual for regressors."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from .._typing import Vector
from ..errors import InvalidParameterError
from ..matrix.rows import Rows
from .base import Formulation, PricesMeanLoss
from .programme import Programme
from .regression import NumberLoss, RowLoss
from .terms import SLIGHT, RowTerm
from .weight_sets import Cone

STEEPEST = 1e8
"""A loss whose slope has one infinite end continues linearly beyond this slope, since duals need two bounds or none."""
FAR = 1e6
"""A margin or residual at which the slope must have come close to its bound."""
POINTS = np.array([-19.3, -6.7, -2.9, -1.61, -0.83, -0.37, -0.061, 0.052, 0.41, 0.77, 1.37, 2.3, 7.1, 18.9])
"""Where the methods of a loss are compared with each other: not at round numbers, where kinks may be."""
STEP = 1e-5
"""The step of finite differences."""
MOST_STEPS = 120
"""The limit of the steps towards the point with a given slope; a third of them are bisections."""


@dataclass
class CustomLoss(PricesMeanLoss):
    """The base of losses that users define: smooth, convex functions of a number x, applied to arrays.

    A subclass implements ``value``, ``derivative``, ``curvature`` and ``conjugate``, and sets ``slopes``. It becomes a
    dataclass: hyperparameters are annotated attributes with defaults, such as ``width: float = 1.0``.
    """

    name: ClassVar[str] = "custom"
    title: ClassVar[str] = "Custom loss"
    optimises: ClassVar[str] = "a loss of the user's plus half the squared norm of all leaf values"
    meaning_of_C: ClassVar[str] = "the price of the mean loss, above 0"
    use: ClassVar[str] = "A loss that has no name here."

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if "__init__" in vars(cls):
            raise InvalidParameterError(
                f"{cls.__name__} defines __init__: annotate its parameters in the class instead, for example "
                "'width: float = 1.0', and check them in __post_init__."
            )
        if "name" not in vars(cls):
            cls.name = cls.__name__
        dataclass(cls)

    @property
    @abstractmethod
    def slopes(self) -> tuple[float, float]:
        """The least and the largest value of the derivative, approached far away; both, one or none infinite."""

    @abstractmethod
    def value(self, x: Vector) -> Vector:
        """The loss at x."""

    @abstractmethod
    def derivative(self, x: Vector) -> Vector:
        """The first derivative at x."""

    @abstractmethod
    def curvature(self, x: Vector) -> Vector:
        """The second derivative at x."""

    @abstractmethod
    def conjugate(self, slope: Vector) -> Vector:
        """The convex conjugate: the maximum over x of slope*x - value(x), for slopes inside ``slopes``."""

    def resolve(self, n_samples: float) -> Formulation:
        """This loss with a number for C, once its methods have been compared with each other."""
        require_consistent(self)
        return super().resolve(n_samples)

    @property
    def slope_range(self) -> tuple[float, float]:
        """``slopes``, with a finite bound for a single infinite end."""
        low, high = self.slopes
        if np.isinf(low) and np.isinf(high):
            return low, high
        return max(float(low), -STEEPEST), min(float(high), STEEPEST)

    def point_of(self, slope: Vector) -> Vector:
        """The x at which the derivative has this slope, by Newton steps inside an interval that also gets bisected."""
        low, high = np.full_like(slope, -1.0), np.full_like(slope, 1.0)
        with np.errstate(all="ignore"):
            for end, sign in ((low, -1.0), (high, 1.0)):
                for _ in range(50):
                    is_short = sign * (slope - self.derivative(end)) > 0
                    if not is_short.any():
                        break
                    end[is_short] *= 2.0
            x = np.clip(np.zeros_like(slope), low, high)
            for k in range(MOST_STEPS):
                missing = slope - self.derivative(x)
                low, high = np.where(missing >= 0, x, low), np.where(missing <= 0, x, high)
                newton = x + missing / self.curvature(x)
                is_newton = (newton >= low) & (newton <= high) & (k % 3 < 2)
                x, last = np.where(is_newton, newton, 0.5 * (low + high)), x
                if (np.abs(x - last) <= 4e-16 * np.maximum(1.0, np.abs(x))).all():
                    break
        return x


@dataclass(frozen=True, eq=False)
class CustomTerm(RowTerm):
    """g(u) = scale*conjugate(s) - y*u with s = sign*u/scale: the loss is scale*value(y + (-sign)*m).

    For a loss of the margin, x = m, sign = -1 and y = 0. For a loss of the residual, x = y - m and sign = 1.
    """

    custom: CustomLoss
    sign: float
    scale: Vector
    y: Vector

    def block(self, block: slice) -> CustomTerm:
        return CustomTerm(self.custom, self.sign, self.scale[block], self.y[block])

    def merged(self, sums: Callable[[Vector], Vector]) -> CustomTerm:
        if self.sign > 0:
            raise NotImplementedError("rows with different targets cannot be merged")
        scale = sums(self.scale)
        return CustomTerm(self.custom, self.sign, scale, np.zeros_like(scale))

    def value(self, u: Vector) -> Vector:
        with np.errstate(all="ignore"):
            return self.scale * self.custom.conjugate(self._slope(u)) - self.y * u

    def slope(self, u: Vector) -> Vector:
        return self.sign * self.custom.point_of(self._slope(u)) - self.y

    def curvature(self, u: Vector) -> Vector:
        with np.errstate(all="ignore"):
            curvature = self.custom.curvature(self.custom.point_of(self._slope(u)))
        return 1.0 / (self.scale * np.maximum(curvature, np.finfo(float).tiny))

    def response(self, margins: Vector, lower: Vector, upper: Vector) -> Vector:
        with np.errstate(all="ignore"):
            return np.clip(self.sign * self.scale * self.custom.derivative(self._point(margins)), lower, upper)

    def loss(self, margins: Vector, lower: Vector, upper: Vector) -> Vector:
        return self._loss(margins, self.response(margins, lower, upper))

    def expansion(self, margins: Vector, lower: Vector, upper: Vector) -> tuple[Vector, Vector, Vector]:
        """Where the loss is linear, a slight curvature stands in for none, as in ``QuadraticTerm``."""
        x, u = self._point(margins), self.response(margins, lower, upper)
        with np.errstate(all="ignore"):
            curvature = self.scale * self.custom.curvature(x)
        slight = SLIGHT * np.abs(u) / np.maximum(np.abs(x), 1.0)
        is_usable = np.isfinite(curvature) & (curvature > 0)
        return self._loss(margins, u), u, np.where(is_usable, curvature, slight)

    def _point(self, margins: Vector) -> Vector:
        return self.y - self.sign * margins

    def _slope(self, u: Vector) -> Vector:
        """The slopes of these duals, inside the open range, where a conjugate has no logarithm of zero."""
        low, high = self.custom.slope_range
        least = max(np.nextafter(low, np.inf), np.finfo(float).tiny) if low == 0 else np.nextafter(low, np.inf)
        most = min(np.nextafter(high, -np.inf), -np.finfo(float).tiny) if high == 0 else np.nextafter(high, -np.inf)
        return np.clip(self.sign * u / self.scale, least, most)

    def _loss(self, margins: Vector, u: Vector) -> Vector:
        """The loss by ``value``, so that the primal owes nothing to the conjugate; linear beyond a bound of ours."""
        with np.errstate(all="ignore"):
            losses = self.scale * self.custom.value(self._point(margins))
            if self.custom.slope_range == tuple(self.custom.slopes):
                return losses
            is_beyond = np.abs(u) >= STEEPEST * self.scale
            return np.where(is_beyond, -u * margins - self.value(u), losses)


@dataclass
class MarginLoss(CustomLoss):
    """A loss of the margin that users define, with a ridge and a free intercept; for two classes.

    Pass an object of a subclass as ``DualBoostClassifier(formulation=...)``. Margins are y_i F(x_i) with y_i in
    {-1, 1}; set ``has_final_scores = True`` if the scores F are log-odds, as under the logistic loss.

    Primal, with P_i = C c_i/M, M the total of the multiplicities, over all leaf values v (``optimize="leaves"``, the
    default) or over one weight w >= 0 for each tree in their place::

        min  1/2 |v|^2 + sum_i P_i value(y_i F(x_i))

    Dual, with e the edges of leaves (for trees max(0, e))::

        max  -sum_i P_i conjugate(-u_i/P_i) - 1/2 |e|^2
        s.t. -slopes[1] P_i <= u_i <= -slopes[0] P_i,   sum_i y_i u_i = 0

    so u_i = -P_i derivative(m_i) at the optimum. Pricing, default and grid of C are as in ``LogisticBoost``.
    """

    optimizes_for_classes: ClassVar[tuple[str, ...]] = ()

    def programme(self, rows: Rows, n_columns: int) -> Programme:
        prices, (low, high) = self.prices(rows), self.slope_range
        term = CustomTerm(self, -1.0, prices, np.zeros_like(prices))
        return Programme(rows, -high * prices, -low * prices, term, Cone(ridge=1.0))


@dataclass
class ResidualLoss(CustomLoss, NumberLoss):
    """A loss of the residual y - F that users define, with a ridge and a free intercept.

    Pass an object of a subclass as ``DualBoostRegressor(loss=...)``. Residuals are in deviations of y, read off its
    deciles where both slopes are finite. Held-out rows are judged by the mean absolute error unless the subclass has
    another ``scorer``, by scikit-learn's name.

    Primal, with P_i = C c_i/M, M the total of the multiplicities, over all leaf values v (``optimize="leaves"``, the
    default); over one weight w >= 0 for each tree, sum_j w_j takes the place of the ridge::

        min  1/2 |v|^2 + sum_i P_i value(y_i - F(x_i))

    Dual, with e the edges of leaves::

        max  sum_i [y_i u_i - P_i conjugate(u_i/P_i)] - 1/2 |e|^2
        s.t. slopes[0] P_i <= u_i <= slopes[1] P_i,   sum_i u_i = 0

    so u_i = P_i derivative(y_i - F_i) at the optimum. Default and grid of C are as for the other losses for numbers.
    """

    @property
    def link(self) -> str:  # type: ignore[override]
        return "robust" if np.isfinite(self.slopes).all() else "identity"

    def row_loss(self, y: Vector, prices: Vector) -> RowLoss:
        low, high = self.slope_range
        return RowLoss(low * prices, high * prices, CustomTerm(self, 1.0, prices, y))


def require_consistent(loss: CustomLoss) -> None:
    """Refuse a loss whose derivative, curvature, conjugate or slopes do not fit its value at a few points."""
    low, high = _slopes(loss)
    values, slopes, bends = (_computed(loss, name, POINTS) for name in ("value", "derivative", "curvature"))
    _require_equal(loss, "derivative", slopes, _difference(loss, "value"), "a finite difference of value")
    _require_equal(loss, "curvature", bends, _difference(loss, "derivative"), "a finite difference of derivative")
    if (bends < 0).any():
        k = int(np.argmin(bends))
        _refuse(loss, f"curvature({POINTS[k]:g}) is {bends[k]:.6g}, but a convex loss has none below 0")
    rounding = 1e-9 * max(1.0, float(np.abs(slopes).max()))
    if (slopes < low - rounding).any() or (slopes > high + rounding).any():
        k = int(np.argmax(np.maximum(low - slopes, slopes - high)))
        _refuse(loss, f"slopes={loss.slopes!r} do not contain derivative({POINTS[k]:g}) = {slopes[k]:.6g}")
    for end, x in ((low, -FAR), (high, FAR)):
        if np.isfinite(end):
            found = float(_computed(loss, "derivative", np.array([x]))[0])
            if abs(found - end) > 1e-3 * max(1.0, abs(end)):
                _refuse(loss, f"derivative({x:g}) is {found:.6g}, but slopes={loss.slopes!r} promise {end:g}")
    is_inside = (slopes > low) & (slopes < high)  # at an end, x is not the only point with that slope
    inside = np.where(is_inside, slopes, slopes[is_inside][0] if is_inside.any() else 0.0)
    conjugates = np.where(is_inside, _computed(loss, "conjugate", inside), slopes * POINTS - values)
    sizes = np.maximum(1.0, np.abs(values) + np.abs(slopes * POINTS))
    wrong = np.abs(conjugates + values - slopes * POINTS) > 1e-8 * sizes
    if wrong.any():
        k = int(np.argmax(wrong))
        _refuse(
            loss,
            f"conjugate({slopes[k]:.6g}) is {conjugates[k]:.6g}, but slope*x - value(x) is "
            f"{slopes[k] * POINTS[k] - values[k]:.6g} at x = {POINTS[k]:g}, which has this slope",
        )


def _slopes(loss: CustomLoss) -> tuple[float, float]:
    try:
        low, high = (float(end) for end in loss.slopes)
    except (TypeError, ValueError) as error:
        raise InvalidParameterError(
            f"{_named(loss)}: slopes must be two numbers, such as (-1.0, 0.0); it is {loss.slopes!r}."
        ) from error
    if not low < high:
        _refuse(loss, f"slopes={loss.slopes!r} must increase, as in (-1.0, 0.0)")
    return low, high


def _computed(loss: CustomLoss, name: str, x: Vector) -> Vector:
    try:
        with np.errstate(all="ignore"):
            found = np.asarray(getattr(loss, name)(x.copy()), dtype=float)
    except (TypeError, ValueError) as error:
        raise InvalidParameterError(
            f"{_named(loss)}: {name} fails on an array ({error}); use numpy's functions, which work by element."
        ) from error
    if found.shape != x.shape:
        _refuse(loss, f"{name} returns an array of shape {found.shape} for {len(x)} numbers")
    if not np.isfinite(found).all():
        k = int(np.argmin(np.isfinite(found)))
        _refuse(loss, f"{name}({x[k]:g}) is {found[k]}, which is not finite")
    return found


def _difference(loss: CustomLoss, name: str) -> Vector:
    steps = STEP * np.maximum(1.0, np.abs(POINTS))
    return (_computed(loss, name, POINTS + steps) - _computed(loss, name, POINTS - steps)) / (2.0 * steps)


def _require_equal(loss: CustomLoss, name: str, found: Vector, expected: Vector, source: str) -> None:
    wrong = np.abs(found - expected) > 1e-4 * np.maximum(1.0, np.abs(expected))
    if wrong.any():
        k = int(np.argmax(wrong))
        _refuse(loss, f"{name}({POINTS[k]:g}) is {found[k]:.6g}, but {source} there is {expected[k]:.6g}")


def _refuse(loss: CustomLoss, problem: str) -> None:
    raise InvalidParameterError(f"{_named(loss)}: {problem}. Correct this method of the class.")


def _named(loss: CustomLoss) -> str:
    return f"{loss.argument}={loss!r}"
