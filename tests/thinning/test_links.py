import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import expit
from sklearn.linear_model import LogisticRegression

from dualboost.thinning.links import Average, Logit, Normalised


def sample(seed, n=400):
    rng = np.random.default_rng(seed)
    scores = rng.normal(size=n)
    targets = (rng.random(n) < expit(1.7 * scores - 0.6)).astype(float)
    return scores, targets, rng.integers(1, 4, n).astype(float)


@pytest.mark.parametrize("slope", [1.0, 2.0])
def test_logit_is_a_logistic_regression(slope):
    scores, targets, counts = sample(0)
    factor, shift = Logit(slope).recalibration(scores, targets, counts, size=1.0)
    expected = LogisticRegression(C=1e8, tol=1e-10).fit(scores[:, None], targets, sample_weight=counts)
    assert slope * factor == pytest.approx(expected.coef_[0, 0], rel=1e-3)
    assert slope * shift == pytest.approx(expected.intercept_[0], rel=1e-3)


@given(factor=st.floats(0.01, 30.0), shift=st.floats(-3.0, 3.0))
def test_logit_finds_the_scale_that_was_lost(factor, shift):
    """Soft targets: the probabilities of the model as it was."""
    scores, _, counts = sample(1)
    targets = Logit().expected(factor * scores + shift)
    found = Logit().recalibration(scores, targets, counts, size=1.0)
    fitted = Logit().expected(found[0] * scores + found[1])
    np.testing.assert_allclose(fitted, targets, atol=5e-3)


def test_logit_stays_finite_where_the_scores_separate_the_classes():
    scores = np.linspace(-1.0, 1.0, 50)
    factor, shift = Logit().recalibration(scores, (scores > 0).astype(float), np.ones(50), size=1.0)
    assert np.isfinite([factor, shift]).all()
    assert factor > 1


def test_logit_never_turns_the_scores_around():
    scores, targets, counts = sample(2)
    assert Logit().recalibration(-scores, targets, counts, size=1.0) == (1.0, 0.0)


@given(seed=st.integers(0, 1000), size=st.floats(1.0, 5.0))
def test_average_stays_a_probability(seed, size):
    scores, targets, counts = sample(seed)
    scores = size * np.tanh(scores)
    factor, shift = Average().recalibration(scores, targets, counts, size)
    probabilities = Average().expected(factor * scores + shift)
    assert probabilities.min() >= 0
    assert probabilities.max() <= 1
    assert factor > 0
    assert shift == 0


def test_normalised_fills_its_range_whatever_the_weights():
    factor, shift = Normalised(2.0).recalibration(np.ones(3), np.ones(3), np.ones(3), size=8.0)
    assert (factor, shift) == (0.25, 0.0)


@pytest.mark.parametrize("link", [Logit(), Average(), Normalised()])
def test_no_scores_at_all(link):
    factor, shift = link.recalibration(np.zeros(4), np.ones(4), np.ones(4), size=0.0)
    assert (factor, shift) == (1.0, 0.0)
