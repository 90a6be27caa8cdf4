"""From an interior optimum of a linear programme to a vertex: the few weights that carry it.

Rows far from the hinge's kink keep their sample weight at its bound; the rest, with all columns, are a small linear
programme for the simplex method. Rows that end on the other side of the kink join it, and it is solved again.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .._typing import Vector
from ..columns import Columns
from ..formulations.programme import Programme
from ..formulations.terms import LinearTerm
from .base import Candidate, MasterSolution, SolveFailure
from .certificate import certify
from .hinge_lp import HingeLP

MAX_ROUNDS = 20


def to_vertex(columns: Columns, programme: Programme, interior: MasterSolution, tolerance: float) -> MasterSolution:
    """A vertex with a certified gap of at most ``tolerance``, or the best one found."""
    assert isinstance(programme.term, LinearTerm)
    distance = np.abs(interior.margins - interior.rho - programme.term.kink)
    n_near = min(columns.n_rows, 3 * columns.n_columns + 50)
    near = np.zeros(columns.n_rows, dtype=bool)
    near[np.argpartition(distance, n_near - 1)[:n_near]] = True
    settled_u = programme.term.response(interior.margins - interior.rho, programme.lower, programme.upper)
    best = interior
    for _ in range(MAX_ROUNDS):
        try:
            candidate = _solve_near(columns, programme, near, settled_u)
        except SolveFailure:
            if near.all():
                break
            near[:] = True
            continue
        vertex = certify(columns, programme, candidate)
        if best is interior or vertex.gap < best.gap:
            best = vertex
        asked = programme.term.response(vertex.margins - vertex.rho, programme.lower, programme.upper)
        crossed = ~near & (asked != settled_u)
        if vertex.gap <= tolerance or not crossed.any():
            break
        near |= crossed
    return best


def _solve_near(columns: Columns, programme: Programme, near: NDArray[np.bool_], settled_u: Vector) -> Candidate:
    """The programme over the near rows, the others settled."""
    assert isinstance(programme.term, LinearTerm)
    settled = np.where(near, 0.0, settled_u)
    total = None if programme.total is None else programme.total - float(settled.sum())
    model = HingeLP(programme.lower[near], programme.upper[near], total, programme.weight_set.total)
    model.add_columns(columns.part(near), columns.edges(settled), programme.weight_set.cost)
    small = model.solve(programme.term)
    u = settled_u.copy()
    u[near] = small.u
    return Candidate(small.w, u, small.rho)
