"""Errors of predicted numbers: scikit-learn's figures, in any unit, and what a constant is worth."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import r2_score, root_mean_squared_error

from dualboost.targets.standardising import r_squared, root_mean_square

TRUE = np.array([1.0, 2.0, 4.0, 7.0])
PREDICTED = np.array([1.5, 2.0, 3.0, 8.0])


@given(st.integers(-300, 300))
def test_the_unit_does_not_matter_even_where_squares_overflow(exponent):
    unit = 10.0**exponent
    assert r_squared(TRUE * unit, PREDICTED * unit) == pytest.approx(r2_score(TRUE, PREDICTED), rel=1e-9)
    expected = root_mean_squared_error(TRUE, PREDICTED)
    assert root_mean_square(TRUE * unit, PREDICTED * unit) == pytest.approx(expected * unit, rel=1e-9)


def test_weights_count():
    weights = np.array([1.0, 0.0, 2.0, 5.0])
    assert r_squared(TRUE, PREDICTED, weights) == pytest.approx(r2_score(TRUE, PREDICTED, sample_weight=weights))


@pytest.mark.parametrize("constant", [0.0, 0.1, 1e-200, -3e200])
def test_a_constant_is_predicted_or_not(constant):
    true = np.full(3, constant)
    assert r_squared(true, true * (1.0 + 1e-14)) == 1.0
    assert r_squared(true, true + np.array([0.0, 0.0, abs(constant) or 1.0])) == 0.0
