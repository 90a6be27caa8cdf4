"""From an interior optimum to a vertex."""

from __future__ import annotations

from typing import NamedTuple

import highspy
import numpy as np
from numpy.typing import NDArray

from .._typing import Integers, Matrix, Vector
from ..deadlines import seconds_left, time_is_up
from ..formulations.classes import ClassProgramme
from ..formulations.programme import Programme
from ..formulations.terms import LinearTerm
from ..matrix.columns import Columns
from .base import SOLVER_ERRORS, Candidate, Solution, certify
from .references import INFINITY, NO_INDEX, NO_VALUES, quiet_solver, run, within

# Columns whose weight is negligible are left out. Rows whose margin is far from the kink of the hinge loss keep their
# dual at its bound. The other rows, merged where they have identical entries in every column, form a small linear
# programme in u for the simplex method::
#
#     min  weight total * r - kink * sum(u)
#     s.t. sum_i A_ij u_i - r <= cost - settled_j for every column j,   E u = the rest of t
#
# whose multipliers are the weights w. A row whose margin turns out to be on the other side of the kink is added to
# the small programme, which is then solved again. The weights are certified by the duals of the small programme or of
# the interior point; if neither certifies them, the small programme is solved again with all columns.

MAX_ROUNDS = 20
"""How many times the small programme is solved at most, with more rows each time."""
CANDIDATE = 1e-4
"""A vertex is first looked for among the columns whose weight is at least this fraction of the largest weight."""


def to_vertex(columns: Columns, programme: Programme, interior: Solution, tolerance: float) -> Solution:
    """A vertex with a certified gap of at most ``tolerance``, or the best one found."""
    candidates = np.flatnonzero(interior.w >= CANDIDATE * interior.w.max())
    best = _vertex_of(columns, programme, interior, tolerance, candidates)
    is_found = best is not interior and best.gap <= tolerance
    if len(candidates) == columns.n_columns or is_found or time_is_up(programme.rows.workers):
        return best
    return _vertex_of(columns, programme, interior, tolerance, np.arange(columns.n_columns))


def _vertex_of(
    columns: Columns, programme: Programme, interior: Solution, tolerance: float, column_ids: Integers
) -> Solution:
    """A vertex of the programme over the chosen columns; the interior point itself if no vertex is found."""
    assert isinstance(programme.term, LinearTerm)
    reached = programme.shifted(interior.margins, interior.rho)
    distance, rows = np.abs(reached - programme.term.kink), programme.rows
    n_near = min(rows.n_all, 3 * len(column_ids) + 50)
    near = distance <= rows.nth_smallest(distance, n_near) + 1e-9
    settled = programme.term.response(reached, programme.lower, programme.upper)
    best = interior
    for _ in range(MAX_ROUNDS):
        try:
            candidate = _solve_near(columns, programme, near, settled, column_ids)
        except SOLVER_ERRORS:
            if rows.all(near) or time_is_up(rows.workers):
                break
            near[:] = True
            continue
        vertex = _certified(columns, programme, candidate, interior)
        if best is interior or vertex.gap < best.gap:
            best = vertex
        response = programme.response(vertex.margins, vertex.rho)
        crossed = ~near & (response != settled)
        if vertex.gap <= tolerance or not rows.any(crossed) or time_is_up(rows.workers):
            break
        near |= crossed
    return best


def _certified(columns: Columns, programme: Programme, candidate: Candidate, interior: Solution) -> Solution:
    """The candidate's weights, with its own duals or the interior point's, whichever certify them better."""
    own = certify(columns, programme, candidate)
    borrowed = certify(columns, programme, candidate._replace(u=interior.u))
    return min(own, borrowed, key=lambda solution: solution.gap)


