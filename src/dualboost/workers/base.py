"""How workers that each hold a part of the rows exchange partial results."""

from __future__ import annotations

import pickle
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar, overload

import numpy as np
from numpy.typing import NDArray

from .._typing import Integers, Matrix, Vector
from ..errors import WorkerError

# All workers must call ``sum`` and ``max``, of which every other exchange is made, in the same order, with arrays of
# the same shape. All get the same result, to the last bit, and so take the same decisions.

Numbers = TypeVar("Numbers", float, NDArray[Any])


@dataclass
class Traffic:
    """The messages that a worker has sent."""

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
    """``sum`` and ``max`` by one method that reduces an array over the workers, and counts the messages."""

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


# Up to Python 3.11, ``functools.cached_property`` holds a lock of its class while it computes: of two workers that
# are threads of one process, one would wait for the lock, and the other, who holds it, for the first one's part of a
# sum.

Value = TypeVar("Value")


class cached_property(Generic[Value]):
    """As in ``functools``, without a lock."""

    def __init__(self, compute: Callable[[Any], Value]) -> None:
        self._compute = compute
        self._name = compute.__name__
        self.__doc__ = compute.__doc__

    @overload
    def __get__(self, owner: None, kind: type) -> cached_property[Value]: ...

    @overload
    def __get__(self, owner: object, kind: type) -> Value: ...

    def __get__(self, owner: object | None, kind: type) -> cached_property[Value] | Value:
        if owner is None:
            return self
        value = owner.__dict__[self._name] = self._compute(owner)
        return value


SIGN = np.uint64(1) << np.uint64(63)
NUMBERS_AT_ONCE = 4096
"""How many numbers a message of a search has at most, unless more are sought."""


def joined(workers: Communicator, values: NDArray[Any]) -> tuple[NDArray[Any], slice]:
    """The arrays of all workers one after the other, along the last axis, and the place of the own one."""
    if workers.size == 1:
        return values, slice(None)
    sizes = np.zeros(workers.size)
    sizes[workers.rank] = values.shape[-1]
    ends = np.cumsum(workers.sum(sizes)).astype(np.intp)
    own = slice(int(ends[workers.rank]) - values.shape[-1], int(ends[workers.rank]))
    whole = np.zeros((*values.shape[:-1], int(ends[-1])), dtype=values.dtype)
    whole[..., own] = values
    return workers.sum(whole), own


def summed(workers: Communicator, parts: Sequence[Any]) -> list[Any]:
    """The sums over all workers of several arrays or numbers, in one message."""
    arrays = [np.asarray(part, dtype=float) for part in parts]
    whole = workers.sum(np.concatenate([array.ravel() for array in arrays]))
    ends = np.cumsum([array.size for array in arrays])
    pieces = np.split(whole, ends[:-1])
    return [
        piece.reshape(array.shape) if array.ndim else float(piece[0])
        for piece, array in zip(pieces, arrays, strict=True)
    ]


def objects_of_all(workers: Communicator, one: Any) -> list[Any]:
    """The objects of all workers, by rank."""
    if workers.size == 1:
        return [one]
    sizes = np.zeros(workers.size)
    text = np.frombuffer(pickle.dumps(one), dtype=np.uint8)
    sizes[workers.rank] = len(text)
    ends = np.cumsum(workers.sum(sizes)).astype(np.intp)
    whole, _ = joined(workers, text)
    return [pickle.loads(whole[start:end].tobytes()) for start, end in zip([0, *ends[:-1]], ends, strict=True)]


def nth_smallest(workers: Communicator, columns: Sequence[Vector], ranks: Integers) -> Matrix:
    """The entries of these ranks, counted from 1, in several columns, of which each worker has a part, in order.

    There is a row of ranks for each column.
    """

    def n_up_to(numbers: Matrix) -> Matrix:
        pairs = zip(columns, numbers, strict=True)
        return np.array([np.searchsorted(own, row, side="right") for own, row in pairs], dtype=float)

    return _least_reaching(workers, ranks, n_up_to)


def smallest_reaching(workers: Communicator, values: Vector, weights: Vector, levels: NDArray[Any]) -> NDArray[Any]:
    """For each level the smallest value up to which values, of which each worker has a part, weigh as much."""
    order = np.argsort(values, kind="stable")
    values, totals = values[order], np.cumsum(weights[order])
    if workers.size == 1:
        return np.asarray(values[np.minimum(np.searchsorted(totals, levels), len(values) - 1)])
    totals = np.append(0.0, totals)
    return _least_reaching(workers, levels, lambda numbers: totals[np.searchsorted(values, numbers, side="right")])


def _least_reaching(
    workers: Communicator, levels: NDArray[Any], reached: Callable[[NDArray[Any]], NDArray[Any]]
) -> NDArray[Any]:
    """The smallest numbers at which the sums over workers of ``reached``, which rises, are at least the levels.

    Found by division of the numbers of double precision, whatever they are: into two parts at a time in 64 messages, or
    where levels are few into up to 256 parts in 8.
    """
    bits = np.uint64(max(b for b in (1, 2, 4, 8) if b == 1 or levels.size * 2**b <= NUMBERS_AT_ONCE))
    found = np.zeros(levels.shape, dtype=np.uint64)  # the digits known of the largest number below
    for shift in range(64 - int(bits), -1, -int(bits)):
        unit = np.uint64(1) << np.uint64(shift)
        steps = np.arange(1, 2 ** int(bits), dtype=np.uint64)
        tried = [found + step * unit - np.uint64(1) for step in steps]
        sums = workers.sum(np.array([reached(_numbers(codes)) for codes in tried]))
        found += (sums < levels).sum(axis=0).astype(np.uint64) * unit
    return _numbers(found)


def _numbers(codes: NDArray[np.uint64]) -> NDArray[np.float64]:
    """The numbers of double precision in their order, counted from the smallest; infinities beyond the ends."""
    bits = np.where(codes & SIGN, codes ^ SIGN, ~codes)
    numbers = bits.view(np.float64)
    return np.where(np.isnan(numbers), np.where(codes & SIGN, np.inf, -np.inf), numbers)


Result = TypeVar("Result")


class ThreadGroup:
    """A place for the array of each thread, and a barrier."""

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
        """Make the other threads fail too, which would wait for this one."""
        self._group.barrier.abort()


def on_threads(size: int, work: Callable[[ThreadCommunicator], Result]) -> list[Result]:
    """The results of ``work`` on so many threads; raises the first error that is not about another worker."""
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
