"""The interface between the loop over leaves and the solvers for their values."""

from __future__ import annotations

from typing import Any, Protocol

from ..deadlines import time_is_up
from .base import Solution
from .leaf_kinked import kinked_optimum
from .leaf_newton import certified, optimum, softmax_certified, softmax_optimum
from .leaf_points import LeafPoint, SoftmaxPoint
from .leaf_sweeps import softmax_sweep, sweep
from .ordered_leaves import kinked_ordered_optimum, ordered_certified, ordered_optimum, ordered_sweep
from .quantile_leaves import QuantilesPoint, joined, quantiles_certified, quantiles_optimum, separate_levels

ROUGHLY = 1e-2
"""The relative gap of a solution that is only to lead to the next tree."""
SWEEPS = 4
"""How many sweeps a loss with smoothed kinks gets between two pricings: its second derivatives are far from constant,
so that a single sweep left the loss 6 % higher after 20 trees."""

ROUNDS = 5
"""How often as many sweeps are made before the first pricing."""


class LeafSolver(Protocol):
    """Finds values for the leaves of the trees held; points are of the kind that ``start`` makes."""

    def start(self, programme: Any, columns: Any) -> Any:
        """The point without a tree."""

    def improved(self, point: Any, newest: int | None) -> Any:
        """A point with a smaller objective, as good as the next pricing needs; ``newest`` is the newest tree."""

    def optimum(self, point: Any, tolerance: float) -> tuple[Any, Solution]:
        """The optimum over the leaves held, to the tolerance, or ``SolverFailed``; the best point if time is up."""

    def certified(self, point: Any) -> Solution:
        """The point with its duality gap."""


class SmoothLeaves:
    """One value a leaf, under a loss without kinks."""

    def start(self, programme: Any, columns: Any) -> LeafPoint:
        return LeafPoint.start(programme, columns)

    def improved(self, point: LeafPoint, newest: int | None) -> LeafPoint:
        return sweep(point, newest)

    def optimum(self, point: LeafPoint, tolerance: float) -> tuple[LeafPoint, Solution]:
        return optimum(point, tolerance)

    def certified(self, point: LeafPoint) -> Solution:
        return certified(point)


class SmoothedLeaves(SmoothLeaves):
    """One value a leaf, under a loss whose kinks are smoothed so that trees can be grown for it."""

    def improved(self, point: LeafPoint, newest: int | None) -> LeafPoint:
        for _ in range(SWEEPS):
            point = sweep(point, newest)
        return point

    def optimum(self, point: LeafPoint, tolerance: float) -> tuple[LeafPoint, Solution]:
        """A good point, whatever its gap is, since the loss is only a means to an end."""
        for _ in range(ROUNDS):
            point = self.improved(point, None)
            if time_is_up(point.programme.rows.workers):
                break
        return point, certified(point)


class KinkedLeaves(SmoothLeaves):
    """One value a leaf, under a loss with kinks."""

    def improved(self, point: LeafPoint, newest: int | None) -> LeafPoint:
        return kinked_optimum(point, ROUGHLY)[0]

    def optimum(self, point: LeafPoint, tolerance: float) -> tuple[LeafPoint, Solution]:
        return kinked_optimum(point, tolerance)


class OrderedLeaves(SmoothLeaves):
    """One value a leaf, in order, under a loss without kinks."""

    def improved(self, point: LeafPoint, newest: int | None) -> LeafPoint:
        return ordered_sweep(point, newest)

    def optimum(self, point: LeafPoint, tolerance: float) -> tuple[LeafPoint, Solution]:
        return ordered_optimum(point, tolerance)

    def certified(self, point: LeafPoint) -> Solution:
        return ordered_certified(point)


class OrderedSmoothedLeaves(OrderedLeaves):
    """One value a leaf, in order, under a loss whose kinks are smoothed so that trees can be grown for it."""

    def improved(self, point: LeafPoint, newest: int | None) -> LeafPoint:
        for _ in range(SWEEPS):
            point = ordered_sweep(point, newest)
        return point

    def optimum(self, point: LeafPoint, tolerance: float) -> tuple[LeafPoint, Solution]:
        for _ in range(ROUNDS):
            point = self.improved(point, None)
            if time_is_up(point.programme.rows.workers):
                break
        return point, ordered_certified(point)


class OrderedKinkedLeaves(OrderedLeaves):
    """One value a leaf, in order, under a loss with kinks."""

    def improved(self, point: LeafPoint, newest: int | None) -> LeafPoint:
        return self.optimum(point, ROUGHLY)[0]

    def optimum(self, point: LeafPoint, tolerance: float) -> tuple[LeafPoint, Solution]:
        return kinked_ordered_optimum(point, tolerance)


class SoftmaxLeaves:
    """One value a leaf and class, under the cross-entropy."""

    def start(self, programme: Any, columns: Any) -> SoftmaxPoint:
        return SoftmaxPoint.start(programme, columns)

    def improved(self, point: SoftmaxPoint, newest: int | None) -> SoftmaxPoint:
        return softmax_sweep(point, newest)

    def optimum(self, point: SoftmaxPoint, tolerance: float) -> tuple[SoftmaxPoint, Solution]:
        return softmax_optimum(point, tolerance)

    def certified(self, point: SoftmaxPoint) -> Solution:
        return softmax_certified(point)


class QuantileLeaves:
    """One value a leaf and quantile, under quantile losses, in order."""

    def start(self, programme: Any, columns: Any) -> QuantilesPoint:
        return QuantilesPoint.start(programme, columns)

    def improved(self, point: QuantilesPoint, newest: int | None) -> QuantilesPoint:
        return quantiles_optimum(point, ROUGHLY)[0]

    def optimum(self, point: QuantilesPoint, tolerance: float) -> tuple[QuantilesPoint, Solution]:
        return quantiles_optimum(point, tolerance)

    def certified(self, point: QuantilesPoint) -> Solution:
        return quantiles_certified(point)


class SeparateLeaves(QuantileLeaves):
    """One value a leaf and quantile, each quantile by itself under a smoothed loss."""

    _alone = SmoothedLeaves()

    def improved(self, point: QuantilesPoint, newest: int | None) -> QuantilesPoint:
        return separate_levels(point, lambda one: self._alone.improved(one, newest))

    def optimum(self, point: QuantilesPoint, tolerance: float) -> tuple[QuantilesPoint, Solution]:
        reached = separate_levels(point, lambda one: self._alone.optimum(one, tolerance)[0])
        return reached, self.certified(reached)

    def certified(self, point: QuantilesPoint) -> Solution:
        return joined([certified(one) for one in point.alone()], point)


LEAF_MASTERS: dict[str, type[LeafSolver]] = {
    "smooth": SmoothLeaves,
    "smoothed": SmoothedLeaves,
    "kinked": KinkedLeaves,
    "ordered smooth": OrderedLeaves,
    "ordered smoothed": OrderedSmoothedLeaves,
    "ordered kinked": OrderedKinkedLeaves,
    "softmax": SoftmaxLeaves,
    "quantiles": QuantileLeaves,
    "separate": SeparateLeaves,
}
"""By the name that a programme has for who solves it over leaves."""


def leaf_solver_of(programme: Any) -> LeafSolver:
    return LEAF_MASTERS[programme.leaf_solver]()


def certificate_of(point: Any) -> Solution:
    """The point with its duality gap."""
    return leaf_solver_of(point.programme).certified(point)