def _solve_near(
    columns: Columns, programme: Programme, near: NDArray[np.bool_], settled: Vector, column_ids: Integers
) -> Candidate:
    """Solve over the rows near the kink and the chosen columns; the other rows have the duals ``settled``."""
    rows = programme.rows
    places = np.flatnonzero(near)
    positions = rows.gathered(places)
    first, group = columns.distinct(positions, column_ids, programme.equations.matrix)
    lower, upper = (
        np.bincount(group, weights=rows.taken(bound, positions), minlength=len(first)).astype(float)
        for bound in (programme.lower, programme.upper)
    )
    slopes = rows.taken(programme.term.slope(programme.lower), first)
    parts = (lower, upper, slopes, rows.taken(programme.equations.matrix, first), columns.part(column_ids, first))
    whole, own = rows.joined(np.vstack(parts))
    fixed = np.where(near, 0.0, settled)
    small = _edge_programme(columns, programme, NearRows.of(whole, len(column_ids)), column_ids, fixed)
    solution = run(within(seconds_left(rows.workers), small))
    u = settled.copy()
    part = (np.asarray(solution.col_value)[: whole.shape[1]][own] - lower) / (upper - lower)
    u[places] = programme.lower[places] + rows.put(part[group]) * (programme.upper - programme.lower)[places]
    multipliers = np.asarray(solution.row_dual)
    w = np.zeros(columns.n_columns)
    w[column_ids] = -multipliers[: len(column_ids)]
    return Candidate(w, u, multipliers[len(column_ids) :])


class NearRows(NamedTuple):
    """The data of the small programme's rows, from all workers."""

    lower: Vector
    upper: Vector
    slopes: Vector
    equations: Matrix
    entries: Matrix
    """Their part of A, one row for each chosen column."""

    @classmethod
    def of(cls, parts: Matrix, n_chosen: int) -> NearRows:
        """From all parts one below the other, in this order."""
        parts = np.ascontiguousarray(parts)
        end = len(parts) - n_chosen
        return cls(parts[0], parts[1], parts[2], parts[3:end], parts[end:])


def _edge_programme(
    columns: Columns, programme: Programme, near: NearRows, column_ids: Integers, fixed: Vector
) -> highspy.Highs:
    block = near.entries
    n_columns, n_rows = block.shape
    weight_total = programme.weight_set.total
    solver = quiet_solver()
    solver.addCols(n_rows, near.slopes, near.lower, near.upper, 0, NO_INDEX, NO_INDEX, NO_VALUES)
    if weight_total is not None:
        solver.addCol(weight_total, -INFINITY, INFINITY, 0, NO_INDEX, NO_VALUES)
        block = np.hstack([block, np.full((n_columns, 1), -1.0)])
    width = block.shape[1]
    starts = np.arange(n_columns, dtype=np.int32) * width
    index = np.tile(np.arange(width, dtype=np.int32), n_columns)
    limits = programme.weight_set.cost - columns.edges(fixed)[column_ids]
    solver.addRows(n_columns, np.full(n_columns, -INFINITY), limits, block.size, starts, index, block.ravel())
    left = programme.right_side - programme.equations.sums(fixed)
    for equation, side in zip(near.equations, left, strict=True):
        solver.addRow(side, side, n_rows, np.arange(n_rows, dtype=np.int32), equation)
    return solver


# Columns whose weight is negligible are left out. Rows whose least margin is far from the kink, and far below the
# margins of their other classes, keep their response as duals. The pairs of all other rows form a small
# linear programme in u for the simplex method::
#
#     min  weight total * r - kink * sum(u)
#     s.t. sum_ik A_ikj u_ik - r <= cost - settled_j for every column j,   sum(u) = the rest of the total,
#          lower_i <= sum_k u_ik <= upper_i for every row,   u >= 0
#
# whose multipliers are the weights w. Rows whose response turns out to differ are added, and it is solved again.


