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
EPS, TINY = np.finfo(float).eps, np.finfo(float).tiny
TIE = 1e-12
"""Shares of weights are rounded to this: a smaller score of two classes is zero, which a sum of trees cannot say."""


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


def rounding_of_scores(model, X):
    """The last digits of a score, which is a sum over trees that every export adds up in an order of its own."""
    features, ensemble = model._features(X), model.fitted_.ensemble
    votes = [np.abs(learner.vote(features)).max(initial=0.0) for learner in model.estimators_]
    size = np.abs(model.weights_) @ votes
    size = size / max(model.weights_.sum(), TINY) if ensemble.is_normalised else size
    return (len(votes) + 2) * EPS * (size + np.abs(model.intercept_).max())


def clearly_decided(model, X):
    """Which rows of several classes have no second score so near the first that rounding decides between them."""
    if model.fitted_.target.n_outputs == 1:
        return np.ones(len(X), dtype=bool)
    second, first = np.sort(model.fitted_.scores(model._features(X)), axis=1)[:, -2:].T
    off = TIE if model.fitted_.ensemble.is_normalised else rounding_of_scores(model, X)
    return first - second > 2.0 * off


def _in_lightgbm(model, X):
    """Raw scores of a booster, which LightGBM's own text brings back too."""
    booster = to_lightgbm(model)
    features = model._features(X)
    raw = booster.predict(features, raw_score=True)
    again = lightgbm.Booster(model_str=booster.model_to_string())
    require(np.array_equal(again.predict(features, raw_score=True), raw), "LightGBM's text differs from its booster")
    require(np.isfinite(raw).all(), "LightGBM's scores are not finite")
    if model.fitted_.target.n_outputs > 1:
        return
    units, scores = model.fitted_.target.units, model.fitted_.scores(features)
    own, off = units.origin + units.unit * scores, rounding_of_scores(model, X)
    off = abs(units.unit) * off + (len(model.estimators_) + 2) * EPS * abs(units.origin)
    off = np.where((own == 0) & model.fitted_.ensemble.is_normalised, TIE, off)
    require((np.abs(raw - own) <= off).all(), "LightGBM scores otherwise")
    if not hasattr(model, "classes_"):
        require(np.allclose(booster.predict(features), model.predict(X), atol=off.max()), "LightGBM predicts otherwise")
