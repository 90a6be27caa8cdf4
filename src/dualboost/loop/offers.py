"""The columns that are offered to the master, given its duals."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from .._typing import Vector
from ..deadlines import time_is_up
from ..pricing.pool import Offer, Pool
from .wiring import Wiring

EXACT_IMPROVEMENT = 1e-9
"""With an exact pricer every improvement above rounding counts, so that the bound can meet the objective."""


@dataclass(frozen=True, eq=False)
class Pricing:
    """Asks the pool for columns, by edges over data rows and side rows."""

    wiring: Wiring
    pool: Pool

    def offers(self, u: Vector, threshold: float, is_settled: bool) -> list[Offer]:
        """The columns that the pool finds, the largest edge first.

        If those that improve are held already, which is possible where the cost of a weight grows with it, others are
        asked for: at once where the pool knows the best one, else if there is nothing left to gain by the master.
        """
        theta = u[self.wiring.columns.n_data :]
        favour = self.wiring.columns.sides.favour(theta)
        residual = self.wiring.operator.adjoint(self.wiring.formulation.priced_duals(self.wiring.columns.seen(u)))
        offers = [self._whole(one, theta) for one in self.pool.price(residual, favour)]
        improving = [one for one in offers if self.gains(one, u, threshold)]
        if improving and (is_settled or self.pool.is_exact) and all(map(self.is_held, improving)):
            others = self.pool.others(residual, favour)
            found = [self._first_new((self._whole(one, theta) for one in own), u, threshold) for own in others]
            new = [one for one in found if one is not None]
            offers = new if len(new) == len(offers) else [*offers, *new]  # a bound is one for the class of each pricer
        return sorted(offers, key=lambda offer: -offer.edge)

    def _whole(self, offer: Offer, theta: Vector) -> Offer:
        """The offer with its edge over data rows and side rows."""
        return offer._replace(edge=offer.edge + self.wiring.columns.sides.learner_part(theta, offer.column.learner))

    def _first_new(self, offers: Iterator[Offer], u: Vector, threshold: float) -> Offer | None:
        """The first offer that is not held and improves; if none improves, or time is up, the best that is not held."""
        best: Offer | None = None
        for offer in offers:
            if time_is_up(self.wiring.rows.workers):
                return best
            if self.is_held(offer):
                continue
            if best is None or offer.edge > best.edge:
                best = offer
            if offer.column.is_proven or self.gains(offer, u, threshold):
                return best
        return best

    def is_held(self, offer: Offer) -> bool:
        return self.wiring.columns.holds(self.wiring.operator.apply(offer.column.votes), offer.column.learner)

    def gains(self, offer: Offer, u: Vector, threshold: float) -> bool:
        """Whether the edge exceeds the threshold by more than rounding, or by more than the tolerance."""
        tolerance = self.wiring.precision.tolerance
        least = min(tolerance, EXACT_IMPROVEMENT) if self.pool.is_exact else tolerance
        return offer.edge - threshold > least * self.wiring.rows.total(np.abs(u))
