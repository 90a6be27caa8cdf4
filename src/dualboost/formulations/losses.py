"""The convex losses of a margin that users can name, each as a term on the duals: the conjugate of the loss."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from .._typing import Vector
from .terms import EntropyTerm, LogisticTerm, QuadraticTerm, RowTerm


class Loss(NamedTuple):
    """A decreasing convex loss of a margin."""

    term: Callable[[Vector], RowTerm]
    """The conjugate of the scaled loss, given the factor that scales the loss of each row."""
    at_zero: float
    """The loss at a margin of zero."""
    slope_at_zero: float
    """How fast the loss falls at a margin of zero."""
    steepest: Callable[[float], float]
    """``steepest(times)`` bounds how fast the loss falls wherever it is at most ``times`` the loss at zero; at an
    optimum the loss of a row is at most that of all rows at zero."""


def _squared_hinge(scale: Vector) -> QuadraticTerm:
    return QuadraticTerm(-1.0, 0.5 / scale, np.zeros_like(scale))


LOSSES: dict[str, Loss] = {
    "exponential": Loss(lambda scale: EntropyTerm(np.e * scale, 1.0), 1.0, 1.0, lambda times: 2.0 * times),
    "logistic": Loss(LogisticTerm, float(np.log(2.0)), 0.5, lambda times: 1.0),
    "squared_hinge": Loss(_squared_hinge, 1.0, 2.0, lambda times: 4.0 * float(np.sqrt(times))),
    "huber": Loss(_squared_hinge, 1.0, 2.0, lambda times: 4.0),
}
