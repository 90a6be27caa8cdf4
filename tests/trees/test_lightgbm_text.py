"""Trees read from LightGBM's text predict what LightGBM predicts, missing values and categories included."""

from dataclasses import replace

import lightgbm
import numpy as np
import pytest
from scipy import sparse

from dualboost.trees.lightgbm_text import format_model, parse_trees


def grown(seed, missing, categorical, depth):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(400, 5))
    X[:, 1] = rng.integers(0, 40, 400)
    X[:, 2] = rng.integers(-1, 2, 400)
    if missing:
        X[rng.random(X.shape) < 0.1] = np.nan
    y = np.nan_to_num(X[:, 0]) + np.nan_to_num(X[:, 1] % 3) + rng.normal(size=400)
    parameters = {"max_depth": depth, "num_leaves": 2**depth, "min_data_in_leaf": 3, "verbosity": -1, "seed": seed}
    data = lightgbm.Dataset(X, y, categorical_feature=[1] if categorical else [])
    booster = lightgbm.train(parameters, data, num_boost_round=8)
    unseen = rng.normal(size=(300, 5))
    unseen[:, 1] = rng.integers(0, 60, 300)
    unseen[:, 2] = rng.integers(-1, 2, 300)
    return booster, X, np.vstack([unseen, X])


@pytest.mark.parametrize("depth", [1, 4])
@pytest.mark.parametrize("categorical", [False, True])
@pytest.mark.parametrize("missing", [False, True])
def test_same_values_as_lightgbm(missing, categorical, depth):
    for seed in range(3):
        booster, _, X = grown(seed, missing, categorical, depth)
        trees = parse_trees(booster.model_to_string())
        assert len(trees) == 8
        total = sum(tree.vote(X) for tree in trees)
        np.testing.assert_allclose(total, booster.predict(X), atol=1e-12)


def test_missing_values_where_training_had_none():
    booster, X, _ = grown(0, missing=False, categorical=False, depth=3)
    X = X.copy()
    X[::2] = np.nan
    total = sum(tree.vote(X) for tree in parse_trees(booster.model_to_string()))
    np.testing.assert_allclose(total, booster.predict(X), atol=1e-12)


def test_sparse_rows_fall_into_the_same_leaves():
    booster, X, _ = grown(1, missing=False, categorical=False, depth=3)
    X = np.where(np.abs(X) < 0.5, 0.0, X)
    tree = parse_trees(booster.model_to_string())[0]
    np.testing.assert_array_equal(tree.leaves(sparse.csc_matrix(X)), tree.leaves(X))


def test_a_tree_without_a_split():
    data = lightgbm.Dataset(np.zeros((10, 1)), np.arange(10.0))
    booster = lightgbm.train({"verbosity": -1}, data, num_boost_round=1)
    (tree,) = parse_trees(booster.model_to_string())
    assert tree.n_leaves == 1
    np.testing.assert_allclose(tree.vote(np.zeros((3, 1))), booster.predict(np.zeros((3, 1))))


def test_gains_are_shares():
    booster, _, _ = grown(2, missing=False, categorical=True, depth=4)
    for tree in parse_trees(booster.model_to_string()):
        shares = tree.feature_gains(5)
        assert shares.sum() == pytest.approx(1.0)
        np.testing.assert_array_equal(np.flatnonzero(shares), np.unique(tree.feature))


@pytest.mark.parametrize("covers", [[3.0, 5.0], [0.25, 0.5], [3e12, 5e12], [1e99, 0.0]])
def test_rows_are_written_as_whole_numbers_of_32_bits(covers):
    booster, *_ = grown(0, missing=False, categorical=False, depth=1)
    tree = replace(parse_trees(booster.model_to_string())[0], covers=np.array(covers))
    dumped = lightgbm.Booster(model_str=format_model([tree], np.ones(1), 5)).dump_model()
    root = dumped["tree_info"][0]["tree_structure"]
    counts = np.array([root["left_child"]["leaf_count"], root["right_child"]["leaf_count"]])
    assert root["internal_count"] == counts.sum() < 2**31
    np.testing.assert_allclose(counts / counts.sum(), np.array(covers) / sum(covers), atol=2e-8)  # one row of 10^8
