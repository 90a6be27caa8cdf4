"""Leaves under a loss with kinks, such as the hinge loss: by the interior-point method over the indicators written out.

A value of any sign is the difference of two weights that are not negative, whose squares add up to the square of the
value at the optimum. So the programme over twice as many columns, with weights in a cone, has the same optimum.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..algebra.columns import Columns
from ..algebra.leaves import LeafColumns
from ..formulations.programme import Programme
from ..formulations.weight_sets import Cone
from . import Precision, make_reoptimiser
from .base import Candidate, MasterFailed, MasterSolution
from .certificate import certify
from .leaf_point import LeafPoint
from .options import SolverOptions


def dense_optimum(point: LeafPoint, tolerance: float) -> tuple[LeafPoint, MasterSolution]:
    """A point whose relative duality gap is at most the tolerance, and its certificate."""
    programme, columns = point.programme, point.columns
    if not columns.n_trees:
        return point, certify(columns, programme, Candidate(point.values, programme.feasible(point.u), point.rho))
    cone: Programme = replace(programme, weight_set=Cone(ridge=programme.weight_set.ridge))
    master = make_reoptimiser(SolverOptions(), cone, "leaves", Precision(tolerance, vertices=False))
    try:
        solution = _of_leaves(point, master.polish(_written_out(columns), cone))
    except MasterFailed as failure:
        raise MasterFailed(failure.best and _of_leaves(point, failure.best), failure.attempts) from failure
    scores = columns.operator.scores(solution.margins)
    reached = LeafPoint(programme, columns, solution.w, float(solution.rho[-1]), scores, solution.u)
    return reached, solution


def _of_leaves(point: LeafPoint, found: MasterSolution) -> MasterSolution:
    """A solution over twice as many columns as one over the leaves."""
    values = found.w[0::2] - found.w[1::2]
    return certify(point.columns, point.programme, Candidate(values, found.u, found.rho))


def _written_out(columns: LeafColumns) -> Columns:
    """The indicator of every leaf as two columns of opposite sign."""
    dense = Columns(columns.operator.rows_of_A(columns.rows), capacity=2 * columns.n_columns)
    for k in range(columns.n_trees):
        for leaf in range(columns.sizes[k]):
            entries = columns.operator.apply((columns.leaves(k) == leaf).astype(np.float64))
            dense.append(entries)
            dense.append(-entries)
    return dense
