"""Certificates: feasible weights, feasible duals, and the duality gap between them."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from .._typing import Vector
from ..algebra.columns import Columns
from ..algebra.rows import Rows
from ..formulations.weight_sets import WeightSet
from .base import Candidate, MasterSolution

WEIGHT_TOLERANCE = 1e-6
"""A weight counts as used if it exceeds this fraction of the largest weight; smaller weights are set to zero."""

NEGLIGIBLE_ENSEMBLE = 1e-2
"""If no weight exceeds this, the empty ensemble is tried: the formulations without a weight total aim at margins of
one, to which such weights add nearly nothing."""

CANCELLATION_FLOOR = 1e-3
"""The gap is relative to at least this fraction of the sum of the objective's terms in absolute value, because the
terms may cancel, or the objective may be zero."""

NEGLIGIBLE_GAIN = 1e-12
"""A primal value that is smaller by no more than this share of it is smaller by rounding."""

SEEN = 1e-12
"""Errors of edges beyond this share of the cost of a weight are counted; smaller ones are no part of any figure."""


def relative_gap(primal: float, dual: float, size: float) -> float:
    """(primal - dual) relative to the objective, or to a fraction of ``size``, the sum of its absolute terms."""
    scale = max(abs(primal), abs(dual), CANCELLATION_FLOOR * size, np.finfo(float).tiny)
    return max(primal - dual, 0.0) / scale if np.isfinite(dual) else np.inf


def size_of_product(w: Vector, total: float) -> float:
    """How large u'(A w) may be, given the total of the absolute duals, for weights that add up to no more than one.

    Formulations that fix a larger sum ask for margins of one all the same; a size that grows with the sum would make
    any gap small.
    """
    return total * min(float(np.abs(w).sum()), 1.0)


def last_digits(total: float) -> float:
    """By how much rounding may change an edge, which is a sum over all duals, given the total of their sizes."""
    return float(np.finfo(float).eps) * total


def rounding_of_value(weight_set: WeightSet, n_columns: int, error: float) -> float:
    """What errors of the edges add to the dual value where weights cost nothing, so that C alone limits them.

    The value has the largest edges as often as the weights may add up to: at a C of 1e10, what rounding leaves of these
    edges has few digits.
    """
    if weight_set.cost or weight_set.ridge:
        return 0.0
    return error * (n_columns * weight_set.bound if weight_set.total is None else weight_set.total)


def shrinkage(weight_set: WeightSet, edges: Vector, error: float) -> float:
    """The factor by which duals must shrink for no edge to exceed its cost, though rounding may hide that one does."""
    return weight_set.edge_scale(edges + error if error > SEEN * weight_set.cost else edges)


class TwoProducts(Protocol):
    """Columns of any kind, by the two products that a certificate needs."""

    def margins(self, w: Vector, /) -> Vector: ...

    def edges(self, u: Vector, /) -> Vector: ...


class Certifiable(Protocol):
    """A programme of any kind, by what a certificate needs of it."""

    @property
    def rows(self) -> Rows: ...

    @property
    def weight_set(self) -> WeightSet: ...

    def primal_terms(self, w: Vector, margins: Vector, rho: Vector, /) -> tuple[float, float]: ...

    def dual_value(self, u: Vector, edges: Vector, /) -> float: ...

    def is_feasible(self, w: Vector, u: Vector, /) -> bool: ...

    def feasible(self, u: Vector, /) -> Vector: ...

    def best_multipliers(self, margins: Vector, rho: Vector, /) -> Vector: ...


def certify(
    columns: TwoProducts, programme: Certifiable, candidate: Candidate, products: tuple[Vector, Vector] | None = None
) -> MasterSolution:
    """Make a candidate feasible and measure its gap, without relying on what the solver says of it.

    ``products`` are the candidate's margins and edges, if known; they save two passes over the rows where the candidate
    is feasible already.
    """
    weight_set = programme.weight_set
    w, u = candidate.w, candidate.u
    if products is None or not programme.is_feasible(w, u):
        w, u = weight_set.nearest(w), programme.feasible(u)
        products = columns.margins(w), columns.edges(u)
    margins, edges = products
    total = programme.rows.total(np.abs(u))
    error = last_digits(total)
    shrink = shrinkage(weight_set, edges, error)
    if shrink < 1.0:
        u, edges, total = shrink * u, shrink * edges, shrink * total
    primal, size = programme.primal_terms(w, margins, candidate.rho)
    dual = programme.dual_value(u, edges) - rounding_of_value(weight_set, len(w), error)
    size = max(size, size_of_product(w, total))
    return MasterSolution(
        w=w,
        u=u,
        rho=candidate.rho,
        margins=margins,
        edges=edges,
        threshold=weight_set.threshold(edges),
        primal=primal,
        dual=dual,
        programme=programme,
        gap=relative_gap(primal, dual, size),
    )


def with_best_multipliers(columns: TwoProducts, programme: Certifiable, solution: MasterSolution) -> MasterSolution:
    """The same weights and duals, and the objective that the weights have: rho is only as good as the gap before."""
    rho = programme.best_multipliers(solution.margins, solution.rho)
    products = solution.margins, solution.edges
    better = certify(columns, programme, Candidate(solution.w, solution.u, rho), products)
    return better if solution.primal - better.primal > NEGLIGIBLE_GAIN * abs(better.primal) else solution


def bound_over_class(programme: Certifiable, u: Vector, edges: Vector, best_edge: float, n_unseen: float) -> float:
    """A lower bound on the optimum over a whole class of columns, computed from u.

    The class has the columns held, and ``n_unseen`` others whose edges are at most ``best_edge``. Scaling u down keeps
    it feasible. That is needed where a column violates its constraint; where unseen columns add a cost, the best of
    many scales is taken.
    """
    weight_set = programme.weight_set
    edges, error = weight_set.with_unseen(edges, best_edge, n_unseen), last_digits(programme.rows.total(np.abs(u)))
    scale = shrinkage(weight_set, edges, error)
    is_costly = weight_set.ridge > 0 or weight_set.is_bounded
    scales = [scale * 0.5**k for k in range(60)] if is_costly else [scale]
    bound = max(programme.dual_value(one * u, one * edges) for one in scales)
    return bound - rounding_of_value(weight_set, len(edges), error)


def drop_negligible(
    columns: Columns, programme: Certifiable, solution: MasterSolution, tolerance: float
) -> MasterSolution:
    """The same solution with weights below the tolerance set to zero, unless the certificate would suffer."""
    empty = _emptied(columns, programme, solution)
    if empty is not None and empty.gap <= max(solution.gap, tolerance):
        return empty
    negligible = (solution.w > 0) & (solution.w <= WEIGHT_TOLERANCE * solution.w.max(initial=0.0))
    if not negligible.any():
        return solution
    w = np.where(negligible, 0.0, solution.w)
    sparse = certify(columns, programme, Candidate(w, solution.u, solution.rho))
    return sparse if sparse.gap <= max(solution.gap, tolerance) else solution


def _emptied(columns: Columns, programme: Certifiable, solution: MasterSolution) -> MasterSolution | None:
    """The empty ensemble, if the weight set admits it and every weight is negligible."""
    if programme.weight_set.total is not None or solution.w.max(initial=0.0) > NEGLIGIBLE_ENSEMBLE:
        return None
    return certify(columns, programme, Candidate(np.zeros_like(solution.w), solution.u, solution.rho))


def n_used(w: Vector) -> int:
    """How many weights count as used."""
    return int(np.count_nonzero(w > WEIGHT_TOLERANCE * w.max(initial=0.0)))
