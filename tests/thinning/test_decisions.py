"""Ensembles are judged by the decisions that the model's own ``predict`` makes of raw scores."""

import lightgbm
import numpy as np
import pytest
import xgboost
from catboost import CatBoostClassifier
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier
from sklearn.model_selection import FixedThresholdClassifier

from dualboost import thin
from dualboost.errors import ThinningWarning, UnsupportedModelError
from dualboost.thinning import adapter_for
from dualboost.thinning.trials import read_rows

from .models import SEVERAL_CLASSES, TWO_CLASSES, names, numbers

CAT = {"iterations": 12, "depth": 3, "verbose": 0, "thread_count": 1, "allow_writing_files": False}
SMALL = {"n_estimators": 12, "max_depth": 3, "n_jobs": 1}


def xgb(**options):
    return xgboost.XGBClassifier(**SMALL, **options)


def lgb(**options):
    return lightgbm.LGBMClassifier(**SMALL, verbose=-1, **options)


def cat(**options):
    return CatBoostClassifier(**CAT, **options)


def raw_booster(X, y):
    params = {"objective": "binary:logitraw", "max_depth": 3, "nthread": 1}
    return xgboost.train(params, xgboost.DMatrix(X, y), 12)


def with_threshold(share, order=None):
    def fit(X, y):
        model = cat(class_names=order).fit(X, y)
        model.set_probability_threshold(share)
        return model

    return fit


def tied(n=400, seed=0):
    """A truth value, each with as many rows of either class where it is false."""
    X = np.arange(n) % 2
    return X[:, None].astype(float), (X | (np.arange(n) % 4 > 1)).astype(int)


CUT = {
    "xgboost, raw": (numbers, xgb(objective="binary:logitraw").fit),
    "xgboost, raw, forest": (
        numbers,
        xgboost.XGBRFClassifier(**SMALL, objective="binary:logitraw", base_score=0.9).fit,
    ),
    "xgboost, raw, booster": (numbers, raw_booster),
    "xgboost, regression": (numbers, xgb(objective="reg:logistic", base_score=0.8).fit),
    "lightgbm, entropy": (numbers, lgb(objective="cross_entropy").fit),
    "lightgbm, softmax of two": (numbers, lgb(objective="multiclass", num_class=2).fit),
    "catboost, 0.2": (numbers, with_threshold(0.2)),
    "catboost, 0.9": (names, with_threshold(0.9)),
    "catboost, 0": (numbers, with_threshold(0.0)),
    "catboost, 1": (numbers, with_threshold(1.0)),
    "catboost, entropy": (numbers, cat(loss_function="CrossEntropy").fit),
    "catboost, focal": (numbers, cat(loss_function="Focal:focal_alpha=0.3;focal_gamma=2").fit),
    "catboost, softmax of two": (numbers, cat(loss_function="MultiClass").fit),
    "catboost, an order of its own": (names, cat(class_names=["yes", "no"]).fit),
    "catboost, an order of its own, 0.3": (names, with_threshold(0.3, ["yes", "no"])),
    "catboost, softmax, an order of its own": (names, cat(class_names=["yes", "no"], loss_function="MultiClass").fit),
    "gradient boosting, ties": (tied, GradientBoostingClassifier(n_estimators=12, init="zero", max_depth=1).fit),
}
OF_TWO = {name: (case.data, case.fit) for name, case in TWO_CLASSES.items()}
OF_THREE = {f"{name}, three": (case.data, case.fit) for name, case in SEVERAL_CLASSES.items()}
MODELS = OF_TWO | OF_THREE | CUT
LEAST = 1e-6
"""A score nearer to a cut than this, and yet not on it, may be on either side in another precision."""


def predicted(model, X):
    """A booster knows no classes: what it predicts is cut at one half, as the library's own measures of errors do."""
    if isinstance(model, xgboost.Booster):
        found = model.predict(xgboost.DMatrix(X, enable_categorical=True))
        return found if found.max() > 1 and np.all(found == np.round(found)) else found > 0.5
    if isinstance(model, lightgbm.Booster):
        found = model.predict(X)
        return found.argmax(axis=1) if found.ndim > 1 else found > 0.5
    return np.ravel(model.predict(X))


