"""Limits of trees and constraints of features: rows in leaves, numbers of leaves, interactions, monotonic features."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import make_regression

from dualboost import (
    CartLearner,
    DualBoostClassifier,
    DualBoostClassifierCV,
    DualBoostRegressor,
    DualBoostRegressorCV,
    SolverOptions,
    thin,
)
from dualboost.errors import InvalidParameterError, UnsupportedModelError
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


# ``monotonic_cst``

SIGNS = [1, -1, 0, 1, 0]
N_PAIRS = 10_000


def monotonic_rows(kind, n=400, seed=0):
    """Noise, a wave and a dip that break the order, gaps, few values, and a category."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 5))
    X[:, 3] = np.round(2 * X[:, 3])
    X[rng.random(n) < 0.1, 1] = np.nan
    X[rng.random(n) < 0.1, 2] = np.nan
    X[:, 4] = rng.integers(4, size=n)
    score = X[:, 0] + 1.5 * np.sin(4 * X[:, 0]) - np.nan_to_num(X[:, 1]) ** 2 * np.sign(np.nan_to_num(X[:, 1]))
    score += np.nan_to_num(X[:, 2]) * X[:, 3] / 2 + (X[:, 4] == 1) * X[:, 0] + rng.normal(size=n)
    return X, {"two": score > 0, "numbers": score, "counts": rng.poisson(np.exp(score / 3))}[kind]


LEAVES = {
    "logistic": ("two", DualBoostClassifier(max_depth=4, max_trees=8)),
    "all to the optimum": ("two", DualBoostClassifier(max_depth=3, max_trees=4, solver=SolverOptions("auto", "every"))),
    "convex": ("two", DualBoostClassifier("convex", optimize="leaves", max_depth=3, max_trees=6)),
    "hinge": ("two", DualBoostClassifier("lp", optimize="leaves", max_depth=3, max_trees=4)),
    "squared": ("numbers", DualBoostRegressor(max_depth=4, max_trees=8)),
    "huber": ("numbers", DualBoostRegressor("huber", max_depth=3, max_trees=6)),
    "absolute": ("numbers", DualBoostRegressor("absolute", max_depth=3, max_trees=5)),
    "quantile": ("numbers", DualBoostRegressor("quantile", max_depth=3, max_trees=4)),
    "poisson": ("counts", DualBoostRegressor("poisson", max_depth=3, max_trees=6)),
    "held to limits": (
        "numbers",
        DualBoostRegressor(max_trees=6, min_samples_leaf=15, max_leaf_nodes=9, subsample=0.6),
    ),
    "early stopping": ("two", DualBoostClassifier(max_trees=8, n_iter_no_change=3, random_state=0)),
    "tuned": ("two", DualBoostClassifierCV(Cs=2, max_depth=3, max_trees=4, random_state=0)),
    "tuned for numbers": ("numbers", DualBoostRegressorCV(Cs=2, max_depth=3, max_trees=4, random_state=0)),
}
PAPER = (
    *("nm", "qrlp", "lp", "cg", "erlp", "md", "lp-nu", "hard"),
    *("md-full", "convex", "lexi", "soft", "total", "mlp", "cq"),
)
TREES = {
    **{
        f"{name}, trees": ("two", DualBoostClassifier(name, max_depth=3, max_trees=15, calibration="training"))
        for name in every(PAPER, ("nm", "lp", "cg", "md"))
    },
    "confidence": ("two", DualBoostClassifier("cg", learner=CartLearner(4, voting="confidence"), max_trees=15)),
    "limits, trees": ("two", DualBoostClassifier("md", max_depth=4, min_samples_leaf=10, max_trees=15)),
    "numbers, trees": ("numbers", DualBoostRegressor(optimize="weights", max_depth=3, max_trees=15)),
}
MONOTONIC_FITS = LEAVES | TREES


