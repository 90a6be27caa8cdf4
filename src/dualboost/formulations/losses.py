"""The convex losses of a margin that have a name, as terms on the sample weights: their conjugates."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from .._typing import Vector
from .terms import EntropyTerm, LogisticTerm, QuadraticTerm, RowTerm


class Loss(NamedTuple):
    """A decreasing convex loss of a margin."""

    term: Callable[[Vector], RowTerm]
    """The conjugate of the loss times a price, for the prices of the rows."""
    at_zero: float
    """Its value at a margin of zero."""
    slope_at_zero: float
    """How fast it falls at a margin of zero."""
    steepest: Callable[[float], float]
    """How fast it can fall where one row's loss is at most so many times that at zero, as it is at an optimum."""


def _squared_hinge(price: Vector) -> QuadraticTerm:
    return QuadraticTerm(-1.0, 0.5 / price, np.zeros_like(price))


LOSSES: dict[str, Loss] = {
    "exponential": Loss(lambda price: EntropyTerm(np.e * price, 1.0), 1.0, 1.0, lambda times: 2.0 * times),
    "logistic": Loss(LogisticTerm, float(np.log(2.0)), 0.5, lambda times: 1.0),
    "squared_hinge": Loss(_squared_hinge, 1.0, 2.0, lambda times: 4.0 * float(np.sqrt(times))),
    "huber": Loss(_squared_hinge, 1.0, 2.0, lambda times: 4.0),
}
