"""The sets W of admissible weights, and the linear equations of the duals."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq, nnls

from .._typing import Integers, Matrix, Vector
from ..matrix.rows import Rows
from ..trees.ordering import LeafOrder
from ..workers.base import cached_property

# There are two sorts of equations. A *total* requires that the duals add up to a number; its multiplier is the soft
# margin. A *free intercept* requires that the duals are orthogonal to the column of a learner of constant output, whose
# weight has any sign and no cost; its multiplier is the intercept. The multipliers are called rho.

MOST_PROJECTIONS = 200
"""How many alternating projections are made at most; a few suffice to find which sums end at a bound."""
ROUNDING = 1e-12
"""An equation may be missed by this fraction of the sum of its terms in absolute value."""


@dataclass(frozen=True, eq=False)
class Equations:
    """The coefficients, one row for each equation, and the right sides."""

    rows: Rows
    matrix: Matrix
    """E."""
    right_side: Vector
    """t."""
    total: float | None = None
    """The total of all duals, if one of the equations fixes it."""

    @classmethod
    def of(cls, rows: Rows, total: float | None, intercepts: Matrix | None) -> Equations:
        """The equations of a total, of free intercepts, of both, or of neither.

        ``intercepts`` are the columns of the learners of constant output, one row each.
        """
        of_total = rows.xp.empty((0, rows.n_rows)) if total is None else rows.full(1.0)[None, :]
        matrix = of_total if intercepts is None else np.concatenate([of_total, -intercepts])
        right_side = np.zeros(len(matrix))
        if total is not None:
            right_side[0] = total
        return cls(rows, matrix, right_side, total)

    def __len__(self) -> int:
        return len(self.right_side)

    def sums(self, u: Vector) -> Vector:
        """E u."""
        sums: Vector = self.rows.sums_of([self.sums_here(u)])[0]
        return sums

    def sums_here(self, u: Vector) -> Vector:
        """E u over the rows held here."""
        sums: Vector = self.rows.here(lambda block: self.matrix[:, block] @ u[block])
        return sums

    def hold(self, sums: Vector, size: float) -> bool:
        """Whether duals with these sums satisfy the equations to the last digits of their size."""
        return not len(self) or not (np.abs(sums - self.right_side) > 1e-13 * size).any()

    @cached_property
    def groups(self) -> tuple[Matrix, list[Integers | slice]]:
        """The distinct columns of E, and for each the rows with this column.

        The equations depend on u only through its sums over these groups of rows.
        """
        if len(self) == 1 and self.total is not None:
            return np.ones((1, 1)), [slice(None)]
        coefficients, group = self.rows.kinds(self.matrix)
        return coefficients, [np.flatnonzero(group == k) for k in range(coefficients.shape[1])]

    def sums_by_group(self, u: Vector) -> Vector:
        return self.rows.totals([u[rows] for rows in self.groups[1]])

    @cached_property
    def _inverse(self) -> Matrix:
        return np.asarray(np.linalg.pinv(self.groups[0]), dtype=float)

    def nearest_sums(self, sums: Vector, least: Vector, most: Vector) -> Vector | None:
        """Sums by group that satisfy the equations and their bounds, near the sums given; None if there are none."""
        sums = np.where(np.isfinite(sums), sums, 0.0)
        for _ in range(MOST_PROJECTIONS):
            found = self._held_inside(sums, least, most)
            if found is not None:
                return found
            sums = np.clip(sums - self._inverse @ (self.groups[0] @ sums - self.right_side), least, most)
        return None

    def _held_inside(self, sums: Vector, least: Vector, most: Vector) -> Vector | None:
        """The sums moved to satisfy the equations; a sum that reaches a bound stays there. None if that fails."""
        coefficients, is_free, is_held = self.groups[0], np.ones(len(sums), dtype=bool), True
        while is_held:
            moved = sums.copy()
            moved[is_free] += np.linalg.pinv(coefficients[:, is_free]) @ (self.right_side - coefficients @ sums)
            sums = np.clip(moved, least, most)
            is_held = bool((sums != moved).any())
            is_free &= sums == moved
        sizes = np.max([np.where(np.isfinite(one), np.abs(one), 0.0) for one in (sums, least, most)], axis=0)
        missed = np.abs(coefficients @ sums - self.right_side)
        return sums if (missed <= ROUNDING * (np.abs(coefficients) @ sizes)).all() else None

    def described(self) -> str:
        """The requirements on the duals, in words for messages."""
        required = "" if self.total is None else f" add up to {self.total:g}"
        has_intercept = len(self) > (0 if self.total is None else 1)
        return required + (" with equal sums on both sides, as a free intercept requires" if has_intercept else "")


def combined(multipliers: Vector, coefficients: Matrix) -> Vector:
    """E'rho: the coefficients of the equations, one row each, times their multipliers, which are one or two."""
    total = float(multipliers[0]) * coefficients[0]
    for multiplier, row in zip(multipliers[1:].tolist(), coefficients[1:], strict=True):
        total += multiplier * row
    return total


