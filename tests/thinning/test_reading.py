"""Models and data that cannot be used: each gets an error of ours with a remedy; tables, words and files that can."""

import lightgbm
import numpy as np
import pandas as pd
import pytest
import xgboost
from catboost import CatBoostClassifier, CatBoostRegressor
from scipy.special import softmax
from sklearn.datasets import load_iris
from sklearn.ensemble import (
    AdaBoostClassifier,
    AdaBoostRegressor,
    BaggingClassifier,
    BaggingRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
    VotingClassifier,
)
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from dualboost import DualBoostClassifier, DualBoostRegressor, load_model, thin
from dualboost.errors import InvalidDataError, InvalidParameterError, UnfittedModelError, UnsupportedModelError
from dualboost.formulations import QuantileLoss
from dualboost.thinning import ThinnedTreesClassifier, adapter_for
from dualboost.thinning.trials import read_rows

from ..numbers_to_learn import amounts
from ..several_classes import three_classes
from .models import (
    CAT,
    CAT1,
    CAT3,
    LGB,
    LGB1,
    LGB3,
    NUMBERS,
    SEVERAL_CLASSES,
    TWO_CLASSES,
    XGB1,
    XGB3,
    numbers,
    rare,
    table,
    wave,
    wine,
)

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


@pytest.mark.parametrize("name", [name for name in TWO_CLASSES if name != "dualboost"])
def test_other_columns(name):
    case = TWO_CLASSES[name]
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
    with pytest.raises(InvalidDataError, match=r"y holds 'yes', but the classes of the model are \[0, 1\]"):
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
    with pytest.raises(InvalidDataError, match="has the same output for all rows"):
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
    case = TWO_CLASSES[name]
    data, y = case.data()
    is_second = y == np.unique(y)[1]
    result = thin(case.fit(data, is_second), data, is_second[:, None], C=0.02)
    assert result.model.predict(data).dtype == bool
    assert np.mean(result.model.predict(data) == is_second) > 0.7


def test_rows_without_a_weight_take_no_part():
    data, y = table()
    fitted = TWO_CLASSES["lightgbm"].fit(data, y)
    weights = (np.arange(len(y)) < 300).astype(float)
    with_zeros = thin(fitted, data, y, sample_weight=weights, C=0.02)
    without = thin(fitted, data[:300], y[:300], C=0.02)
    np.testing.assert_allclose(with_zeros.weights, without.weights)


def pairs(estimator):
    X, y = wave()
    return estimator.fit(X, np.column_stack([y, -y]))


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (
            lambda: AdaBoostClassifier(n_estimators=3).fit(*wine()),
            "AdaBoostClassifier has 3 classes; models of this kind",
        ),
        (
            lambda: BaggingClassifier(LogisticRegression(max_iter=2000), 3).fit(*wine()),
            "its members are decision trees",
        ),
        (
            lambda: lightgbm.LGBMClassifier(**LGB3, objective="multiclassova").fit(*wine()),
            "objective 'multiclassova' cannot",
        ),
        (
            lambda: xgboost.XGBClassifier(**XGB3, multi_strategy="multi_output_tree").fit(*wine()),
            "multi_strategy='one_output_per_tree'",
        ),
        (
            lambda: CatBoostClassifier(**CAT3, loss_function="MultiClassOneVsAll").fit(*wine()),
            "loss_function='MultiClassOneVsAll' and 3 classes",
        ),
        (lambda: AdaBoostRegressor(n_estimators=3).fit(*wave()), "a weighted median.*These can: .*BaggingRegressor"),
        (lambda: LinearRegression().fit(*wave()), "LinearRegression cannot be thinned.*CatBoostRegressor"),
        (lambda: BaggingRegressor(LinearRegression(), 3).fit(*wave()), "decision trees; one is a LinearRegression"),
        (lambda: pairs(RandomForestRegressor(3, max_depth=2)), "predicts 2 numbers for each row"),
        (lambda: pairs(xgboost.XGBRegressor(**XGB1)), "predicts 2 numbers for each row"),
        (lambda: pairs(CatBoostRegressor(**CAT1, loss_function="MultiRMSE")), "predicts 2 numbers for each row"),
        (
            lambda: xgboost.XGBRegressor(**XGB1, objective="reg:quantileerror", quantile_alpha=0.9).fit(*wave()),
            "objective",
        ),
        (lambda: lightgbm.LGBMRegressor(**LGB1, objective="quantile").fit(*wave()), "objective 'quantile'.*regression"),
        (lambda: lightgbm.LGBMRegressor(**LGB1, reg_sqrt=True).fit(*wave()), "reg_sqrt=True cannot be thinned"),
        (lambda: CatBoostRegressor(**CAT1, loss_function="Quantile").fit(*wave()), "loss_function='Quantile'"),
        (lambda: GradientBoostingRegressor(loss="quantile", n_estimators=3).fit(*wave()), "loss='quantile'.*huber"),
        (lambda: GradientBoostingRegressor(init=LinearRegression()).fit(*wave()), "a DummyRegressor can be thinned"),
        (
            lambda: DualBoostRegressor(QuantileLoss(quantiles=0.9), C=5.0, max_trees=2).fit(*wave()),
            "loss='quantile'.*squared",
        ),
        (
            lambda: DualBoostRegressor("quantile", C=5.0, quantiles=[0.1, 0.9], max_trees=2).fit(*wave()),
            "loss='quantile' cannot be thinned.*squared",
        ),
        (lambda: RandomForestRegressor(2, random_state=0).fit(*wave(2500)), "more than 1024 different leaves"),
        (
            lambda: xgboost.XGBRegressor(n_estimators=3).fit(np.ones((300, 4)), wave()[1]),
            "thinned: no tree has a split, so that every row",
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "made",
)
def test_several_classes_and_numbers_that_cannot_be_thinned(make, words):
    model = make()
    with pytest.raises(UnsupportedModelError, match=f"(?s){words}"):
        thin(model, *(wine() if hasattr(model, "predict_proba") else wave(2500)))


