"""The contract of every target in the registry, and targets of two classes."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest

from dualboost import DualBoostClassifier, thin
from dualboost.datasets import make_twonorm
from dualboost.errors import InvalidDataError, UnsupportedModelError
from dualboost.matrix.rows import Rows
from dualboost.targets import CLASSIFICATION, BinaryTarget, read_target

N_ROWS = 40
Y = {
    "two classes": np.array(["no", "yes"])[np.arange(N_ROWS) % 3 % 2],
    "several classes": np.array(["blue", "green", "red"])[np.arange(N_ROWS) % 7 % 3],
}
"""A y for each task, by its name."""


def random_outputs(known, seed):
    shape = (N_ROWS, known.n_outputs) if known.n_outputs > 1 else N_ROWS
    return np.random.default_rng(seed).uniform(-1, 1, shape)


def perfect_scores(known, targets):
    return np.eye(known.n_outputs)[known.groups(targets)] if known.n_outputs > 1 else targets


@pytest.fixture(params=CLASSIFICATION, ids=lambda task: task.name)
def task(request):
    return request.param


@pytest.fixture
def rows():
    return Rows(np.random.default_rng(0).integers(1, 4, N_ROWS).astype(float))


def test_the_registry_finds_it(task):
    assert task.takes(Y[task.name])
    assert type(read_target(Y[task.name], [task])[0]) is task
    assert type(read_target(Y[task.name], CLASSIFICATION)[0]).takes(Y[task.name])


def test_what_is_read_is_encoded_alike(task):
    known, targets = task.read(Y[task.name])
    np.testing.assert_array_equal(known.encode(Y[task.name], N_ROWS), targets)
    known.require_trainable(targets)
    with pytest.raises(InvalidDataError, match="shape"):
        known.encode(Y[task.name][:-1], N_ROWS)
    with pytest.raises(InvalidDataError, match="maybe"):
        known.encode(np.full(N_ROWS, "maybe"), N_ROWS)


def test_the_residual_is_the_adjoint(task):
    """The edge of a column under u is the residual times the learner's outputs."""
    known, targets = task.read(Y[task.name])
    operator, outputs = known.operator(targets), random_outputs(known, 1)
    entries = operator.apply(outputs)
    u = np.random.default_rng(1).normal(size=entries.shape)
    assert (entries * u).sum() == pytest.approx((outputs * operator.adjoint(u)).sum())


def test_an_intercept_is_a_learner_of_constant_output(task):
    known, targets = task.read(Y[task.name])
    operator = known.operator(targets)
    ones = np.ones(N_ROWS)
    constants = [ones] if known.n_outputs == 1 else [np.outer(ones, unit) for unit in np.eye(known.n_outputs)]
    np.testing.assert_array_equal(operator.intercepts(), [operator.apply(constant) for constant in constants])


def test_scores_are_the_outputs_of_their_margins(task):
    known, targets = task.read(Y[task.name])
    operator, outputs = known.operator(targets), random_outputs(known, 2)
    scores = operator.scores(operator.apply(outputs))
    np.testing.assert_allclose(operator.apply(scores), operator.apply(outputs))
    np.testing.assert_array_equal(known.decode(scores), known.decode(outputs))
    is_wrong = known.decode(outputs) != Y[task.name]
    np.testing.assert_array_equal(known.margins(outputs, targets) < 0, is_wrong)


def test_perfect_scores_are_decoded_into_y(task, rows):
    known, targets = task.read(Y[task.name])
    scores = perfect_scores(known, targets)
    np.testing.assert_array_equal(known.decode(scores), Y[task.name])
    np.testing.assert_array_equal(known.labels(targets), Y[task.name])
    assert known.quality(scores, targets, rows) == 1.0
    assert known.quality(-scores, targets, rows) == 0.0
    assert (known.margins(scores, targets) == 1.0).all()


def test_probabilities_add_up_and_follow_the_scores(task, rows):
    known, targets = task.read(Y[task.name])
    scores = np.clip(0.3 * perfect_scores(known, targets) + 0.2 * random_outputs(known, 3), -1, 1)
    probabilities = known.probabilities(scores, known.calibrate(scores, targets, rows.counts))
    assert probabilities.shape == (N_ROWS, len(np.unique(Y[task.name])))
    np.testing.assert_allclose(probabilities.sum(axis=1), 1.0)
    if known.n_outputs > 1:
        np.testing.assert_array_equal(probabilities.argmax(axis=1), scores.argmax(axis=1))
        as_they_are = known.probabilities(scores, known.identity_calibration())
        np.testing.assert_array_equal(np.argsort(as_they_are, axis=1), np.argsort(scores, axis=1))
    else:
        assert (np.diff(probabilities[np.argsort(scores, kind="stable"), 1]) >= 0).all()


def test_groups_are_the_classes(task):
    known, targets = task.read(Y[task.name])
    groups = known.groups(targets)
    assert groups is None or len(np.unique(groups)) == len(np.unique(Y[task.name]))


@dataclass(frozen=True, eq=False)
class OtherTask(BinaryTarget):
    """A task that files and thinning do not know."""

    name: ClassVar[str] = "another task"


def test_models_of_a_task_that_files_do_not_know_are_refused(monkeypatch, tmp_path):
    monkeypatch.setattr("dualboost.estimators.classifier.CLASSIFICATION", [OtherTask])
    X, y = make_twonorm(200, random_state=0)
    clf = DualBoostClassifier("lp", max_trees=5).fit(X, y)
    with pytest.raises(UnsupportedModelError, match=r"another task.*saved"):
        clf.save(tmp_path / "model.json")
    with pytest.raises(UnsupportedModelError, match=r"another task.*thinned"):
        thin(clf, X, y)


# Two classes.


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
    with pytest.raises(InvalidDataError, match=r"y holds 2, but the classes of the model are \[0, 1\]"):
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
