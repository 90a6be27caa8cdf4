"""Slopes and curvatures are the derivatives they claim to be; losses bend where they should."""

import numpy as np
import pytest

from dualboost.formulations.terms import EntropyTerm, LinearTerm, QuadraticTerm

ONES = np.ones(5)
TERMS = {
    "linear": LinearTerm(0.3, 0.1 * ONES),
    "quadratic": QuadraticTerm(-1.0, np.linspace(0.5, 2.0, 5), 0.2 * ONES),
    "entropy": EntropyTerm(np.linspace(0.1, 0.3, 5), 4.0),
}


@pytest.mark.parametrize("name", TERMS)
def test_derivatives(name):
    term, u, h = TERMS[name], np.linspace(0.2, 0.9, 5), 1e-6
    np.testing.assert_allclose(term.slope(u), (term.value(u + h) - term.value(u - h)) / (2 * h), rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(
        term.curvature(u), (term.slope(u + h) - term.slope(u - h)) / (2 * h), rtol=1e-6, atol=1e-9
    )


@pytest.mark.parametrize("name", TERMS)
def test_loss_decreases_and_is_convex_in_the_margin(name):
    term = TERMS[name]
    losses = np.array([term.loss(m * ONES, 0.0 * ONES, ONES) for m in np.linspace(-2, 2, 41)])
    assert (np.diff(losses, axis=0) <= 1e-12).all()
    assert (np.diff(losses, n=2, axis=0) >= -1e-12).all()


def test_hinge_bends_at_its_kink():
    term = LinearTerm(0.3, np.zeros(2))
    losses = [term.loss(np.full(2, m), np.zeros(2), np.full(2, 2.0))[0] for m in (0.1, 0.3, 0.5)]
    np.testing.assert_allclose(losses, [0.4, 0.0, 0.0], atol=1e-15)


def test_entropy_of_zero_is_zero():
    assert (TERMS["entropy"].value(np.zeros(5)) == 0).all()


def test_entropy_survives_enormous_margins():
    response = TERMS["entropy"].response(np.full(5, -1e6), np.zeros(5), ONES)
    np.testing.assert_array_equal(response, ONES)
