"""Exchange between workers."""

import os
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from xgboost.tracker import RabitTracker

from dualboost.errors import UnsupportedFormulationError, WorkerError
from dualboost.formulations import FORMULATIONS
from dualboost.matrix.columns import Columns
from dualboost.matrix.remote_rows import SpreadRows, spread
from dualboost.matrix.rows import Rows
from dualboost.solvers.interior_point import starting_point
from dualboost.solvers.newton import Newton
from dualboost.trees.growing import cuts_between, cuts_by_all
from dualboost.workers import ALONE
from dualboost.workers.base import joined, nth_smallest, objects_of_all, on_threads, smallest_reaching, summed
from dualboost.workers.xgboost import connected

from .running import on_workers, parts_of

SPREAD = (on_threads, on_workers)
"""The communicators: both must do the same."""


@pytest.mark.parametrize("run", SPREAD)
def test_sums_and_extremes(run):
    def work(workers):
        own = np.full((2, 3), workers.rank + 1.0)
        return workers.rank, workers.size, workers.sum(own), workers.max(own), workers.sum(0.5), workers.traffic

    for rank, (own_rank, size, total, largest, number, traffic) in enumerate(run(3, work)):
        assert (own_rank, size, number) == (rank, 3, 1.5)
        np.testing.assert_array_equal(total, np.full((2, 3), 6.0))
        np.testing.assert_array_equal(largest, np.full((2, 3), 3.0))
        assert (traffic.n_messages, traffic.n_bytes) == (3, 48 + 48 + 8)


def test_one_worker_sends_nothing():
    own = np.arange(3.0)
    assert ALONE.sum(own) is own
    assert joined(ALONE, own)[0] is own
    assert objects_of_all(ALONE, "one") == ["one"]
    assert ALONE.traffic.n_messages == 0


@pytest.mark.parametrize("run", SPREAD)
def test_objects_and_arrays_of_all(run):
    def work(workers):
        whole, place = joined(workers, np.arange(workers.rank, dtype=float)[None])
        return objects_of_all(workers, {"rank": workers.rank, "text": "x" * workers.rank}), whole, whole[0, place]

    for rank, (objects, whole, own) in enumerate(run(3, work)):
        assert [one["rank"] for one in objects] == [0, 1, 2]
        assert [one["text"] for one in objects] == ["", "x", "xx"]
        np.testing.assert_array_equal(whole, [[0.0, 0.0, 1.0]])
        np.testing.assert_array_equal(own, np.arange(rank))


@given(st.lists(st.floats(allow_nan=False), min_size=3, max_size=40), st.integers(0, 100))
def test_order_statistics_are_those_of_all(values, seed):
    values = np.array(values)
    ranks = np.arange(1, len(values) + 1)[None]
    parts = parts_of(len(values), 3, seed)
    found = on_threads(3, lambda workers: nth_smallest(workers, [np.sort(values[parts[workers.rank]])], ranks))
    np.testing.assert_array_equal(found[0][0], np.sort(values))


@given(st.lists(st.floats(-1e300, 1e300), min_size=3, max_size=20), st.integers(0, 100))
def test_weighted_quantiles_are_those_of_all(values, seed):
    values, rng = np.array(values), np.random.default_rng(seed)
    weights = rng.integers(1, 5, len(values)).astype(float)
    levels = np.arange(0.5, weights.sum())
    parts = parts_of(len(values), 2, seed)
    whole = smallest_reaching(ALONE, values, weights, levels)
    np.testing.assert_array_equal(whole, np.sort(np.repeat(values, weights.astype(int))))
    found = on_threads(
        2, lambda workers: smallest_reaching(workers, *(v[parts[workers.rank]] for v in (values, weights)), levels)
    )
    np.testing.assert_array_equal(found[0], whole)


def test_several_sums_travel_together():
    def work(workers):
        found = summed(workers, [np.ones((2, 2)), 3.0, np.zeros(0)])
        return found, workers.traffic.n_messages

    for (matrix, number, nothing), n_messages in on_threads(2, work):
        np.testing.assert_array_equal(matrix, 2 * np.ones((2, 2)))
        assert (number, len(nothing), n_messages) == (6.0, 0, 1)


@pytest.mark.parametrize(("name", "expected"), [("lp", 5), ("erlp", 7)])
def test_a_newton_step_takes_few_messages(name, expected):
    """Two more where duals have a total."""
    rng = np.random.default_rng(0)
    votes = np.sign(rng.normal(size=(3, 60)))

    def work(workers):
        own = slice(None, 20) if workers.rank == 0 else slice(20, None)
        rows = spread(Rows(np.ones(60)[own]), workers, np.arange(60, dtype=np.uint64)[own])
        columns = Columns(rows)
        for entries in votes:
            columns.append(entries[own])
        programme = FORMULATIONS[name]().resolve_for(rows).programme_over(columns, 3)
        point = starting_point(columns, programme)
        newton = Newton(columns, programme, 0.9)
        point = newton.advance(point)  # which asks once how many rows there are
        before = workers.traffic.n_messages
        newton.advance(point)
        return workers.traffic.n_messages - before

    assert on_threads(2, work) == [expected, expected]


