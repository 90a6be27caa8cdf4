"""The logistic curve of the margins."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import expit

from dualboost.data.merging import in_rows
from dualboost.targets.base import Scored
from dualboost.targets.calibration import (
    LARGEST_SLOPE,
    SMALLEST_SLOPE,
    MarginCalibration,
)

fitted, fitted_by_twins = MarginCalibration.fitted, MarginCalibration.fitted_by_twins


def drawn(n, slope, intercept, seed=0):
    rng = np.random.default_rng(seed)
    margins = rng.uniform(-1, 1, n)
    return margins, np.where(rng.random(n) < expit(intercept + slope * margins), 1.0, -1.0), np.ones(n)


def test_recovers_a_known_curve():
    curve = fitted(*drawn(100_000, slope=4.0, intercept=-2.0))
    assert curve.negative_slope == curve.positive_slope == pytest.approx(4.0, rel=0.05)
    assert curve.intercept == pytest.approx(-2.0, rel=0.05)


def test_log_odds_as_they_are():
    scores = np.linspace(-30, 30, 7)
    np.testing.assert_array_equal(MarginCalibration(1, 1, 0).probabilities(scores)[:, 1], expit(scores))


def test_the_mean_probability_is_the_share_of_the_class():
    margins, labels, counts = drawn(2000, slope=1.0, intercept=-3.0)
    assert fitted(margins, labels, counts).probabilities(margins)[:, 1].mean() == pytest.approx(
        (labels > 0).mean(), abs=2e-3
    )


@pytest.mark.parametrize("factor", [1e-6, 0.1, 0.5, 7.0, 1000.0])
def test_all_weights_times_a_number_change_nothing(factor):
    margins, labels, counts = drawn(500, slope=4.0, intercept=-1.0)
    one, other = (
        fitted(margins, labels, counts),
        fitted(margins, labels, in_rows(factor * counts)),
    )
    np.testing.assert_allclose(one.probabilities(margins)[:, 1], other.probabilities(margins)[:, 1], atol=1e-12)
    assert one.limit == other.limit


def test_margins_that_separate_the_classes_stay_finite():
    margins = np.r_[np.full(3, -0.2), np.full(40, 0.1)]
    positive = fitted(margins, np.sign(margins), np.ones(43)).probabilities(margins)[:, 1]
    assert 0 < positive.min() < 0.25
    assert 0.95 < positive.max() < 1


def test_constant_margins_give_the_share_of_the_class():
    labels = np.r_[np.ones(100), -np.ones(900)]
    np.testing.assert_allclose(
        fitted(np.full(1000, -0.8), labels, np.ones(1000)).probabilities(np.full(1, -0.8))[:, 1],
        0.1,
        atol=2e-3,
    )


def test_a_few_large_margins_do_not_decide():
    """Small margins tell the classes apart, and a few large ones are wrong."""
    margins, labels, counts = drawn(1000, slope=4.0, intercept=0.0)
    margins = 0.01 * margins
    margins[:20] = -labels[:20]
    positive = fitted(margins, labels, counts).probabilities(margins)[:, 1]
    assert -np.log(np.where(labels > 0, positive, 1 - positive)).mean() < 0.6


def test_twins_flatten_the_curve_of_training_rows():
    margins, labels, counts = drawn(2000, slope=2.0, intercept=-1.0)
    seen = Scored(np.clip(margins + 0.7 * labels, -1, 1), labels, counts)
    curve = fitted_by_twins(seen, Scored(margins, labels, counts))
    assert curve.positive_slope == pytest.approx(2.0, rel=0.3)
    assert curve.positive_slope < fitted(*seen).positive_slope


def test_an_ensemble_below_its_twins_gets_the_class_balance():
    margins, labels, counts = drawn(2000, slope=6.0, intercept=-1.0)
    noise = np.random.default_rng(1).uniform(-1, 1, 2000)
    curve = fitted_by_twins(Scored(noise, labels, counts), Scored(margins, labels, counts))
    np.testing.assert_allclose(curve.probabilities(np.linspace(-1, 1, 5))[:, 1], (labels > 0).mean(), atol=0.05)


@given(seed=st.integers(0, 1000), n=st.integers(2, 40), scale=st.sampled_from([1e-3, 0.1, 1.0]))
def test_always_monotone_and_finite(seed, n, scale):
    rng = np.random.default_rng(seed)
    curve = fitted(scale * rng.uniform(-1, 1, n), rng.choice([-1.0, 1.0], n), rng.exponential(size=n))
    grid = np.linspace(-1, 1, 101)
    probabilities = curve.probabilities(grid)[:, 1]
    assert (np.diff(probabilities) >= 0).all()
    assert ((probabilities >= 0) & (probabilities <= 1)).all()
    assert min(curve.negative_slope, curve.positive_slope) >= SMALLEST_SLOPE
    assert max(curve.negative_slope, curve.positive_slope) <= LARGEST_SLOPE


def test_weights_are_multiplicities():
    margins, labels = np.array([-0.5, 0.2, 0.4, -0.1]), np.array([-1.0, 1.0, -1.0, 1.0])
    counts = np.array([3.0, 2.0, 1.0, 1.0])
    repeated = np.repeat(np.arange(4), counts.astype(int))
    one, other = (
        fitted(margins, labels, counts),
        fitted(margins[repeated], labels[repeated], np.ones(7)),
    )
    assert one.positive_slope == pytest.approx(other.positive_slope)
    assert one.negative_slope == pytest.approx(other.negative_slope)
