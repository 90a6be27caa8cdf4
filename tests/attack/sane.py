"""What must hold of every fitted model, whatever it was fitted to."""

import numpy as np
from sklearn.base import is_regressor


class Insane(AssertionError):
    """A model contradicts itself."""


def require(holds, *words):
    """Fail with these words unless it holds."""
    if not holds:
        raise Insane(" ".join(map(str, words)))


def answers_of(model, X):
    """What a model says of rows, by method."""
    methods = ["predict", "predict_proba", "decision_function"]
    if is_regressor(model):
        methods = ["predict"]
        if model.fitted_.target.n_outputs > 1:
            methods += ["predict_quantiles", "predict_interval"]
    return {method: getattr(model, method)(X) for method in methods}


def require_sane(model, case):
    """Finite answers in range, parts that belong together, and a gap that is a number."""
    X, features = case.X(), model._features(case.X())
    answers = answers_of(model, X)
    for method, answer in answers.items():
        require(answer.dtype.kind not in "fc" or np.isfinite(answer).all(), method, "is not finite")
    if not is_regressor(model):
        probabilities = answers["predict_proba"]
        require(((probabilities >= 0) & (probabilities <= 1)).all(), "probabilities are out of range")
        require(np.allclose(probabilities.sum(axis=1), 1.0), "probabilities do not add up to one")
        require(set(answers["predict"].tolist()) <= set(case.y), "predicts no class of y")
        kept = case.counts() > 0
        require(set(model.classes_.tolist()) >= set(np.array(case.y)[kept].tolist()), "lost a class")
    if "predict_quantiles" in answers:
        require((np.diff(answers["predict_quantiles"]) >= 0).all(), "quantiles cross")
    require(np.isfinite([model.objective_, model.gap_]).all(), "objective", model.objective_, "gap", model.gap_)
    require(np.isfinite(model.duals_).all() and np.isfinite(model.weights_).all(), "duals or weights are not finite")
    require(model.gap_ >= 0, "a gap of", model.gap_)
    require(len(model.estimators_) == len(model.weights_), "learners without weights")
    require(len(model.duals_) == case.n_rows, len(model.duals_), "duals of", case.n_rows, "rows")
    require(len({len(column) for column in model.history_.values()}) == 1, "columns of history_ differ in length")
    require_scores_of_learners(model, features)
    return answers


def require_scores_of_learners(model, features):
    """Scores are those that the learners make, each asked by itself."""
    ensemble = model.fitted_.ensemble
    raw = np.zeros(answers_shape(model, features)) + model.intercept_
    for weight, learner in zip(model.weights_, model.estimators_, strict=True):
        raw += weight * learner.vote(features)
    if ensemble.is_normalised:
        raw = raw / model.weights_.sum() if model.weights_.any() else np.zeros_like(raw) + ensemble.baseline
    scores = model.fitted_.scores(features)
    size = max(1.0, np.abs(raw).max(initial=0.0))
    rounding = (
        0.0 if ensemble.is_normalised else np.finfo(float).eps * len(model.weights_) * np.abs(model.weights_).sum()
    )
    require(
        np.allclose(raw, scores, atol=1e-6 * size + rounding),
        "scores are not those of the learners, weights and intercept",
    )


def answers_shape(model, features):
    n_outputs = model.fitted_.target.n_outputs
    return features.shape[0] if n_outputs == 1 else (features.shape[0], n_outputs)


def require_same(found, wanted, what):
    """Answers that are equal to the last bit."""
    require(found.keys() == wanted.keys(), what, "has other methods")
    for method, answer in wanted.items():
        require(np.array_equal(found[method], answer), what, "differs in", method)