def to_class_vertex(columns: Columns, programme: ClassProgramme, interior: Solution, tolerance: float) -> Solution:
    """A vertex with a certified gap of at most ``tolerance``, or the best one found."""
    column_ids = np.flatnonzero(interior.w >= CANDIDATE * interior.w.max())
    near = _undecided(programme, interior, 3 * len(column_ids) + 50)
    settled = programme.response(interior.margins, interior.rho)
    best = interior
    for _ in range(MAX_ROUNDS):
        try:
            candidate = _solve_classes_near(columns, programme, near, settled, column_ids)
        except SOLVER_ERRORS:
            break
        vertex = min(
            certify(columns, programme, candidate),
            certify(columns, programme, candidate._replace(u=interior.u)),
            key=lambda solution: solution.gap,
        )
        if best is interior or vertex.gap < best.gap:
            best = vertex
        response = programme.response(vertex.margins, vertex.rho)
        crossed = programme.pairs.sums((response != settled).astype(float)) > 0
        is_late = time_is_up(programme.rows.workers)
        if vertex.gap <= tolerance or not programme.rows.any(crossed & ~near) or is_late:
            break
        near |= crossed
    return best


def _undecided(programme: ClassProgramme, interior: Solution, n_near: int) -> NDArray[np.bool_]:
    """The rows nearest to the kink, and the rows whose least margin is nearly attained by two classes."""
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


def _solve_classes_near(
    columns: Columns, programme: ClassProgramme, near: NDArray[np.bool_], settled: Vector, column_ids: Integers
) -> Candidate:
    """Solve over the pairs of the rows that are near and the chosen columns; the other rows keep their duals."""
    plain = programme.plain
    is_open = near[programme.pairs.row_of]
    fixed = np.where(is_open, 0.0, settled)
    open_pairs, own = _gathered(columns, programme, np.flatnonzero(is_open), column_ids)
    small = _edge_programme_of_classes(columns, programme, open_pairs, column_ids, fixed)
    solution = run(within(seconds_left(programme.rows.workers), small))
    u = settled.copy()
    u[is_open] = np.asarray(solution.col_value)[: len(open_pairs.slopes)][own]
    multipliers = np.asarray(solution.row_dual)
    w = np.zeros(columns.n_columns)
    w[column_ids] = -multipliers[: len(column_ids)]
    return Candidate(w, u, multipliers[len(column_ids) : len(column_ids) + len(plain.equations)])


class OpenPairs(NamedTuple):
    """The data of the small programme's pairs and of their rows, from all workers."""

    slopes: Vector
    lower: Vector
    """The bounds of the sum over each row."""
    upper: Vector
    firsts: Integers
    """Where the pairs of each row begin."""
    entries: Matrix
    """The part of A of the pairs, one row for each chosen column."""


def _gathered(
    columns: Columns, programme: ClassProgramme, own: Integers, column_ids: Integers
) -> tuple[OpenPairs, slice]:
    """The open pairs of all workers, and the positions of the pairs held here."""
    plain, row_of = programme.plain, programme.pairs.row_of[own]
    bounds = np.array([plain.term.slope(plain.lower), plain.lower, plain.upper])[:, row_of]
    is_first = np.diff(row_of, prepend=-1) != 0
    whole, place = plain.rows.joined(np.vstack([bounds, is_first, columns.part(column_ids, own)]))
    firsts = np.flatnonzero(whole[3])
    entries = np.ascontiguousarray(whole[4:])
    return OpenPairs(whole[0], whole[1, firsts], whole[2, firsts], firsts.astype(np.int32), entries), place


def _edge_programme_of_classes(
    columns: Columns, programme: ClassProgramme, open_pairs: OpenPairs, column_ids: Integers, fixed: Vector
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
        block = np.hstack([block, np.full((len(column_ids), 1), -1.0)])
    width = block.shape[1]
    starts = np.arange(len(column_ids), dtype=np.int32) * width
    index = np.tile(np.arange(width, dtype=np.int32), len(column_ids))
    limits = plain.weight_set.cost - columns.edges(fixed)[column_ids]
    solver.addRows(
        len(column_ids), np.full(len(column_ids), -INFINITY), limits, block.size, starts, index, block.ravel()
    )
    every = np.arange(n_pairs, dtype=np.int32)
    for side in plain.right_side - plain.equations.sums(pairs.sums(fixed)):
        solver.addRow(side, side, n_pairs, every, np.ones(n_pairs))
    bounds = open_pairs.lower, open_pairs.upper
    solver.addRows(n_rows, *bounds, n_pairs, open_pairs.firsts, every, np.ones(n_pairs))
    return solver
