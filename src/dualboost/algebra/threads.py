"""One BLAS thread during a fit: the products are small, and the same sums come out whatever the machine."""

from __future__ import annotations

from contextlib import AbstractContextManager
from functools import cache
from typing import Any

from threadpoolctl import ThreadpoolController


def one_blas_thread() -> AbstractContextManager[Any]:
    return _controller().limit(limits=1, user_api="blas")


@cache
def _controller() -> Any:
    """Looking for the libraries takes longer than a small fit; once is enough."""
    return ThreadpoolController()