FIRST_STEP = 1e-9
"""The first step of the search for a root, as a share of the scale; each step is four times the last one."""
MOST_STEPS = 40
PRECISION = 4.0 * float(np.finfo(float).eps)


def root_of_rising(function: Callable[[float], float], near: float, scale: float) -> float:
    """The root, to the last digits of the scale; ``near`` where there is none within reach."""
    value, step = function(near), FIRST_STEP * max(scale, abs(near))
    if value == 0 or not np.isfinite(value):
        return near
    direction = -1.0 if value > 0 else 1.0
    last, point = near, near
    for _ in range(MOST_STEPS):
        last, point = point, point + direction * step
        if function(point) * direction >= 0:
            return float(brentq(function, last, point, xtol=PRECISION * scale, rtol=PRECISION, disp=False))
        step *= 4.0
    return near


class WeightSet(ABC):
    """W: weights from ``lowest`` to ``bound`` that cost ``cost*sum(w) + ridge*|w|^2/2`` and may have a fixed total."""

    cost: float = 0.0
    ridge: float = 0.0
    total: float | None = None
    """The sum of the weights, if it is fixed."""
    bound: float = np.inf
    """The largest value of each weight."""
    lowest: float = 0.0
    """The smallest value of each weight."""

    @property
    def is_bounded(self) -> bool:
        """Whether ``bound`` is finite."""
        return self.bound < np.inf

    def value(self, w: Vector) -> float:
        """The cost of w in the primal."""
        return float((self.cost * w.sum() if self.cost else 0.0) + (0.5 * self.ridge * (w @ w) if self.ridge else 0.0))

    @abstractmethod
    def support(self, edges: Vector) -> float:
        """max over W of w.edges - value(w); infinite when unbounded."""

    def threshold(self, edges: Vector) -> float:
        """The value that the edge of a new column must exceed to improve the solution."""
        return self.cost

    @abstractmethod
    def nearest(self, w: Vector) -> Vector:
        """An admissible vector close to w."""

    def edge_scale(self, edges: Vector) -> float:
        """The factor in (0, 1] by which u must shrink for ``support`` to be finite."""
        return 1.0

    @abstractmethod
    def with_unseen(self, edges: Vector, best_edge: float, n_unseen: float) -> Vector:
        """The edges with one more, which represents ``n_unseen`` columns with edges of at most ``best_edge``.

        The ``support`` of the returned edges is at least the support of all these edges.
        """


@dataclass(frozen=True)
class Cone(WeightSet):
    """w >= 0, with a linear cost, a ridge, or both."""

    cost: float = 0.0
    ridge: float = 0.0

    def support(self, edges: Vector) -> float:
        excess = np.maximum(edges - self.cost, 0.0)
        if self.ridge > 0:
            return float(excess @ excess) / (2.0 * self.ridge)
        return 0.0 if excess.max(initial=0.0) <= 1e-12 * self.cost else np.inf

    def nearest(self, w: Vector) -> Vector:
        return np.maximum(w, 0.0)

    def edge_scale(self, edges: Vector) -> float:
        largest = edges.max(initial=0.0)
        return 1.0 if self.ridge > 0 or largest <= self.cost else self.cost / largest

    def with_unseen(self, edges: Vector, best_edge: float, n_unseen: float) -> Vector:
        squares = np.sqrt(max(n_unseen, 0.0)) if self.ridge > 0 else 1.0
        return np.append(edges, best_edge * squares if best_edge > 0 else best_edge)


