"""Sums and extremes of vectors with one entry a row, computed block by block on several threads."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from itertools import pairwise
from threading import Lock
from types import ModuleType
from typing import Any, ClassVar, Protocol, TypeVar
from weakref import WeakSet

import numpy as np
from joblib import cpu_count, effective_n_jobs
from numpy.typing import NDArray
from threadpoolctl import OpenBLASController, ThreadpoolController

from .._typing import Integers, Matrix, Vector
from ..arguments import how_to_install
from ..errors import InvalidDataError, InvalidParameterError, MissingDependencyError
from ..workers import ALONE, Communicator
from ..workers.base import cached_property

# BLAS has one thread during a fit: the products are small, and sums are then the same on every machine. The threads
# of LightGBM and XGBoost wait for each other many times a tree, and spin meanwhile. Where other programs run, each
# such wait may last as long as the time slice of another program: trees that take 8 ms on one thread took 200 ms on
# two. So a grower has one thread until there is proof that more are quicker.

WORTH_THREADS = 1_000_000
"""Work on fewer cells than this is done by one thread. A cell is a row and a feature, or a row and a tree."""
SHARE_AT_RISK = 0.1
"""The share of the time spent growing trees on one thread that may be lost by a try of more threads."""
FIRST_RISK = 0.5
"""The seconds that the first try of more threads may lose."""


def available_threads(n_jobs: int | None) -> int:
    """How many threads ``n_jobs`` stands for: no more than the processors that this process may use."""
    return max(min(effective_n_jobs(n_jobs or None), cpu_count()), 1)


def threads_for(n_threads: int, n_cells: float, worth: float = WORTH_THREADS) -> int:
    """How many threads work on so many cells, if there are ``n_threads``."""
    return n_threads if n_cells >= worth else 1


class GrowerThreads:
    """How many threads grow the next tree: one, until a tree on all of them was quicker.

    A try costs time where it fails. It is made once what it may cost is a small share of the time spent so far.
    """

    def __init__(self, n_threads: int, n_cells: float) -> None:
        self._most = threads_for(n_threads, n_cells)
        self._is_ahead = False
        self._alone = self._spent = 0.0
        self._at_risk = FIRST_RISK

    @property
    def number(self) -> int:
        """The number of threads for the next tree."""
        is_affordable = self._spent > 0.0 and SHARE_AT_RISK * self._spent >= self._at_risk
        return self._most if self._is_ahead or is_affordable else 1

    @contextmanager
    def timed(self) -> Iterator[int]:
        """The context in which a tree grows on the number of threads that it gives."""
        number, started = self.number, time.perf_counter()
        yield number
        self.note(number, time.perf_counter() - started)

    def note(self, number: int, seconds: float) -> None:
        """Record the seconds that a tree took on ``number`` threads."""
        if number == 1:
            self._alone, self._spent = seconds, self._spent + seconds
            return
        self._is_ahead = seconds < self._alone
        if not self._is_ahead:
            self._spent, self._at_risk = 0.0, max(seconds - self._alone, FIRST_RISK)


class one_blas_thread:
    """BLAS has one thread from the first entry to the last exit, whichever threads these are in.

    Most libraries have one limit for the whole process: were each entry to restore what it found, the last of two fits
    that overlap would restore the limit of the first. Where each thread has its own limit, each entry does.
    """

    _lock = Lock()
    _inside: ClassVar[WeakSet[one_blas_thread]] = WeakSet()
    """Weak references: a fit that an interrupt ended before its exit holds no limit."""
    _limit: _Limit | None = None
    """The limits of the process, while any fit is inside."""

    def __enter__(self) -> None:
        process = one_blas_thread
        with process._lock:
            process._limit = process._limit or _Limit(_libraries(of_threads=False))
            process._inside.add(self)
        self._own = _Limit(_libraries(of_threads=True))

    def __exit__(self, *raised: object) -> None:
        process = one_blas_thread
        self._own.end()
        with process._lock:
            process._inside.discard(self)
            if not process._inside and process._limit is not None:
                limit, process._limit = process._limit, None
                limit.end()


class _Limit:
    """One thread for these libraries, and their numbers of before."""

    def __init__(self, libraries: list[Any]) -> None:
        self._found = [(library, library.num_threads) for library in libraries]
        self._set([(library, 1) for library in libraries])

    def end(self) -> None:
        self._set(self._found)

    @staticmethod
    def _set(numbers: list[tuple[Any, int]]) -> None:
        for library, number in numbers:
            library.set_num_threads(number)
        # From version 3.8 on, threadpoolctl lets only the thread that set a number change it, until it gives that up.
        getattr(OpenBLASController, "clear_controlling_thread", lambda: None)()


@cache
def _libraries(of_threads: bool) -> list[Any]:
    """The BLAS libraries in which each thread has a limit of its own, or the others.

    They are found once because that takes longer than a small fit.
    """
    found = ThreadpoolController().select(user_api="blas").lib_controllers
    return [one for one in found if of_threads == (_kind(one) == ("openblas", "openmp"))]


def _kind(library: Any) -> tuple[str, str | None]:
    return library.internal_api, getattr(library, "threading_layer", None)


# NumPy's functions work on arrays of either kind, since CuPy's arrays dispatch them (``__array_function__``). CuPy
# refuses an array of each kind in one operation, so arrays go from one place to the other only by ``put`` and ``host``.
# Numbers, and arrays that are not as long as the rows, are in memory.


class Device(Protocol):
    """A place for arrays."""

    name: str
    """The value of the parameter ``device``."""
    is_memory: bool
    """Whether arrays there are NumPy's."""
    xp: Any
    """The namespace that creates arrays there."""

    def put(self, values: Any) -> Any:
        """An array there, given one of either place."""

    def host(self, values: Any) -> Any:
        """An array or a number in memory, given one of either place."""

    def shared(self, values: Any) -> Any:
        """An array there as other libraries read it."""

    @property
    def of_xgboost(self) -> str:
        """The name of the device in XGBoost."""


