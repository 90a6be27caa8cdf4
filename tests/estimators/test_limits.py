"""Limits of trees, by what they promise: rows in leaves, numbers of leaves, features on paths, and draws by a seed."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from dualboost import CartLearner, DualBoostClassifier, DualBoostClassifierCV, DualBoostRegressor, DualBoostRegressorCV
from dualboost.errors import InvalidParameterError
from dualboost.learners.base import TreeLimits

from ..thoroughness import every

N_FEATURES = 6


def rows(kind, n=320, seed=0):
    """Features, some of them with equal values, gaps and categories, and a target that all of them matter to."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, N_FEATURES))
    X[:, 3] = np.round(X[:, 3])
    X[rng.random(n) < 0.1, 4] = np.nan
    X[:, 5] = rng.integers(3, size=n)
    X[:20] = X[20:40]
    score = X[:, 0] * X[:, 1] + X[:, 2] + X[:, 3] + np.nan_to_num(X[:, 4]) + (X[:, 5] == 1)
    score += rng.normal(size=n)
    return X, target(kind, score)


def target(kind, score):
    return {"two": score > 0, "three": np.digitize(score, [-1, 1]), "numbers": score}[kind]


FITS = {
    "two classes, leaves": ("two", DualBoostClassifier(max_depth=4, max_trees=6)),
    "two classes, trees": ("two", DualBoostClassifier("lp", max_depth=3, max_trees=10, calibration="training")),
    "confidence": ("two", DualBoostClassifier("cg", learner=CartLearner(3, voting="confidence"), max_trees=8)),
    "three classes, leaves": ("three", DualBoostClassifier(max_depth=4, max_trees=3)),
    "three classes, trees": ("three", DualBoostClassifier("lp", max_depth=3, max_trees=8, calibration="training")),
    "numbers, leaves": ("numbers", DualBoostRegressor(max_depth=4, max_trees=6)),
    "kinks": ("numbers", DualBoostRegressor("absolute", max_depth=3, max_trees=4)),
    "quantiles": ("numbers", DualBoostRegressor("quantile", quantiles=[0.2, 0.8], max_depth=3, max_trees=3)),
    "numbers, trees": ("numbers", DualBoostRegressor(optimize="weights", max_depth=3, max_trees=10)),
    "tuned classes": ("two", DualBoostClassifierCV(Cs=1, max_depth=3, max_trees=3, random_state=0)),
    "tuned numbers": ("numbers", DualBoostRegressorCV(Cs=1, max_depth=3, max_trees=3, random_state=0)),
}


def fitted(name, **limits):
    kind, model = FITS[name]
    X, y = rows(kind)
    return clone(model).set_params(categorical_features=[5], **limits).fit(X, y), X


def split_trees(model):
    """The trees that have a split; there must be some, or nothing is tested."""
    found = [tree for tree in model.estimators_ if len(tree.feature)]
    assert found
    return found


def paths(tree):
    """The features on the way to each leaf."""
    pending, found = [(0, frozenset())], []
    while pending:
        node, above = pending.pop()
        here = above | {int(tree.feature[node])}
        for child in (int(tree.left[node]), int(tree.right[node])):
            if child >= 0:
                pending.append((child, here))
            else:
                found.append(here)
    return found


@pytest.mark.parametrize("name", FITS)
@pytest.mark.parametrize("least", [30, 0.12])
def test_every_leaf_has_as_many_rows_as_asked_for(name, least):
    model, X = fitted(name, min_samples_leaf=least)
    fewest = least if isinstance(least, int) else np.ceil(least * len(X))
    for tree in split_trees(model):
        assert np.bincount(tree.leaves(X), minlength=tree.n_leaves).min() >= fewest


def test_rows_are_counted_whatever_their_weights_are():
    X, y = rows("two")
    weights = np.random.default_rng(0).gamma(1.0, 0.1, size=len(y)) * (np.arange(len(y)) % 3 > 0)
    model = DualBoostClassifier(max_trees=6, min_samples_leaf=25).fit(X, y, weights)
    for tree in split_trees(model):
        assert np.bincount(tree.leaves(X[weights > 0]), minlength=tree.n_leaves).min() >= 25


