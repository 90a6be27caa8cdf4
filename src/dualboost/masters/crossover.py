"""From an interior optimum of a linear programme to a vertex: the few weights that carry it.

Rows far from the hinge's kink keep their sample weight at its bound; the rest, merged where no column tells them
apart, are a small linear programme in u for the simplex method::

    min  weight total * r - kink * sum(u)
    s.t. sum_i A_ij u_i - r <= cost - settled_j for every column j,   sum(u) = what is left of the total

whose multipliers are the weights w. Rows that end on the other side of the kink join it, and it is solved again.
"""

from __future__ import annotations

import highspy
import numpy as np
from numpy.typing import NDArray

from .._typing import Vector
from ..columns import Columns
from ..formulations.programme import Programme
from ..formulations.terms import LinearTerm
from .base import Candidate, MasterSolution, SolveFailure
from .certificate import certify
from .highs import INFINITY, NO_INDEX, NO_VALUES, quiet_solver, run

MAX_ROUNDS = 20


def to_vertex(columns: Columns, programme: Programme, interior: MasterSolution, tolerance: float) -> MasterSolution:
    """A vertex with a certified gap of at most ``tolerance``, or the best one found."""
    assert isinstance(programme.term, LinearTerm)
    distance = np.abs(interior.margins - interior.rho - programme.term.kink)
    n_near = min(columns.n_rows, 3 * columns.n_columns + 50)
    near = distance <= np.partition(distance, n_near - 1)[n_near - 1] + 1e-9
    settled = programme.term.response(interior.margins - interior.rho, programme.lower, programme.upper)
    best = interior
    for _ in range(MAX_ROUNDS):
        try:
            candidate = _solve_near(columns, programme, near, settled)
        except SolveFailure:
            if near.all():
                break
            near[:] = True
            continue
        vertex = certify(columns, programme, candidate)
        if best is interior or vertex.gap < best.gap:
            best = vertex
        asked = programme.term.response(vertex.margins - vertex.rho, programme.lower, programme.upper)
        crossed = ~near & (asked != settled)
        if vertex.gap <= tolerance or not crossed.any():
            break
        near |= crossed
    return best


def _solve_near(columns: Columns, programme: Programme, near: NDArray[np.bool_], settled: Vector) -> Candidate:
    """The programme over the near rows, the others settled."""
    first, group = columns.distinct(near)
    lower, upper = (
        np.bincount(group, weights=bound[near]).astype(float) for bound in (programme.lower, programme.upper)
    )
    fixed = np.where(near, 0.0, settled)
    solver = _edge_programme(columns, programme, first, (lower, upper), fixed)
    solution = run(solver)
    u = settled.copy()
    part = (np.asarray(solution.col_value)[: len(first)] - lower) / (upper - lower)
    u[near] = programme.lower[near] + part[group] * (programme.upper - programme.lower)[near]
    multipliers = np.asarray(solution.row_dual)
    rho = 0.0 if programme.total is None else float(multipliers[columns.n_columns])
    return Candidate(-multipliers[: columns.n_columns], u, rho)


def _edge_programme(
    columns: Columns, programme: Programme, rows: NDArray[np.intp], box: tuple[Vector, Vector], fixed: Vector
) -> highspy.Highs:
    """The small linear programme in u, with one row a column of A."""
    assert isinstance(programme.term, LinearTerm)
    block = columns.signed[:, rows]
    n_columns, n_rows = block.shape
    weight_total = programme.weight_set.total
    solver = quiet_solver()
    solver.addCols(n_rows, np.full(n_rows, -programme.term.kink), *box, 0, NO_INDEX, NO_INDEX, NO_VALUES)
    if weight_total is not None:
        solver.addCol(weight_total, -INFINITY, INFINITY, 0, NO_INDEX, NO_VALUES)
        block = np.hstack([block, np.full((n_columns, 1), -1.0)])
    width = block.shape[1]
    starts = np.arange(n_columns, dtype=np.int32) * width
    index = np.tile(np.arange(width, dtype=np.int32), n_columns)
    limits = programme.weight_set.cost - columns.edges(fixed)
    solver.addRows(n_columns, np.full(n_columns, -INFINITY), limits, block.size, starts, index, block.ravel())
    if programme.total is not None:
        left = programme.total - float(fixed.sum())
        solver.addRow(left, left, n_rows, np.arange(n_rows, dtype=np.int32), np.ones(n_rows))
    return solver
