"""Who finds the values of leaves: one number for each leaf, under any loss, or one for each class, under softmax."""

from __future__ import annotations

from typing import Any, Protocol

from .base import MasterSolution
from .leaf_dense import dense_optimum
from .leaf_newton import certified, optimum
from .leaf_point import LeafPoint
from .leaf_sweeps import sweep
from .softmax_newton import softmax_certified, softmax_optimum
from .softmax_point import SoftmaxPoint
from .softmax_sweeps import softmax_sweep

ROUGHLY = 1e-2
"""The relative gap at which leaves under a loss with kinks are left between two pricings."""


class LeafMaster(Protocol):
    """Finds values for the leaves of the trees held; points are of the kind that ``start`` makes."""

    def start(self, programme: Any, columns: Any) -> Any:
        """The point without a tree."""

    def improved(self, point: Any, newest: int | None) -> Any:
        """A point with a smaller objective, as good as the next pricing needs; ``newest`` is the newest tree."""

    def optimum(self, point: Any, tolerance: float) -> tuple[Any, MasterSolution]:
        """The optimum over the leaves held, to the tolerance, or ``MasterFailed``."""

    def certified(self, point: Any) -> MasterSolution:
        """The point with its duality gap."""


class SmoothLeaves:
    """One value a leaf, under a loss without kinks."""

    def start(self, programme: Any, columns: Any) -> LeafPoint:
        return LeafPoint.start(programme, columns)

    def improved(self, point: LeafPoint, newest: int | None) -> LeafPoint:
        return sweep(point, newest)

    def optimum(self, point: LeafPoint, tolerance: float) -> tuple[LeafPoint, MasterSolution]:
        return optimum(point, tolerance)

    def certified(self, point: LeafPoint) -> MasterSolution:
        return certified(point)


class KinkedLeaves(SmoothLeaves):
    """One value a leaf, under a loss with kinks."""

    def improved(self, point: LeafPoint, newest: int | None) -> LeafPoint:
        return dense_optimum(point, ROUGHLY)[0]

    def optimum(self, point: LeafPoint, tolerance: float) -> tuple[LeafPoint, MasterSolution]:
        return dense_optimum(point, tolerance)


class SoftmaxLeaves:
    """One value a leaf and class, under the cross-entropy."""

    def start(self, programme: Any, columns: Any) -> SoftmaxPoint:
        return SoftmaxPoint.start(programme, columns)

    def improved(self, point: SoftmaxPoint, newest: int | None) -> SoftmaxPoint:
        return softmax_sweep(point, newest)

    def optimum(self, point: SoftmaxPoint, tolerance: float) -> tuple[SoftmaxPoint, MasterSolution]:
        return softmax_optimum(point, tolerance)

    def certified(self, point: SoftmaxPoint) -> MasterSolution:
        return softmax_certified(point)
