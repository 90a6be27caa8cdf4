"""The same answers from pickles, files and exports."""

import pickle

import lightgbm
import numpy as np

from dualboost import to_lightgbm
from dualboost.errors import DualBoostError
from dualboost.loading import read_model
from dualboost.model_file.writing import model_text

from ..export.running import TARGETS
from ..export.running import answers as wanted_of
from .sane import answers_of, require, require_same

CLOSE = {"rtol": 1e-9, "atol": 1e-12}
SMALLEST = 1e-14
"""Scores up to this are ties, and rounding."""


def require_same_elsewhere(model, case, target):
    """Pickled, saved and exported, the model answers as it does; what cannot be saved or exported is told."""
    X = case.X()
    wanted = answers_of(model, X)
    require_same(answers_of(pickle.loads(pickle.dumps(model)), X), wanted, "the pickle")
    try:
        text = model_text(model)
        loaded = read_model(text)
        require_same(answers_of(loaded, X), wanted, "the file")
        require(model_text(loaded) == text, "the file is another one when it is written again")
    except DualBoostError:
        require("learner" in case.options, "a model of trees was not saved")
    try:
        _exported(model, X, target)
    except DualBoostError:
        return


def _exported(model, X, target):
    if target == "LightGBM":
        _in_lightgbm(model, X)
        return
    found, wanted = TARGETS[target](model, X), wanted_of(model, X)
    for method, answer in wanted.items():
        if answer.dtype.kind in "fc":
            size = np.abs(answer).max(initial=0.0)
            close = np.allclose(found[method], answer, rtol=CLOSE["rtol"], atol=CLOSE["atol"] * size)
            require(close, target, "differs in", method)
        else:
            clear = clearly_decided(model, X)
            require(list(found[method][clear]) == list(answer[clear]), target, "differs in", method)


def clearly_decided(model, X):
    """The rows whose class is no matter of rounding: between equal scores of several classes an export may differ."""
    if model.fitted_.task.n_outputs == 1:
        return np.ones(len(X), dtype=bool)
    second, first = np.sort(model.decision_function(X), axis=1)[:, -2:].T
    return first - second > 1e-9 * np.abs(first)


def _in_lightgbm(model, X):
    """Raw scores of a booster, which LightGBM's own text brings back too."""
    booster = to_lightgbm(model)
    features = model._features(X)
    raw = booster.predict(features, raw_score=True)
    again = lightgbm.Booster(model_str=booster.model_to_string())
    require(np.array_equal(again.predict(features, raw_score=True), raw), "LightGBM's text differs from its booster")
    require(np.isfinite(raw).all(), "LightGBM's scores are not finite")
    if model.fitted_.task.n_outputs > 1:
        return
    has_classes = hasattr(model, "classes_")
    own = model.decision_function(X) if has_classes else model.predict(X)
    found = raw if has_classes else booster.predict(features)
    size = np.abs(own).max(initial=0.0)
    require(np.allclose(found, own, rtol=1e-6, atol=max(1e-9 * size, SMALLEST)), "LightGBM scores otherwise")
