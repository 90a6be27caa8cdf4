"""The end of a fit: every loop calls ``time_is_up``, and ends with its best result so far.

A fit with a time limit has several parts, such as growing trees and solving for all weights at the end. Each part has a
share of the time that is left when it begins (``share_of_time``), so that the parts after it have theirs. Without a
limit no clock is read.

A fit may take a third longer than its limit, and a second longer where that is below three: for the step that is under
way at its end, and for figures that every model has. If time is up before the weights are solved for, their
solution has a part of it (``time_to_solve``): the weights of an ensemble are worth more than its last trees.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from math import inf
from typing import NamedTuple

from .workers import ALONE, Communicator

ALLOWED_SHARE, ALLOWED_SECONDS = 1 / 3, 1.0
"""The share of the limit by which a fit may exceed it, and the seconds by which it may if the limit is short."""
OF_SOLUTION, WITH_SOLUTION = 0.3, 0.6
"""The shares of that excess for the last solution: its time, and its latest end."""


class _Part(NamedTuple):
    """When a part of a fit must end, by the clock of ``time.monotonic``; and when the fit must, and how much later."""

    end: float
    end_of_fit: float
    allowed: float


ANY_TIME = _Part(inf, inf, inf)

LEAST_OF_STEP = 0.5
"""A step begins only if the time left is this share of the quickest step like it."""
OPERATIONS_A_SECOND = 2e10
"""The operations of matrix products by a processor that is shared with other programs."""

_part: ContextVar[_Part] = ContextVar("part", default=ANY_TIME)


@contextmanager
def time_limit(seconds: float | None) -> Iterator[None]:
    """So many seconds from now for all that is done inside; None for any time."""
    if seconds is None:
        part = ANY_TIME
    else:
        end = time.monotonic() + seconds
        share = ALLOWED_SHARE * seconds
        part = _Part(end, end, share if share >= ALLOWED_SECONDS else ALLOWED_SECONDS)
    with _within(part):
        yield


@contextmanager
def share_of_time(share: float) -> Iterator[None]:
    """This share of the time that is left for all that is done inside."""
    part = _part.get()
    if part.end < inf:
        now = time.monotonic()
        part = part._replace(end=now + share * max(part.end - now, 0.0))
    with _within(part):
        yield


@contextmanager
def time_to_solve() -> Iterator[None]:
    """The time left for the last solution of a fit, and some seconds if none is left."""
    part = _part.get()
    if part.end < inf:
        soon = time.monotonic() + OF_SOLUTION * part.allowed
        latest = part.end_of_fit + WITH_SOLUTION * part.allowed
        part = part._replace(end=max(part.end, min(soon, latest)))
    with _within(part):
        yield


@contextmanager
def _within(part: _Part) -> Iterator[None]:
    token = _part.set(part)
    try:
        yield
    finally:
        _part.reset(token)


def time_is_up(workers: Communicator = ALONE) -> bool:
    """Whether the present part must end, on any of these workers: all of them take the same decision."""
    end = _part.get().end
    return end < inf and workers.max(time.monotonic() - end) >= 0.0


@dataclass
class Pace:
    """Whether there is time for one more of several like steps, given the quickest of them so far."""

    workers: Communicator = ALONE
    _quickest: float = inf

    @property
    def allows_another(self) -> bool:
        end = _part.get().end
        if end == inf:
            return True
        least = LEAST_OF_STEP * self._quickest if self._quickest < inf else 0.0
        return self.workers.max(time.monotonic() + least - end) < 0.0

    @contextmanager
    def step(self) -> Iterator[None]:
        """A step that counts."""
        if _part.get().end == inf:
            yield
            return
        start = time.monotonic()
        yield
        self._quickest = min(self._quickest, time.monotonic() - start)


def is_affordable(n_operations: float, workers: Communicator = ALONE) -> bool:
    """Whether there is time for so many operations in one step, within which nothing looks at the clock."""
    return n_operations <= OPERATIONS_A_SECOND * seconds_left(workers)


def seconds_left(workers: Communicator = ALONE) -> float:
    """The time limit of a solver that reads its own clock; infinite over workers, whose solvers must end alike."""
    end = _part.get().end
    return end - time.monotonic() if end < inf and workers.size == 1 else inf
