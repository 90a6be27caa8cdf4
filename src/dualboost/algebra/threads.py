"""Limits BLAS to one thread during a fit: the products are small, and sums are then the same on every machine."""

from __future__ import annotations

from contextlib import AbstractContextManager
from functools import cache
from typing import Any

from threadpoolctl import ThreadpoolController


def one_blas_thread() -> AbstractContextManager[Any]:
    return _controller().limit(limits=1, user_api="blas")


@cache
def _controller() -> Any:
    """The controller of the BLAS libraries, made once because finding them takes longer than a small fit."""
    return ThreadpoolController()
