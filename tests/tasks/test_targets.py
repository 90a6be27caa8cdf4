"""Labels and held-out rows."""

import numpy as np
import pytest

from dualboost.errors import InvalidDataError
from dualboost.tasks.targets import hold_out, require_both_classes, two_classes


def test_the_second_class_in_order_is_positive():
    classes, labels = two_classes(np.array(["b", "a", "b"]))
    assert list(classes) == ["a", "b"]
    np.testing.assert_array_equal(labels, [1.0, -1.0, 1.0])


def test_one_class_is_refused():
    with pytest.raises(InvalidDataError, match="one class only"):
        two_classes(np.zeros(3, dtype=int))
    with pytest.raises(InvalidDataError, match="Only class 'b'"):
        require_both_classes(np.ones(2), np.array(["a", "b"]))


def test_rows_are_held_out_by_class_and_never_without_weight():
    labels = np.repeat([-1.0, 1.0], [80, 20])
    weights = np.ones(100)
    weights[::2] = 0.0
    held = hold_out(labels, weights, 0.2, np.random.RandomState(0))
    assert len(held) == 10
    assert (weights[held] > 0).all()
    assert (labels[held] > 0).sum() == 2


def test_too_few_rows_to_hold_out():
    with pytest.raises(InvalidDataError, match=r"validation_fraction=0\.1 cannot be held out of 3 rows"):
        hold_out(np.array([1.0, 1.0, -1.0]), np.ones(3), 0.1, np.random.RandomState(0))
