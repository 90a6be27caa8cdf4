"""Limits BLAS to one thread during a fit: the products are small, and sums are then the same on every machine."""

from __future__ import annotations

from functools import cache
from threading import Lock
from typing import Any, ClassVar
from weakref import WeakSet

from threadpoolctl import OpenBLASController, ThreadpoolController


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
