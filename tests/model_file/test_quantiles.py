"""Model files of regressors with several quantiles: the same model comes back, and each wrong value is named."""

import json
import pickle
import re

import numpy as np
import pytest
from sklearn.base import clone

from dualboost import DualBoostRegressor, DualBoostRegressorCV, load_model
from dualboost.errors import DegenerateEnsembleWarning, ModelFormatError
from dualboost.formulations.quantiles import QuantileLoss

from ..numbers_to_learn import amounts
from .test_damaged import document, put, refuse

NEW, _ = amounts(n=200, seed=5)
METHODS = ("predict", "predict_quantiles", "predict_interval")
SMALL = {"max_depth": 2, "max_trees": 4, "random_state": 0}
SEVERAL = QuantileLoss(quantiles=(0.05, 0.5, 0.95))


@pytest.mark.parametrize(
    "reg",
    [
        DualBoostRegressor("quantile", quantiles=[0.05, 0.5, 0.95], interval_calibration="conformal", **SMALL),
        DualBoostRegressor("quantile", C=30, quantiles=[0.1, 0.2, 0.7, 0.8], interval_calibration="conformal", **SMALL),
        DualBoostRegressor(QuantileLoss(quantiles=(0.05, 0.5, 0.95)), **SMALL),
        DualBoostRegressorCV(
            "quantile", quantiles=[0.25, 0.5, 0.75], interval_calibration="conformal", Cs=[1, 30.0], cv=2, **SMALL
        ),
    ],
    ids=["conformal", "pairs", "name", "tuned"],
)
def test_what_is_saved_is_loaded(reg, tmp_path):
    X, y = amounts()
    reg.fit(X, y).save(tmp_path / "model.json")
    loaded = load_model(tmp_path / "model.json")
    assert type(loaded) is type(reg)
    for other in (loaded, pickle.loads(pickle.dumps(loaded)), clone(loaded).fit(X, y)):
        for method in METHODS:
            np.testing.assert_array_equal(getattr(other, method)(NEW), getattr(reg, method)(NEW))
    for k in range(reg.fitted_.target.n_intervals):
        coverage = reg.fitted_.target.coverage(k)
        np.testing.assert_array_equal(loaded.predict_interval(NEW, coverage), reg.predict_interval(NEW, coverage))
    assert loaded.formulation_ == reg.formulation_
    assert loaded.fitted_.calibration == reg.fitted_.calibration
    assert clone(loaded).get_params(deep=False) == clone(reg).get_params(deep=False)
    np.testing.assert_array_equal(loaded.intercept_, reg.intercept_)
    np.testing.assert_array_equal(loaded.explain(NEW).values, reg.explain(NEW).values)
    content = (tmp_path / "model.json").read_bytes()
    loaded.save(tmp_path / "model.json")
    assert (tmp_path / "model.json").read_bytes() == content


def test_a_loss_object(tmp_path):
    reg = DualBoostRegressor(QuantileLoss(C=20.0, quantiles=[0.6, 0.9]), **SMALL).fit(*amounts())
    reg.save(tmp_path / "model.json")
    loaded = load_model(tmp_path / "model.json")
    assert (loaded.loss, loaded.formulation_) == (reg.loss, reg.formulation_)
    np.testing.assert_array_equal(loaded.predict_quantiles(NEW), reg.predict_quantiles(NEW))


def test_levels_may_be_an_array(tmp_path):
    reg = DualBoostRegressor("quantile", quantiles=np.array([0.1, 0.9]), **SMALL).fit(*amounts())
    reg.save(tmp_path / "model.json")
    assert load_model(tmp_path / "model.json").quantiles == [0.1, 0.9]


def test_a_model_without_a_tree(tmp_path):
    with pytest.warns(DegenerateEnsembleWarning):
        reg = DualBoostRegressor(SEVERAL, max_trees=3).fit(np.zeros((20, 2)), np.arange(20.0))
    reg.save(tmp_path / "model.json")
    loaded = load_model(tmp_path / "model.json")
    np.testing.assert_array_equal(loaded.predict_quantiles([[0.0, 1.0]]), reg.predict_quantiles([[0.0, 1.0]]))


def test_arguments_that_were_changed_after_the_fit_are_told(tmp_path):
    reg = (
        DualBoostRegressor(QuantileLoss(quantiles=(0.05, 0.5, 0.95)), **SMALL)
        .fit(*amounts())
        .set_params(interval_calibration="conformal")
    )
    with pytest.raises(
        ModelFormatError, match=r"calibration is null, but parameters\.interval_calibration is 'conformal'"
    ):
        reg.save(tmp_path / "model.json")


