"""The sets W of admissible learner weights, each with its cost.

A weight set contributes ``cost*sum(w) + ridge*|w|^2/2`` to the primal value, and its support function of the edges to
the dual value. ``total`` is the prescribed sum of the weights, or None; ``bound`` is the largest value of each weight.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from scipy.optimize import nnls

from .._typing import Vector
from ..trees.ordering import LeafOrder


class WeightSet(Protocol):
    """What a master and a certificate need to know of W."""

    @property
    def cost(self) -> float: ...

    @property
    def ridge(self) -> float: ...

    @property
    def total(self) -> float | None: ...

    @property
    def bound(self) -> float: ...

    @property
    def lowest(self) -> float:
        """The smallest value of each weight."""

    @property
    def is_bounded(self) -> bool:
        """Whether ``bound`` is finite."""

    def value(self, w: Vector) -> float:
        """The cost of w in the primal."""

    def support(self, edges: Vector) -> float:
        """max over W of w.edges - value(w); infinite when unbounded."""

    def threshold(self, edges: Vector) -> float:
        """What the edge of a new column must exceed to improve the master."""

    def nearest(self, w: Vector) -> Vector:
        """An admissible vector close to w."""

    def edge_scale(self, edges: Vector) -> float:
        """The factor in (0, 1] by which u must shrink for ``support`` to be finite."""

    def with_unseen(self, edges: Vector, best_edge: float, n_unseen: float) -> Vector:
        """The edges with one more, which stands for ``n_unseen`` columns with edges of at most ``best_edge``.

        The ``support`` of what is returned is at least that of all these edges.
        """


@dataclass(frozen=True)
class Cone:
    """w >= 0, with a linear cost, a ridge, or both."""

    cost: float = 0.0
    ridge: float = 0.0
    total: None = None
    bound: float = np.inf
    lowest: float = 0.0
    is_bounded: bool = False

    def value(self, w: Vector) -> float:
        return float(self.cost * w.sum() + 0.5 * self.ridge * (w @ w))

    def support(self, edges: Vector) -> float:
        excess = np.maximum(edges - self.cost, 0.0)
        if self.ridge > 0:
            return float(excess @ excess) / (2.0 * self.ridge)
        return 0.0 if excess.max(initial=0.0) <= 1e-12 * self.cost else np.inf

    def threshold(self, edges: Vector) -> float:
        return self.cost

    def nearest(self, w: Vector) -> Vector:
        return np.maximum(w, 0.0)

    def edge_scale(self, edges: Vector) -> float:
        largest = edges.max(initial=0.0)
        return 1.0 if self.ridge > 0 or largest <= self.cost else self.cost / largest

    def with_unseen(self, edges: Vector, best_edge: float, n_unseen: float) -> Vector:
        squares = np.sqrt(max(n_unseen, 0.0)) if self.ridge > 0 else 1.0
        return np.append(edges, best_edge * squares if best_edge > 0 else best_edge)


@dataclass(frozen=True)
class Simplex:
    """w >= 0 with sum(w) = total; costs nothing."""

    total: float = 1.0
    cost: float = 0.0
    ridge: float = 0.0
    bound: float = np.inf
    lowest: float = 0.0
    is_bounded: bool = False

    def value(self, w: Vector) -> float:
        return 0.0

    def support(self, edges: Vector) -> float:
        return self.total * float(edges.max())

    def threshold(self, edges: Vector) -> float:
        return float(edges.max())

    def nearest(self, w: Vector) -> Vector:
        w = np.maximum(w, 0.0)
        size = w.sum()
        return w * (self.total / size) if size > 0 else np.full_like(w, self.total / len(w))

    def edge_scale(self, edges: Vector) -> float:
        return 1.0

    def with_unseen(self, edges: Vector, best_edge: float, n_unseen: float) -> Vector:
        return np.append(edges, best_edge)


@dataclass(frozen=True)
class Box:
    """0 <= w <= bound; costs nothing."""

    bound: float
    cost: float = 0.0
    ridge: float = 0.0
    total: None = None
    lowest: float = 0.0
    is_bounded: bool = True

    def value(self, w: Vector) -> float:
        return 0.0

    def support(self, edges: Vector) -> float:
        return self.bound * float(np.maximum(edges, 0.0).sum())

    def threshold(self, edges: Vector) -> float:
        return 0.0

    def nearest(self, w: Vector) -> Vector:
        return np.clip(w, 0.0, self.bound)

    def edge_scale(self, edges: Vector) -> float:
        return 1.0

    def with_unseen(self, edges: Vector, best_edge: float, n_unseen: float) -> Vector:
        return np.append(edges, best_edge * max(n_unseen, 0.0) if best_edge > 0 else best_edge)


@dataclass(frozen=True)
class Free:
    """Weights of any sign, with a ridge: the values of leaves."""

    ridge: float = 1.0
    cost: float = 0.0
    total: None = None
    bound: float = np.inf
    lowest: float = -np.inf
    is_bounded: bool = False

    def value(self, w: Vector) -> float:
        return float(0.5 * self.ridge * (w @ w))

    def support(self, edges: Vector) -> float:
        return float(edges @ edges) / (2.0 * self.ridge)

    def threshold(self, edges: Vector) -> float:
        return 0.0

    def nearest(self, w: Vector) -> Vector:
        return w

    def edge_scale(self, edges: Vector) -> float:
        return 1.0

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
    """From the cone of all -D'lambda; that from zero, which is larger, where the nearest point cannot be found."""
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
