"""One table of models that ``thin`` takes: two classes, several classes and numbers of every library."""

import copy
import pickle
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import lightgbm
import numpy as np
import pandas as pd
import xgboost
from catboost import CatBoostClassifier, CatBoostRegressor
from sklearn.datasets import load_wine
from sklearn.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    BaggingRegressor,
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
    VotingClassifier,
)
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from dualboost import DualBoostClassifier, DualBoostRegressor, DualBoostRegressorCV
from dualboost.thinning import ThinnedTreesClassifier

N_TREES = 25
COLOURS = list("uvwxyz")


def numbers(n=400, seed=0, missing=False):
    """Numeric features, some of them missing if asked for, and a noisy label."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 5)).round(2)
    y = (X[:, 0] + np.abs(X[:, 1]) - 0.5 + 0.5 * rng.normal(size=n) > 0).astype(int)
    if missing:
        X[rng.random(X.shape) < 0.1] = np.nan
    return X, y


def truths(n=400, seed=0):
    """Booleans, with and without gaps, and a number between 0 and 1, which is none."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame({"member": rng.random(n) < 0.5, "asked": rng.random(n) < 0.3, "share": rng.random(n)})
    X["asked"] = X["asked"].astype("boolean").mask(rng.random(n) < 0.2)
    agrees = (X["share"] > 0.7) ^ X["asked"].fillna(True).astype(bool)
    return X, (agrees & (X["member"] | (rng.random(n) < 0.3))).to_numpy().astype(int)


def table(n=400, seed=0):
    """Numbers with gaps and a category with gaps, both of which decide the label."""
    rng = np.random.default_rng(seed)
    X, _ = numbers(n, seed)
    colour = rng.choice(COLOURS, n)
    y = (X[:, 0] + 2.0 * np.isin(colour, ["u", "x"]) - 1.0 + 0.3 * rng.normal(size=n) > 0).astype(int)
    frame = pd.DataFrame(X, columns=["a", "b", "c", "d", "e"])
    frame[rng.random(frame.shape) < 0.1] = np.nan
    frame["colour"] = pd.Categorical(np.where(rng.random(n) < 0.05, None, colour), categories=COLOURS)
    return frame, y


def text_table(n=400, seed=0):
    """The same with the category as text, as CatBoost reads it."""
    X, y = table(n, seed)
    return X.assign(colour=X["colour"].astype(object).fillna("none").astype(str)), y


def with_gaps(n=400, seed=0):
    return numbers(n, seed, missing=True)


def names(n=400, seed=0):
    """Labels that are words."""
    X, y = numbers(n, seed)
    return X, np.where(y == 1, "yes", "no")


def wine(n=None, seed=0):
    """Three classes: every second row, or the other rows for another seed."""
    X, y = load_wine(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(y))[int(seed > 0) :: 2]
    return X[order], y[order]


