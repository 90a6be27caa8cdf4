"""What a communicator is: workers that run the same code, each on its own rows, add up their partial results.

A communicator has four methods: ``rank`` and ``size``, ``sum`` and ``max``. Whatever else workers tell each other is
made of these (``exchange.py``). All workers must call them in the same order, with arrays of the same shape, and all
get the same result, to the last bit: then they take the same decisions.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

Numbers = TypeVar("Numbers", float, NDArray[Any])


@dataclass
class Traffic:
    """What a worker has sent."""

    n_messages: int = 0
    n_bytes: int = 0

    def count(self, values: NDArray[Any]) -> None:
        self.n_messages += 1
        self.n_bytes += values.nbytes


class Communicator(Protocol):
    """The workers of a fit, as one of them sees them."""

    traffic: Traffic

    @property
    def rank(self) -> int:
        """The number of this worker, counted from 0."""

    @property
    def size(self) -> int:
        """How many workers there are."""

    def sum(self, values: Numbers) -> Numbers:
        """The sum over all workers of a number, or of an array of the same shape on each of them."""

    def max(self, values: Numbers) -> Numbers:
        """The largest on any worker."""


class Reducing:
    """``sum`` and ``max`` by one method that reduces an array over the workers, and counts what is sent."""

    def __init__(self) -> None:
        self.traffic = Traffic()

    def sum(self, values: Numbers) -> Numbers:
        return self._reduce(values, "sum")

    def max(self, values: Numbers) -> Numbers:
        return self._reduce(values, "max")

    def _reduce(self, values: Numbers, what: str) -> Numbers:
        array = np.asarray(values)
        if not array.size:
            return values
        self.traffic.count(array)
        reduced = self._reduced(np.ascontiguousarray(array).ravel(), what)
        return reduced.reshape(array.shape) if isinstance(values, np.ndarray) else float(reduced[0])

    def _reduced(self, values: NDArray[Any], what: str) -> NDArray[Any]:
        """The sum of a vector over all workers, or the largest entries."""
        raise NotImplementedError


class Alone:
    """One worker that has all rows: nothing is sent."""

    rank = 0
    size = 1

    def __init__(self) -> None:
        self.traffic = Traffic()

    def sum(self, values: Numbers) -> Numbers:
        return values

    def max(self, values: Numbers) -> Numbers:
        return values


ALONE = Alone()
