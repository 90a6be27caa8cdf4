"""Certificates: feasible weights, feasible sample weights, and the duality gap between them."""

from __future__ import annotations

import numpy as np

from .._typing import Vector
from ..algebra.columns import Columns
from ..formulations.programme import Programme
from .base import Candidate, MasterSolution

WEIGHT_TOLERANCE = 1e-6
"""A weight counts as used above this fraction of the largest one; what is below is set to zero."""

DUST = 1e-2
"""Weights all below this, where margins of one are asked for, are tried at zero."""

CANCELLATION_FLOOR = 1e-3
"""The gap is relative to at least this fraction of what the objective is summed from, which may cancel or vanish."""


def relative_gap(primal: float, dual: float, size: float) -> float:
    """(primal - dual) relative to the objective, or to its terms where they cancel."""
    scale = max(abs(primal), abs(dual), CANCELLATION_FLOOR * size, np.finfo(float).tiny)
    return max(primal - dual, 0.0) / scale if np.isfinite(dual) else np.inf


def certify(
    columns: Columns, programme: Programme, candidate: Candidate, products: tuple[Vector, Vector] | None = None
) -> MasterSolution:
    """Repair a candidate to feasibility and measure its gap; the solver's own word is not used.

    ``products``, the candidate's margins and edges, save two passes over the rows where nothing needs repair.
    """
    weight_set = programme.weight_set
    w, u = candidate.w, candidate.u
    if products is None or not programme.is_feasible(w, u):
        w, u = weight_set.nearest(w), programme.feasible(u)
        products = columns.margins(w), columns.edges(u)
    margins, edges = products
    shrink = weight_set.edge_scale(edges)
    if shrink < 1.0:
        u, edges = shrink * u, shrink * edges
    primal, size = programme.primal_terms(w, margins, candidate.rho)
    dual = programme.dual_value(u, edges)
    size = max(size, programme.rows.total(np.abs(u)) * float(w.sum()))
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


def bound_over_class(programme: Programme, u: Vector, edges: Vector, best_edge: float, n_unseen: float) -> float:
    """The dual value of u against every column of a class: those held, and ``n_unseen`` with at most ``best_edge``.

    Where a column violates its constraint, or the unseen ones add up to a large cost, u is scaled down: still feasible.
    """
    weight_set = programme.weight_set
    edges = weight_set.with_unseen(edges, best_edge, n_unseen)
    scale = weight_set.edge_scale(edges)
    is_costly = weight_set.ridge > 0 or weight_set.is_bounded
    scales = [scale * 0.5**k for k in range(60)] if is_costly else [scale]
    return max(programme.dual_value(one * u, one * edges) for one in scales)


def drop_negligible(
    columns: Columns, programme: Programme, solution: MasterSolution, tolerance: float
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


def _emptied(columns: Columns, programme: Programme, solution: MasterSolution) -> MasterSolution | None:
    """The empty ensemble, where it is admissible and the weights are dust that has no larger one to be measured by."""
    if programme.weight_set.total is not None or solution.w.max(initial=0.0) > DUST:
        return None
    return certify(columns, programme, Candidate(np.zeros_like(solution.w), solution.u, solution.rho))


def n_used(w: Vector) -> int:
    """How many weights count as used."""
    return int(np.count_nonzero(w > WEIGHT_TOLERANCE * w.max(initial=0.0)))