@pytest.mark.parametrize("name", FITS)
def test_no_tree_has_more_leaves_than_allowed(name):
    most = max(tree.n_leaves for tree in split_trees(fitted(name)[0]))
    assert most > 4, "without a limit there would be more"
    assert max(tree.n_leaves for tree in split_trees(fitted(name, max_leaf_nodes=4)[0])) <= 4


GROUPS = {
    "no_interactions": [{k} for k in range(N_FEATURES)],
    "pairwise": [{j, k} for j in range(N_FEATURES) for k in range(j)],
    "sets": [{0, 1, 5}, {1, 2}, {3, 4}],
    "with a rest": [{0, 3}, {1, 2, 4, 5}],
}


@pytest.mark.parametrize("name", FITS)
@pytest.mark.parametrize("groups", every(GROUPS, ["no_interactions", "sets"]))
def test_the_features_on_every_path_are_in_one_set(name, groups):
    asked = {"sets": GROUPS["sets"], "with a rest": [(0, 3)]}.get(groups, groups)
    model, _ = fitted(name, interaction_cst=asked)
    found = {path for tree in split_trees(model) for path in paths(tree)}
    assert all(any(path <= group for group in GROUPS[groups]) for path in found)
    assert groups == "no_interactions" or max(map(len, found)) > 1


@pytest.mark.parametrize("name", [name for name in FITS if "tuned" not in name])
@pytest.mark.parametrize("limits", every([{}, {"max_leaf_nodes": 6}], [{"max_leaf_nodes": 6}]), ids=str)
def test_pairwise_is_all_pairs_as_sets(name, limits):
    pairwise, X = fitted(name, interaction_cst="pairwise", **limits)
    as_sets, _ = fitted(name, interaction_cst=GROUPS["pairwise"], **limits)
    assert max(tree.depth for tree in split_trees(pairwise)) > 2
    np.testing.assert_array_equal(pairwise.predict(X), as_sets.predict(X))
    for tree, other in zip(pairwise.estimators_, as_sets.estimators_, strict=True):
        np.testing.assert_array_equal(tree.feature, other.feature)


def test_pairwise_asks_for_few_of_many_pairs():
    """LightGBM goes through all sets at every node, and all pairs of 400 features would be 79,800."""
    X = np.random.default_rng(0).normal(size=(300, 400))
    y = X[:, 0] * X[:, 1] + X[:, 2] * X[:, 3] > 0
    asked = {"max_depth": 4, "max_trees": 3}
    (tree, *_) = split_trees(DualBoostClassifier(**asked).fit(X, y))
    again = TreeLimits(most_together=2).for_second_time(tree)
    assert 1 < len(again["interaction_constraints"]) <= 2**4
    model = DualBoostClassifier(**asked, interaction_cst="pairwise").fit(X, y)
    assert max(len(path) for tree in split_trees(model) for path in paths(tree)) == 2


RANDOM = [{"max_features": 2}, {"max_features": "sqrt", "subsample": 0.5}, {"max_features": 0.5}, {"subsample": 0.4}]
DRAWING = ["two classes, leaves", "three classes, leaves", "numbers, leaves"]


@pytest.mark.parametrize("name", DRAWING)
@pytest.mark.parametrize("drawn", every(RANDOM, RANDOM[:2]), ids=str)
def test_a_seed_makes_a_model_on_any_number_of_threads_and_in_any_order_of_the_rows(name, drawn):
    kind, model = FITS[name]
    X, y = rows(kind)
    model = clone(model).set_params(max_depth=3, **drawn, random_state=7).fit(X, y)
    on_threads = clone(model).set_params(n_jobs=2).fit(X, y)
    np.testing.assert_array_equal(on_threads.weights_, model.weights_)
    order = np.random.default_rng(1).permutation(len(y))
    in_other_order = clone(model).fit(X[order], y[order])  # the mean of numbers may differ in its last digit
    np.testing.assert_allclose(in_other_order.weights_, model.weights_, rtol=1e-8)
    assert not np.array_equal(clone(model).set_params(random_state=8).fit(X, y).weights_, model.weights_)


