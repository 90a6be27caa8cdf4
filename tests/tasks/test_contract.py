"""What every task in the registry promises; a new one is tested on arrival."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest

from dualboost import DualBoostClassifier, thin
from dualboost.algebra.rows import Rows
from dualboost.datasets import make_twonorm
from dualboost.errors import InvalidDataError, UnsupportedModelError
from dualboost.tasks import CLASSIFICATION, TwoClasses, read_target

N_ROWS = 40
Y = {"two classes": np.array(["no", "yes"])[np.arange(N_ROWS) % 3 % 2]}
"""A y for each task, by its name."""


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
    operator, rng = known.operator(targets), np.random.default_rng(1)
    outputs = rng.uniform(-1, 1, N_ROWS)
    entries = operator.apply(outputs)
    u = rng.normal(size=entries.shape)
    assert entries @ u == pytest.approx(outputs @ operator.adjoint(u))


def test_an_intercept_is_a_learner_of_constant_output(task):
    known, targets = task.read(Y[task.name])
    operator = known.operator(targets)
    np.testing.assert_array_equal(operator.intercepts(), [operator.apply(np.ones(N_ROWS))])


def test_scores_are_the_outputs_of_their_margins(task):
    known, targets = task.read(Y[task.name])
    operator, outputs = known.operator(targets), np.random.default_rng(2).uniform(-1, 1, N_ROWS)
    np.testing.assert_allclose(operator.scores(operator.apply(outputs)), outputs)
    np.testing.assert_allclose(known.margins(outputs, targets), operator.apply(outputs))


def test_perfect_scores_are_decoded_into_y(task, rows):
    known, targets = task.read(Y[task.name])
    scores = known.operator(targets).scores(np.ones(N_ROWS))
    np.testing.assert_array_equal(known.decode(scores), Y[task.name])
    assert known.quality(scores, targets, rows) == 1.0
    assert known.quality(-scores, targets, rows) == 0.0
    baseline = np.full(N_ROWS, known.baseline(targets, rows))
    assert 0.5 <= known.quality(baseline, targets, rows) < 1.0


def test_probabilities_add_up_and_follow_the_scores(task, rows):
    known, targets = task.read(Y[task.name])
    noise = np.random.default_rng(3).normal(size=N_ROWS)
    scores = np.clip(0.3 * known.operator(targets).scores(np.ones(N_ROWS)) + 0.2 * noise, -1, 1)
    probabilities = known.probabilities(scores, known.calibrate(scores, targets, rows.counts))
    np.testing.assert_allclose(probabilities.sum(axis=1), 1.0)
    order = np.argsort(scores, kind="stable")
    assert (np.diff(probabilities[order, 1]) >= 0).all()


def test_groups_are_the_classes(task):
    known, targets = task.read(Y[task.name])
    groups = known.groups(targets)
    assert groups is None or len(np.unique(groups)) == len(np.unique(Y[task.name]))


def test_more_classes_are_refused_by_the_last_task():
    with pytest.raises(InvalidDataError, match=r"Only binary classification.*OneVsRest"):
        read_target(np.array([0, 1, 2, 1]), CLASSIFICATION)


@dataclass(frozen=True, eq=False)
class OtherTask(TwoClasses):
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
