"""Model files of regressors: the same model comes back, and each wrong value is named."""

import json
import pickle
import re

import numpy as np
import pytest
from sklearn.base import clone

from dualboost import CartLearner, DualBoostRegressor, DualBoostRegressorCV, SolverOptions, load_model
from dualboost.errors import DegenerateEnsembleWarning, ModelFileWarning, UnsupportedModelError
from dualboost.formulations import HuberLoss, QuantileLoss

from ..numbers_to_learn import amounts, counts
from .test_damaged import document, put, refuse

NEW, _ = amounts(n=200, seed=5)


@pytest.mark.parametrize(
    "reg",
    [
        DualBoostRegressor(max_depth=3, max_trees=6),
        DualBoostRegressor("absolute", C=20.0, optimize="weights", max_depth=2, max_trees=20, n_jobs=2),
        DualBoostRegressor(HuberLoss(C=3, delta=np.float64(0.5)), max_trees=4, n_iter_no_change=5, random_state=0),
        DualBoostRegressor(QuantileLoss(quantiles=0.9), learner=CartLearner(n_thresholds=9), max_depth=2, max_trees=4),
        DualBoostRegressor("poisson", C=20, max_depth=2, max_trees=4, solver=SolverOptions(reoptimize="every")),
        DualBoostRegressorCV("huber", Cs=[1, 30.0], cv=2, max_depth=2, max_trees=4, select="sparsest"),
    ],
    ids=["squared", "absolute", "huber", "quantile", "poisson", "tuned"],
)
def test_what_is_saved_is_loaded(reg, tmp_path):
    X, y = counts()
    reg.fit(X, y).save(tmp_path / "model.json.gz")
    loaded = load_model(tmp_path / "model.json.gz")
    assert type(loaded) is type(reg)
    for other in (loaded, pickle.loads(pickle.dumps(loaded)), clone(loaded).fit(X, y)):
        np.testing.assert_array_equal(other.predict(NEW), reg.predict(NEW))
    for name in ("formulation_", "objective_", "gap_", "stop_reason_", "n_trees_", "n_iter_", "intercept_"):
        assert getattr(loaded, name) == getattr(reg, name), name
    np.testing.assert_array_equal(loaded.feature_importances_, reg.feature_importances_)
    assert clone(loaded).get_params(deep=False) == clone(reg).get_params(deep=False)
    assert loaded.score(X, y) == reg.score(X, y)
    content = (tmp_path / "model.json.gz").read_bytes()
    loaded.save(tmp_path / "model.json.gz")
    assert (tmp_path / "model.json.gz").read_bytes() == content
    if isinstance(reg, DualBoostRegressorCV):
        assert loaded.C_ == reg.C_
        np.testing.assert_array_equal(loaded.scores_, reg.scores_)


def test_a_model_without_a_tree(tmp_path):
    with pytest.warns(DegenerateEnsembleWarning):
        reg = DualBoostRegressor(max_trees=3).fit(np.zeros((20, 2)), np.arange(20.0))
    reg.save(tmp_path / "model.json")
    np.testing.assert_array_equal(load_model(tmp_path / "model.json").predict([[0.0, 1.0]]), reg.predict([[0.0, 1.0]]))


def test_what_a_file_cannot_hold(tmp_path):
    X, y = amounts()
    reg = DualBoostRegressor(max_trees=2, max_depth=1, random_state=np.random.RandomState(0)).fit(X, y)
    with pytest.warns(ModelFileWarning, match="random_state=.*is None there") as caught:
        reg.save(tmp_path / "model.json")
    assert caught[0].filename == __file__
    with pytest.raises(UnsupportedModelError, match="loaded from a file"):
        next(load_model(tmp_path / "model.json").staged_predict(X))


