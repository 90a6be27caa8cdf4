"""The guide of SoftBoost and TotalBoost: the distribution nearest to uniform whose edges are below a target."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from scipy.linalg import LinAlgError

from ..._typing import Vector
from ...algebra.columns import Columns
from ...formulations.programme import Programme
from ...formulations.terms import EntropyTerm
from ...formulations.weight_sets import Cone
from ...masters.base import MasterSolution
from ...masters.certificate import relative_gap
from ...masters.interior_point import starting_point
from ...masters.newton import Newton
from .base import Guide, PricingDuals, largest_share_edge, uniform_shares

MAX_STEPS = 100
"""How many Newton steps are taken at most."""
STEP_BACK = 0.995
"""A step goes at most this fraction of the way to the nearest bound, so that the iterate stays strictly inside."""


class Projection(Guide):
    """The duals of least relative entropy whose edges are at most gamma - epsilon.

    gamma is the smallest, over all pricings, of the largest edge found.
    """

    needs_optimum: ClassVar[bool] = True

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.least_edge = np.inf

    def next(self, columns: Columns, solution: MasterSolution, priced: Vector) -> PricingDuals | None:
        self.least_edge = min(self.least_edge, largest_share_edge(columns, priced))
        target = self.least_edge - self.formulation.guarantee
        if solution.edges.max() >= target:  # the master's largest edge is the least possible: none can meet the target
            return None
        programme = self.formulation.programme(columns.rows, columns.n_columns)
        nearest = EntropyTerm(uniform_shares(columns), eta=1.0)
        programme = replace(programme, term=nearest, weight_set=Cone(cost=target))
        return PricingDuals(project(columns, programme, solution, self.tol), -np.inf, is_settled=False)


def project(columns: Columns, programme: Programme, inside: MasterSolution, tol: float) -> Vector:
    """The u of least relative entropy whose edges are at most ``programme.weight_set.cost``.

    ``inside`` is a solution whose edges are strictly below that.
    """
    point = starting_point(columns, programme)
    newton = Newton(columns, programme, STEP_BACK)
    rows = programme.rows
    best, least = inside.u, rows.total(programme.term.value(inside.u))
    for _ in range(MAX_STEPS):
        u = _admitted(programme.feasible(point.u), columns, inside, programme.weight_set.cost)
        entropy = rows.total(programme.term.value(u))
        if entropy < least:
            best, least = u, entropy
        primal, size = programme.primal_terms(np.maximum(point.w, 0.0), point.margins, point.rho)
        if relative_gap(primal, -least, size) <= tol:
            break
        try:
            with np.errstate(all="ignore"):
                point = newton.advance(point)
        except (LinAlgError, ValueError):  # rounding has made the step impossible; the best u so far is feasible
            break
    return best


def _admitted(u: Vector, columns: Columns, inside: MasterSolution, target: float) -> Vector:
    """u, moved towards ``inside.u`` until no edge exceeds the target."""
    edges = columns.edges(u)
    if not np.isfinite(edges).all():
        return inside.u
    above = edges > target
    if not above.any():
        return u
    part = float(((edges - target)[above] / (edges - inside.edges)[above]).max())
    return u + part * (inside.u - u)
