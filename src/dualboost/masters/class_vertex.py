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

from typing import NamedTuple

import highspy
import numpy as np
from numpy.typing import NDArray

from .._typing import Integers, Matrix, Vector
from ..algebra.columns import Columns
from ..deadlines import seconds_left, time_is_up
from ..formulations.class_programme import ClassProgramme
from ..formulations.terms import LinearTerm
from .base import SOLVER_ERRORS, Candidate, MasterSolution
from .certificate import certify
from .crossover import CANDIDATE, MAX_ROUNDS
from .highs import INFINITY, NO_INDEX, NO_VALUES, quiet_solver, run, within


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
        is_late = time_is_up(programme.rows.workers)
        if vertex.gap <= tolerance or not programme.rows.any(crossed & ~near) or is_late:
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
        cut = plain.rows.nth_smallest(distance, min(n_near, plain.rows.n_all))
        near |= distance <= (cut if np.isfinite(cut) else -1.0) + 1e-9
    return near


def _solve_near(
    columns: Columns, programme: ClassProgramme, near: NDArray[np.bool_], settled: Vector, chosen: Integers
) -> Candidate:
    """Solve over the pairs of the rows that are near and the chosen columns; the other rows keep their duals."""
    plain = programme.plain
    is_open = near[programme.pairs.row_of]
    fixed = np.where(is_open, 0.0, settled)
    open_pairs, own = _gathered(columns, programme, np.flatnonzero(is_open), chosen)
    small = _edge_programme(columns, programme, open_pairs, chosen, fixed)
    solution = run(within(seconds_left(programme.rows.workers), small))
    u = settled.copy()
    u[is_open] = np.asarray(solution.col_value)[: len(open_pairs.slopes)][own]
    multipliers = np.asarray(solution.row_dual)
    w = np.zeros(columns.n_columns)
    w[chosen] = -multipliers[: len(chosen)]
    return Candidate(w, u, multipliers[len(chosen) : len(chosen) + len(plain.equations)])


class OpenPairs(NamedTuple):
    """What the small programme needs to know of its pairs, and of the rows that these belong to, wherever held."""

    slopes: Vector
    lower: Vector
    """The bounds of the sum over each row."""
    upper: Vector
    firsts: Integers
    """Where the pairs of each row begin."""
    entries: Matrix
    """The part of A of the pairs, one row for each chosen column."""


def _gathered(columns: Columns, programme: ClassProgramme, own: Integers, chosen: Integers) -> tuple[OpenPairs, slice]:
    """The open pairs of all workers, and where among them those are that are held here."""
    plain, row_of = programme.plain, programme.pairs.row_of[own]
    bounds = np.array([plain.term.slope(plain.lower), plain.lower, plain.upper])[:, row_of]
    is_first = np.diff(row_of, prepend=-1) != 0
    whole, place = plain.rows.joined(np.vstack([bounds, is_first, columns.part(chosen, own)]))
    firsts = np.flatnonzero(whole[3])
    entries = np.ascontiguousarray(whole[4:])
    return OpenPairs(whole[0], whole[1, firsts], whole[2, firsts], firsts.astype(np.int32), entries), place


def _edge_programme(
    columns: Columns, programme: ClassProgramme, open_pairs: OpenPairs, chosen: Integers, fixed: Vector
) -> highspy.Highs:
    """The small linear programme in u; the columns come first among its constraints, then the total, then the rows."""
    plain, pairs, block = programme.plain, programme.pairs, open_pairs.entries
    n_pairs, n_rows = len(open_pairs.slopes), len(open_pairs.firsts)
    solver = quiet_solver()
    free = np.full(n_pairs, INFINITY)
    solver.addCols(n_pairs, open_pairs.slopes, np.zeros(n_pairs), free, 0, NO_INDEX, NO_INDEX, NO_VALUES)
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
    bounds = open_pairs.lower, open_pairs.upper
    solver.addRows(n_rows, *bounds, n_pairs, open_pairs.firsts, every, np.ones(n_pairs))
    return solver