LEVELS = [0.05, 0.3, 0.8, 0.95]
OTHERS = [0.05, 0.3, 0.8, 0.9]
ONE = {"name": "quantile", "C": 1.0, "quantiles": 0.5}
MEDIAN = "QuantileLoss(C=None, quantiles=0.5)"
LOSS = {"name": "quantile", "C": None, "quantiles": LEVELS}
WRONG = [
    ("parameters.quantiles", 0.5, "parameters.quantiles is 0.5; it must be a list"),
    ("parameters.quantiles", ["a"], "parameters.quantiles[0] is 'a'; it must be a finite number"),
    ("parameters.quantiles", [0.5], "parameters.quantiles is refused: quantiles=[0.5] must have two levels or more"),
    ("parameters.quantiles", [0.5, 0.2], "parameters.quantiles is refused: quantiles=[0.5, 0.2] must be increasing"),
    ("parameters.quantiles", [0.2, 1], "parameters.quantiles is refused: quantiles=[0.2, 1.0] must be increasing"),
    ("parameters.quantiles", OTHERS, f"formulation.quantiles is {LEVELS}, but parameters.quantiles is {OTHERS}"),
    (
        "parameters.quantiles",
        None,
        f"formulation.quantiles is {LEVELS}, but the loss of the parameters is {MEDIAN}",
    ),
    ("parameters.loss", "huber", "parameters.quantiles is refused: quantiles=[0.05, 0.3, 0.8, 0.95] is for"),
    ("parameters.loss", LOSS, "parameters.quantiles is refused: quantiles=[0.05, 0.3, 0.8, 0.95] is for"),
    ("parameters.interval_calibration", 1, "parameters.interval_calibration is 1; it must be a string"),
    (
        "parameters.interval_calibration",
        "always",
        "parameters are refused: interval_calibration='always' is not known; choose",
    ),
    ("parameters.interval_calibration", None, "calibration is an object, but parameters.interval_calibration is null"),
    (
        "formulation",
        {"name": "quantile", "C": 1.0, "quantiles": 0.5},
        "formulation.quantiles is 0.5, but parameters.quantiles is ",
    ),
    ("formulation.quantiles", None, "formulation.quantiles is null; it must be a finite number"),
    ("formulation.quantiles[1]", None, "formulation.quantiles[1] is null; it must be a finite number"),
    ("formulation.quantiles[1]", 0.05, "formulation is refused: quantiles=(0.05, 0.05, 0.8, 0.95) must be increasing"),
    ("formulation.quantiles", LEVELS[:3], "formulation.quantiles is [0.05, 0.3, 0.8], but parameters.quantiles is "),
    ("task.name", "numbers", "task.name is 'numbers'; it must be 'quantiles' under the loss 'quantile'"),
    ("task", {"name": "quantiles", "centre": 0.0, "scale": 1.0}, "task.levels is missing"),
    ("task.levels", LEVELS[:3], "task.levels has 3 entries; it must have 4"),
    ("task.levels", OTHERS, f"task.levels is {OTHERS}, but formulation.quantiles is {LEVELS}"),
    ("task.levels[2]", "0.8", "task.levels[2] is '0.8'; it must be a finite number"),
    ("task.scale", 1.7e308, "for which predictions are not finite"),
    ("calibration", None, "calibration is null, but parameters.interval_calibration is 'conformal'"),
    ("calibration", [0.1, 0.1], "calibration is a list of 2; it must be an object"),
    ("calibration.slope", 1.0, "calibration.slope is not a key"),
    ("calibration.shifts", [0.1], "calibration.shifts has 1 entries; it must have 2"),
    ("calibration.shifts[1]", None, "calibration.shifts[1] is null; it must be a number from -1e+100 to 1e+100"),
    ("intercept", 0.0, "intercept is 0.0; it must be a list"),
    ("intercept", [0.0, 0.0, 0.0], "intercept has 3 entries; it must have 4"),
    ("trees[1].votes[0]", 0.5, "trees[1].votes[0] is 0.5; it must be a list"),
    ("trees[1].votes[0]", [0.5, 0.5, 0.5], "trees[1].votes[0] has 3 entries; it must have 4"),
    ("trees[1].votes[0][3]", 1.5, "trees[1].votes[0][3] is 1.5; it must be a number from -1 to 1"),
]


@pytest.mark.parametrize(("where", "value", "message"), WRONG, ids=[f"{where}={value}" for where, value, _ in WRONG])
def test_a_wrong_value_is_named(where, value, message, tmp_path):
    refuse(tmp_path / "model.json", json.dumps(put(document("quantiles"), where, value)), re.escape(message))


def test_ends_of_intervals_are_finite(tmp_path):
    model = put(document("quantiles"), "task.scale", 1e250)
    refuse(
        tmp_path / "model.json", json.dumps(put(model, "calibration.shifts[1]", -1e99)), "predictions are not finite"
    )


@pytest.mark.parametrize(
    ("where", "value", "message"),
    [
        ("calibration", {"shifts": [0.1]}, "calibration is an object, but parameters.interval_calibration is null"),
        ("task.levels", LEVELS, "task.levels is not a key"),
        ("task.name", "quantiles", "task.name is 'quantiles'; it must be 'numbers' under the loss 'squared'"),
        ("parameters.quantiles", LEVELS, "parameters.quantiles is refused: quantiles=[0.05, 0.3, 0.8, 0.95] is for"),
        (
            "parameters.interval_calibration",
            "conformal",
            "calibration is null, but parameters.interval_calibration is 'conformal'",
        ),
    ],
)
def test_other_regressors_have_no_parts_of_quantiles(where, value, message, tmp_path):
    refuse(tmp_path / "model.json", json.dumps(put(document("numbers"), where, value)), re.escape(message))


def test_a_calibration_needs_quantiles(tmp_path):
    model = put(document("numbers"), "parameters.interval_calibration", "conformal")
    message = "calibration is an object; it must be null for the target 'numbers'"
    refuse(tmp_path / "model.json", json.dumps(put(model, "calibration", {"shifts": [0.1]})), message)
