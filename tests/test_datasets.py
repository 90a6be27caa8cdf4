"""The artificial data sets have the moments that their definitions say."""

import numpy as np
import pytest

from dualboost.datasets import make_ringnorm, make_twonorm, make_waveform


def test_twonorm():
    X, y = make_twonorm(20_000, random_state=0)
    assert X.shape == (20_000, 20)
    for label in (-1, 1):
        np.testing.assert_allclose(X[y == label].mean(axis=0), label * 2 / np.sqrt(20), atol=0.05)
        np.testing.assert_allclose(X[y == label].std(axis=0), 1.0, atol=0.03)


def test_ringnorm():
    X, y = make_ringnorm(20_000, random_state=0)
    np.testing.assert_allclose(X[y == 1].std(axis=0), 2.0, atol=0.06)
    np.testing.assert_allclose(X[y == 1].mean(axis=0), 0.0, atol=0.08)
    np.testing.assert_allclose(X[y == -1].mean(axis=0), 1 / np.sqrt(20), atol=0.05)


def test_waveform():
    X, y = make_waveform(20_000, random_state=0)
    assert X.shape == (20_000, 21)
    assert np.mean(y == -1) == pytest.approx(2 / 3, abs=0.01)
    assert X[y == 1].mean(axis=0).argmax() in (11, 12, 13)


@pytest.mark.parametrize("make", [make_ringnorm, make_twonorm, make_waveform])
def test_seeds(make):
    np.testing.assert_array_equal(make(50, random_state=3)[0], make(50, random_state=3)[0])
    assert (make(50, random_state=3)[0] != make(50, random_state=4)[0]).any()
