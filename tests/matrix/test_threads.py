"""BLAS is held to one thread, and given back; growers get more than one where these are quicker."""

import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from dualboost import DualBoostClassifier
from dualboost.matrix import rows as threads
from dualboost.matrix.rows import GrowerThreads, one_blas_thread, threads_for


def blas_threads():
    np.zeros((2, 2)) @ np.zeros((2, 2))
    return {library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"}


@pytest.fixture
def before():
    """The number of threads before a fit, more than one, set by a thread that has ended: the present one may not."""
    with ThreadPoolExecutor(1) as pool:
        limits = pool.submit(threadpool_limits, 2, "blas").result()
    yield blas_threads()
    with ThreadPoolExecutor(1) as pool:
        pool.submit(limits.restore_original_limits).result()


def test_one_thread_inside_and_as_before_outside(before):
    with one_blas_thread():
        assert blas_threads() == {1}
        with one_blas_thread():
            assert blas_threads() == {1}
        assert blas_threads() == {1}
    assert blas_threads() == before


def test_the_limit_of_a_user_is_given_back():
    with threadpool_limits(2, "blas"):
        found = blas_threads()
        with one_blas_thread():
            assert blas_threads() == {1}
        assert blas_threads() == found


def test_threads_that_overlap_give_back_what_the_first_found(before):
    """The first leaves while the second is inside: the order in which entries that know nothing of others go wrong."""
    first_is_in, second_is_in, first_is_out = (threading.Event() for _ in range(3))
    seen = []

    def first():
        with one_blas_thread():
            first_is_in.set()
            second_is_in.wait(10)
        first_is_out.set()

    def second():
        first_is_in.wait(10)
        with one_blas_thread():
            second_is_in.set()
            first_is_out.wait(10)
            seen.append(blas_threads())

    with ThreadPoolExecutor(2) as pool:
        for done in [pool.submit(first), pool.submit(second)]:
            done.result(30)
    assert seen == [{1}]
    assert blas_threads() == before


def test_many_threads_in_any_order(before):
    rng = np.random.default_rng(0)

    def held(seconds):
        pause = threading.Event()
        for part in seconds:
            with one_blas_thread():
                pause.wait(part)
                assert blas_threads() == {1}

    with ThreadPoolExecutor(6) as pool:
        list(pool.map(held, rng.uniform(0, 2e-3, (24, 5))))
    assert blas_threads() == before


def test_fits_in_threads_give_back_what_they_found(before):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 4))
    y = X[:, 0] + rng.normal(size=300) > 0

    def fitted(n_trees):
        return DualBoostClassifier("nm", max_trees=n_trees, calibration="training").fit(X, y).weights_

    alone = [fitted(n) for n in (2, 9, 4, 12)]
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(fitted, (2, 9, 4, 12)))
    for one, other in zip(alone, together, strict=True):
        np.testing.assert_array_equal(one, other)
    assert blas_threads() == before


def test_an_entry_that_never_left_is_not_waited_for(before):
    """An interrupt between the entry and the first line inside leaves no exit."""
    one_blas_thread().__enter__()
    with one_blas_thread():
        assert blas_threads() == {1}
    assert blas_threads() == before


@pytest.mark.parametrize(("n_threads", "n_cells", "expected"), [(8, 999_999, 1), (8, 1_000_000, 8), (1, 1e9, 1)])
def test_little_work_is_for_one_thread(n_threads, n_cells, expected):
    assert threads_for(n_threads, n_cells) == expected


def grown(n_trees, seconds_by_number, n_cells=1e7):
    """The number of threads of each tree, given how long it takes on one thread and on four."""
    growers, numbers = GrowerThreads(4, n_cells), []
    for k in range(n_trees):
        numbers.append(growers.number)
        growers.note(numbers[-1], seconds_by_number(k)[numbers[-1]])
    return numbers


def test_a_grower_gets_all_threads_once_they_are_quicker():
    numbers = grown(30, lambda k: {1: 1.0, 4: 0.4})
    first = numbers.index(4)
    assert threads.SHARE_AT_RISK * first >= threads.FIRST_RISK
    assert numbers == first * [1] + (30 - first) * [4]


def test_a_grower_goes_back_to_one_thread_when_the_machine_is_busy():
    numbers = grown(60, lambda k: {1: 1.0, 4: 0.4 if k < 30 else 9.0})
    last = numbers.index(1, numbers.index(4))
    assert last == 31  # one tree was slow
    assert numbers[last:] == (60 - last) * [1]


def test_tries_of_more_threads_cost_a_small_share_of_the_time():
    numbers = grown(2000, lambda k: {1: 1.0, 4: 5.0})
    assert 1 < numbers.count(4) < 0.03 * len(numbers)
    assert grown(2000, lambda k: {1: 1.0, 4: 0.4}, n_cells=1000) == 2000 * [1]