@pytest.mark.parametrize("name", DRAWING)
def test_a_split_is_chosen_from_the_features_drawn(name):
    """Of one feature at a time, the first tree may have any of those alike; of all, it has the best one."""
    kind, model = FITS[name]
    rng = np.random.default_rng(0)
    X = rng.normal(size=(320, N_FEATURES))
    score = X @ np.r_[1.1, np.ones(N_FEATURES - 1)] + rng.normal(size=len(X))
    y = target(kind, score)

    def features(share):
        asked = {"max_trees": 1, "max_depth": 1, "subsample": 1.0, "max_features": share}
        fits = (clone(model).set_params(random_state=k, **asked).fit(X, y) for k in range(12))
        return {split_trees(one)[0].feature[0] for one in fits}

    assert len(features(1)) > 2 > len(features(1.0))


def test_all_features_and_all_rows_are_what_they_are_by_default():
    X, y = rows("two", n=2000)
    plain = DualBoostClassifier(max_trees=5, max_depth=2).fit(X, y).decision_function(X)
    same = DualBoostClassifier(max_trees=5, max_depth=2, max_features=1.0, subsample=1.0, min_samples_leaf=1)
    np.testing.assert_array_equal(same.fit(X, y).decision_function(X), plain)


def test_limits_hold_for_tables_and_sparse_features():
    X, y = rows("two")
    table = pd.DataFrame(X[:, :5], columns=list("abcde")).assign(f=pd.Categorical(X[:, 5].astype(int).astype(str)))
    model = DualBoostClassifier(max_trees=4, interaction_cst=[{0, 5}], max_leaf_nodes=5).fit(table, y)
    assert all(path <= {0, 5} or path <= {1, 2, 3, 4} for tree in split_trees(model) for path in paths(tree))


WRONG = [
    {"min_samples_leaf": 0},
    {"min_samples_leaf": 1.0},
    {"min_samples_leaf": "many"},
    {"max_leaf_nodes": 1},
    {"max_leaf_nodes": 2.5},
    {"max_features": 0},
    {"max_features": 1.5},
    {"max_features": True},
    {"max_features": "all"},
    {"max_features": 7},
    {"subsample": 0.0},
    {"subsample": 1.1},
    {"interaction_cst": "triple"},
    {"interaction_cst": 3},
    {"interaction_cst": [{0, 6}]},
    {"interaction_cst": [{0, -1}]},
    {"interaction_cst": [["a"]]},
    {"interaction_cst": [0, 1]},
]


@pytest.mark.parametrize("wrong", WRONG, ids=str)
@pytest.mark.parametrize("kind", ["two", "numbers"])
def test_what_is_out_of_range_is_refused_by_name(wrong, kind):
    X, y = rows(kind, n=60)
    model = (DualBoostRegressor if kind == "numbers" else DualBoostClassifier)(max_trees=2, **wrong)
    with pytest.raises(InvalidParameterError, match=f"{next(iter(wrong))}="):
        model.fit(X, y)
    assert not hasattr(model, "fitted_")


@pytest.mark.parametrize("limit", [{"min_samples_leaf": 5}, {"max_leaf_nodes": 3}, {"interaction_cst": "pairwise"}])
@pytest.mark.parametrize("learner", ["optimal", CartLearner(criterion="edge"), ["cart", "optimal"]], ids=str)
def test_learners_that_do_not_keep_a_limit_refuse_it(limit, learner):
    X, y = rows("two", n=60)
    with pytest.raises(InvalidParameterError, match=f"{next(iter(limit))}=.*learner='cart'"):
        DualBoostClassifier(learner=learner, max_depth=2, max_trees=2, **limit).fit(X[:, :3], y)


@pytest.mark.parametrize("drawn", [{"max_features": 2}, {"subsample": 0.5}], ids=str)
def test_draws_are_refused_where_trees_are_corrected(drawn):
    X, y = rows("two", n=60)
    with pytest.raises(InvalidParameterError, match="optimize='leaves'"):
        DualBoostClassifier("lp", **drawn).fit(X, y)
