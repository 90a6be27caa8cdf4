"""Random CatBoost models: symmetric and other trees, of any depth, with gaps, categories and weights, read and written.

CatBoost's own raw scores are the reference, for the model as it is and for models of some of its trees.
"""

import numpy as np
import pandas as pd
import pytest
from catboost import CatBoostClassifier, CatBoostRegressor

from dualboost.thinning import adapter_for

from ..thoroughness import how_many

POLICIES = ("SymmetricTree", "Depthwise", "Lossguide")
ESTIMATORS = (CatBoostClassifier, CatBoostRegressor)
N_ROWS = 250


def random_table(rng):
    """Numbers, some missing, some with few distinct values; in half of the tables a category of text."""
    X = pd.DataFrame({f"x{k}": rng.normal(size=N_ROWS) for k in range(rng.integers(2, 6))})
    X["x1"] = X["x1"].round()
    for name in X.columns[rng.random(X.shape[1]) < 0.5]:
        X.loc[rng.random(N_ROWS) < 0.15, name] = np.nan
    if rng.random() < 0.5:
        X["colour"] = rng.choice(["red", "green", "blue", "none"], N_ROWS)
    return X


def random_options(rng):
    policy = str(rng.choice(POLICIES))
    options = {"grow_policy": policy, "depth": int(rng.integers(1, 8))}
    if policy == "Lossguide":
        options["max_leaves"] = int(rng.integers(2, 20))
    if policy != "SymmetricTree":
        options["min_data_in_leaf"] = int(rng.integers(1, 30))
    options["nan_mode"] = str(rng.choice(["Min", "Max"]))
    options["boost_from_average"] = bool(rng.integers(2))
    return options


def random_model(seed):
    """A fitted model with from 1 to 40 trees, and the rows it was fitted to."""
    rng = np.random.default_rng(seed)
    X = random_table(rng)
    numbers = X.filter(like="x").fillna(0.5).to_numpy()
    target = numbers[:, 0] * numbers[:, 1] + numbers[:, -1] + 0.3 * rng.normal(size=N_ROWS)
    if "colour" in X:
        target += (X["colour"] == "red").to_numpy()
    estimator = ESTIMATORS[rng.integers(2)]
    n_classes = int(rng.integers(2, 5))
    cuts = np.quantile(target, np.linspace(0, 1, n_classes + 1)[1:-1])
    y = np.digitize(target, cuts) if estimator is CatBoostClassifier else target
    options = random_options(rng) | {"cat_features": ["colour"] if "colour" in X else []}
    if estimator is CatBoostClassifier and n_classes > 2:
        del options["boost_from_average"]
    model = estimator(
        int(rng.integers(1, 40)), learning_rate=0.3, random_seed=seed, verbose=0, thread_count=1,
        allow_writing_files=False, **options,
    )  # fmt: skip
    return model.fit(X, y), X, rng


@pytest.mark.parametrize("seed", range(how_many(36, 300)))
def test_raw_scores_are_those_of_catboost(seed):
    model, X, rng = random_model(seed)
    adapter = adapter_for(model)
    rows = adapter.rows(X, np.zeros(len(X)), np.ones(len(X)))
    assert adapter.n_members == model.tree_count_
    np.testing.assert_allclose(rows.full_scores, raw(model, X), atol=1e-5)
    some = np.sort(rng.permutation(adapter.n_members)[: 1 + adapter.n_members // 3])
    for kept in (np.arange(adapter.n_members), some):
        weights, intercept = rng.normal(size=len(kept)), adapter.intercept + 0.3
        rebuilt = adapter.rebuild(kept, weights, intercept)
        np.testing.assert_allclose(raw(rebuilt, X), rows.weighted_scores(kept, weights, intercept), atol=1e-4)


def test_the_random_models_are_of_every_kind():
    models = [random_model(seed)[0] for seed in range(36)]
    kinds = {(type(model), model.get_param("grow_policy")) for model in models}
    assert kinds == {(estimator, policy) for estimator in ESTIMATORS for policy in POLICIES}


def raw(model, X):
    return np.asarray(model.predict(X, prediction_type="RawFormulaVal"))
