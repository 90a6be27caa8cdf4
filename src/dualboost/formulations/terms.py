"""The separable convex terms g_i(u_i) on the duals, and the row losses they induce.

Maximising ``-u*m - g(u)`` over the box of a row gives a convex and decreasing function of its margin m, the *loss* of
the row. The maximiser is the *response*: the dual that is optimal for the row at that margin.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from .._typing import Vector

FLAT = 1e-280
"""A curvature that adds nothing to any sum in double precision, and that may be divided by."""
SLIGHT = 1e-2
"""The share of the curvature of a parabola that touches the loss where the loss is linear."""
BAND = 0.3
"""The margin over which a smoothed kink bends. Margins of classes are about one, and targets have a scale of one."""
LARGEST_EXPONENT = 700.0
"""Exponents are limited to this, beyond which the exponential overflows."""


class RowTerm(ABC):
    """g, one convex function for each row."""

    is_linear: ClassVar[bool] = False
    leaf_solver: ClassVar[str] = "smooth"
    """The name of the solver, in ``solvers/leaf_solvers.py``, of programmes over leaves with this term."""

    @abstractmethod
    def value(self, u: Vector) -> Vector:
        """g_i(u_i)."""

    @abstractmethod
    def slope(self, u: Vector) -> Vector:
        """g_i'(u_i)."""

    @abstractmethod
    def curvature(self, u: Vector) -> Vector:
        """g_i''(u_i)."""

    @abstractmethod
    def response(self, margins: Vector, lower: Vector, upper: Vector) -> Vector:
        """The u_i in [lower_i, upper_i] that maximises -u_i m_i - g_i(u_i)."""

    @abstractmethod
    def block(self, block: slice) -> RowTerm:
        """The term of a block of rows."""

    @abstractmethod
    def merged(self, sums: Callable[[Vector], Vector]) -> RowTerm:
        """The term over merged rows; ``sums`` adds up a vector over the rows that are merged into one.

        Merging is exact because g grows with the multiplicity of a row as if the row were repeated.
        """

    def with_linear(self, slopes: Vector) -> RowTerm:
        """The term with further rows at the end, for which g(u) = slope*u."""
        raise NotImplementedError(f"{type(self).__name__} has no form for side rows")

    def loss(self, margins: Vector, lower: Vector, upper: Vector) -> Vector:
        """The maximum of -u_i m_i - g_i(u_i) over the box."""
        u = self.response(margins, lower, upper)
        return -u * margins - self.value(u)

    def expansion(self, margins: Vector, lower: Vector, upper: Vector) -> tuple[Vector, Vector, Vector]:
        """The loss, its negative first and its second derivative with respect to the margin.

        Where a loss bends only in its kink, the width of the box stands in for the second derivative.
        """
        u = self.response(margins, lower, upper)
        if self.is_linear:
            return self.loss(margins, lower, upper), u, upper - lower
        inside = (u > lower) & (u < upper)
        return -u * margins - self.value(u), u, np.where(inside, 1.0 / self.curvature(u), 0.0)


@dataclass(frozen=True, eq=False)
class LinearTerm(RowTerm):
    """g(u) = -kink*(u - origin): a hinge loss that bends where the margin equals ``kink``."""

    kink: float | Vector
    origin: Vector

    is_linear: ClassVar[bool] = True
    leaf_solver: ClassVar[str] = "kinked"

    def smoothed(self, lower: Vector, upper: Vector) -> SmoothedKink:
        """A term whose loss bends over a margin of ``BAND`` around the kink instead."""
        middle, kink = 0.5 * (lower + upper), np.zeros_like(lower) + self.kink
        curvatures = BAND / np.maximum(upper - lower, FLAT)
        constant = kink * self.origin + 0.5 * curvatures * middle**2
        return SmoothedKink(-kink - curvatures * middle, curvatures, constant, kink)

    def block(self, block: slice) -> LinearTerm:
        return LinearTerm(_in_block(self.kink, block), self.origin[block])

    def merged(self, sums: Callable[[Vector], Vector]) -> LinearTerm:
        return LinearTerm(self.kink, sums(self.origin))

    def value(self, u: Vector) -> Vector:
        return -self.kink * (u - self.origin)

    def slope(self, u: Vector) -> Vector:
        return np.zeros_like(u) - self.kink

    def with_linear(self, slopes: Vector) -> LinearTerm:
        kinks = np.concatenate([np.full_like(self.origin, self.kink), -slopes])
        return LinearTerm(kinks, np.append(self.origin, np.zeros_like(slopes)))

    def curvature(self, u: Vector) -> Vector:
        return np.zeros_like(u)

    def response(self, margins: Vector, lower: Vector, upper: Vector) -> Vector:
        return np.where(margins < self.kink, upper, lower)