WRONG = [
    ("model", "DualBoostClassifier", "task is not a key of this version of the format"),
    ("classes", {"type": "int64", "values": [0, 1]}, "classes is not a key"),
    ("normalised", False, "normalised is not a key"),
    ("parameters.formulation", "squared", "parameters.formulation is not a key"),
    ("parameters.class_weight", None, "parameters.class_weight is not a key"),
    ("parameters.Cs", 3, "parameters.Cs is not a key"),
    ("parameters.loss", "cubic", "parameters.loss is 'cubic'; it must be one of squared, huber, "),
    ("parameters.loss", None, "parameters.loss is null; it must be an object"),
    ("parameters.loss", {"name": "huber", "C": None}, "parameters.loss.delta is missing"),
    ("parameters.loss", {"name": "huber", "C": None, "delta": 0}, "parameters.loss is refused: delta=0 must be"),
    (
        "parameters.loss",
        {"name": "quantile", "C": None, "quantiles": 1},
        "parameters.loss is refused: quantiles=1 must",
    ),
    ("parameters.loss", "huber", "formulation.name is 'squared', but parameters.loss is 'huber'"),
    ("parameters.max_depth", 0, "parameters are refused: max_depth=0"),
    ("formulation.name", "logistic", "formulation.name is 'logistic'; it must be one of squared, huber, "),
    ("formulation.C", None, "formulation.C is null; it must be the number that was used"),
    ("formulation.C", 0, "formulation.C is 0; it must be above 0"),
    ("formulation.delta", 1.0, "formulation.delta is not a key"),
    ("task", "numbers", "task is 'numbers'; it must be an object"),
    ("task.name", "ranks", "task.name is 'ranks'; it must be one of numbers, counts"),
    ("task.name", "counts", "task.name is 'counts'; it must be 'numbers' under the loss 'squared'"),
    ("task.centre", None, "task.centre is null; it must be a finite number"),
    ("task.centre", float("nan"), "task.centre is NaN; it must be a finite number"),
    ("task.scale", 0.0, "task.scale is 0.0; it must be a number above 0"),
    ("task.scale", -1.0, "task.scale is -1.0; it must be a number above 0"),
    ("task.scale", "1", "task.scale is '1'; it must be a number above 0"),
    ("task.scale", 1.7e308, "for which predictions are not finite"),
    ("task.more", 1, "task.more is not a key"),
    ("intercept", 0.0, "intercept is 0.0; it must be a list"),
    ("intercept", [1e101], "intercept[0] is 1e+101; it must be a number from -1e+100 to 1e+100"),
    ("trees[1].votes[0]", [0.5, 0.5, 0.0], "trees[1].votes[0] has 3 entries; it must have 1"),
    ("trees[1].votes[0]", [1.5], "trees[1].votes[0][0] is 1.5; it must be a number from -1 to 1"),
    ("trees[1].weight", 0, "trees[1].weight is 0; it must be a number above 0"),
]


@pytest.mark.parametrize(("where", "value", "message"), WRONG, ids=[where for where, _, _ in WRONG])
def test_a_wrong_value_is_named(where, value, message, tmp_path):
    refuse(tmp_path / "model.json", json.dumps(put(document("numbers"), where, value)), re.escape(message))


WRONG_COUNTS = [
    ("task.centre", 1.0, "task.centre is 1.0; it must be 0 for the target 'counts'"),
    ("task.name", "numbers", "task.name is 'numbers'; it must be 'counts' under the loss 'poisson'"),
    ("intercept", [800.0], "for which predictions are not finite"),
    ("trees[0].weight", 1e99, "for which predictions are not finite"),
]


@pytest.mark.parametrize(("where", "value", "message"), WRONG_COUNTS)
def test_a_wrong_value_of_counts_is_named(where, value, message, tmp_path):
    refuse(tmp_path / "model.json", json.dumps(put(document("counts"), where, value)), re.escape(message))


@pytest.mark.parametrize("key", sorted(document("tuned_numbers")))
def test_no_part_may_be_missing(key, tmp_path):
    model = document("tuned_numbers")
    del model[key]
    refuse(tmp_path / "model.json", json.dumps(model), key)
