"""The logistic curve of the margins."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import expit

from dualboost.tasks.calibration import LARGEST_SLOPE, SMALLEST_SLOPE, calibrate


def test_recovers_known_slopes():
    rng = np.random.default_rng(0)
    margins = rng.uniform(-1, 1, 100_000)
    slopes = np.where(margins < 0, 3.0, 7.0)
    labels = np.where(rng.random(100_000) < expit(slopes * margins), 1.0, -1.0)
    curve = calibrate(margins, labels, np.ones(100_000))
    assert curve.negative_slope == pytest.approx(3.0, rel=0.05)
    assert curve.positive_slope == pytest.approx(7.0, rel=0.05)


@given(seed=st.integers(0, 1000), n=st.integers(2, 40), scale=st.sampled_from([1e-3, 0.1, 1.0]))
def test_always_monotone_and_finite(seed, n, scale):
    rng = np.random.default_rng(seed)
    curve = calibrate(scale * rng.uniform(-1, 1, n), rng.choice([-1.0, 1.0], n), rng.exponential(size=n))
    grid = np.linspace(-1, 1, 101)
    probabilities = curve.probability(grid)
    assert (np.diff(probabilities) >= 0).all()
    assert ((probabilities >= 0) & (probabilities <= 1)).all()
    assert curve.probability(np.zeros(1)) == 0.5
    assert min(curve.negative_slope, curve.positive_slope) >= SMALLEST_SLOPE
    assert max(curve.negative_slope, curve.positive_slope) <= LARGEST_SLOPE


def test_weights_are_multiplicities():
    margins, labels = np.array([-0.5, 0.2, 0.4, -0.1]), np.array([-1.0, 1.0, -1.0, 1.0])
    counts = np.array([3.0, 2.0, 1.0, 1.0])
    repeated = np.repeat(np.arange(4), counts.astype(int))
    one, other = calibrate(margins, labels, counts), calibrate(margins[repeated], labels[repeated], np.ones(7))
    assert one.positive_slope == pytest.approx(other.positive_slope)
    assert one.negative_slope == pytest.approx(other.negative_slope)
