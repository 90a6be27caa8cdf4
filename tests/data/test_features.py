"""What users may pass in, and how it reaches the learners."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from dualboost.data.features import FeatureEncoder, as_features, has_missing
from dualboost.errors import InvalidDataError


def frame():
    colours = pd.Categorical(["red", "blue", None, "red"], categories=["blue", "green", "red"])
    return pd.DataFrame({"size": [1.0, 2.0, np.nan, 4.0], "colour": colours})


def test_categories_become_codes():
    encoder = FeatureEncoder().fit(frame())
    np.testing.assert_array_equal(encoder.transform(frame())["colour"], [2.0, 0.0, np.nan, 2.0])
    assert list(encoder.categories) == [1]


def test_codes_are_those_of_training_whatever_the_new_order():
    encoder = FeatureEncoder().fit(frame())
    new = pd.DataFrame({"size": [0.0, 0.0], "colour": pd.Categorical(["red", "black"])})
    np.testing.assert_array_equal(encoder.transform(new)["colour"], [2.0, np.nan])


def test_the_frame_passed_in_is_left_alone():
    data = frame()
    FeatureEncoder().fit(data).transform(data)
    pd.testing.assert_frame_equal(data, frame())


def test_text_columns_are_refused_by_name():
    with pytest.raises(InvalidDataError, match=r"'name'.*category"):
        FeatureEncoder().fit(pd.DataFrame({"name": ["a", "b"]}))


def test_arrays_pass_through():
    X = np.ones((2, 2))
    encoder = FeatureEncoder().fit(X)
    assert encoder.transform(X) is X
    assert as_features(X) is X


def test_sparse_features_have_one_form():
    X = sparse.coo_matrix(([1.0, 2.0, 0.0], ([0, 0, 1], [1, 1, 0])), shape=(2, 2))
    features = as_features(X)
    assert features.nnz == 1
    assert features.toarray()[0, 1] == 3.0


def test_features_with_missing_values():
    X = np.array([[0.0, 1.0, -np.inf], [np.nan, 0.0, np.inf]])
    np.testing.assert_array_equal(has_missing(X), [True, False, False])
    np.testing.assert_array_equal(has_missing(sparse.csc_matrix(X)), [True, False, False])