@pytest.mark.parametrize(
    "given", [{"method": "imitate"}, {"method": "reweight"}, {"formulation": "lp"}, {"C": 1.0}, {"epsilon": 0.1}]
)
@pytest.mark.parametrize(
    ("model", "words"),
    [(SEVERAL_CLASSES["lightgbm"], "a score for each of 3"), (NUMBERS["gradient boosting"], "predicts numbers")],
    ids=["classes", "numbers"],
)
def test_new_weights_take_two_classes(model, words, given):
    given = given | ({"formulation": "erlp"} if "epsilon" in given else {})
    name, value = next((name, given[name]) for name in ("method", "formulation", "C") if name in given)
    with pytest.raises(InvalidParameterError, match=rf"{name}={value!r} is for new weights.*{words}.*method='refit'"):
        thin(model.fit(*model.data()), *model.data(), **given)


def test_labels_and_columns_of_several_classes_that_do_not_fit():
    (X, Y), (X_NEW, Y_NEW) = wine(), wine(seed=1)
    model = SEVERAL_CLASSES["random forest"].fit(X, Y)
    with pytest.raises(InvalidDataError, match="but the classes of the model are"):
        thin(model, X, Y + 7)
    with pytest.raises(InvalidDataError, match="X has 12 columns"):
        thin(model, X[:, 1:], Y)
    with pytest.raises(UnsupportedModelError, match="y holds one class only"):
        thin(model, X[Y == 1], Y[Y == 1])
    with pytest.raises(InvalidDataError, match="In validation_data: "):
        thin(model, X, Y, validation_data=(X_NEW, pd.Series(Y_NEW[:-1])))


def test_numbers_and_arguments_that_do_not_fit():
    X, Y = wave()
    boosted = NUMBERS["gradient boosting"].fit(X, Y)
    with pytest.raises(UnfittedModelError, match="not fitted"):
        thin(xgboost.XGBRegressor(), X, Y)
    with pytest.raises(InvalidDataError, match="In validation_data: y is nan in row 0"):
        thin(boosted, X, Y, validation_data=(X[:2], [np.nan, 1.0]))
    with pytest.raises(InvalidDataError, match="every row needs a number"):
        thin(boosted, X, pd.Series(["a"] * len(Y)))
    with pytest.raises(UnsupportedModelError, match="y is the same number in all rows"):
        thin(boosted, X, np.ones(len(Y)))
    for unit in (1e-200, 1e200):
        with pytest.raises(InvalidDataError, match=r"y has numbers of size .* train the model on y in a unit"):
            thin(boosted, X, Y * unit)
    with pytest.raises(InvalidParameterError, match="scoring='accuracy' is for classes"):
        thin(boosted, X, Y, scoring="accuracy")
    with pytest.raises(InvalidParameterError, match=r"tolerance=1.5 must be a loss of R² of at least 0"):
        thin(boosted, X, Y, tolerance=1.5)
    with pytest.raises(InvalidDataError, match="negative number"):
        thin(HistGradientBoostingRegressor(loss="poisson", max_iter=3).fit(*rare()), X, -Y)


def test_iris_in_a_frame_with_names():
    frame = load_iris(as_frame=True)
    model = HistGradientBoostingClassifier(max_iter=10, max_leaf_nodes=4, random_state=0).fit(frame.data, frame.target)
    result = thin(model, frame.data, frame.target, tolerance=0.1, validation_fraction=0.3, random_state=0)
    assert result.model.score(frame.data, frame.target) > 0.85
    assert list(result.model.feature_names_in_) == list(frame.data.columns)


