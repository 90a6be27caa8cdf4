"""Leaves under a loss with kinks, such as the hinge loss: by the interior-point method over the indicators written out.

A value of any sign is the difference of two weights that are not negative, whose squares add up to the square of the
value at the optimum. So the programme over twice as many columns, with weights in a cone, has the same optimum.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from .._typing import Vector
from ..algebra.columns import Columns
from ..algebra.leaves import LeafColumns
from ..formulations.programme import Programme
from ..formulations.terms import LinearTerm
from ..formulations.weight_sets import Cone
from . import Precision, make_reoptimiser
from .base import Candidate, MasterFailed, MasterSolution
from .certificate import certify
from .leaf_point import LeafPoint
from .options import SolverOptions

MOST_HALVINGS = 120
"""How often an interval is halved: until its ends are neighbouring numbers, unless they are very close to zero."""


def dense_optimum(point: LeafPoint, tolerance: float) -> tuple[LeafPoint, MasterSolution]:
    """A point whose relative duality gap is at most the tolerance, and its certificate."""
    programme, columns = point.programme, point.columns
    if not columns.n_trees:
        return _constant_optimum(point)
    cone: Programme = replace(programme, weight_set=Cone(ridge=programme.weight_set.ridge))
    master = make_reoptimiser(SolverOptions(), cone, "leaves", Precision(tolerance, vertices=False))
    try:
        solution = _of_leaves(point, master.polish(_written_out(columns), cone))
    except MasterFailed as failure:
        raise MasterFailed(failure.best and _of_leaves(point, failure.best), failure.attempts) from failure
    scores = columns.operator.scores(solution.margins)
    reached = LeafPoint(programme, columns, solution.w, float(solution.rho[-1]), scores, solution.u)
    return reached, solution


def _constant_optimum(point: LeafPoint) -> tuple[LeafPoint, MasterSolution]:
    """The best intercept without a tree: where the sum of the duals is zero, in the middle of all such places.

    Where the sum jumps over zero, the duals on both sides differ in the rows at their kink only, and a mean of both has
    the sum zero.
    """
    programme = point.programme

    def duals(intercept: float) -> tuple[Vector, float]:
        u = programme.response(np.zeros(len(programme.lower)), np.array([intercept]))
        return u, float(programme.equations.sums(u)[-1])

    assert isinstance(programme.term, LinearTerm)
    reach = 1.0 + 2.0 * float(np.abs(programme.term.kink).max())
    sign = np.sign(duals(-reach)[1])
    low, _ = _bisected(lambda b: np.sign(duals(b)[1]) == sign, -reach, reach)
    _, high = _bisected(lambda b: np.sign(duals(b)[1]) != -sign, -reach, reach)
    (below, its_sum), (above, other_sum) = duals(low), duals(high)
    share = other_sum / (other_sum - its_sum) if other_sum != its_sum else 0.5
    mixed = np.clip(share * below + (1.0 - share) * above, programme.lower, programme.upper)
    middle = 0.5 * (low + high)
    tried = [(mixed, low), (mixed, high), (duals(middle)[0], middle)]
    found = [certify(point.columns, programme, Candidate(point.values, u, np.array([b]))) for u, b in reversed(tried)]
    solution = min(found, key=lambda one: one.gap)
    return LeafPoint(
        programme, point.columns, point.values, float(solution.rho[-1]), point.scores, solution.u
    ), solution


def _bisected(is_before: Callable[[float], bool], low: float, high: float) -> tuple[float, float]:
    """Neighbouring numbers between which the condition, which holds at ``low``, ceases to hold."""
    for _ in range(MOST_HALVINGS):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if is_before(middle) else (low, middle)
    return low, high


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