@dataclass(frozen=True, eq=False)
class QuadraticTerm(RowTerm):
    """g(u) = constant + linear*u + curvatures*u**2/2: a (truncated) squared loss."""

    linear: float | Vector
    curvatures: Vector
    constant: Vector

    def block(self, block: slice) -> QuadraticTerm:
        return QuadraticTerm(_in_block(self.linear, block), self.curvatures[block], self.constant[block])

    def merged(self, sums: Callable[[Vector], Vector]) -> QuadraticTerm:
        return QuadraticTerm(self.linear, 1.0 / sums(1.0 / self.curvatures), sums(self.constant))

    def value(self, u: Vector) -> Vector:
        return self.constant + u * (self.linear + 0.5 * self.curvatures * u)

    def slope(self, u: Vector) -> Vector:
        return self.linear + self.curvatures * u

    def with_linear(self, slopes: Vector) -> QuadraticTerm:
        linear = np.concatenate([np.full_like(self.curvatures, self.linear), slopes])
        curvatures = np.append(self.curvatures, np.full_like(slopes, FLAT))
        return QuadraticTerm(linear, curvatures, np.append(self.constant, np.zeros_like(slopes)))

    def curvature(self, u: Vector) -> Vector:
        return self.curvatures

    def response(self, margins: Vector, lower: Vector, upper: Vector) -> Vector:
        return np.clip((-margins - self.linear) / self.curvatures, lower, upper)

    def expansion(self, margins: Vector, lower: Vector, upper: Vector) -> tuple[Vector, Vector, Vector]:
        """Where the loss is linear, a slight curvature stands in for none: else no step might be defined."""
        losses, u, curvature = super().expansion(margins, lower, upper)
        off = np.abs(margins + self.linear)
        slight = SLIGHT * np.abs(u) / np.maximum(off, np.finfo(float).tiny)
        return losses, u, np.where(curvature > 0, curvature, slight)


@dataclass(frozen=True, eq=False)
class SmoothedKink(QuadraticTerm):
    """g(u) = -kink*(u - origin) + curvature*(u - middle)**2/2, with the middle of the box: a hinge loss that bends over
    a margin of ``BAND`` around the kink.
    """

    kink: Vector

    leaf_solver: ClassVar[str] = "smoothed"

    def block(self, block: slice) -> SmoothedKink:
        plain = super().block(block)
        return SmoothedKink(plain.linear, plain.curvatures, plain.constant, self.kink[block])

    def expansion(self, margins: Vector, lower: Vector, upper: Vector) -> tuple[Vector, Vector, Vector]:
        """For the second derivative, that of the parabola which touches the loss here and is nowhere below it.

        Hunter & Lange, "Quantile regression via an MM algorithm", J. Computational and Graphical Statistics 9 (2000).
        """
        u = self.response(margins, lower, upper)
        curvature = (upper - lower) / np.maximum(BAND, 2.0 * np.abs(margins - self.kink))
        return -u * margins - self.value(u), u, curvature


