"""Models with a monotone constraint keep it when they are thinned, or are refused."""

import lightgbm
import numpy as np
import pandas as pd
import pytest
import xgboost
from catboost import CatBoostClassifier
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier

from dualboost import DualBoostClassifier, thin
from dualboost.errors import UnsupportedModelError
from dualboost.thinning.thin import is_ordered

RNG = np.random.default_rng(0)
X = RNG.normal(size=(400, 3))
SCORE = X[:, 0] + np.sin(3 * X[:, 1]) + RNG.normal(size=400)
Y = (SCORE > 0).astype(int)
SIZE = {"max_depth": 3, "n_estimators": 25}

ORDERED = {
    "XGBoost": lambda: xgboost.XGBClassifier(**SIZE, monotone_constraints=(1, 0, 0)),
    "XGBoost, as text": lambda: xgboost.XGBClassifier(**SIZE, monotone_constraints="(1,0,0)"),
    "LightGBM": lambda: lightgbm.LGBMClassifier(**SIZE, monotone_constraints=[1, 0, 0], verbose=-1),
    "scikit-learn": lambda: HistGradientBoostingClassifier(max_iter=25, max_depth=3, monotonic_cst=[1, 0, 0]),
    "ours": lambda: DualBoostClassifier(max_depth=2, max_trees=10, monotonic_cst=[1, 0, 0]),
}


def falls(model, names=None):
    """By how much probabilities fall where the first feature rises."""
    grid = np.repeat(RNG.normal(size=(200, 3)), 40, axis=0)
    grid[:, 0] = np.tile(np.linspace(-3, 3, 40), 200)
    rows = grid if names is None else pd.DataFrame(grid, columns=names)
    steps = np.diff(model.predict_proba(rows)[:, 1].reshape(200, 40), axis=1)
    return float(max(-steps.min(), 0.0))


@pytest.mark.parametrize("name", ORDERED)
def test_what_rises_goes_on_rising(name):
    model = ORDERED[name]().fit(X, Y)
    assert is_ordered(model)
    assert falls(thin(model, X, Y, tolerance=0.02, validation_data=(X, Y)).model) <= 1e-6


def test_what_rises_by_name_goes_on_rising():
    table = pd.DataFrame(X, columns=list("abc"))
    model = xgboost.XGBClassifier(**SIZE, monotone_constraints={"a": 1}).fit(table, Y)
    thinned = thin(model, table, Y, tolerance=0.02, validation_data=(table, Y)).model
    assert thinned.get_params()["monotone_constraints"] == {"a": 1}
    assert falls(thinned, names=list("abc")) <= 1e-6


def test_numbers_are_refused():
    model = xgboost.XGBRegressor(**SIZE, monotone_constraints=(1, 0, 0)).fit(X, SCORE)
    with pytest.raises(UnsupportedModelError, match="monotone constraint"):
        thin(model, X, SCORE)


def test_boosters_know_it_too():
    rows = lightgbm.Dataset(X, Y, free_raw_data=False)
    options = {"objective": "binary", "verbose": -1}
    assert is_ordered(lightgbm.train(options | {"monotone_constraints": [1, 0, 0]}, rows, 2))
    assert not is_ordered(lightgbm.train(options, rows, 2))
    matrix = xgboost.DMatrix(X, Y)
    assert is_ordered(xgboost.train({"monotone_constraints": "(1,0,0)"}, matrix, 2))
    assert not is_ordered(xgboost.train({}, matrix, 2))


@pytest.mark.parametrize("signs", [None, (0, 0, 0), "(0,0,0)", {"0": 0}])
def test_no_constraint_is_none(signs):
    assert not is_ordered(xgboost.XGBClassifier(monotone_constraints=signs))
    assert not is_ordered(RandomForestClassifier())


def test_other_ways_to_ask_for_it():
    assert is_ordered(xgboost.XGBClassifier(monotone_constraints={"a": 1}))
    assert is_ordered(CatBoostClassifier(monotone_constraints=[1, 0, 0]))
    assert not is_ordered(CatBoostClassifier())
