"""Models and data that cannot be used: each gets an error of ours that says what to do."""

import lightgbm
import numpy as np
import pandas as pd
import pytest
import xgboost
from catboost import CatBoostClassifier
from sklearn.ensemble import (
    AdaBoostClassifier,
    AdaBoostRegressor,
    BaggingClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
    VotingClassifier,
)
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from dualboost import DualBoostClassifier, thin
from dualboost.errors import InvalidDataError, UnfittedModelError, UnsupportedModelError

from .models import CASES, CAT, LGB, numbers, table

X, Y = numbers(n=200)
THREE = np.arange(200) % 3

CLASSIFIERS = [
    AdaBoostClassifier(n_estimators=3),
    RandomForestClassifier(3),
    BaggingClassifier(n_estimators=3),
    GradientBoostingClassifier(n_estimators=3),
    HistGradientBoostingClassifier(max_iter=3),
    xgboost.XGBClassifier(n_estimators=3),
    lightgbm.LGBMClassifier(**(LGB | {"n_estimators": 3})),
    CatBoostClassifier(**(CAT | {"iterations": 3})),
]


@pytest.mark.parametrize(
    "estimator", [*CLASSIFIERS, DualBoostClassifier(), [LogisticRegression()]], ids=lambda model: type(model).__name__
)
def test_a_model_that_is_not_fitted(estimator):
    with pytest.raises(UnfittedModelError, match="not fitted"):
        thin(estimator, X, Y)


def test_three_classes():
    fitted = [DecisionTreeClassifier(max_depth=2, random_state=k).fit(X, THREE) for k in range(3)]
    with pytest.raises(UnsupportedModelError, match=r"two classes"):
        thin(fitted, X, THREE)


@pytest.mark.parametrize(
    "regressor",
    [
        AdaBoostRegressor(n_estimators=3).fit(X, X[:, 0]),
        LinearRegression().fit(X, X[:, 0]),
        xgboost.XGBRanker(n_estimators=3).fit(X, Y, qid=np.zeros(200)),
        LogisticRegression().fit(X, Y),
        RandomForestClassifier,
        "model.json",
    ],
    ids=lambda model: type(model).__name__,
)
def test_a_model_of_another_kind(regressor):
    with pytest.raises(UnsupportedModelError, match=r"cannot be thinned|objective"):
        thin(regressor, X, Y)


@pytest.mark.parametrize("name", [name for name in CASES if name != "dualboost"])
def test_other_columns(name):
    case = CASES[name]
    data, y = case.data()
    fitted = case.fit(data, y)
    if isinstance(data, pd.DataFrame):
        with pytest.raises(InvalidDataError, match="'b' where the model was trained on 'a'"):
            thin(fitted, data[["b", "a", *data.columns[2:]]], y)
        data = data.drop(columns="b")
    else:
        data = data[:, :3]
    with pytest.raises(InvalidDataError, match=r"X has \d columns, but the model was trained on \d"):
        thin(fitted, data, y)


def test_labels_that_the_model_does_not_know():
    fitted = RandomForestClassifier(3, random_state=0).fit(X, Y)
    with pytest.raises(InvalidDataError, match=r"y holds 'yes', but the model knows the classes \[0, 1\]"):
        thin(fitted, X, np.where(Y == 1, "yes", "no"))
    with pytest.raises(InvalidDataError, match="y has shape"):
        thin(fitted, X, Y[:-1])
    with pytest.raises(InvalidDataError, match="X of type ndarray and shape"):
        thin(fitted, X[0], Y)
    with pytest.raises(InvalidDataError, match="X of type DMatrix"):
        thin(fitted, xgboost.DMatrix(X), Y)
    with pytest.raises(InvalidDataError, match="In validation_data: X has no rows"):
        thin(fitted, X, Y, validation_data=(X[:0], Y[:0]))
    with pytest.raises(InvalidDataError, match="In validation_data: y has shape"):
        thin(fitted, X, Y, validation_data=(X, Y[:5]))


def test_data_that_the_model_cannot_predict_on():
    fitted = AdaBoostClassifier(n_estimators=3).fit(X, Y)
    broken = X.astype(object)
    broken[0, 0] = "text"
    with pytest.raises(InvalidDataError, match="cannot predict on X"):
        thin(fitted, broken, Y)


def test_a_model_that_says_the_same_of_every_row():
    fitted = xgboost.XGBClassifier(n_estimators=3, gamma=1e9).fit(X, Y)
    with pytest.raises(InvalidDataError, match="says the same of all rows"):
        thin(fitted, X, Y)


def test_too_few_rows_to_hold_out():
    fitted = RandomForestClassifier(3, max_depth=1, random_state=0).fit(X, Y)
    few = [0, 1, *np.flatnonzero(fitted.predict(X) != Y)[:1]]
    with pytest.raises(InvalidDataError, match="validation_fraction"):
        thin(fitted, X[few], Y[few])


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (xgboost.XGBClassifier(booster="gblinear", n_estimators=3).fit(X, Y), "no trees"),
        (xgboost.XGBClassifier(objective="binary:hinge", n_estimators=3).fit(X, Y), "binary:hinge"),
        (lightgbm.LGBMClassifier(**LGB, linear_tree=True).fit(X, Y), "linear_tree"),
        (GradientBoostingClassifier(n_estimators=3, init=LogisticRegression()).fit(X, Y), "init="),
        ([], "empty list"),
        ([LogisticRegression().fit(X, Y), "text"], r"model\[1\]"),
        ([DecisionTreeClassifier().fit(X, Y), DecisionTreeClassifier().fit(X, Y + 1)], "same two"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_kinds_that_cannot_be_rewritten(model, message):
    with pytest.raises(UnsupportedModelError, match=message):
        thin(model, X, Y)


@pytest.mark.parametrize(
    ("model", "hint"),
    [
        (RandomForestClassifier, "it is a class"),
        (GridSearchCV(DecisionTreeClassifier(), {"max_depth": [1]}, cv=2).fit(X, Y), "best_estimator_"),
        (make_pipeline(StandardScaler(), RandomForestClassifier(3)).fit(X, Y), "last step"),
        (VotingClassifier([("tree", DecisionTreeClassifier())]).fit(X, Y), "list of its members"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_hints_at_what_was_meant(model, hint):
    with pytest.raises(UnsupportedModelError, match=hint):
        thin(model, X, Y)


@pytest.mark.parametrize("name", ["adaboost", "random forest", "bagged trees", "gradient boosting", "classifiers"])
def test_labels_that_are_booleans_in_a_column(name):
    case = CASES[name]
    data, y = case.data()
    is_second = y == np.unique(y)[1]
    result = thin(case.fit(data, is_second), data, is_second[:, None], C=0.02)
    assert result.model.predict(data).dtype == bool
    assert np.mean(result.model.predict(data) == is_second) > 0.7


def test_rows_without_a_weight_take_no_part():
    data, y = table()
    fitted = CASES["lightgbm"].fit(data, y)
    weights = (np.arange(len(y)) < 300).astype(float)
    with_zeros = thin(fitted, data, y, sample_weight=weights, C=0.02)
    without = thin(fitted, data[:300], y[:300], C=0.02)
    np.testing.assert_allclose(with_zeros.weights, without.weights)