def falls(model, X, rng, n=N_PAIRS):
    """How far scores change the wrong way at most, over pairs of rows that differ by one feature with a sign."""
    score = getattr(model, "decision_function", model.predict)
    worst = 0.0
    for feature, sign in enumerate(SIGNS):
        if not sign:
            continue
        low = X[rng.integers(len(X), size=n)]
        high = low.copy()
        ends = np.sort(rng.normal(scale=2.0, size=(n, 2)), axis=1)
        low[:, feature], high[:, feature] = ends.T
        low[: n // 2, 4] = high[: n // 2, 4] = rng.integers(4, size=n // 2)
        change = sign * (score(high) - score(low))
        worst = max(worst, float(-change.min()))
    return worst


@pytest.mark.filterwarnings("ignore::dualboost.errors.DegenerateEnsembleWarning")
@pytest.mark.filterwarnings("ignore::dualboost.errors.TiedEnsembleWarning")
@pytest.mark.parametrize("name", MONOTONIC_FITS)
def test_scores_are_monotone_on_ten_thousand_pairs(name):
    kind, model = MONOTONIC_FITS[name]
    X, y = monotonic_rows(kind)
    model = clone(model).set_params(monotonic_cst=SIGNS, categorical_features=[4]).fit(X, y)
    rng = np.random.default_rng(1)
    assert falls(model, X, rng) == 0.0
    assert model.gap_ <= 1e-6
    assert {int(f) for tree in model.estimators_ for f in tree.feature} & {0, 1, 3}, "some split is to be in order"


@pytest.mark.parametrize("name", ["logistic", "squared", "absolute", "confidence"])
def test_without_the_constraint_scores_are_not_monotone(name):
    kind, model = MONOTONIC_FITS[name]
    X, y = monotonic_rows(kind)
    assert falls(clone(model).set_params(categorical_features=[4]).fit(X, y), X, np.random.default_rng(1)) > 0.1


@pytest.mark.parametrize("name", ["logistic", "squared", "absolute"])
def test_every_stage_is_monotone_and_probabilities_are(name):
    kind, model = MONOTONIC_FITS[name]
    X, y = monotonic_rows(kind)
    model = clone(model).set_params(monotonic_cst=SIGNS, max_trees=4).fit(X, y)
    low = X[np.random.default_rng(2).integers(len(X), size=1000)]
    high = low.copy()
    high[:, 0] += 1.0
    for below, above in zip(model.staged_predict(low), model.staged_predict(high), strict=True):
        assert (above.astype(float) - below.astype(float)).min() >= -1e-12
    if kind == "two":
        assert (model.predict_proba(high)[:, 1] >= model.predict_proba(low)[:, 1]).all()


def test_trees_without_the_feature_have_no_order():
    """Whose leaves, under a loss with kinks, are those without a constraint."""
    X, y = make_regression(300, 6, noise=5.0, random_state=0)
    X[:, 0] = np.random.default_rng(0).random(300) < 0.5  # says nothing of y
    free, held = (
        DualBoostRegressor("absolute", max_depth=1, max_trees=3, monotonic_cst=signs).fit(X, y)
        for signs in (None, [1, 0, 0, 0, 0, 0])
    )
    assert not any((tree.feature == 0).any() for tree in held.fitted_.ensemble.learners)
    assert held.objective_ == pytest.approx(free.objective_, rel=1e-6)


def test_names_and_numbers_say_the_same():
    X, y = monotonic_rows("two")
    table = pd.DataFrame(X, columns=list("abcde"))
    by_name = DualBoostClassifier(max_trees=3, monotonic_cst={"a": 1, "b": -1, "d": 1}).fit(table, y)
    by_place = DualBoostClassifier(max_trees=3, monotonic_cst=np.array(SIGNS)).fit(table, y)
    np.testing.assert_array_equal(by_name.decision_function(table), by_place.decision_function(table))


def test_zeros_are_no_constraint():
    X, y = monotonic_rows("two")
    free = DualBoostClassifier(max_trees=3).fit(X, y)
    zeros = DualBoostClassifier(max_trees=3, monotonic_cst=[0] * 5).fit(X, y)
    np.testing.assert_array_equal(free.decision_function(X), zeros.decision_function(X))


def test_an_order_that_the_data_have_costs_nothing():
    """Stumps on one feature that y rises with: the optimum without the constraint is in order, and stays."""
    x = np.linspace(-1, 1, 60)
    X, y = np.repeat(x, 4)[:, None], np.repeat(np.where(x > 0, 2.0, 0.0) + (x > 0.5), 4)
    free = DualBoostRegressor(max_depth=1, max_trees=2).fit(X, y)
    held = DualBoostRegressor(max_depth=1, max_trees=2, monotonic_cst=[1]).fit(X, y)
    np.testing.assert_allclose(held.predict(X), free.predict(X), atol=1e-3)


def test_a_warm_start_keeps_the_order():
    X, y = monotonic_rows("numbers")
    model = DualBoostRegressor(max_depth=3, max_trees=3, warm_start=True).fit(X, y)
    model.set_params(max_trees=6, monotonic_cst=SIGNS).fit(X, y)
    assert falls(model, X, np.random.default_rng(0), 2000) == 0.0
    free = DualBoostRegressor(max_depth=3, max_trees=6, optimize="weights", warm_start=True).fit(X, y)
    with pytest.raises(InvalidParameterError, match="warm_start=True goes on from trees that are not monotone"):
        free.set_params(max_trees=9, monotonic_cst=SIGNS).fit(X, y)


REFUSED = [
    ("two", {"monotonic_cst": [1, 0]}, "1, -1 or 0 for each of the 5 features"),
    ("two", {"monotonic_cst": [2, 0, 0, 0, 0]}, "1, -1 or 0 for each of the 5 features"),
    ("two", {"monotonic_cst": "rise"}, "1, -1 or 0 for each of the 5 features"),
    ("two", {"monotonic_cst": {"a": 1}}, "X has no names"),
    ("two", {"monotonic_cst": [0, 0, 0, 0, 1], "categorical_features": [4]}, "feature 4, which has categories"),
    ("two", {"monotonic_cst": SIGNS, "learner": "optimal", "max_depth": 1}, "learner='cart'"),
    ("three", {"monotonic_cst": SIGNS}, "3 scores"),
    ("three", {"monotonic_cst": SIGNS, "formulation": "lp"}, "3 scores"),
]


@pytest.mark.parametrize(("kind", "asked", "message"), REFUSED, ids=lambda value: str(value))
def test_what_cannot_be_kept_is_refused(kind, asked, message):
    X, y = monotonic_rows("two", n=60)
    y = np.arange(len(y)) % 3 if kind == "three" else y
    model = DualBoostClassifier(max_trees=2, **asked)
    with pytest.raises(InvalidParameterError, match=message):
        model.fit(X, y)
    assert not hasattr(model, "fitted_")


def test_several_quantiles_and_unknown_names_are_refused():
    X, y = monotonic_rows("numbers", n=60)
    with pytest.raises(InvalidParameterError, match="2 scores"):
        DualBoostRegressor("quantile", quantiles=[0.1, 0.9], monotonic_cst=SIGNS).fit(X, y)
    table = pd.DataFrame(X, columns=list("abcde"))
    with pytest.raises(InvalidParameterError, match="names 'z'"):
        DualBoostRegressor(monotonic_cst={"z": 1}).fit(table, y)
    with pytest.raises(InvalidParameterError, match="must be 1, -1 or 0"):
        DualBoostRegressor(monotonic_cst={"a": "up"}).fit(table, y)


def test_thinning_keeps_the_order_or_is_refused():
    X, y = monotonic_rows("two")
    model = DualBoostClassifier(max_depth=3, max_trees=8, monotonic_cst=SIGNS).fit(X, y)
    thinned = thin(model, X, y, tolerance=0.5, validation_fraction=None)
    assert falls(thinned.model, X, np.random.default_rng(0), 2000) == 0.0
    X, y = monotonic_rows("numbers")
    with pytest.raises(UnsupportedModelError, match="monotone constraint"):
        thin(DualBoostRegressor(max_depth=2, max_trees=4, monotonic_cst=SIGNS).fit(X, y), X, y)