@pytest.mark.parametrize("name", MODELS)
def test_decisions_are_those_of_predict(name):
    data, fit = MODELS[name]
    X, y = data()
    model = fit(X, y)
    if isinstance(model, list):  # which has no predict
        return
    adapter = adapter_for(model)
    rows = read_rows(adapter, X, y, None)
    differ = adapter.target.decode(rows.full_scores) != predicted(model, X)
    assert not (differ & is_clear(rows.full_scores, adapter.cut)).any()
    assert rows.full_quality == pytest.approx(np.mean(predicted(model, X) == y), abs=2 / len(y))


def is_clear(scores, cut):
    """Whether the decision does not hang on the last digits; a score on the cut does not."""
    if scores.ndim > 1:
        two = np.sort(scores, axis=1)[:, -2:]
        return np.abs(two[:, 1] - two[:, 0]) > LEAST
    return (np.abs(scores - cut) > LEAST) | (np.abs(scores - cut) < 1e-8)


@pytest.mark.parametrize("name", CUT)
def test_scores_told_are_those_of_the_model_and_of_the_smaller_one(name):
    data, fit = CUT[name]
    X, y = data()
    model = fit(X, y)
    result = thin(model, X, y, tolerance=0.05, validation_fraction=None)
    after = result.full_score if result.chosen is None else result.path["train_score"][result.chosen]
    for own, told in ((model, result.full_score), (result.model, after)):
        assert told == pytest.approx(np.mean(predicted(own, X) == y), abs=2 / len(y))
    figures = result.summary()
    assert figures["accuracy, rows given"] == pytest.approx((result.full_score, after), abs=2 / len(y))
    assert max(figures["log loss"]) < 1.5


def test_models_like_one_with_a_threshold_have_the_same_threshold():
    X, y = numbers()
    model = with_threshold(0.95)(X, y)
    with pytest.warns(ThinningWarning, match="predicts class 1 for no row"):  # few rows are above the threshold
        result = thin(model, X, y, tolerance=0.02, random_state=0)
    assert result.full_score == pytest.approx(model.score(X, y), abs=0.1)
    assert result.model.get_probability_threshold() == 0.95
    assert result.model.score(X, y) > result.full_score - 0.1


REFUSED = {
    "xgboost, hinge": (xgb(objective="binary:hinge").fit, "objective='binary:hinge' cannot be thinned"),
    "xgboost, squares": (xgb(objective="reg:squarederror").fit, "objective='reg:squarederror' cannot be thinned"),
    "xgboost, ranks": (xgb(objective="rank:pairwise").fit, "objective='rank:pairwise' cannot be thinned"),
    "xgboost, softmax of two": (
        xgb(objective="multi:softmax", num_class=2).fit,
        "objective='multi:softmax' cannot be thinned",
    ),
    "lightgbm, squares": (lgb(objective="regression").fit, "objective 'regression' cannot be thinned"),
    "lightgbm, lambda": (lgb(objective="cross_entropy_lambda").fit, "'cross_entropy_lambda' cannot be thinned"),
    "lightgbm, own": (
        lgb(objective=lambda y, raw: (1 / (1 + np.exp(-raw)) - y, np.full(len(y), 0.25))).fit,
        "objective 'a function of your own' cannot be thinned",
    ),
    "catboost, one versus all": (
        cat(loss_function="MultiClassOneVsAll").fit,
        "loss_function='MultiClassOneVsAll' and 2 classes cannot be thinned",
    ),
    "a threshold around a model": (
        FixedThresholdClassifier(RandomForestClassifier(5, random_state=0), threshold=0.3).fit,
        "FixedThresholdClassifier cannot be thinned.*pass its estimator_",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_other_decisions_are_refused_by_name(name):
    fit, words = REFUSED[name]
    X, y = numbers(200)
    with pytest.raises(UnsupportedModelError, match=words):
        thin(fit(X, y), X, y)
