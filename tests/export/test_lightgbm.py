"""Our ensembles as LightGBM models, read by LightGBM and by the libraries that read its models."""

from functools import cache

import lightgbm
import numpy as np
import onnxruntime
import pandas as pd
import pytest
import shap
import treelite
from onnxmltools import convert_lightgbm
from onnxmltools.convert.common.data_types import FloatTensorType
from sklearn.base import clone

from dualboost import DualBoostClassifier, DualBoostRegressor, to_lightgbm
from dualboost.formulations import QuantileLoss

from ..numbers_to_learn import amounts, counts
from ..several_classes import three_classes
from ..thinning.models import numbers, table
from .test_contract import empty, thinned_forest

NEW = (numbers(n=200, seed=5, missing=True)[0] + 1e-3).astype(np.float32)  # off the thresholds, which ONNX rounds
QUANTILES = {
    "loss": "quantile",
    "quantiles": [0.1, 0.4, 0.6, 0.9],
    "interval_calibration": "conformal",
    "random_state": 0,
}


def gaps(n=400, seed=0):
    X, y = numbers(n, seed, missing=True)
    return X.astype(np.float32), y


def three(n=400, seed=0):
    X, _ = gaps(n, seed)
    return X, (np.nan_to_num(X[:, 0]) > 0) + 2 * (np.nan_to_num(X[:, 1]) > 0.5)


def amounts_in_an_array(n=400, seed=0):
    X, _ = gaps(n, seed)
    return X, amounts(n, seed)[1] + 50.0 * np.nan_to_num(X[:, 0])


def small_amounts_in_an_array(n=400, seed=0):
    X, _ = gaps(n, seed)
    return X, 50.0 * np.nan_to_num(X[:, 0]) + np.random.default_rng(seed).normal(size=n)


def words(n=400, seed=0):
    X, y = three_classes(n, seed)
    return X, np.array(["low", "mid", "high"])[y]


def constant(n=20, seed=0):
    return np.zeros((n, 2)), np.arange(float(n))


FITS = {
    "margins, stumps": (DualBoostClassifier("lp", max_trees=30), gaps),
    "margins": (DualBoostClassifier("lp", max_depth=3, max_trees=30), gaps),
    "margins, categories": (DualBoostClassifier("qrlp", max_depth=3, max_trees=20), table),
    "log-odds": (DualBoostClassifier("logistic", max_depth=2, max_trees=10), gaps),
    "classes": (DualBoostClassifier(max_depth=3, max_trees=6), three),
    "classes, categories": (DualBoostClassifier(max_depth=3, max_trees=6), words),
    "classes, one tree": (DualBoostClassifier(max_trees=1), words),
    "classes, no tree": (DualBoostClassifier(), lambda n=30, seed=0: (np.zeros((n, 2)), np.arange(n) % 3)),
    "numbers": (DualBoostRegressor(max_depth=2, max_trees=10), amounts_in_an_array),
    "numbers, categories": (DualBoostRegressor(max_depth=3, max_trees=6), counts),
    "numbers, weights": (DualBoostRegressor("absolute", optimize="weights", max_trees=20), counts),
    "numbers, no tree": (DualBoostRegressor(max_trees=3), constant),
    "counts": (DualBoostRegressor("poisson", max_depth=2, max_trees=10), amounts_in_an_array),
    "counts, categories": (DualBoostRegressor("poisson", max_depth=2, max_trees=5), counts),
    "quantiles": (DualBoostRegressor(**QUANTILES, max_depth=2, max_trees=5), small_amounts_in_an_array),
    "quantiles, categories": (DualBoostRegressor(**QUANTILES, max_depth=3, max_trees=6), amounts),
    "quantiles, no tree": (DualBoostRegressor(QuantileLoss(quantiles=[0.05, 0.5, 0.95]), max_trees=3), constant),
}
OTHERS = {
    "thinned forest": lambda: thinned_forest(["no", "yes"]),
    "thinned forest, classes": lambda: thinned_forest([1, 2, 5]),
    "margins, no tree": lambda: empty([0, 1])[0],
}


@cache
def fitted(name):
    if name in OTHERS:
        return OTHERS[name](), NEW.astype(np.float64)
    estimator, data = FITS[name]
    X, y = data()
    return clone(estimator).fit(X, y), data(n=200, seed=6)[0] if isinstance(X, pd.DataFrame) or not X.any() else NEW