@dataclass(frozen=True, eq=False)
class LogisticTerm(RowTerm):
    """g(u) = u*log(u/scale) + (scale - u)*log(1 - u/scale): a logistic loss times ``scale``."""

    scale: Vector

    def block(self, block: slice) -> LogisticTerm:
        return LogisticTerm(self.scale[block])

    def merged(self, sums: Callable[[Vector], Vector]) -> LogisticTerm:
        return LogisticTerm(sums(self.scale))

    def value(self, u: Vector) -> Vector:
        part = u / self.scale
        below_one = np.minimum(part, 1.0 - np.finfo(float).epsneg)
        return self.scale * (x_log_x(part) + (1.0 - part) * np.log1p(-below_one))

    def slope(self, u: Vector) -> Vector:
        part = self._inside(u)
        return np.log(part) - np.log1p(-part)

    def curvature(self, u: Vector) -> Vector:
        part = self._inside(u)
        return 1.0 / (self.scale * part * (1.0 - part))

    def response(self, margins: Vector, lower: Vector, upper: Vector) -> Vector:
        return np.clip(self.scale * self._share(margins)[0], lower, upper)

    def expansion(self, margins: Vector, lower: Vector, upper: Vector) -> tuple[Vector, Vector, Vector]:
        """All three from one exponential, where the box is the whole range of duals."""
        if lower.any() or not np.array_equal(upper, self.scale):
            return super().expansion(margins, lower, upper)
        share, small = self._share(margins)
        u = self.scale * share
        return self.scale * (np.log1p(small) - np.minimum(margins, 0.0)), u, u * (1.0 - share)

    def _share(self, margins: Vector) -> tuple[Vector, Vector]:
        """1/(1 + exp(m)), and the exponential of -|m| that it is made of."""
        small = np.exp(-np.abs(margins))
        return np.where(margins > 0, small, 1.0) / (1.0 + small), small

    def _inside(self, u: Vector) -> Vector:
        """u as a fraction of ``scale``, kept inside (0, 1), where slope and curvature are finite."""
        return np.clip(u / self.scale, np.finfo(float).tiny, 1.0 - np.finfo(float).epsneg)


@dataclass(frozen=True, eq=False)
class EntropyTerm(RowTerm):
    """g(u) = u*log(u/reference)/eta: a capped exponential loss."""

    reference: Vector
    eta: float

    def block(self, block: slice) -> EntropyTerm:
        return EntropyTerm(self.reference[block], self.eta)

    def merged(self, sums: Callable[[Vector], Vector]) -> EntropyTerm:
        return EntropyTerm(sums(self.reference), self.eta)

    def value(self, u: Vector) -> Vector:
        ratio = np.divide(u, self.reference)
        return u * np.log(np.where(ratio > 0, ratio, 1.0)) / self.eta

    def slope(self, u: Vector) -> Vector:
        return (np.log(np.maximum(u / self.reference, np.finfo(float).tiny)) + 1.0) / self.eta

    def curvature(self, u: Vector) -> Vector:
        return 1.0 / (self.eta * np.maximum(u, np.finfo(float).tiny))

    def response(self, margins: Vector, lower: Vector, upper: Vector) -> Vector:
        exponent = np.minimum(-self.eta * margins - 1.0, LARGEST_EXPONENT)
        return np.clip(self.reference * np.exp(exponent), lower, upper)


@dataclass(frozen=True, eq=False)
class PoissonTerm(RowTerm):
    """g(u) = price*(q log q - q) with q = y - u/price: the loss is price*(exp(m) - y m)."""

    y: Vector
    price: Vector

    def block(self, block: slice) -> PoissonTerm:
        return PoissonTerm(self.y[block], self.price[block])

    def merged(self, sums: Callable[[Vector], Vector]) -> PoissonTerm:
        raise NotImplementedError("rows with different counts cannot be merged")

    def _means(self, u: Vector) -> Vector:
        return np.maximum(self.y - u / self.price, np.finfo(float).tiny)

    def value(self, u: Vector) -> Vector:
        means = self._means(u)
        return self.price * (x_log_x(means) - means)

    def slope(self, u: Vector) -> Vector:
        return -np.log(self._means(u))

    def curvature(self, u: Vector) -> Vector:
        return 1.0 / (self.price * self._means(u))

    def response(self, margins: Vector, lower: Vector, upper: Vector) -> Vector:
        with np.errstate(over="ignore"):  # a product that is infinite is clipped
            return np.clip(self.price * (self.y - np.exp(np.minimum(margins, LARGEST_EXPONENT))), lower, upper)


def _in_block(value: float | Vector, block: slice) -> float | Vector:
    """The entries of a vector in the block; a number, which is the same for all rows, as it is."""
    return value if isinstance(value, float | int) else value[block]


def x_log_x(x: Vector) -> Vector:
    """x log x for x >= 0, which is 0 at 0."""
    return x * np.log(np.maximum(x, np.finfo(float).tiny))
