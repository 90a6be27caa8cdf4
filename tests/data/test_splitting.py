"""Held-out rows."""

import numpy as np
import pytest

from dualboost.data.merging import hold_out
from dualboost.errors import InvalidDataError


def test_rows_are_held_out_by_class_and_never_without_weight():
    labels = np.repeat([-1.0, 1.0], [80, 20])
    weights = np.ones(100)
    weights[::2] = 0.0
    held = hold_out(labels, weights, 0.2, np.random.RandomState(0))
    assert len(held) == 10
    assert (weights[held] > 0).all()
    assert (labels[held] > 0).sum() == 2


def test_without_strata_any_rows_are_held_out():
    assert len(hold_out(None, np.ones(50), 0.1, np.random.RandomState(0))) == 5


def test_too_few_rows_to_hold_out():
    with pytest.raises(InvalidDataError, match=r"validation_fraction=0\.1 cannot be held out of 3 rows"):
        hold_out(np.array([1.0, 1.0, -1.0]), np.ones(3), 0.1, np.random.RandomState(0))
