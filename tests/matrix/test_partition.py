"""Kinds of rows: those that some column tells apart, by comparison with the rows themselves."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dualboost.matrix.pairs import Partition


def patterns(columns):
    return np.unique(np.transpose(columns), axis=0, return_inverse=True)


@given(
    seed=st.integers(0, 10_000),
    n_rows=st.integers(1, 60),
    values=st.sampled_from([(-1.0, 1.0), (-0.5, 0.0, 0.25, 1.0)]),
)
def test_rows_are_of_a_kind_if_no_column_differs(seed, n_rows, values):
    rng = np.random.default_rng(seed)
    columns = rng.choice(values, (5, n_rows)).astype(np.float32)
    partition = Partition.trivial(n_rows)
    for j, entries in enumerate(columns, start=1):
        before = partition
        partition, parents = before.refined(entries)
        distinct, group = patterns(columns[:j])
        assert partition.n_kinds == len(distinct)
        pairs = set(zip(partition.kind.tolist(), group.tolist(), strict=True))
        assert len(pairs) == partition.n_kinds
        np.testing.assert_array_equal(parents[partition.kind], before.kind)
        np.testing.assert_array_equal(partition.kind[partition.examples], np.arange(partition.n_kinds))


def test_sums_are_over_the_rows_of_a_kind():
    partition, _ = Partition.trivial(4).refined(np.array([1.0, -1.0, 1.0, -1.0]))
    sums = partition.sums(np.array([1.0, 2.0, 4.0, 8.0]))
    assert sums[partition.kind] == pytest.approx([5.0, 10.0, 5.0, 10.0])
