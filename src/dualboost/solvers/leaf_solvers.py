"""The solvers for the values of leaves, by the kind of loss."""

from __future__ import annotations

from collections.abc import Callable
from operator import methodcaller
from typing import Any, NamedTuple

from ..deadlines import time_is_up
from .base import Solution
from .leaf_kinked import kinked_optimum
from .leaf_newton import optimum
from .leaf_points import LeafPoint, SoftmaxPoint
from .leaf_sweeps import softmax_sweep, sweep
from .ordered_leaves import kinked_ordered_optimum, ordered_certified, ordered_optimum, ordered_sweep
from .quantile_leaves import QuantilesPoint, quantiles_optimum, separate_levels, separately_certified

ROUGHLY = 1e-2
"""The relative gap of a solution that is only to lead to the next tree."""
SWEEPS = 4
"""How many sweeps a loss with smoothed kinks gets between two pricings: its second derivatives are far from constant,
so that a single sweep left the loss 6 % higher after 20 trees."""
ROUNDS = 5
"""How often ``SWEEPS`` sweeps stand in for the optimum under a loss with smoothed kinks."""

Improve = Callable[[Any, "int | None"], Any]
Optimise = Callable[[Any, float], "tuple[Any, Solution]"]
Certify = Callable[[Any], Solution]


class LeafSolver(NamedTuple):
    """Functions that find values for the leaves of the trees held."""

    start: Callable[[Any, Any], Any]
    """The point of a programme over columns without a tree."""
    improved: Improve
    """A point with a smaller objective, good enough for the next pricing; takes the number of the newest tree."""
    optimum: Optimise
    """The optimum over the leaves held, to a tolerance, or ``SolverFailed``; the best point if time is up."""
    certified: Certify = methodcaller("certified")
    """The point with its duality gap."""


def _roughly(optimum: Optimise) -> Improve:
    return lambda point, newest: optimum(point, ROUGHLY)[0]


def _smoothed(start: Any, sweep: Improve, certified: Certify) -> LeafSolver:
    """Sweeps under a loss with smoothed kinks, which only helps to grow trees: a good point will do for the optimum."""

    def improved(point: Any, newest: int | None) -> Any:
        for _ in range(SWEEPS):
            point = sweep(point, newest)
        return point

    def optimum(point: Any, tolerance: float) -> tuple[Any, Solution]:
        for _ in range(ROUNDS):
            point = improved(point, None)
            if time_is_up(point.programme.rows.workers):
                break
        return point, certified(point)

    return LeafSolver(start, improved, optimum, certified)


SMOOTHED = _smoothed(LeafPoint.start, sweep, methodcaller("certified"))


def _separately_improved(point: QuantilesPoint, newest: int | None) -> QuantilesPoint:
    return separate_levels(point, lambda one: SMOOTHED.improved(one, newest))


def _separate_optimum(point: QuantilesPoint, tolerance: float) -> tuple[QuantilesPoint, Solution]:
    reached = separate_levels(point, lambda one: SMOOTHED.optimum(one, tolerance)[0])
    return reached, separately_certified(reached)


LEAF_SOLVERS = {
    "smooth": LeafSolver(LeafPoint.start, sweep, optimum),
    "smoothed": SMOOTHED,
    "kinked": LeafSolver(LeafPoint.start, _roughly(kinked_optimum), kinked_optimum),
    "ordered smooth": LeafSolver(LeafPoint.start, ordered_sweep, ordered_optimum, ordered_certified),
    "ordered smoothed": _smoothed(LeafPoint.start, ordered_sweep, ordered_certified),
    "ordered kinked": LeafSolver(
        LeafPoint.start, _roughly(kinked_ordered_optimum), kinked_ordered_optimum, ordered_certified
    ),
    "softmax": LeafSolver(SoftmaxPoint.start, softmax_sweep, optimum),
    "quantiles": LeafSolver(QuantilesPoint.start, _roughly(quantiles_optimum), quantiles_optimum),
    "separate": LeafSolver(QuantilesPoint.start, _separately_improved, _separate_optimum, separately_certified),
}
"""By the ``leaf_solver`` of a programme."""


def leaf_solver_of(programme: Any) -> LeafSolver:
    return LEAF_SOLVERS[programme.leaf_solver]


def certificate_of(point: Any) -> Solution:
    """The point with its duality gap."""
    return leaf_solver_of(point.programme).certified(point)
