"""Primal-dual column generation: one interior-point step between pricings, and a polish at the end.

The duals of a loosely solved master are central, which makes them good prices; solving it to the end before every
pricing is wasted work. A new column enters the iterate with a small weight, and the point is pulled off its bounds as
far as the new gap asks for, so that the next step is not blocked. See Gondzio, Gonzalez-Brevis & Munari, "New
developments in the primal-dual column generation technique", EJOR 224 (2013).
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from scipy.linalg import LinAlgError

from .._typing import Vector
from ..columns import Columns
from ..formulations.programme import Programme
from .base import MasterSolution
from .certificate import certify
from .interior_point import starting_point
from .ladder import AIM, Ladder
from .newton import Iterate, Newton

STEP_BACK = 0.995
NEW_COLUMN_CENTRING = 0.8
CENTRAL = 0.3
"""When a column enters, every product is raised to this fraction of the mean one."""
GAP_SHARE = 4.0
"""The products that a new column calls for add up to this many times the gap that it opens."""
PATIENCE = 20
"""Steps without a new column after which the master is solved to the end."""
POLISH_STEPS = 40


class Interleaved:
    """A master that takes one step a call; the ladder behind it solves to the end when that does not suffice."""

    is_exact: ClassVar[bool] = False

    def __init__(self, ladder: Ladder, aim: float = AIM) -> None:
        self.tolerance = ladder.tolerance
        self._aim = aim
        self._ladder = ladder
        self._point: Iterate | None = None
        self._waited = 0

    def solve(self, columns: Columns, programme: Programme) -> MasterSolution:
        """A solution whose gap may still be large, better than the last one if no column is new."""
        grown = self._point is None or len(self._point.w) < columns.n_columns
        self._waited = 0 if grown else self._waited + 1
        if self._waited > PATIENCE:
            return self._ladder.solve(columns, programme)
        newton = Newton(columns, programme, STEP_BACK)
        if self._point is None:
            self._point = starting_point(columns, programme)
        elif grown:
            self._point = _with_new_columns(self._point, columns, programme, newton)
        if not self._advance(newton, NEW_COLUMN_CENTRING if grown else 0.0):
            return self._ladder.solve(columns, programme)
        return self._certified(columns, programme)

    def polish(self, columns: Columns, programme: Programme) -> MasterSolution:
        """The optimum, to the tolerance; a vertex if the programme is linear."""
        if self._point is None:
            self._point = starting_point(columns, programme)
        if len(self._point.w) == columns.n_columns:
            newton = Newton(columns, programme, STEP_BACK)
            for _ in range(POLISH_STEPS):
                if self._certified(columns, programme).gap <= self._aim * self.tolerance:
                    exact = certify(columns, programme, self._point.candidate)
                    if exact.gap <= self.tolerance:
                        return self._ladder.tidy(columns, programme, exact, is_vertex=False)
                    self._point = self._point._replace(margins=exact.margins, edges=columns.edges(self._point.u))
                if not self._advance(newton, 0.0):
                    break
        return self._ladder.solve(columns, programme)

    def _advance(self, newton: Newton, centring: float) -> bool:
        """One step; False, and a fresh start next time, if rounding has made it impossible."""
        assert self._point is not None
        try:
            with np.errstate(all="ignore"):
                self._point = newton.advance(self._point, centring)
        except (LinAlgError, ValueError):
            self._point = None
            return False
        return True

    def _certified(self, columns: Columns, programme: Programme) -> MasterSolution:
        assert self._point is not None
        return certify(columns, programme, self._point.candidate, (self._point.margins, self._point.edges))


def _with_new_columns(point: Iterate, columns: Columns, programme: Programme, newton: Newton) -> Iterate:
    """The point with a small weight for each new column, and every product at least ``CENTRAL`` times the mean."""
    weight_set, n_old = programme.weight_set, len(point.w)
    n_new = columns.n_columns - n_old
    edges = np.concatenate([point.edges, columns.edges_of_last(n_new, point.u)])
    padded = point._replace(w=np.concatenate([point.w, np.zeros(n_new)]), edges=edges)
    opened = certify(columns, programme, padded.candidate, (point.margins, edges))
    products = newton.mean_product(point) * newton.n_products
    mu = max(products, GAP_SHARE * max(opened.primal - opened.dual, 0.0)) / newton.n_products
    point = _off_bounds(point, programme, mu) if newton.bounded else point
    edges = columns.edges(point.u)
    slack = np.maximum(np.abs(point.r + weight_set.cost - edges[n_old:]), 1e-2 * float(np.abs(point.u).sum()))
    fresh = np.minimum(max(mu, float(point.w @ point.s) / n_old) / slack, _largest_weight(point.w, weight_set.total))
    s = np.maximum(point.s, CENTRAL * mu / np.maximum(point.w, 1e-3 * point.w.max()))
    w = np.concatenate([np.maximum(point.w, CENTRAL * mu / s), fresh])
    if weight_set.total is not None:
        w *= weight_set.total / w.sum()
    return point._replace(w=w, s=np.concatenate([s, slack]), margins=columns.margins(w), edges=edges)


def _largest_weight(w: Vector, total: float | None) -> float:
    return float("inf") if total is None else 0.3 * float(w.sum())


def _off_bounds(point: Iterate, programme: Programme, mu: float) -> Iterate:
    """u pulled inside its box, and the multipliers raised, until no product is far below mu."""
    width = np.maximum(programme.upper - programme.lower, np.finfo(float).tiny)
    p, q = np.maximum(point.p, CENTRAL * mu / width), np.maximum(point.q, CENTRAL * mu / width)
    lowest = programme.lower + np.minimum(CENTRAL * mu / p, CENTRAL * width)
    highest = programme.upper - np.minimum(CENTRAL * mu / q, CENTRAL * width)
    return point._replace(u=np.clip(point.u, lowest, highest), p=p, q=q)
