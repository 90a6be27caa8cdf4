"""Growers made of other parts: of a pricer that finds trees by their edge, and of several growers."""

from __future__ import annotations

from collections.abc import Sequence

from .._typing import Features, Vector
from ..algebra.devices import MEMORY, Device
from ..trees.tree import Tree
from ..workers import ALONE, Communicator
from .base import Pricer
from .newton_trees import Grower, GrownTree


class PricedTrees:
    """Takes the splits of the tree with a large edge; the values of its leaves are chosen by others."""

    def __init__(self, pricer: Pricer, X: Features) -> None:
        self._pricer = pricer
        self._X = X

    def grow(self, residual: Vector, curvature: Vector, ridge: float) -> GrownTree | None:
        tree = self._pricer.price(residual, None).learner
        assert isinstance(tree, Tree), "only pricers of trees are asked"
        return GrownTree.of(tree, self._X) if tree.n_leaves > 1 else None


class BestGrower:
    """Asks several growers, and takes the tree that lowers the objective most if its leaves alone move."""

    def __init__(self, growers: Sequence[Grower], workers: Communicator = ALONE, device: Device = MEMORY) -> None:
        self._growers, self._where = growers, (workers, device)

    def grow(self, residual: Vector, curvature: Vector, ridge: float) -> GrownTree | None:
        offers = [grower.grow(residual, curvature, ridge) for grower in self._growers]
        found = [offer for offer in offers if offer is not None]
        return max(found, key=lambda offer: offer.fall(residual, curvature, ridge, *self._where), default=None)