def wave(n=300, seed=0):
    """Numeric features, and numbers far from zero."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4)).round(2)
    return X, 1000.0 + 30.0 * (np.sin(2.0 * X[:, 0]) + np.abs(X[:, 1]) + 0.3 * rng.normal(size=n))


def gaps(n=300, seed=0):
    """The same with missing values."""
    X, y = wave(n, seed)
    X[np.random.default_rng(seed + 1).random(X.shape) < 0.1] = np.nan
    return X, y


def rare(n=300, seed=0):
    """Counts."""
    X, y = wave(n, seed)
    return X, np.random.default_rng(seed + 1).poisson(np.exp((y - 1000.0) / 30.0)).astype(float)


def _pickled(model, path):
    with open(path, "wb") as file:
        pickle.dump(model, file)


UNPICKLE = "import pickle; model = pickle.load(open(path, 'rb'))"


@dataclass(frozen=True)
class Case:
    """``load`` is Python that defines ``model`` from ``path``; ``answer`` is an expression for its predictions."""

    data: Callable[..., tuple[Any, Any]]
    fit: Callable[[Any, Any], Any]
    result: type
    save: Callable[[Any, str], None] = _pickled
    load: str = UNPICKLE
    answer: str = "model.predict_proba(X)"


XGB = {"n_estimators": N_TREES, "max_depth": 3, "n_jobs": 1, "enable_categorical": True}
LGB = {"n_estimators": N_TREES, "num_leaves": 6, "n_jobs": 1, "verbose": -1}
CAT = {"iterations": N_TREES, "depth": 3, "verbose": 0, "thread_count": 1, "allow_writing_files": False}
STUMP = DecisionTreeClassifier(max_depth=1)
XGB3 = {"n_estimators": 12, "max_depth": 2, "learning_rate": 0.5, "n_jobs": 1}
LGB3 = {"n_estimators": 12, "num_leaves": 5, "min_child_samples": 5, "n_jobs": 1, "verbose": -1}
CAT3 = CAT | {"iterations": 15}
XGB1 = {"n_estimators": 20, "max_depth": 3, "n_jobs": 1}
LGB1 = {"n_estimators": 20, "num_leaves": 6, "n_jobs": 1, "verbose": -1}
CAT1 = CAT | {"iterations": 20}
OURS = {"max_trees": 8, "max_depth": 3}


def _in_files(ending, load):
    return {"save": lambda model, path: model.save_model(path + ending), "load": f"path += '{ending}'; {load}"}


LOAD_XGB = "import xgboost; model = xgboost.XGBClassifier(); model.load_model(path)"
XGB_BOOSTER = _in_files(".json", "import xgboost; model = xgboost.Booster(model_file=path)")
XGB_BOOSTER |= {"answer": "model.predict(xgboost.DMatrix(X, enable_categorical=True))"}
LGB_BOOSTER = _in_files("", "import lightgbm; model = lightgbm.Booster(model_file=path)") | {
    "answer": "model.predict(X)"
}
CAT_FILE = _in_files("", "import catboost; model = catboost.CatBoostClassifier().load_model(path)")


def _on(data, estimator, result=None, **files):
    return Case(data, lambda X, y: copy.deepcopy(estimator).fit(X, y), result or type(estimator), **files)


def _early_stopped_xgb(estimator, first, second):
    """Trained on some rows, and stopped by others."""
    return lambda X, y: copy.deepcopy(estimator).fit(
        X[first], y[first], eval_set=[(X[second], y[second])], verbose=False
    )


def _early_stopped_lgb(X, y):
    model = lightgbm.LGBMClassifier(**(LGB | {"n_estimators": 80, "learning_rate": 0.5}))
    stop = lightgbm.early_stopping(2, verbose=False)
    return model.fit(X[:250], y[:250], eval_set=[(X[250:], y[250:])], callbacks=[stop])


def _xgb_booster(data, rounds, files=None, **params):
    def fit(X, y):
        rows = xgboost.DMatrix(X, y, enable_categorical=True)
        return xgboost.train({"max_depth": 3, "nthread": 1} | params, rows, num_boost_round=rounds)

    return Case(data, fit, xgboost.Booster, **(files or {}))


def _lgb_booster(data, rounds, files=None, **params):
    def fit(X, y):
        params_of_all = {"num_leaves": 6, "verbose": -1, "num_threads": 1}
        return lightgbm.train(params_of_all | params, lightgbm.Dataset(X, y), num_boost_round=rounds)

    return Case(data, fit, lightgbm.Booster, **(files or {}))


def _classifiers(X, y):
    trees = [DecisionTreeClassifier(max_depth=3, max_features=2, random_state=k).fit(X, y) for k in range(10)]
    return [*trees, LogisticRegression().fit(X, y), GaussianNB().fit(X, y), LinearSVC().fit(X, y)]


FIRST, REST = slice(None, 250), slice(250, None)
EVEN, ODD = slice(None, None, 2), slice(1, None, 2)
QUICK = {"n_estimators": 60, "learning_rate": 0.5, "early_stopping_rounds": 2}

TWO_CLASSES = {
    "adaboost": _on(numbers, AdaBoostClassifier(STUMP, n_estimators=N_TREES, random_state=0)),
    "adaboost, words": _on(names, AdaBoostClassifier(STUMP, n_estimators=N_TREES, random_state=0)),
    "random forest": _on(with_gaps, RandomForestClassifier(N_TREES, max_depth=4, random_state=0)),
    "extra trees": _on(names, ExtraTreesClassifier(N_TREES, max_depth=4, random_state=0)),
    "bagged trees": _on(
        with_gaps, BaggingClassifier(DecisionTreeClassifier(max_depth=3), N_TREES, max_features=0.6, random_state=0)
    ),
    "bagged regressions": _on(names, BaggingClassifier(LogisticRegression(), 8, max_features=0.5, random_state=0)),
    "bagged votes": _on(numbers, BaggingClassifier(LinearSVC(), 8, max_features=0.5, random_state=0)),
    "gradient boosting": _on(numbers, GradientBoostingClassifier(n_estimators=N_TREES, random_state=0)),
    "gradient boosting, exponential": _on(
        names, GradientBoostingClassifier(n_estimators=N_TREES, loss="exponential", init="zero", random_state=0)
    ),
    "hist gradient boosting": _on(
        table, HistGradientBoostingClassifier(max_iter=N_TREES, max_leaf_nodes=6), ThinnedTreesClassifier
    ),
    "hist gradient boosting, array": _on(
        with_gaps, HistGradientBoostingClassifier(max_iter=N_TREES, max_leaf_nodes=6), ThinnedTreesClassifier
    ),
    "xgboost": _on(table, xgboost.XGBClassifier(**XGB), **_in_files(".json", LOAD_XGB)),
    "xgboost, pickled": _on(with_gaps, xgboost.XGBClassifier(**XGB, num_parallel_tree=2, subsample=0.5)),
    "xgboost, stopped early": Case(
        table,
        _early_stopped_xgb(xgboost.XGBClassifier(**XGB | QUICK), FIRST, REST),
        xgboost.XGBClassifier,
        **_in_files(".ubj", LOAD_XGB),
    ),
    "xgboost, dart": _on(with_gaps, xgboost.XGBClassifier(**XGB, booster="dart", rate_drop=0.3, random_state=0)),
    "xgboost booster": _xgb_booster(table, N_TREES, XGB_BOOSTER, objective="binary:logistic", base_score=0.2),
    "lightgbm": _on(table, lightgbm.LGBMClassifier(**LGB)),
    "lightgbm, stopped early": Case(table, _early_stopped_lgb, lightgbm.LGBMClassifier),
    "lightgbm, dart": _on(names, lightgbm.LGBMClassifier(**LGB, boosting_type="dart", drop_rate=0.3)),
    "lightgbm, forest": _on(
        with_gaps, lightgbm.LGBMClassifier(**LGB, boosting_type="rf", subsample=0.7, subsample_freq=1)
    ),
    "lightgbm booster": _lgb_booster(table, N_TREES, LGB_BOOSTER, objective="binary", sigmoid=1.7),
    "catboost": _on(text_table, CatBoostClassifier(**CAT, cat_features=["colour"]), **CAT_FILE),
    "catboost, lossguide": _on(with_gaps, CatBoostClassifier(**CAT, grow_policy="Lossguide"), **CAT_FILE),
    "catboost, words": _on(names, CatBoostClassifier(**CAT), **CAT_FILE),
    "classifiers": Case(names, _classifiers, VotingClassifier),
    "dualboost": _on(table, DualBoostClassifier("qrlp", max_depth=2, max_trees=N_TREES)),
}

SEVERAL_CLASSES = {
    "xgboost": _on(wine, xgboost.XGBClassifier(**XGB3)),
    "xgboost, parallel trees": _on(wine, xgboost.XGBClassifier(**XGB3, num_parallel_tree=2, subsample=0.7)),
    "xgboost, dart": _on(wine, xgboost.XGBClassifier(**XGB3, booster="dart", rate_drop=0.3)),
    "xgboost, stopped early": Case(
        wine, _early_stopped_xgb(xgboost.XGBClassifier(**XGB3 | QUICK), EVEN, ODD), xgboost.XGBClassifier
    ),
    "xgboost booster": _xgb_booster(wine, 8, objective="multi:softmax", num_class=3, max_depth=2, base_score=0.3),
    "lightgbm": _on(wine, lightgbm.LGBMClassifier(**LGB3)),
    "lightgbm, forest": _on(
        wine, lightgbm.LGBMClassifier(**LGB3, boosting_type="rf", bagging_fraction=0.5, bagging_freq=1)
    ),
    "lightgbm booster": _lgb_booster(wine, 8, objective="multiclass", num_class=3, num_leaves=4),
    "catboost": _on(wine, CatBoostClassifier(**CAT3)),
    "catboost, depthwise": _on(wine, CatBoostClassifier(**CAT3, grow_policy="Depthwise")),
    "catboost, lossguide": _on(wine, CatBoostClassifier(**CAT3, grow_policy="Lossguide", max_leaves=9)),
    "random forest": _on(wine, RandomForestClassifier(12, max_depth=4, random_state=0)),
    "extra trees": _on(wine, ExtraTreesClassifier(12, max_depth=4, random_state=0)),
    "bagging": _on(wine, BaggingClassifier(DecisionTreeClassifier(max_depth=4), 12, max_features=0.5, random_state=0)),
    "gradient boosting": _on(wine, GradientBoostingClassifier(n_estimators=10, max_depth=2, random_state=0)),
    "hist gradient boosting": _on(wine, HistGradientBoostingClassifier(max_iter=10, max_leaf_nodes=5, random_state=0)),
    "ours": _on(wine, DualBoostClassifier(max_trees=10, max_depth=2)),
}

NUMBERS = {
    "xgboost": _on(gaps, xgboost.XGBRegressor(**XGB1)),
    "xgboost, parallel trees": _on(wave, xgboost.XGBRegressor(**XGB1, num_parallel_tree=2, subsample=0.5)),
    "xgboost, forest": _on(wave, xgboost.XGBRFRegressor(**XGB1, random_state=0)),
    "xgboost, dart": _on(wave, xgboost.XGBRegressor(**XGB1, booster="dart", rate_drop=0.3, random_state=0)),
    "xgboost, stopped early": Case(
        wave, _early_stopped_xgb(xgboost.XGBRegressor(**XGB1 | QUICK), EVEN, ODD), xgboost.XGBRegressor
    ),
    "xgboost, medians": _on(wave, xgboost.XGBRegressor(**XGB1, objective="reg:absoluteerror")),
    "xgboost, counts": _on(rare, xgboost.XGBRegressor(**XGB1, objective="count:poisson")),
    "xgboost booster": _xgb_booster(gaps, 20, objective="reg:squarederror", base_score=900.0),
    "lightgbm": _on(gaps, lightgbm.LGBMRegressor(**LGB1)),
    "lightgbm, forest": _on(
        wave, lightgbm.LGBMRegressor(**LGB1, boosting_type="rf", bagging_fraction=0.7, bagging_freq=1, random_state=0)
    ),
    "lightgbm, counts": _on(rare, lightgbm.LGBMRegressor(**LGB1, objective="poisson")),
    "lightgbm booster": _lgb_booster(gaps, 20, objective="regression"),
    "catboost": _on(gaps, CatBoostRegressor(**CAT1)),
    "catboost, lossguide": _on(wave, CatBoostRegressor(**CAT1, grow_policy="Lossguide")),
    "catboost, counts": _on(rare, CatBoostRegressor(**CAT1, loss_function="Poisson", learning_rate=0.3)),
    "random forest": _on(gaps, RandomForestRegressor(15, max_depth=4, random_state=0)),
    "extra trees": _on(wave, ExtraTreesRegressor(15, max_depth=4, random_state=0)),
    "bagging": _on(wave, BaggingRegressor(DecisionTreeRegressor(max_depth=4), 15, max_features=0.6, random_state=0)),
    "gradient boosting": _on(wave, GradientBoostingRegressor(n_estimators=20, max_depth=2, random_state=0)),
    "gradient boosting, from zero": _on(
        wave, GradientBoostingRegressor(n_estimators=20, loss="huber", init="zero", learning_rate=0.3, random_state=0)
    ),
    "hist gradient boosting": _on(gaps, HistGradientBoostingRegressor(max_iter=20, max_leaf_nodes=6)),
    "hist gradient boosting, counts": _on(
        rare, HistGradientBoostingRegressor(max_iter=20, max_leaf_nodes=6, loss="poisson")
    ),
    "ours": _on(gaps, DualBoostRegressor(**OURS)),
    "ours, tuned": _on(wave, DualBoostRegressorCV(Cs=2, **OURS)),
    "ours, counts": _on(rare, DualBoostRegressor("poisson", **OURS)),
    "ours, weights": _on(wave, DualBoostRegressor("absolute", optimize="weights", C=20.0, **OURS)),
}

CASES = {
    **TWO_CLASSES,
    **{f"{name}, three": case for name, case in SEVERAL_CLASSES.items()},
    **{f"{name}, numbers": case for name, case in NUMBERS.items()},
}
FEW = (
    *TWO_CLASSES,
    *(
        f"{name}, three"
        for name in (
            *("xgboost", "xgboost, parallel trees", "lightgbm", "catboost, lossguide", "random forest"),
            *("hist gradient boosting", "ours"),
        )
    ),
    *(
        f"{name}, numbers"
        for name in (
            *("xgboost", "xgboost booster", "xgboost, dart", "lightgbm", "lightgbm, forest", "lightgbm booster"),
            *("catboost", "catboost, counts", "random forest", "bagging", "gradient boosting, from zero"),
            *("hist gradient boosting, counts", "ours", "ours, tuned", "ours, counts"),
        )
    ),
)
