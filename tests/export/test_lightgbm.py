"""Our ensembles as LightGBM models, read by the libraries that read those."""

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
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression

from dualboost import DualBoostClassifier, DualBoostRegressor, thin, to_lightgbm
from dualboost.errors import DegenerateEnsembleWarning, UnfittedModelError, UnsupportedModelError
from dualboost.formulations import LPBoost

from ..numbers_to_learn import amounts, counts
from ..several_classes import three_classes
from ..thinning.models import numbers, table


@pytest.fixture(scope="module", params=[1, 3])
def fitted(request):
    X, y = numbers(missing=True)
    return DualBoostClassifier("lp", max_depth=request.param, max_trees=30).fit(X.astype(np.float32), y)


NEW, _ = numbers(n=200, seed=5, missing=True)
NEW = (NEW + 1e-3).astype(np.float32)  # off the thresholds, which ONNX holds in single precision


def test_predictions_are_the_decision_values(fitted):
    booster = to_lightgbm(fitted)
    assert booster.num_trees() == fitted.n_trees_
    np.testing.assert_allclose(booster.predict(NEW), fitted.decision_function(NEW), atol=1e-9)


def test_data_frames_with_categories_and_gaps():
    X, y = table()
    clf = DualBoostClassifier("qrlp", max_depth=3, max_trees=20).fit(X, y)
    new, _ = table(n=200, seed=6)
    booster = to_lightgbm(clf)
    assert booster.feature_name() == list(X.columns)
    np.testing.assert_allclose(booster.predict(new), clf.decision_function(new), atol=1e-9)


def test_names_that_lightgbm_does_not_allow():
    X, y = numbers()
    frame = pd.DataFrame(X, columns=["a b", "c:d", "e", "f", "g"])
    clf = DualBoostClassifier(max_trees=5).fit(frame, y)
    np.testing.assert_allclose(to_lightgbm(clf).predict(X, raw_score=True), clf.decision_function(frame), atol=1e-9)


@pytest.mark.parametrize("weights", [None, np.linspace(0.1, 1.7, 400)])
def test_shap_values_add_up_to_the_decision(weights):
    X, y = numbers()
    clf = DualBoostClassifier("cg", max_depth=2, max_trees=20).fit(X, y, sample_weight=weights)
    explained = shap.TreeExplainer(to_lightgbm(clf))(X[:50])
    total = explained.base_values + explained.values.sum(axis=1)
    np.testing.assert_allclose(total, clf.decision_function(X[:50]), atol=1e-6)
    mean = np.average(clf.decision_function(X), weights=weights)
    np.testing.assert_allclose(explained.base_values, mean, atol=1e-3)


def test_other_libraries_read_log_odds(tmp_path):
    """A model of log-odds has the objective "binary": raw scores and probabilities, both with the intercept."""
    X, y = numbers(missing=True)
    clf = DualBoostClassifier("logistic", max_depth=2, max_trees=10).fit(X.astype(np.float32), y)
    booster, probabilities = to_lightgbm(clf), clf.predict_proba(NEW)[:, 1]
    explained = shap.TreeExplainer(booster)(NEW[:50])
    total = explained.base_values + explained.values.sum(axis=1)
    np.testing.assert_allclose(total, clf.decision_function(NEW[:50]), atol=1e-6)
    booster.save_model(tmp_path / "model.txt")
    found = treelite.gtil.predict(treelite.frontend.load_lightgbm_model(tmp_path / "model.txt"), NEW.astype(np.float64))
    np.testing.assert_allclose(np.ravel(found), probabilities, atol=1e-6)
    inputs = [("X", FloatTensorType([None, NEW.shape[1]]))]
    model = convert_lightgbm(booster, initial_types=inputs, target_opset=15, zipmap=False)
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    np.testing.assert_allclose(session.run(None, {"X": NEW})[1][:, 1], probabilities, atol=1e-5)


@pytest.mark.parametrize("clf", [DualBoostClassifier(max_depth=3, max_trees=6), DualBoostClassifier(max_trees=1)])
def test_several_classes_with_categories_and_gaps(clf, tmp_path):
    X, y = three_classes()
    clf = clone(clf).fit(X, np.array(["low", "mid", "high"])[y])
    new, _ = three_classes(n=200, seed=6)
    booster = to_lightgbm(clf)
    assert booster.feature_name() == list(X.columns)
    assert booster.num_trees() == 3 * (clf.n_trees_ + 1)  # the intercepts are trees too
    booster.save_model(tmp_path / "model.txt")
    for model in (booster, lightgbm.Booster(model_file=tmp_path / "model.txt")):
        np.testing.assert_allclose(model.predict(new), clf.predict_proba(new), atol=1e-9)
        np.testing.assert_allclose(model.predict(new, raw_score=True), clf.decision_function(new), atol=1e-9)


