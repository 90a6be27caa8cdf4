"""Files of released versions load and predict what they did when they were written."""

import numpy as np
import pytest

from dualboost import DualBoostClassifier, load_model
from dualboost.thinning import ThinnedTreesClassifier

from ..golden import FOLDER, NEWEST, expected, label, model_paths


@pytest.mark.parametrize("path", model_paths(), ids=label)
def test_predictions_are_those_of_the_day_of_writing(path):
    X, answers = expected(path)
    model = load_model(path)
    np.testing.assert_allclose(model.decision_function(X), answers["decision_function"], rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(model.predict_proba(X), answers["predict_proba"], rtol=1e-12, atol=1e-12)
    assert model.predict(X).tolist() == answers["predict"]
    assert {type(label) for label in model.predict(X).tolist()} == {type(label) for label in answers["predict"]}


@pytest.mark.parametrize("folder", [FOLDER, NEWEST], ids=["version 1", "version 2"])
def test_every_kind_is_there(folder):
    models = {path.name.split(".")[0]: load_model(path) for path in model_paths(folder)}
    kinds = {type(model).__name__ for model in models.values()}
    assert kinds == {"DualBoostClassifier", "DualBoostClassifierCV", "ThinnedTreesClassifier"}
    classifiers = [model for model in models.values() if isinstance(model, DualBoostClassifier)]
    names = {model.formulation_.name for model in classifiers}
    assert names == {"nm", "qrlp", "lp", "cg", "erlp", "md"} | ({"logistic"} if folder == NEWEST else set())
    assert {model.classes_.dtype.kind for model in classifiers} == set("biufU")
    trees = [tree for model in classifiers for tree in model.estimators_]
    assert any(tree.categories for tree in trees)
    assert any(tree.missing_left.any() for tree in trees)
    assert any(np.isinf(tree.threshold).any() and not tree.categories for tree in trees)
    assert any(not np.isin(tree.votes, (-1.0, 1.0)).all() for tree in trees)
    assert max(tree.n_leaves for tree in trees) > 4
    assert not models["empty"].estimators_
    assert isinstance(models["thinned"], ThinnedTreesClassifier)
    if folder == NEWEST:
        assert models["leaves"].fitted_.ensemble.intercept
        assert not models["leaves"].fitted_.ensemble.is_normalised
        assert [models[name].fitted_.task.n_outputs for name in ("classes", "class_margins", "tuned_classes")] == [
            3
        ] * 3
        assert models["class_margins"].fitted_.ensemble.is_normalised
