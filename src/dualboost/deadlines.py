"""Until when a fit may go on: whatever loops asks ``time_is_up``, and ends with the best that it has.

A fit with a time limit has several parts, such as growing trees and solving for all weights at the end. Each part has a
share of the time that is left when it begins (``share_of_time``), so that the parts after it have theirs. Without a
limit no clock is read.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from .workers import ALONE, Communicator

_end: ContextVar[float] = ContextVar("end", default=float("inf"))
"""When the present part must end, by the clock of ``time.monotonic``."""


@contextmanager
def time_limit(seconds: float | None) -> Iterator[None]:
    """So many seconds from now for all that is done inside; None for any time."""
    with _until(float("inf") if seconds is None else time.monotonic() + seconds):
        yield


@contextmanager
def share_of_time(share: float) -> Iterator[None]:
    """This share of the time that is left for all that is done inside."""
    end = _end.get()
    if end < float("inf"):
        now = time.monotonic()
        end = now + share * max(end - now, 0.0)
    with _until(end):
        yield


@contextmanager
def _until(end: float) -> Iterator[None]:
    token = _end.set(end)
    try:
        yield
    finally:
        _end.reset(token)


def time_is_up(workers: Communicator = ALONE) -> bool:
    """Whether the present part must end, on any of these workers: all of them take the same decision."""
    end = _end.get()
    return end < float("inf") and workers.max(time.monotonic() - end) >= 0.0


def seconds_left(workers: Communicator = ALONE) -> float:
    """The time limit of a solver that reads its own clock; infinite over workers, whose solvers must end alike."""
    end = _end.get()
    return end - time.monotonic() if end < float("inf") and workers.size == 1 else float("inf")