def predictions(model, X):
    """The predictions of the LightGBM model, and its raw scores where they are not log-probabilities."""
    if hasattr(model, "classes_"):
        scores, probabilities = model.decision_function(X), model.predict_proba(X)
        if scores.ndim > 1:
            return probabilities, scores
        has_log_odds = not hasattr(model, "fitted_") or not model.fitted_.ensemble.is_normalised
        return probabilities[:, 1] if has_log_odds else scores, scores
    target = model.fitted_.target
    if target.n_outputs == 1:
        return model.predict(X), np.log(model.predict(X)) if target.name == "counts" else model.predict(X)
    in_units = target.centre + target.scale * model.fitted_.scores(model._features(X))
    np.testing.assert_allclose(np.sort(in_units, axis=1), model.predict_quantiles(X), rtol=1e-9)
    return in_units, in_units


@pytest.mark.filterwarnings("ignore::dualboost.errors.DegenerateEnsembleWarning")
@pytest.mark.parametrize("name", [*FITS, *OTHERS])
def test_predictions_of_the_model_and_of_its_file(name, tmp_path):
    model, X = fitted(name)
    booster, (predicted, scores) = to_lightgbm(model), predictions(model, X)
    booster.save_model(tmp_path / "model.txt")
    for one in (booster, lightgbm.Booster(model_file=tmp_path / "model.txt")):
        np.testing.assert_allclose(one.predict(X), predicted, rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(one.predict(X, raw_score=True), scores, rtol=1e-9, atol=1e-9)
    if isinstance(X, pd.DataFrame):
        assert booster.feature_name() == list(X.columns)
    if hasattr(model, "n_trees_"):  # intercepts are trees too
        has_intercepts = len(np.shape(scores)) > 1 or np.any(model.intercept_) or not model.n_trees_
        n_outputs = scores.shape[1] if scores.ndim > 1 else 1
        assert booster.num_trees() == n_outputs * (model.n_trees_ + bool(has_intercepts))


def in_onnx(booster):
    inputs = [("X", FloatTensorType([None, NEW.shape[1]]))]
    model = convert_lightgbm(booster, initial_types=inputs, target_opset=15, zipmap=False)
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    return session.run(None, {"X": NEW})


def in_treelite(path):
    return treelite.gtil.predict(treelite.frontend.load_lightgbm_model(path), NEW.astype(np.float64))


@pytest.mark.parametrize(
    "name", ["margins, stumps", "margins", "log-odds", "classes", "numbers", "counts", "quantiles"]
)
def test_other_libraries(name, tmp_path):
    model, _ = fitted(name)
    booster, (predicted, scores) = to_lightgbm(model), predictions(model, NEW)
    booster.save_model(tmp_path / "model.txt")
    explained = shap.TreeExplainer(booster)(NEW[:50])
    np.testing.assert_allclose(explained.base_values + explained.values.sum(axis=1), scores[:50], rtol=1e-6, atol=1e-6)
    if name == "quantiles":  # to these libraries, several scores are those of classes
        with pytest.raises(treelite.TreeliteError, match="num_class"):
            in_treelite(tmp_path / "model.txt")
        with pytest.raises(KeyError, match="objective"):
            in_onnx(booster)
        return
    np.testing.assert_allclose(in_treelite(tmp_path / "model.txt").reshape(predicted.shape), predicted, 1e-6, 1e-6)
    *labels, found = in_onnx(booster)
    found = found[:, 1] if name == "log-odds" else found.reshape(predicted.shape)
    np.testing.assert_allclose(found, predicted, rtol=1e-5 if name in ("numbers", "counts") else 0, atol=1e-5)
    if name == "classes":
        np.testing.assert_array_equal(labels[0], model.predict(NEW))


def test_names_that_lightgbm_does_not_allow():
    X, y = numbers()
    frame = pd.DataFrame(X, columns=["a b", "c:d", "e", "f", "g"])
    clf = DualBoostClassifier(max_trees=5).fit(frame, y)
    np.testing.assert_allclose(to_lightgbm(clf).predict(X, raw_score=True), clf.decision_function(frame), atol=1e-9)


@pytest.mark.parametrize("weights", [None, np.linspace(0.1, 1.7, 400)])
def test_the_base_value_of_shap_is_the_weighted_mean_of_the_scores(weights):
    X, y = numbers()
    clf = DualBoostClassifier("cg", max_depth=2, max_trees=20).fit(X, y, sample_weight=weights)
    explained = shap.TreeExplainer(to_lightgbm(clf))(X[:50])
    total = explained.base_values + explained.values.sum(axis=1)
    np.testing.assert_allclose(total, clf.decision_function(X[:50]), atol=1e-6)
    np.testing.assert_allclose(explained.base_values, np.average(clf.decision_function(X), weights=weights), atol=1e-3)
