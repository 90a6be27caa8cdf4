"""A fit that was interrupted goes on from the trees that were kept, and ends where it would have ended."""

import numpy as np
import pytest
from sklearn.datasets import load_iris

from dualboost import DualBoostClassifier
from dualboost.datasets import make_ringnorm
from dualboost.errors import InvalidParameterError
from dualboost.learners.base import EVERY, TreeRecord
from dualboost.workers import ALONE

from .running import on_workers, parts_of


class Interrupted(Exception):
    pass


def fitted(estimator, X, y, folder):
    parts = parts_of(len(y), 2)
    return on_workers(
        2, lambda workers: estimator.fit_part(X[parts[workers.rank]], y[parts[workers.rank]], None, workers, folder)
    )[0]


def interrupt_after(monkeypatch, n_trees):
    """Let every worker fail after so many new trees; returns how many were grown."""
    grown = []
    add = TreeRecord.add

    def counted(self, tree):
        add(self, tree)
        grown.append(tree)
        if len(grown) >= 2 * n_trees:  # both workers
            raise Interrupted

    monkeypatch.setattr(TreeRecord, "add", counted)
    return grown


@pytest.mark.parametrize("formulation", ["logistic", "cg"])
def test_the_second_run_ends_at_the_same_optimum(formulation, monkeypatch, tmp_path):
    X, y = make_ringnorm(500, random_state=0)
    estimator = DualBoostClassifier(formulation, learner="xgboost", max_depth=2, max_trees=12, calibration="training")
    whole = fitted(estimator, X, y, None)
    with monkeypatch.context() as patched:
        grown = interrupt_after(patched, 8)
        with pytest.raises(Interrupted):
            fitted(estimator, X, y, str(tmp_path))
        assert len(grown) >= 16
    with monkeypatch.context() as patched:
        grown = interrupt_after(patched, 10**6)
        again = fitted(estimator, X, y, str(tmp_path))
        n_whole = whole.figures.n_generated
        assert len(grown) / 2 >= n_whole - 8 - EVERY  # some of them were kept, the others are grown
    assert again.figures.objective == pytest.approx(whole.figures.objective, rel=1e-12)
    np.testing.assert_allclose(again.ensemble.weights, whole.ensemble.weights, rtol=1e-9)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("formulation", ["logistic", "qrlp"])
def test_several_classes(formulation, monkeypatch, tmp_path):
    X, y = load_iris(return_X_y=True)
    estimator = DualBoostClassifier(formulation, learner="xgboost", max_depth=2, max_trees=8, calibration="training")
    whole = fitted(estimator, X, y, None)
    with monkeypatch.context() as patched:
        interrupt_after(patched, 6)
        with pytest.raises(Interrupted):
            fitted(estimator, X, y, str(tmp_path))
    assert fitted(estimator, X, y, str(tmp_path)).figures.objective == pytest.approx(whole.figures.objective, rel=1e-12)


def test_trees_of_another_fit_are_refused(tmp_path):
    for k in range(EVERY):
        record = TreeRecord(str(tmp_path), {"rows": 1}, ALONE)
        assert not record.has_next
        for _ in range(EVERY - 1):
            record.add(None)
        assert not (tmp_path / "trees.json").exists(), k
    record.add(None)
    again = TreeRecord(str(tmp_path), {"rows": 1}, ALONE)
    assert again.has_next
    assert again.next() is None
    with pytest.raises(InvalidParameterError, match="trees of another fit"):
        TreeRecord(str(tmp_path), {"rows": 2}, ALONE)
    (tmp_path / "trees.json").write_text("{")
    with pytest.raises(InvalidParameterError, match="cannot be used"):
        TreeRecord(str(tmp_path), {"rows": 1}, ALONE)