def test_other_libraries_read_several_classes(tmp_path):
    X, _ = numbers(missing=True)
    y = (np.nan_to_num(X[:, 0]) > 0) + 2 * (np.nan_to_num(X[:, 1]) > 0.5)
    clf = DualBoostClassifier(max_depth=3, max_trees=6).fit(X.astype(np.float32), y)
    booster, probabilities = to_lightgbm(clf), clf.predict_proba(NEW)
    explained = shap.TreeExplainer(booster)(NEW[:50])
    total = explained.base_values + explained.values.sum(axis=1)
    np.testing.assert_allclose(total, clf.decision_function(NEW[:50]), atol=1e-6)
    booster.save_model(tmp_path / "model.txt")
    found = treelite.gtil.predict(treelite.frontend.load_lightgbm_model(tmp_path / "model.txt"), NEW.astype(np.float64))
    np.testing.assert_allclose(found.reshape(probabilities.shape), probabilities, atol=1e-6)
    inputs = [("X", FloatTensorType([None, NEW.shape[1]]))]
    model = convert_lightgbm(booster, initial_types=inputs, target_opset=15, zipmap=False)
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    labels, found = session.run(None, {"X": NEW})
    np.testing.assert_allclose(found, probabilities, atol=1e-5)
    np.testing.assert_array_equal(labels, clf.predict(NEW))


@pytest.mark.parametrize("n_classes", [2, 3])
def test_thinned_forests(n_classes):
    X, y = numbers(missing=True)
    y = y + (np.nan_to_num(X[:, 2]) > 0.5) if n_classes == 3 else y
    forest = RandomForestClassifier(15, max_depth=4, random_state=0).fit(X, y)
    small = thin(forest, X, y, tolerance=0.1, max_trees=5).model
    found = to_lightgbm(small).predict(NEW.astype(np.float64))
    wanted = small.predict_proba(NEW.astype(np.float64))
    np.testing.assert_allclose(found, wanted if n_classes == 3 else wanted[:, 1], atol=1e-9)


def test_several_classes_without_a_tree():
    X, y = np.zeros((30, 2)), np.arange(30) % 3
    with pytest.warns(DegenerateEnsembleWarning):
        clf = DualBoostClassifier().fit(X, y)
    np.testing.assert_allclose(to_lightgbm(clf).predict(X), clf.predict_proba(X), atol=1e-9)


def test_onnx_runtime_gives_the_decision_values(fitted):
    inputs = [("X", FloatTensorType([None, NEW.shape[1]]))]
    model = convert_lightgbm(to_lightgbm(fitted), initial_types=inputs, target_opset=15)
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    (decisions,) = session.run(None, {"X": NEW})
    np.testing.assert_allclose(decisions.ravel(), fitted.decision_function(NEW), atol=1e-5)


def test_treelite_gives_the_decision_values(fitted, tmp_path):
    path = tmp_path / "model.txt"
    to_lightgbm(fitted).save_model(path)
    model = treelite.frontend.load_lightgbm_model(path)
    decisions = treelite.gtil.predict(model, NEW.astype(np.float64))
    np.testing.assert_allclose(np.ravel(decisions), fitted.decision_function(NEW), atol=1e-6)


@pytest.mark.parametrize(
    "reg",
    [
        DualBoostRegressor(max_depth=3, max_trees=6),
        DualBoostRegressor("absolute", optimize="weights", max_trees=20),
        DualBoostRegressor("poisson", max_depth=2, max_trees=5),
    ],
    ids=["squared", "absolute", "poisson"],
)
def test_numbers_with_categories_and_gaps(reg, tmp_path):
    X, y = counts()
    reg = clone(reg).fit(X, y)
    new, _ = counts(n=200, seed=6)
    to_lightgbm(reg).save_model(tmp_path / "model.txt")
    for model in (to_lightgbm(reg), lightgbm.Booster(model_file=tmp_path / "model.txt")):
        assert model.num_trees() == reg.n_trees_ + 1  # the centre is a tree too
        np.testing.assert_allclose(model.predict(new), reg.predict(new), rtol=1e-9)


