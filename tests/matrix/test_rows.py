"""Sums and extremes over the rows: those of NumPy, and the same to the last bit on any number of threads."""

import threading

import numpy as np
import pytest

from dualboost.matrix import rows as module
from dualboost.matrix.columns import Columns, MeanMargin
from dualboost.matrix.rows import Rows

BLOCK = 64
SIZES = [1, BLOCK - 1, BLOCK, BLOCK + 1, 3 * BLOCK, 10 * BLOCK + 17]
THREADS = [1, 2, 16]


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    """Blocks and work so small that threads share them."""
    monkeypatch.setattr(module, "ROWS_PER_BLOCK", BLOCK)
    monkeypatch.setattr(module, "WORTH_A_THREAD", 0)


def rows_of(n_rows, n_sides=0, n_jobs=1):
    counts = np.random.default_rng(n_rows).integers(1, 5, n_rows).astype(float)
    return Rows(counts, np.arange(n_rows) % 3, n_jobs).with_sides(n_sides)


def vectors(rows, n=2):
    """Of magnitudes so different that the order of a sum matters."""
    rng = np.random.default_rng(0)
    return rng.normal(size=(n, rows.n_rows)) * 10.0 ** rng.integers(-8, 8, (n, rows.n_rows))


@pytest.mark.parametrize("n_sides", [0, 1, 5])
@pytest.mark.parametrize("n_rows", SIZES)
class TestEveryReduction:
    def test_blocks_are_all_rows_in_order(self, n_rows, n_sides):
        rows = rows_of(n_rows, n_sides)
        assert (rows.n_data, rows.n_sides, rows.n_rows) == (n_rows, n_sides, n_rows + n_sides)
        places = np.concatenate([np.arange(rows.n_rows)[block] for block in rows.blocks])
        np.testing.assert_array_equal(places, np.arange(n_rows + n_sides))
        assert all(0 < block.stop - block.start <= BLOCK for block in rows.blocks)
        assert not any(block.start < n_rows < block.stop for block in rows.blocks)

    def test_it_is_numpys(self, n_rows, n_sides):
        rows = rows_of(n_rows, n_sides)
        one, other = vectors(rows)
        mask, size = one > 0, np.abs(one).sum()
        assert rows.total(one) == pytest.approx(one.sum(), abs=1e-13 * size)
        assert rows.dot(one, other) == pytest.approx(one @ other, abs=1e-13 * (np.abs(one) @ np.abs(other)))
        assert (rows.least(one), rows.largest(one)) == (one.min(), one.max())
        assert (rows.any(mask), rows.all(mask), rows.count(mask)) == (mask.any(), mask.all(), mask.sum())
        for n in {1, (len(one) + 1) // 2, len(one)}:
            assert rows.nth_smallest(one, n) == np.sort(one)[n - 1]
        np.testing.assert_array_equal(rows.gathered(one, mask), one[mask])
        np.testing.assert_array_equal(rows.gathered(one), one)

    def test_multiplicities_and_groups(self, n_rows, n_sides):
        rows = rows_of(n_rows, n_sides)
        assert rows.n_samples == rows.counts.sum()
        assert rows.least_count == rows.counts.min()
        values = np.random.default_rng(1).random(n_rows)
        expected = [values[rows.groups == k].sum() for k in range(min(3, n_rows))]
        np.testing.assert_allclose(rows.totals_by_group(values), expected, rtol=1e-12)
        expected = [rows.counts[rows.groups == k].sum() for k in range(min(3, n_rows))]
        np.testing.assert_array_equal(rows.totals_of_groups, expected)
        np.testing.assert_array_equal(rows.full(0.5), np.full(n_rows, 0.5))
        assert rows.empty().shape == (n_rows + n_sides,)

    def test_work_on_blocks_is_work_on_all_rows(self, n_rows, n_sides):
        rows = rows_of(n_rows, n_sides)
        one, other = vectors(rows)
        filled = rows.empty()

        def fill(block):
            filled[block] = one[block] + other[block]

        rows.each(fill)
        np.testing.assert_array_equal(filled, one + other)
        E = np.vstack([one, other])
        total = rows.add_up(lambda block: E[:, block] @ E[:, block].T)
        np.testing.assert_allclose(total, E @ E.T, rtol=1e-12, atol=1e-12 * np.abs(E @ E.T).max())
        assert rows.least_of(lambda block: float(one[block].min())) == one.min()
        assert rows.of_blocks(lambda block: block) == rows.blocks

    def test_it_is_the_same_to_the_last_bit_on_any_number_of_threads(self, n_rows, n_sides):
        def found(n_jobs):
            rows = rows_of(n_rows, n_sides, n_jobs)
            one, other = vectors(rows)
            filled = rows.empty()

            def fill(block):
                filled[block] = np.exp(-(one[block] ** 2)) + other[block]

            rows.each(fill)
            return [
                filled,
                rows.total(one),
                rows.dot(one, other),
                rows.add_up(lambda block: one[block].sum()),
                rows.add_up(lambda block: np.outer(one[block][:1], other[block][:1]) + one[block] @ other[block]),
                rows.least_of(lambda block: float(one[block] @ other[block])),
                rows.n_samples,
                rows.totals_of_groups,
            ]

        alone = found(THREADS[0])
        for n_jobs in THREADS[1:]:
            for _ in range(3):
                for one, other in zip(alone, found(n_jobs), strict=True):
                    np.testing.assert_array_equal(one, other)


def test_without_groups_all_rows_are_of_one():
    rows = Rows(np.arange(1.0, 5.0))
    np.testing.assert_array_equal(rows.groups, np.zeros(4))
    np.testing.assert_array_equal(rows.totals_of_groups, [10.0])


@pytest.mark.parametrize("n_jobs", THREADS[1:])
def test_threads_share_the_blocks(n_jobs):
    """A barrier that only as many threads at once pass."""
    rows = rows_of(40 * BLOCK, n_jobs=n_jobs)
    barrier, names = threading.Barrier(n_jobs, timeout=30), set()

    def work(block):
        if block.start < n_jobs * BLOCK:
            barrier.wait()
        names.add(threading.current_thread().name)

    rows.each(work)
    assert len(names) == n_jobs
    assert threading.current_thread().name in names


@pytest.mark.parametrize("threshold", [40 * BLOCK * module.LIGHT, 40 * BLOCK * module.LIGHT + 1])
def test_little_work_is_done_alone(threshold, monkeypatch):
    monkeypatch.setattr(module, "WORTH_A_THREAD", threshold)
    rows, names = rows_of(40 * BLOCK, n_jobs=4), set()
    barrier = threading.Barrier(2, timeout=30)
    is_alone = threshold > 40 * BLOCK * module.LIGHT

    def work(block):
        if not is_alone and block.start < 2 * BLOCK:
            barrier.wait()
        names.add(threading.current_thread().name)

    rows.each(work)
    assert (len(names) == 1) == is_alone


@pytest.mark.parametrize("on_helper", [True, False])
def test_what_a_block_raises_reaches_the_caller(on_helper):
    rows, me = rows_of(40 * BLOCK, n_jobs=2), threading.current_thread()
    barrier = threading.Barrier(2, timeout=30)

    def work(block):
        if block.start < 2 * BLOCK:  # both threads have one of the first two blocks
            barrier.wait()
            if (threading.current_thread() is not me) == on_helper:
                raise LookupError(f"block {block.start}")

    with pytest.raises(LookupError, match="block"):
        rows.each(work)
    assert rows.add_up(lambda block: block.stop - block.start) == rows.n_rows  # and the threads are still there


def test_the_callers_error_state_holds_in_the_threads():
    rows = rows_of(40 * BLOCK, n_jobs=4)
    barrier, states = threading.Barrier(4, timeout=30), {}

    def work(block):
        if block.start < 4 * BLOCK:
            barrier.wait()
        states[threading.current_thread().name] = np.geterr()
        return (np.ones(2) / np.zeros(2)).sum()

    asked = {"divide": "ignore", "over": "raise", "under": "ignore", "invalid": "raise"}
    with np.errstate(**asked):
        assert rows.add_up(work) == np.inf
    assert len(states) == 4
    assert all(state == asked for state in states.values())
    states.clear()
    with np.errstate(divide="raise"), pytest.raises(FloatingPointError):
        rows.add_up(work)


@pytest.mark.parametrize("with_sides", [False, True])
def test_products_are_the_same_to_the_last_bit_on_any_number_of_threads(with_sides):
    rng = np.random.default_rng(0)
    n_rows, entries = 10 * BLOCK + 17, rng.uniform(-1, 1, (12, 10 * BLOCK + 17))
    w, u = rng.random(12), rng.random(n_rows + with_sides)

    def found(n_jobs):
        sides = MeanMargin(np.full(n_rows, 1 / n_rows)) if with_sides else None
        columns = Columns(Rows(np.ones(n_rows), n_jobs=n_jobs), sides=sides)
        for column in entries:
            columns.append(column)
        products = [
            one for a in (columns, columns.single) for one in (a.margins(w), a.edges(u), a.gram(u + 1.0), a.gram(u))
        ]
        return [*products, columns.edges_of_last(3, u)]

    alone = found(1)
    for n_jobs in THREADS[1:]:
        for one, other in zip(alone, found(n_jobs), strict=True):
            np.testing.assert_array_equal(one, other)