class Memory:
    """The memory of the machine: NumPy's arrays."""

    name: str = "cpu"
    is_memory: bool = True
    xp: Any = np

    def put(self, values: Any) -> Any:
        return values

    host = shared = put

    @property
    def of_xgboost(self) -> str:
        return "cpu"


class Cuda:
    """The GPU that CuPy works on: ``cupy.cuda.Device(1).use()`` chooses another one."""

    name: str = "cuda"
    is_memory: bool = False

    def __init__(self, cupy: ModuleType) -> None:
        self.xp: Any = cupy

    def put(self, values: Any) -> Any:
        return self.xp.asarray(values)

    def host(self, values: Any) -> Any:
        return self.xp.asnumpy(values) if isinstance(values, self.xp.ndarray) else values

    def shared(self, values: Any) -> Any:
        return values

    @property
    def of_xgboost(self) -> str:
        """XGBoost takes the first GPU unless the name has the number of CuPy's GPU."""
        return f"cuda:{self.xp.cuda.Device().id}"


MEMORY = Memory()
DEVICES = [Memory.name, Cuda.name]
"""The names that users may give."""


def device_named(name: str) -> Device:
    """The place of that name; raises an error of ours where it is not to be had."""
    if name == Memory.name:
        return MEMORY
    try:
        import cupy
    except ImportError as error:
        raise MissingDependencyError(f"device='cuda' needs CuPy: {how_to_install('cupy')}.") from error
    try:
        float(cupy.ones(2) @ cupy.ones(2))  # needs a GPU, its driver and CUDA's libraries
    except Exception as error:  # of CuPy's many kinds
        reason = " ".join(str(error).split())
        raise InvalidParameterError(
            f"device='cuda' needs a GPU that CuPy can use; its error is: {reason}. Use device='cpu'."
        ) from error
    return Cuda(cupy)


def in_memory(values: Any) -> Any:
    """Arrays of CuPy and columns of cuDF as NumPy's; masked entries become missing."""
    if isinstance(values, np.ma.MaskedArray):
        return _without_mask(values)
    if not hasattr(values, "__cuda_array_interface__"):
        return values
    fetch = getattr(values, "to_numpy", None) or getattr(values, "get", None)
    if fetch is None:
        raise InvalidDataError(
            f"A {type(values).__name__} on a GPU cannot be read: pass an array of CuPy, cupy.asarray(values), or one "
            "of NumPy."
        )
    return fetch()


def _without_mask(values: Any) -> Any:
    if not np.ma.is_masked(values):
        return values.data
    is_number = values.dtype.kind in "biuf"
    return values.astype(float if is_number else object).filled(np.nan if is_number else None)


# Solvers, formulations and the loop never reduce such a vector by themselves: they call a method of ``Rows``, or hand
# it a function of one block of rows: one that fills its part of vectors (``each``), one whose results are added up
# (``add_up``), or one of which the smallest result is needed (``least_of``). A block has a fixed number of rows, and
# partial results are added in the order of the blocks: the result is the same to the last bit on any number of
# threads.
#
# Side rows, which a few formulations have (``side_rows.py``), come after the data rows and are a block of their own.