@pytest.mark.parametrize(
    ("estimator", "data"),
    [
        (xgboost.XGBClassifier(**XGB3, enable_categorical=True), three_classes),
        (lightgbm.LGBMClassifier(**LGB3), three_classes),
        (
            HistGradientBoostingClassifier(max_iter=10, categorical_features="from_dtype", random_state=0),
            three_classes,
        ),
        (DualBoostClassifier(max_trees=8), three_classes),
        (xgboost.XGBRegressor(**XGB1, enable_categorical=True), amounts),
        (lightgbm.LGBMRegressor(**LGB1), amounts),
        (
            HistGradientBoostingRegressor(max_iter=20, max_leaf_nodes=6, categorical_features="from_dtype"),
            amounts,
        ),
        (DualBoostRegressor(max_trees=8), amounts),
    ],
    ids=lambda value: type(value).__name__,
)
def test_gaps_and_categories(estimator, data):
    (X, y), (X_new, y_new) = data(), data(seed=1)
    model, is_regressor = estimator.fit(X, y), data is amounts
    result = thin(model, X, y, tolerance=0.02 if is_regressor else 0.1, validation_data=(X_new, y_new))
    rows = read_rows(adapter_for(model), X_new, y_new, None)
    if is_regressor:
        expected = rows.scores(result.kept, result.leaves, result.intercept)
        np.testing.assert_allclose(result.model.predict(X_new), expected, rtol=1e-6)
        return
    expected = rows.link.expected(rows.weighted_scores(result.kept, result.weights, result.intercept))
    if result.leaves is not None:
        expected = softmax(rows.scores(result.kept, result.leaves, result.intercept), axis=1)
    np.testing.assert_allclose(result.model.predict_proba(X_new), expected, atol=1e-6)


def test_trees_of_ours_are_saved(tmp_path):
    words = np.array(["red", "rosé", "white"])
    (X, Y), (X_NEW, Y_NEW) = wine(), wine(seed=1)
    model = SEVERAL_CLASSES["random forest"].fit(X, words[Y])
    result = thin(model, X, words[Y], tolerance=0.05, validation_data=(X_NEW, words[Y_NEW]))
    assert isinstance(result.model, ThinnedTreesClassifier)
    result.model.save(tmp_path / "small.json")
    loaded = load_model(tmp_path / "small.json")
    np.testing.assert_array_equal(loaded.predict_proba(X_NEW), result.model.predict_proba(X_NEW))
    np.testing.assert_array_equal(loaded.predict(X_NEW), result.model.predict(X_NEW))
    raw = result.model.booster_.predict(X_NEW, raw_score=True)
    np.testing.assert_allclose(raw, result.model.decision_function(X_NEW), atol=1e-9)


def test_files_of_the_libraries(tmp_path):
    (X, Y), (X_NEW, Y_NEW) = wine(), wine(seed=1)
    boosted, light = (SEVERAL_CLASSES[name].fit(X, Y) for name in ("xgboost", "lightgbm"))
    for model in (boosted, light):
        small = thin(model, X, Y, tolerance=0.1, validation_data=(X_NEW, Y_NEW)).model
        booster = small.get_booster() if model is boosted else small.booster_
        booster.save_model(str(tmp_path / "model.json"))
        if model is boosted:
            loaded = xgboost.XGBClassifier()
            loaded.load_model(tmp_path / "model.json")
        else:
            loaded = lightgbm.Booster(model_file=tmp_path / "model.json")
        found = loaded.predict_proba(X_NEW) if model is boosted else loaded.predict(X_NEW)
        np.testing.assert_allclose(found, small.predict_proba(X_NEW), atol=1e-7)


def test_text_of_catboost_and_files_of_the_libraries(tmp_path):
    frame, y = amounts()
    text = frame.assign(colour=frame["colour"].astype(object).fillna("none").astype(str))
    model = CatBoostRegressor(**CAT1, cat_features=["colour"]).fit(text, y)
    small = thin(model, text, y, tolerance=0.05, validation_fraction=0.3, random_state=0).model
    small.save_model(str(tmp_path / "small.cbm"))
    loaded = CatBoostRegressor().load_model(str(tmp_path / "small.cbm"))
    np.testing.assert_allclose(loaded.predict(text), small.predict(text))
    ours = thin(DualBoostRegressor(max_trees=8).fit(frame, y), frame, y, tolerance=0.05, validation_fraction=0.3).model
    ours.save(tmp_path / "ours.json")
    np.testing.assert_array_equal(load_model(tmp_path / "ours.json").predict(frame), ours.predict(frame))
