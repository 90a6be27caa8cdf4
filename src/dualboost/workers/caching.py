"""Attributes that are computed once, by threads that may wait for each other.

Up to Python 3.11, ``functools.cached_property`` holds a lock of its class while it computes: of two workers that are
threads of one process, one would wait for the lock, and the other, who holds it, for the first one's part of a sum.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar, overload

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
