"""The dedicated master: one primal-dual interior-point method for every formulation.

The method solves these conditions for mu towards 0 (s are the slacks of the edges; p, q and z the multipliers of the
bounds of u and w)::

    g'(u) + A w - E'rho - p + q = 0          s = r + cost + ridge*w + z - A'u >= 0,   w*s = mu
    (u - lower)*p = mu                       (upper - u)*q = mu                       (bound - w)*z = mu
    sum(w) = weight total, if there is one (r is its multiplier, else 0)
    E u = t, the total and the intercept, if any (rho are their multipliers)

u is eliminated row by row, so that a step over T columns costs one T x T matrix A'DA with a diagonal D.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from scipy.linalg import LinAlgError

from .._typing import Vector
from ..algebra.columns import Columns
from ..deadlines import time_is_up
from ..formulations.programme import Programme
from ..formulations.weight_sets import WeightSet
from .base import Candidate, SolveFailure
from .certificate import certify
from .newton import Newton
from .newton_rows import Iterate

MAX_STEPS = 100
"""How many steps are taken at most."""
MAX_STALLED = 8
"""After more steps than this without a smaller gap, the best point so far is returned."""
SMALL_MARGIN = 0.05
"""If the mean size of the margins is below this at the start, the weights are raised to make it one."""


class InteriorPointMaster:
    """Solves any programme, from a point inside its box."""

    name: ClassVar[str] = "ipm"
    returns_vertex: ClassVar[bool] = False
    interleaves: ClassVar[bool] = True
    strategies: ClassVar[tuple[str, ...]] = ("direct", "cautious")

    @staticmethod
    def supports(programme: Programme) -> bool:
        return True

    def solve(self, columns: Columns, programme: Programme, tolerance: float, strategy: str) -> Candidate:
        point = starting_point(columns, programme)
        newton = Newton(columns, programme, step_back=0.9 if strategy == "cautious" else 0.995)
        best, best_gap, stalled = point.candidate, np.inf, 0
        for _ in range(MAX_STEPS):
            gap = certify(columns, programme, point.candidate, (point.margins, point.edges)).gap
            if gap < best_gap:
                best, best_gap, stalled = point.candidate, gap, 0
            else:
                stalled += 1
            if gap <= tolerance or (stalled > MAX_STALLED and best_gap < 1e-2) or time_is_up(programme.rows.workers):
                break
            try:
                with np.errstate(all="ignore"):
                    point = newton.advance(point)
            except (LinAlgError, ValueError):  # rounding has made the system indefinite or infinite
                break
        if not np.isfinite(best_gap):
            raise SolveFailure("the interior-point method found no finite point")
        return best


def starting_point(columns: Columns, programme: Programme) -> Iterate:
    """Duals inside the box, equal weights, and slacks and multipliers of the size of the problem."""
    weight_set, rows, n = programme.weight_set, programme.rows, columns.n_columns
    u = starting_duals(programme)
    w = np.full(n, min((weight_set.total or 1.0) / n, 0.5 * weight_set.bound))
    margins, edges = columns.margins(w), columns.edges(u)
    sizes = np.abs(margins)
    typical = rows.total(sizes) / rows.n_all
    is_free = weight_set.total is None and not weight_set.is_bounded
    if is_free and 0 < typical < SMALL_MARGIN:  # votes far below one need weights far above one
        w, margins = w / typical, margins / typical
    scale = max(1.0, rows.largest(np.abs(margins)))
    r = float(edges.max()) if weight_set.total is not None else 0.0
    slack = r + weight_set.cost + weight_set.ridge * w - edges
    s = np.maximum(slack, usual_slack(rows.total(np.abs(u)), weight_set))
    z = s if weight_set.is_bounded else np.zeros(n)
    p, q = (np.where(np.isfinite(bound), scale, 0.0) for bound in (programme.lower, programme.upper))
    return Iterate(u, w, s, z, p, q, np.zeros(len(programme.equations)), r, margins, edges)


def usual_slack(total: float, weight_set: WeightSet) -> float:
    """The size of slacks, given the total of the absolute duals: in their unit, which is that of the sample weights."""
    return 0.1 * total + abs(weight_set.cost) or 1.0


def starting_duals(programme: Programme) -> Vector:
    """Each row's share of the total of u, if there is one; else its response to a margin of zero.

    Where that is not inside the box of the row, another point inside the box is taken.
    """
    if programme.total is not None:
        rows = programme.rows
        share = rows.counts * (programme.total / rows.n_samples)
        if rows.all((programme.lower < share) & (share < programme.upper)):
            return share
        return programme.lower + 0.9 * (programme.upper - programme.lower)
    if programme.term.is_linear:
        return 0.5 * (programme.lower + programme.upper)
    asked = programme.term.response(np.zeros_like(programme.lower), programme.lower, programme.upper)
    on_bound = (asked <= programme.lower) | (asked >= programme.upper)
    if not programme.rows.any(on_bound):
        return asked
    return np.where(on_bound, 0.5 * (programme.lower + programme.upper), asked)
