"""Workers that are threads of one process: for tests, and to try things without a cluster."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from ..errors import WorkerError
from .base import Reducing

Result = TypeVar("Result")


class ThreadGroup:
    """What the threads share: a place for the array of each, and a barrier."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.places: list[Any] = [None] * size
        self.barrier = threading.Barrier(size)


class ThreadCommunicator(Reducing):
    """One of several threads."""

    def __init__(self, group: ThreadGroup, rank: int) -> None:
        super().__init__()
        self._group = group
        self.rank = rank
        self.size = group.size

    def _reduced(self, values: NDArray[Any], what: str) -> NDArray[Any]:
        group = self._group
        try:
            group.places[self.rank] = values
            group.barrier.wait()
            if len({(part.shape, part.dtype) for part in group.places}) > 1:
                raise WorkerError(f"Workers add up arrays of different shapes: {[p.shape for p in group.places]}.")
            result = np.stack(group.places)
            group.barrier.wait()  # before anybody writes to the places again
        except threading.BrokenBarrierError as error:
            raise WorkerError("Another worker has failed.") from error
        return np.asarray(result.sum(axis=0, dtype=values.dtype) if what == "sum" else result.max(axis=0))

    def fail(self) -> None:
        """Let the others fail too, who would wait for this one."""
        self._group.barrier.abort()


def on_threads(size: int, work: Callable[[ThreadCommunicator], Result]) -> list[Result]:
    """What ``work`` returns on each of so many threads; the first error that is not about another worker is raised."""
    group = ThreadGroup(size)
    results: list[Any] = [None] * size
    errors: list[BaseException] = []

    def run(rank: int) -> None:
        communicator = ThreadCommunicator(group, rank)
        try:
            results[rank] = work(communicator)
        except BaseException as error:
            errors.append(error)
            communicator.fail()

    threads = [threading.Thread(target=run, args=(rank,)) for rank in range(size)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise min(errors, key=lambda error: isinstance(error, WorkerError))
    return results