ROWS_PER_BLOCK = 12288
"""Few enough rows for a few vectors of one block to stay in the processor's cache, and enough rows to make the time
that Python spends on each block negligible."""

WORTH_A_THREAD = 4_000_000
"""Work on fewer numbers than this is done by one thread: starting a second would take longer."""
LIGHT = 1
"""How many numbers each row counts for in work on a few vectors, to be compared with ``WORTH_A_THREAD``: few, because
threads that do little between two calls of NumPy mostly wait for Python's lock."""

Found = TypeVar("Found")
Mask = NDArray[np.bool_]


class Rows:
    """The rows of a fit on one machine: their multiplicities, the groups they belong to, and the threads to work on."""

    xp: ModuleType = np
    """The namespace of the arrays."""
    workers: Communicator = ALONE
    """The workers that hold the other rows, if rows are spread over workers (``remote_rows.py``)."""
    device: Device = MEMORY
    """The memory that holds vectors as long as the rows (``remote_rows.py``)."""

    def __init__(
        self,
        counts: Vector,
        groups: Integers | None = None,
        n_jobs: int = 1,
        n_sides: int = 0,
        values: Vector | None = None,
        rows_each: float = 1.0,
    ) -> None:
        self.counts = counts
        self.values = counts if values is None else values
        """The target of each data row, where it is a number."""
        self._groups = groups
        self.n_jobs = n_jobs
        self.rows_each = rows_each
        """How many rows of the training data a data row stands for, on average."""
        self.n_data, self.n_sides = len(counts), n_sides
        self.n_rows = self.n_data + n_sides
        edges = [*range(0, self.n_data, ROWS_PER_BLOCK), self.n_data]
        self.blocks = [slice(start, stop) for start, stop in pairwise(edges)]
        if n_sides:
            self.blocks.append(slice(self.n_data, self.n_rows))

    def with_sides(self, n_sides: int) -> Rows:
        """The same data rows with ``n_sides`` side rows after them."""
        return type(self)(self.counts, self._groups, self.n_jobs, n_sides, self.values, self.rows_each)

    def like(self, counts: Vector, values: Vector | None = None) -> Rows:
        """Other rows, held where these are."""
        return Rows(counts, None, self.n_jobs, values=values)

    def put(self, values: Any) -> Any:
        """An array, such as the weights of a product, where the rows are."""
        return self.device.put(values)

    def host(self, values: Any) -> Any:
        """An array or a number in memory, where those are that are not as long as the rows."""
        return self.device.host(values)

    @property
    def is_whole(self) -> bool:
        """Whether all rows are held here, so that any solver can be handed the programme."""
        return self.workers.size == 1

    @property
    def n_all(self) -> int:
        """The number of rows, wherever they are held."""
        return self.n_rows

    @property
    def n_all_data(self) -> int:
        """The number of data rows, wherever they are held."""
        return self.n_data

    def n_first(self, n: int) -> int:
        """How many of the first n rows, in the order of their hash, are held here: they are the first ones here too."""
        return min(n, self.n_data)

    @cached_property
    def n_samples(self) -> float:
        """The total of the multiplicities."""
        return self.total(self.counts)

    @property
    def n_observed(self) -> float:
        """How many rows of the training data the data rows stand for, whatever the scale of their weights."""
        return self.rows_each * self.n_all_data

    @property
    def rows_in_unit(self) -> float:
        """How many rows of the training data a unit of the multiplicities stands for."""
        return float(np.rint(self.n_observed)) / self.n_samples

    @cached_property
    def least_count(self) -> float:
        return self.least(self.counts)

    @property
    def groups(self) -> Integers:
        """The class of each data row, counted from 0; all rows are of class 0 where the target has no classes."""
        return np.zeros(self.n_data, dtype=np.intp) if self._groups is None else self._groups

    @cached_property
    def totals_of_groups(self) -> Vector:
        return self.totals_by_group(self.counts)

    def totals_by_group(self, values: Vector) -> Vector:
        return np.bincount(self.groups, weights=values).astype(float)

    def full(self, value: float) -> Vector:
        return self.xp.full(self.n_data, value)

    def empty(self) -> Vector:
        """A vector of all rows, to be filled."""
        return self.xp.empty(self.n_rows)

    def total(self, values: Vector) -> float:
        return float(_added([values[block].sum() for block in _blocks_of(values)]))

    def totals(self, parts: Sequence[Vector]) -> Vector:
        """The sums of several vectors, each over some of the rows."""
        return np.array([self.total(part) for part in parts])

    def dot(self, one: Vector, other: Vector) -> float:
        return float(_added([one[block] @ other[block] for block in _blocks_of(one)]))

    def least(self, values: Vector) -> float:
        return float(values.min())

    def largest(self, values: Vector) -> float:
        return float(values.max())

    def any(self, mask: Mask) -> bool:
        return bool(mask.any())

    def all(self, mask: Mask) -> bool:
        return bool(mask.all())

    def count(self, mask: Mask) -> int:
        return int(np.count_nonzero(mask))

    def nth_smallest(self, values: Vector, n: int) -> float:
        """The n-th smallest entry: n rows do not exceed it."""
        return float(np.partition(values, n - 1)[n - 1])

    def kinds(self, matrix: Matrix) -> tuple[Matrix, Integers]:
        """The distinct columns of a matrix that has one for each row, and for every row the number of its own."""
        weights = np.random.default_rng(0).standard_normal(len(matrix))
        _, first, kind = np.unique(weights @ matrix, return_index=True, return_inverse=True)
        return matrix[:, first], kind

    def joined(self, values: NDArray[Any]) -> tuple[NDArray[Any], slice]:
        """An array of the rows held here, joined with the arrays of all workers, and the place of its rows there."""
        return values, slice(None)

    def gathered(self, values: NDArray[Any], mask: Mask | None = None) -> NDArray[Any]:
        """The entries of some rows, or of all rows held here, as one array: for solvers that need the programme."""
        return np.asarray(values if mask is None else values[mask])

    def taken(self, values: NDArray[Any], positions: Integers) -> NDArray[Any]:
        """The entries of the rows at these positions, in memory; of a matrix, its columns there."""
        return np.asarray(values[..., positions])

    def each(self, work: Callable[[slice], None], size: int = LIGHT) -> None:
        """Call ``work`` for every block; it fills that part of some vectors."""
        self.of_blocks(work, size)

    def add_up(self, work: Callable[[slice], Any], size: int = LIGHT) -> Any:
        """The sum over all blocks of what ``work`` returns: a number, or an array of the same shape for every block."""
        return self.sums_of([self.here(work, size)])[0]

    def here(self, work: Callable[[slice], Any], size: int = LIGHT) -> Any:
        """The sum over the blocks held here only, an argument for ``sums_of``."""
        return _added(self.of_blocks(work, size))

    def sums_of(self, parts: list[Any]) -> list[Any]:
        """The sums over all rows, given those over the rows held here: all of them travel in one message."""
        return parts

    def least_of(self, work: Callable[[slice], float], size: int = LIGHT) -> float:
        return min(self.of_blocks(work, size))

    def holds_in_all(self, work: Callable[[slice], bool], size: int = LIGHT) -> bool:
        return all(self.of_blocks(work, size))

    def of_blocks(self, work: Callable[[slice], Found], size: int = LIGHT) -> list[Found]:
        """What ``work`` returns for each block, in order; ``size`` is how many numbers it handles for each row.

        A thread takes the next block as soon as it is free, so that no thread waits for a slower one, or for one that
        has not begun.
        """
        n_threads = min(threads_for(self.n_jobs, self.n_rows * size, WORTH_A_THREAD), len(self.blocks))
        if n_threads == 1:
            return [work(block) for block in self.blocks]
        found: list[Any] = [None] * len(self.blocks)
        waiting, errors = iter(range(len(self.blocks))), np.geterr()

        def work_on() -> None:
            with np.errstate(**errors):  # every thread has its own error state
                for k in waiting:
                    found[k] = work(self.blocks[k])

        helpers = [self._threads.submit(work_on) for _ in range(n_threads - 1)]
        try:
            work_on()
        finally:
            for helper in helpers:
                if not helper.cancel():  # on a busy machine it may not have begun, and nothing is left to be done
                    helper.result()
        return found

    @cached_property
    def _threads(self) -> ThreadPoolExecutor:
        return ThreadPoolExecutor(self.n_jobs - 1, thread_name_prefix="dualboost")


def _blocks_of(values: NDArray[Any]) -> Sequence[slice]:
    return [slice(start, start + ROWS_PER_BLOCK) for start in range(0, max(len(values), 1), ROWS_PER_BLOCK)]


def _added(partial: Sequence[Any]) -> Any:
    """The sum in the order given, so that it does not depend on which thread was ready first."""
    total = partial[0]
    for one in partial[1:]:
        total = total + one
    return total
