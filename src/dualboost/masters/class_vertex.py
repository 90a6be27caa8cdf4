"""From an interior optimum of a linear class programme to a vertex, which has few positive weights.

Columns whose weight is negligible are left out. Rows whose least margin is far from the kink, and far below the margins
of their other classes, keep the duals that they ask for there. The pairs of all other rows form a small linear
programme in u for the simplex method::

    min  weight total * r - kink * sum(u)
    s.t. sum_ik A_ikj u_ik - r <= cost - settled_j for every column j,   sum(u) = what is left of the total,
         lower_i <= sum_k u_ik <= upper_i for every row,   u >= 0

whose multipliers are the weights w. Rows that turn out to ask for other duals are added, and it is solved again.
"""

from __future__ import annotations

import highspy
import numpy as np
from numpy.typing import NDArray

from .._typing import Integers, Vector
from ..algebra.columns import Columns
from ..algebra.pairs import Pairs
from ..formulations.class_programme import ClassProgramme
from ..formulations.terms import LinearTerm
from .base import SOLVER_ERRORS, Candidate, MasterSolution
from .certificate import certify
from .crossover import CANDIDATE, MAX_ROUNDS
from .highs import INFINITY, NO_INDEX, NO_VALUES, quiet_solver, run


def to_class_vertex(
    columns: Columns, programme: ClassProgramme, interior: MasterSolution, tolerance: float
) -> MasterSolution:
    """A vertex with a certified gap of at most ``tolerance``, or the best one found."""
    chosen = np.flatnonzero(interior.w >= CANDIDATE * interior.w.max())
    near = _undecided(programme, interior, 3 * len(chosen) + 50)
    settled = programme.response(interior.margins, interior.rho)
    best = interior
    for _ in range(MAX_ROUNDS):
        try:
            candidate = _solve_near(columns, programme, near, settled, chosen)
        except SOLVER_ERRORS:
            break
        vertex = min(
            certify(columns, programme, candidate),
            certify(columns, programme, candidate._replace(u=interior.u)),
            key=lambda solution: solution.gap,
        )
        if best is interior or vertex.gap < best.gap:
            best = vertex
        asked = programme.response(vertex.margins, vertex.rho)
        crossed = programme.pairs.sums((asked != settled).astype(float)) > 0
        if vertex.gap <= tolerance or not (crossed & ~near).any():
            break
        near |= crossed
    return best


def _undecided(programme: ClassProgramme, interior: MasterSolution, n_near: int) -> NDArray[np.bool_]:
    """The rows nearest to the kink, and those nearest to having the least margin with two classes."""
    plain, pairs = programme.plain, programme.pairs
    assert isinstance(plain.term, LinearTerm)
    least = pairs.least(interior.margins)
    to_kink = np.abs(plain.shifted(least, interior.rho) - plain.term.kink)
    is_least = interior.margins <= pairs.spread(least)
    next_one = pairs.least(np.where(is_least, np.inf, interior.margins)) - least
    next_one[pairs.sums(is_least.astype(float)) > 1] = 0.0
    near = np.zeros(len(least), dtype=bool)
    for distance in (to_kink, next_one):
        cut = np.partition(distance, min(n_near, len(distance)) - 1)[min(n_near, len(distance)) - 1]
        near |= distance <= (cut if np.isfinite(cut) else -1.0) + 1e-9
    return near


def _solve_near(
    columns: Columns, programme: ClassProgramme, near: NDArray[np.bool_], settled: Vector, chosen: Integers
) -> Candidate:
    """Solve over the pairs of the rows that are near and the chosen columns; the other rows keep their duals."""
    plain = programme.plain
    is_open = near[programme.pairs.row_of]
    fixed = np.where(is_open, 0.0, settled)
    solver = _edge_programme(columns, programme, np.flatnonzero(is_open), chosen, fixed)
    solution = run(solver)
    u = settled.copy()
    u[is_open] = np.asarray(solution.col_value)[: int(is_open.sum())]
    multipliers = np.asarray(solution.row_dual)
    w = np.zeros(columns.n_columns)
    w[chosen] = -multipliers[: len(chosen)]
    return Candidate(w, u, multipliers[len(chosen) : len(chosen) + len(plain.equations)])


def _edge_programme(
    columns: Columns, programme: ClassProgramme, chosen_pairs: Integers, chosen: Integers, fixed: Vector
) -> highspy.Highs:
    """The small linear programme in u; the columns come first among its constraints, then the total, then the rows."""
    plain, pairs = programme.plain, programme.pairs
    assert isinstance(plain.term, LinearTerm)
    block, n_pairs = columns.part(chosen, chosen_pairs), len(chosen_pairs)
    solver = quiet_solver()
    free = np.full(n_pairs, INFINITY)
    slopes = pairs.spread(plain.term.slope(plain.lower))[chosen_pairs]
    solver.addCols(n_pairs, slopes, np.zeros(n_pairs), free, 0, NO_INDEX, NO_INDEX, NO_VALUES)
    weight_total = plain.weight_set.total
    if weight_total is not None:
        solver.addCol(weight_total, -INFINITY, INFINITY, 0, NO_INDEX, NO_VALUES)
        block = np.hstack([block, np.full((len(chosen), 1), -1.0)])
    width = block.shape[1]
    starts = np.arange(len(chosen), dtype=np.int32) * width
    index = np.tile(np.arange(width, dtype=np.int32), len(chosen))
    limits = plain.weight_set.cost - columns.edges(fixed)[chosen]
    solver.addRows(len(chosen), np.full(len(chosen), -INFINITY), limits, block.size, starts, index, block.ravel())
    every = np.arange(n_pairs, dtype=np.int32)
    for side in plain.right_side - plain.equations.sums(pairs.sums(fixed)):
        solver.addRow(side, side, n_pairs, every, np.ones(n_pairs))
    open_rows, own = np.unique(pairs.row_of[chosen_pairs], return_inverse=True)
    bounds = plain.lower[open_rows], plain.upper[open_rows]
    firsts = Pairs(own).starts.astype(np.int32)
    solver.addRows(len(open_rows), *bounds, n_pairs, firsts, every, np.ones(n_pairs))
    return solver
