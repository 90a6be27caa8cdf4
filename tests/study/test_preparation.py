import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dualboost.errors import InvalidParameterError
from dualboost_study.datasets import Binariser

FRAME = pd.DataFrame(
    {
        "number": [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 100.0],
        "flag": [0, 1, 0, 1, 0, 1, 0, 1],
        "letter": list("abcabcab"),
        "gaps": [1.0, None, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0],
    }
)


def test_every_feature_is_an_indicator_with_a_name():
    binariser = Binariser().fit(FRAME)
    X = binariser.transform(FRAME)
    assert set(np.unique(X)) == {0.0, 1.0}
    assert binariser.feature_names == [
        *(f"number in bin {k}" for k in range(4)),
        "flag = 0",
        "flag = 1",
        "letter = b",
        "letter = c",
        *(f"gaps in bin {k}" for k in range(4)),
        "gaps is missing",
    ]
    assert X.shape == (8, 13)
    np.testing.assert_array_equal(X[:, :4].sum(axis=1), 1.0)
    np.testing.assert_array_equal(X[:, 6], FRAME["letter"] == "b")
    np.testing.assert_array_equal(X[1, 8:], [0, 0, 0, 0, 1])


def test_bins_of_equal_numbers_or_of_equal_width():
    by_rows = Binariser("quantile").fit(FRAME[["number"]]).transform(FRAME[["number"]])
    by_width = Binariser("width").fit(FRAME[["number"]]).transform(FRAME[["number"]])
    np.testing.assert_array_equal(by_rows.sum(axis=0), [2, 2, 2, 2])
    np.testing.assert_array_equal(by_width.sum(axis=0), [7, 0, 0, 1])


def test_rules_are_those_of_the_training_rows():
    binariser = Binariser().fit(FRAME)
    new = pd.DataFrame({"number": [-50.0, 1e9], "flag": [0, 7], "letter": ["z", None], "gaps": [None, 2.0]})
    X = binariser.transform(new)
    np.testing.assert_array_equal(X[:, :4], [[1, 0, 0, 0], [0, 0, 0, 1]])
    np.testing.assert_array_equal(X[1, 4:8], 0.0)


@given(st.lists(st.floats(-1e6, 1e6), min_size=5, max_size=40))
def test_a_number_is_in_exactly_one_bin(values):
    frame = pd.DataFrame({"x": values})
    X = Binariser().fit(frame).transform(frame)
    np.testing.assert_array_equal(X.sum(axis=1), 1.0)


def test_unknown_bins():
    with pytest.raises(InvalidParameterError, match="bins='log'"):
        Binariser("log")
