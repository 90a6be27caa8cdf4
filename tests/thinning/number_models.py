"""A fitted regressor for every adapter."""

import lightgbm
import numpy as np
import xgboost
from catboost import CatBoostRegressor
from sklearn.base import clone
from sklearn.ensemble import (
    BaggingRegressor,
    ExtraTreesRegressor,
    GradientBoostingRegressor,
    HistGradientBoostingRegressor,
    RandomForestRegressor,
)
from sklearn.tree import DecisionTreeRegressor

from dualboost import DualBoostRegressor, DualBoostRegressorCV

XGB = {"n_estimators": 20, "max_depth": 3, "n_jobs": 1}
LGB = {"n_estimators": 20, "num_leaves": 6, "n_jobs": 1, "verbose": -1}
CAT = {"iterations": 20, "depth": 3, "verbose": 0, "thread_count": 1, "allow_writing_files": False}
OURS = {"max_trees": 8, "max_depth": 3}


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


def by(estimator, data=wave):
    return data, lambda X, y: clone(estimator).fit(X, y)


def _cat(data=wave, **options):
    return data, lambda X, y: CatBoostRegressor(**CAT, **options).fit(X, y)


def _early_stopped_xgb(X, y):
    model = xgboost.XGBRegressor(**(XGB | {"n_estimators": 60, "learning_rate": 0.5}), early_stopping_rounds=2)
    return model.fit(X[::2], y[::2], eval_set=[(X[1::2], y[1::2])], verbose=False)


def _xgb_booster(X, y):
    params = {"objective": "reg:squarederror", "max_depth": 3, "nthread": 1, "base_score": 900.0}
    return xgboost.train(params, xgboost.DMatrix(X, y), num_boost_round=20)


def _lgb_booster(X, y):
    params = {"objective": "regression", "num_leaves": 6, "verbose": -1, "num_threads": 1}
    return lightgbm.train(params, lightgbm.Dataset(X, y), num_boost_round=20)


CASES = {
    "xgboost": by(xgboost.XGBRegressor(**XGB), gaps),
    "xgboost, parallel trees": by(xgboost.XGBRegressor(**XGB, num_parallel_tree=2, subsample=0.5)),
    "xgboost, forest": by(xgboost.XGBRFRegressor(**XGB, random_state=0)),
    "xgboost, dart": by(xgboost.XGBRegressor(**XGB, booster="dart", rate_drop=0.3, random_state=0)),
    "xgboost, stopped early": (wave, _early_stopped_xgb),
    "xgboost, medians": by(xgboost.XGBRegressor(**XGB, objective="reg:absoluteerror")),
    "xgboost, counts": by(xgboost.XGBRegressor(**XGB, objective="count:poisson"), rare),
    "xgboost booster": (gaps, _xgb_booster),
    "lightgbm": by(lightgbm.LGBMRegressor(**LGB), gaps),
    "lightgbm, forest": by(
        lightgbm.LGBMRegressor(**LGB, boosting_type="rf", bagging_fraction=0.7, bagging_freq=1, random_state=0)
    ),
    "lightgbm, counts": by(lightgbm.LGBMRegressor(**LGB, objective="poisson"), rare),
    "lightgbm booster": (gaps, _lgb_booster),
    "catboost": _cat(gaps),
    "catboost, lossguide": _cat(grow_policy="Lossguide"),
    "catboost, counts": _cat(rare, loss_function="Poisson", learning_rate=0.3),
    "random forest": by(RandomForestRegressor(15, max_depth=4, random_state=0), gaps),
    "extra trees": by(ExtraTreesRegressor(15, max_depth=4, random_state=0)),
    "bagging": by(BaggingRegressor(DecisionTreeRegressor(max_depth=4), 15, max_features=0.6, random_state=0)),
    "gradient boosting": by(GradientBoostingRegressor(n_estimators=20, max_depth=2, random_state=0)),
    "gradient boosting, from zero": by(
        GradientBoostingRegressor(n_estimators=20, loss="huber", init="zero", learning_rate=0.3, random_state=0)
    ),
    "hist gradient boosting": by(HistGradientBoostingRegressor(max_iter=20, max_leaf_nodes=6), gaps),
    "hist gradient boosting, counts": by(
        HistGradientBoostingRegressor(max_iter=20, max_leaf_nodes=6, loss="poisson"), rare
    ),
    "ours": by(DualBoostRegressor(**OURS), gaps),
    "ours, tuned": by(DualBoostRegressorCV(Cs=2, **OURS)),
    "ours, counts": by(DualBoostRegressor("poisson", **OURS), rare),
    "ours, weights": by(DualBoostRegressor("absolute", optimize="weights", C=20.0, **OURS)),
}
FEW = (
    *("xgboost", "xgboost booster", "xgboost, dart", "lightgbm", "lightgbm, forest", "lightgbm booster", "catboost"),
    *("catboost, counts", "random forest", "bagging", "gradient boosting, from zero", "hist gradient boosting, counts"),
    *("ours", "ours, tuned", "ours, counts"),
)
