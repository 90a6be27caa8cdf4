"""BLAS is held to one thread, and given back."""

import numpy as np
from threadpoolctl import threadpool_info, threadpool_limits

from dualboost.algebra.threads import one_blas_thread


def blas_threads():
    np.zeros((2, 2)) @ np.zeros((2, 2))
    return {library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"}


def test_one_thread_inside_and_as_before_outside():
    with threadpool_limits(2, "blas"):
        before = blas_threads()
        with one_blas_thread():
            assert blas_threads() == {1}
        assert blas_threads() == before