@pytest.mark.parametrize("loss", ["squared", "poisson"])
def test_other_libraries_read_numbers(loss, tmp_path):
    _, y = amounts()
    X, _ = numbers(missing=True)
    y = y + 50.0 * np.nan_to_num(X[:, 0])
    reg = DualBoostRegressor(loss, max_depth=2, max_trees=10).fit(X.astype(np.float32), y)
    booster, predicted = to_lightgbm(reg), reg.predict(NEW)
    explained = shap.TreeExplainer(booster)(NEW[:50])
    total = explained.base_values + explained.values.sum(axis=1)
    np.testing.assert_allclose(np.exp(total) if loss == "poisson" else total, predicted[:50], rtol=1e-6)
    booster.save_model(tmp_path / "model.txt")
    found = treelite.gtil.predict(treelite.frontend.load_lightgbm_model(tmp_path / "model.txt"), NEW.astype(np.float64))
    np.testing.assert_allclose(np.ravel(found), predicted, rtol=1e-6)
    inputs = [("X", FloatTensorType([None, NEW.shape[1]]))]
    model = convert_lightgbm(booster, initial_types=inputs, target_opset=15)
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    np.testing.assert_allclose(np.ravel(session.run(None, {"X": NEW})[0]), predicted, rtol=1e-5)


QUANTILES = {"loss": "quantile", "quantiles": [0.1, 0.4, 0.6, 0.9], "calibrate": "conformal"}


def test_several_quantiles_with_categories_and_gaps(tmp_path):
    X, y = amounts()
    reg = DualBoostRegressor(**QUANTILES, max_depth=3, max_trees=6, random_state=0).fit(X, y)
    new, _ = amounts(n=200, seed=6)
    to_lightgbm(reg).save_model(tmp_path / "model.txt")
    task, scores = reg.fitted_.target, reg.fitted_.scores(reg._features(new))
    for model in (to_lightgbm(reg), lightgbm.Booster(model_file=tmp_path / "model.txt")):
        assert model.num_trees() == 4 * (reg.n_trees_ + 1)  # the centres are trees too
        for raw_score in (False, True):
            found = model.predict(new, raw_score=raw_score)
            np.testing.assert_allclose(found, task.centre + task.scale * scores, rtol=1e-9)
            np.testing.assert_allclose(np.sort(found, axis=1), reg.predict_quantiles(new), rtol=1e-9)


def test_which_libraries_read_several_quantiles(tmp_path):
    X, _ = numbers(missing=True)
    y = 50.0 * np.nan_to_num(X[:, 0]) + np.random.default_rng(0).normal(size=len(X))
    reg = DualBoostRegressor(**QUANTILES, max_depth=2, max_trees=5, random_state=0).fit(X.astype(np.float32), y)
    booster = to_lightgbm(reg)
    explained = shap.TreeExplainer(booster)(NEW[:50])
    total = explained.base_values + explained.values.sum(axis=1)
    np.testing.assert_allclose(np.sort(total, axis=1), reg.predict_quantiles(NEW[:50]), atol=1e-6)
    booster.save_model(tmp_path / "model.txt")
    with pytest.raises(treelite.TreeliteError, match="num_class"):
        treelite.frontend.load_lightgbm_model(tmp_path / "model.txt")
    with pytest.raises(KeyError, match="objective"):
        convert_lightgbm(booster, initial_types=[("X", FloatTensorType([None, NEW.shape[1]]))], target_opset=15)


def test_several_quantiles_without_a_tree():
    X = np.zeros((20, 2))
    with pytest.warns(DegenerateEnsembleWarning):
        reg = DualBoostRegressor("quantile", quantiles=[0.05, 0.5, 0.95], max_trees=3).fit(X, np.arange(20.0))
    np.testing.assert_allclose(to_lightgbm(reg).predict(X), reg.predict_quantiles(X), rtol=1e-9)


def test_numbers_without_a_tree():
    with pytest.warns(DegenerateEnsembleWarning):
        reg = DualBoostRegressor(max_trees=3).fit(np.zeros((20, 2)), np.arange(20.0))
    np.testing.assert_allclose(to_lightgbm(reg).predict(np.zeros((3, 2))), reg.predict(np.zeros((3, 2))), rtol=1e-9)


def test_an_empty_ensemble_is_a_constant():
    X, y = numbers()
    with pytest.warns(DegenerateEnsembleWarning):
        clf = DualBoostClassifier(LPBoost(C=1e-6)).fit(X, y)
    np.testing.assert_allclose(to_lightgbm(clf).predict(X), clf.decision_function(X), atol=1e-9)


def test_what_cannot_be_exported():
    X, y = numbers()
    with pytest.raises(UnfittedModelError, match="not fitted"):
        to_lightgbm(DualBoostClassifier())
    with pytest.raises(UnsupportedModelError, match="LogisticRegression"):
        to_lightgbm(LogisticRegression().fit(X, y))
    with pytest.raises(UnsupportedModelError, match="not trees"):
        to_lightgbm(DualBoostClassifier(learner=LogisticRegression(), max_trees=3).fit(X, y))