@pytest.mark.parametrize("n_cuts", [3, 254])
def test_cuts_are_those_of_all_values(n_cuts):
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=2000), rng.integers(0, 5, 2000), rng.integers(0, 400, 2000), np.ones(2000)])
    X[rng.random(X.shape) < 0.1] = np.nan
    parts = parts_of(len(X), 3)
    found = on_threads(3, lambda workers: cuts_by_all(X[parts[workers.rank]], range(4), n_cuts, workers))
    for cuts in found:
        for column, own in zip(X.T, cuts, strict=True):
            np.testing.assert_array_equal(own, cuts_between(column[~np.isnan(column)], n_cuts))


def test_rows_of_all():
    """Every reduction of rows that are spread is that of all rows."""
    rng = np.random.default_rng(0)
    counts, groups, keys = rng.integers(1, 5, 90).astype(float), rng.integers(0, 3, 90), rng.permutation(90)
    one, other = rng.normal(size=(2, 90))
    matrix = rng.integers(0, 2, (2, 90)).astype(float)
    whole = Rows(counts, groups)

    def reductions(rows, one, other, matrix):
        mask = one > 0.5
        distinct, kind = rows.kinds(matrix)
        return {
            "n": (rows.n_samples, rows.least_count, rows.n_all, rows.n_all_data),
            "groups": rows.totals_of_groups,
            "sums": (rows.total(one), rows.dot(one, other), rows.count(mask)),
            "totals": rows.totals([one[mask], other]),
            "extremes": (rows.least(one), rows.largest(one), rows.nth_smallest(one, 7)),
            "truth": (rows.any(mask), rows.all(mask), rows.any(one > 99), rows.all(one < 99)),
            "blocks": rows.add_up(lambda block: np.array([one[block].sum(), other[block].max()])),
            "least": rows.least_of(lambda block: float(one[block].min())),
            "holds": rows.holds_in_all(lambda block: bool((one[block] < 1).all())),
            "kinds": distinct[:, kind] - matrix,
            "distinct": np.sort(distinct, axis=1),
        }

    def work(workers):
        own = np.sort(parts[workers.rank])
        own = own[np.argsort(keys[own])]
        rows = spread(Rows(counts[own], groups[own]), workers, keys[own].astype(np.uint64))
        assert isinstance(rows, SpreadRows)
        assert not rows.is_whole
        assert workers.sum(float(rows.n_first(20))) == 20
        assert (keys[own[: rows.n_first(20)]] < 20).all()
        with pytest.raises(UnsupportedFormulationError, match="cq"):
            rows.with_sides(1)
        return reductions(rows, one[own], other[own], matrix[:, own])

    parts = [np.arange(0, 20), np.arange(20, 90)]
    expected = reductions(whole, one, other, matrix)
    for found in on_threads(2, work):
        for name in expected.keys() - {"kinds", "blocks"}:
            np.testing.assert_allclose(found[name], expected[name], err_msg=name)
        assert not found["kinds"].any()
        assert found["blocks"][0] == pytest.approx(expected["blocks"][0])


def test_a_worker_that_fails_ends_all():
    def work(workers):
        if workers.rank == 1:
            raise ValueError("my rows are wrong")
        return workers.sum(1.0)

    with pytest.raises(ValueError, match="my rows are wrong"):
        on_threads(3, work)

    with pytest.raises(WorkerError, match="different shapes"):
        on_threads(2, lambda workers: workers.sum(np.ones(workers.rank + 1)))


LISTENS = "0A"
LOCAL = "0100007F"


def listening():
    """The address and port of every socket of this process that listens, as the kernel writes them."""
    held = set()
    for descriptor in Path("/proc/self/fd").iterdir():
        if descriptor.is_symlink():
            held.add(os.readlink(descriptor))
    found = []
    for kind in ("tcp", "tcp6"):
        for line in Path(f"/proc/self/net/{kind}").read_text().splitlines()[1:]:
            fields = line.split()
            if fields[3] == LISTENS and f"socket:[{fields[9]}]" in held:
                found.append(fields[1])
    return found


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads the sockets of this process from /proc")
def test_the_tracker_listens_where_it_was_told_and_nobody_after_the_fit():
    before = listening()
    tracker = RabitTracker(n_workers=1, host_ip="127.0.0.1")
    tracker.start()
    port = int(tracker.worker_args()["dmlc_tracker_port"])
    with connected(**tracker.worker_args(), dmlc_timeout=20) as worker:
        worker.sum(1.0)
        during = [one for one in listening() if one not in before]
    tracker.wait_for()
    assert f"{LOCAL}:{port:04X}" in during
    assert len(during) == 2  # the other one is XGBoost's, on which a worker is told of errors elsewhere
    until = time.monotonic() + 10
    while time.monotonic() < until and set(listening()) - set(before):
        time.sleep(0.01)
    assert set(listening()) <= set(before)
