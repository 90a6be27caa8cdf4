"""How many threads work: the one place that decides, given ``n_jobs`` and how much work there is.

BLAS has one thread during a fit: the products are small, and sums are then the same on every machine. The threads of
LightGBM and XGBoost wait for each other many times a tree, and spin meanwhile. Where other programs run, each such wait
may last as long as the time slice of another program: trees that take 8 ms on one thread took 200 ms on two. So a
grower has one thread until there is proof that more are quicker.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from threading import Lock
from typing import Any, ClassVar
from weakref import WeakSet

from joblib import cpu_count, effective_n_jobs
from threadpoolctl import OpenBLASController, ThreadpoolController

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
        """How many threads the next tree gets."""
        is_affordable = self._spent > 0.0 and SHARE_AT_RISK * self._spent >= self._at_risk
        return self._most if self._is_ahead or is_affordable else 1

    @contextmanager
    def timed(self) -> Iterator[int]:
        """The context in which a tree grows on the number of threads that it gives."""
        number, started = self.number, time.perf_counter()
        yield number
        self.note(number, time.perf_counter() - started)

    def note(self, number: int, seconds: float) -> None:
        """Take into account how long a tree took on so many threads."""
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
    """Weak, so that one that an interrupt took away before its exit is not waited for."""
    _limit: _Limit | None = None
    """That of the process, while anyone is inside."""

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
    """One thread for these libraries, and what they had."""

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
