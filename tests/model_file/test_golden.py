"""Files of released versions load and predict what they did when they were written."""

import numpy as np
import pytest
from sklearn.base import is_regressor

from dualboost import DualBoostClassifier, DualBoostRegressor, load_model
from dualboost.thinning import ThinnedTreesClassifier

from ..golden import FOLDER, NEWEST, expected, label, model_paths


@pytest.mark.parametrize("path", model_paths(), ids=label)
def test_predictions_are_those_of_the_day_of_writing(path):
    X, answers = expected(path)
    model = load_model(path)
    predicted, found = answers.pop("predict"), model.predict(X).tolist()
    for method, answer in answers.items():
        np.testing.assert_allclose(getattr(model, method)(X), answer, rtol=1e-12, atol=1e-12)
    assert found == (pytest.approx(predicted, rel=1e-12) if is_regressor(model) else predicted)
    assert {type(one) for one in found} == {type(one) for one in predicted}


@pytest.mark.parametrize("folder", [FOLDER, NEWEST], ids=["version 1", "version 2"])
def test_every_kind_is_there(folder):
    models = {path.name.split(".")[0]: load_model(path) for path in model_paths(folder)}
    kinds = {type(model).__name__ for model in models.values()}
    of_numbers = {"DualBoostRegressor", "DualBoostRegressorCV"} if folder == NEWEST else set()
    assert kinds == {"DualBoostClassifier", "DualBoostClassifierCV", "ThinnedTreesClassifier"} | of_numbers
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
        assert [models[name].fitted_.target.n_outputs for name in ("classes", "class_margins", "tuned_classes")] == [
            3
        ] * 3
        assert models["class_margins"].fitted_.ensemble.is_normalised
        losses = {model.formulation_.name for model in models.values() if isinstance(model, DualBoostRegressor)}
        assert losses == {"squared", "huber", "quantile", "poisson"}
        assert {models[name].fitted_.target.name for name in ("numbers", "counts")} == {"numbers", "counts"}
        assert models["quantiles"].fitted_.calibration is not None
        assert models["listed"].categorical_features == ["colour", "group"]
        assert models["listed"].fitted_.encoder.categories[6].tolist() == [0, 1, 2, 3, 4, 5]
