"""Several learners together or in turn, and columns beside the best one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from .._typing import Vector
from ..workers import ALONE, Communicator
from .base import PricedColumn, Pricer

# Where the weights have an l2 norm or an upper bound, the edge of a column that is held stays above the threshold.


def without_leading_features(
    pricer: Pricer, n_features: int, residual: Vector, feature_multiplier: Vector | None
) -> Iterator[PricedColumn]:
    """Columns on ever fewer features: each without the feature that gained most in the column before.

    The pricer must leave out features whose favour is zero.
    """
    allowed = np.ones(n_features) if feature_multiplier is None else feature_multiplier.copy()
    column = pricer.price(residual, feature_multiplier)
    for _ in range(n_features):
        gains = column.learner.feature_gains(n_features)
        leading = int(gains.argmax())
        if gains[leading] <= 0 or allowed[leading] == 0:
            return
        allowed[leading] = 0.0
        column = pricer.price(residual, allowed)
        yield column._replace(is_proven=False)


class ScoredColumn(NamedTuple):
    """A column and its edge under the residual that it was priced for."""

    column: PricedColumn
    edge: float


class Pool:
    """Asks every pricer for a column at each call, or with ``rotate`` only the next one."""

    def __init__(self, pricers: Sequence[Pricer], rotate: bool = False, workers: Communicator = ALONE) -> None:
        self._pricers = list(pricers)
        self._workers = workers
        self._rotate = rotate
        self._next = 0
        self.n_learners = float(sum(pricer.n_learners for pricer in self._pricers))
        self.is_exact = not rotate and all(pricer.is_exact for pricer in self._pricers)

    @property
    def n_rounds(self) -> int:
        """How many calls of ``price`` it takes to ask every pricer."""
        return len(self._pricers) if self._rotate else 1

    def price(self, residual: Vector, feature_multiplier: Vector | None) -> list[ScoredColumn]:
        """The columns that the pricers find, the largest edge first; ``favour`` is explained in ``Pricer.price``."""
        columns = [pricer.price(residual, feature_multiplier) for pricer in self._asked()]
        offers = [self._offer(column, residual) for column in columns]
        return sorted(offers, key=lambda offer: -offer.edge)

    def others(self, residual: Vector, feature_multiplier: Vector | None) -> list[Iterator[ScoredColumn]]:
        """For each pricer, columns to take where that of ``price`` is held already; none if it can find no other."""
        return [
            (self._offer(column, residual) for column in pricer.others(residual, feature_multiplier))
            for pricer in self._pricers
            if hasattr(pricer, "others")
        ]

    def _offer(self, column: PricedColumn, residual: Vector) -> ScoredColumn:
        return ScoredColumn(column, self._workers.sum(float(np.vdot(residual, column.votes))))

    def is_proven(self, offers: Sequence[ScoredColumn]) -> bool:
        """Whether the first offer is proven to have the largest edge of all learners in the pool."""
        return self.is_exact and all(offer.column.is_proven for offer in offers)

    def _asked(self) -> list[Pricer]:
        if not self._rotate:
            return self._pricers
        asked = self._pricers[self._next]
        self._next = (self._next + 1) % len(self._pricers)
        return [asked]
