"""Two classes as targets, and back."""

import numpy as np
import pytest

from dualboost.errors import InvalidDataError
from dualboost.matrix.rows import Rows
from dualboost.targets.classes import BinaryTarget


def test_the_second_class_in_order_is_positive():
    task, targets = BinaryTarget.read(np.array(["b", "a", "b"]))
    assert list(task.classes) == ["a", "b"]
    np.testing.assert_array_equal(targets, [1.0, -1.0, 1.0])
    np.testing.assert_array_equal(task.encode(["a", "b"], 2), [-1.0, 1.0])
    assert task.decode(np.array([-0.5, 0.0, 0.5])).tolist() == ["a", "a", "b"]
    np.testing.assert_array_equal(task.groups(targets), [1, 0, 1])


def test_one_class_is_refused():
    with pytest.raises(InvalidDataError, match="one class only"):
        BinaryTarget.read(np.zeros(3, dtype=int))
    with pytest.raises(InvalidDataError, match="Only class 'b'"):
        BinaryTarget(np.array(["a", "b"])).require_trainable(np.ones(2))


def test_other_labels_than_those_of_training_are_refused():
    task = BinaryTarget(np.array([0, 1]))
    with pytest.raises(InvalidDataError, match=r"y holds 2, but the model knows the classes \[0, 1\]"):
        task.encode([0, 2], 2)
    with pytest.raises(InvalidDataError, match=r"shape \(1,\)"):
        task.encode([0], 2)


def test_margins_are_on_the_side_of_the_target():
    task = BinaryTarget(np.array([0, 1]))
    np.testing.assert_array_equal(task.margins(np.array([0.5, 0.5]), np.array([1.0, -1.0])), [0.5, -0.5])
    assert task.baseline(np.array([1.0, -1.0]), Rows(np.array([3.0, 1.0]))) == 0.5


def test_a_balance_by_a_rounding_error_is_a_tie():
    """Exports read such a score as a tie, and the estimator has to say the same."""
    targets, counts = np.array([1.0, 1.0, 1.0, -1.0]), np.array([0.1, 0.2, 0.3, 0.6])
    assert targets @ counts != 0.0
    task = BinaryTarget(np.array(["no", "yes"]))
    assert task.baseline(targets, Rows(counts)) == 0.0
    assert task.baseline(targets, Rows(np.ones(4))) == 0.5