@dataclass(frozen=True)
class Simplex(WeightSet):
    """w >= 0 with sum(w) = total, without a cost."""

    total: float = 1.0

    def support(self, edges: Vector) -> float:
        return self.total * float(edges.max())

    def threshold(self, edges: Vector) -> float:
        return float(edges.max())

    def nearest(self, w: Vector) -> Vector:
        w = np.maximum(w, 0.0)
        size = w.sum()
        return w * (self.total / size) if size > 0 else np.full_like(w, self.total / len(w))

    def with_unseen(self, edges: Vector, best_edge: float, n_unseen: float) -> Vector:
        return np.append(edges, best_edge)


@dataclass(frozen=True)
class Box(WeightSet):
    """0 <= w <= bound, without a cost."""

    bound: float

    def support(self, edges: Vector) -> float:
        return self.bound * float(np.maximum(edges, 0.0).sum())

    def nearest(self, w: Vector) -> Vector:
        return np.clip(w, 0.0, self.bound)

    def with_unseen(self, edges: Vector, best_edge: float, n_unseen: float) -> Vector:
        return np.append(edges, best_edge * max(n_unseen, 0.0) if best_edge > 0 else best_edge)


@dataclass(frozen=True)
class Free(WeightSet):
    """Weights of any sign, with a ridge: the values of leaves."""

    ridge: float = 1.0
    lowest = -np.inf

    def support(self, edges: Vector) -> float:
        return float(edges @ edges) / (2.0 * self.ridge)

    def nearest(self, w: Vector) -> Vector:
        return w

    def with_unseen(self, edges: Vector, best_edge: float, n_unseen: float) -> Vector:
        return np.append(edges, best_edge * np.sqrt(max(n_unseen, 0.0)))


@dataclass(frozen=True)
class Ordered(Free):
    """Values of leaves with a ridge, of which some must not be less than others of the same tree: D v >= 0.

    For any lambda >= 0, v'e <= v'(e + D'lambda), so that the support of the edges e is the least of
    |e + D'lambda|^2 / (2 ridge): the squared distance of e from the cone of all -D'lambda.
    """

    sizes: Sequence[int] = ()
    """The number of leaves of each tree."""
    orders: Sequence[LeafOrder | None] = ()
    """The order of the leaves of each tree, or None."""

    def support(self, edges: Vector) -> float:
        squares = sum(_squared_distance(own, order) for own, order in self._by_tree(edges))
        return float(squares) / (2.0 * self.ridge)

    def nearest(self, w: Vector) -> Vector:
        found = [own if order is None else order.nearest(own) for own, order in self._by_tree(w)]
        return np.concatenate([*found, np.zeros(0)])

    def _by_tree(self, values: Vector) -> Iterator[tuple[Vector, LeafOrder | None]]:
        parts = np.split(values, np.cumsum(self.sizes)[:-1]) if self.sizes else []
        return zip(parts, self.orders, strict=True)


def _squared_distance(edges: Vector, order: LeafOrder | None) -> float:
    """From the cone of all -D'lambda; the larger distance from zero where the nearest point cannot be found."""
    lower, upper = ((), ()) if order is None else order.pairs
    if not len(lower):  # for which scipy's nnls aborts the process
        return float(edges @ edges)
    columns = np.zeros((len(edges), len(lower)))
    columns[lower, np.arange(len(lower))] = -1.0
    columns[upper, np.arange(len(lower))] = 1.0
    try:
        return float(nnls(columns, -edges)[1] ** 2)
    except RuntimeError:  # too many iterations
        return float(edges @ edges)
