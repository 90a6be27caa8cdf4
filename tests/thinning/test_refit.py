"""Thinning by refitted leaves: the optimum against other solvers, the sizes compared, and the rows that judge them."""

from itertools import pairwise

import lightgbm
import numpy as np
import pytest
import xgboost
from scipy.optimize import minimize
from scipy.special import expit, logsumexp, softmax
from sklearn.datasets import load_digits
from sklearn.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    RandomForestClassifier,
)
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import log_loss, mean_absolute_error
from sklearn.tree import DecisionTreeClassifier

from dualboost import DualBoostClassifier, thin
from dualboost.errors import InvalidParameterError, ThinningWarning
from dualboost.thinning import ThinnedTreesClassifier, adapter_for, rows
from dualboost.thinning.links import Logit
from dualboost.thinning.paths import LeafPath
from dualboost.thinning.refitting import sizes_below
from dualboost.thinning.rows import Members, ModelRows
from dualboost.thinning.trials import read_rows

from .models import LGB1, LGB3, SEVERAL_CLASSES, XGB1, numbers, rare, wave, wine

X, Y = numbers(n=300)
X_NEW, Y_NEW = numbers(n=600, seed=1)
WINE, KINDS = wine()
WINE_NEW, KINDS_NEW = wine(seed=1)
WAVE, HEIGHTS = wave()
HELD = {"validation_data": wave(seed=5)}
WORDS = np.array(["red", "rosé", "white"])


def rows_of(model, X, y, weights=None):
    return read_rows(adapter_for(model), X, y, weights)


def of_three(which):
    return SEVERAL_CLASSES[which].fit(WINE, KINDS)


@pytest.fixture(scope="module")
def boosted():
    return GradientBoostingClassifier(n_estimators=12, max_depth=2, random_state=0).fit(X, Y)


@pytest.fixture(scope="module")
def regressor():
    return GradientBoostingRegressor(n_estimators=12, max_depth=2, random_state=0).fit(WAVE, HEIGHTS)


@pytest.mark.parametrize(
    ("estimator", "X", "y"),
    [(GradientBoostingClassifier, X, Y), (GradientBoostingRegressor, WAVE, HEIGHTS)],
    ids=["classes", "numbers"],
)
def test_models_like_it_are_judged_on_rows_they_have_not_seen(estimator, X, y):
    fits = []

    class Counting(estimator):
        """Notes how many rows each fit had."""

        def fit(self, X, y, **kwargs):
            fits.append(len(y))
            return super().fit(X, y, **kwargs)

    model = Counting(n_estimators=6, max_depth=2, random_state=0).fit(X, y)
    result = thin(model, X, y, tolerance=0.05)
    assert fits == [300, 200, 200, 200]
    assert result.judged_on.startswith("3 folds of X (300 rows)")
    assert isinstance(result.model, Counting)
    assert 0 < len(result.kept) < 6
    again = thin(model, X, y, tolerance=0.05)
    one, other = (getattr(own, "predict_proba", own.predict)(X) for own in (result.model, again.model))
    np.testing.assert_array_equal(one, other)


def test_what_cannot_be_trained_again_is_judged_on_rows_held_out():
    train = lightgbm.Dataset(X, Y)
    booster = lightgbm.train({"objective": "binary", "num_leaves": 4, "verbose": -1}, train, num_boost_round=8)
    result = thin(booster, X, Y, tolerance=0.05, random_state=0)
    assert result.judged_on.startswith("60 rows of X held out, which the model may have been trained on")
    assert "cannot be trained again" in result.judged_on
    given = thin(booster, X, Y, tolerance=0.05, validation_data=(X_NEW, Y_NEW))
    assert given.judged_on == "validation_data (600 rows)"


def test_a_class_too_rare_for_folds_is_told(boosted):
    few = np.r_[np.flatnonzero(Y == 0)[:30], np.flatnonzero(Y == 1)[:2]]
    result = thin(boosted, X[few], Y[few], tolerance=0.4, validation_fraction="auto", random_state=0)
    assert "a class has fewer than 3 rows" in result.judged_on


def test_few_rows_of_many_are_divided(boosted, monkeypatch):
    monkeypatch.setattr("dualboost.thinning.trials.MOST_ROWS", 120)
    assert "(120 rows)" in thin(boosted, X, Y, tolerance=0.1).judged_on


def test_rows_may_be_held_out_and_few_rows_are(regressor):
    assert "90 rows of X held out" in thin(regressor, WAVE, HEIGHTS, tolerance=0.1, validation_fraction=0.3).judged_on
    assert "it has fewer than 6 rows" in thin(regressor, WAVE[:5], HEIGHTS[:5], tolerance=0.9, max_trees=3).judged_on
    assert thin(regressor, WAVE, HEIGHTS, tolerance=0.1, validation_fraction=None).judged_on.startswith(
        "the rows of X that"
    )


def test_a_class_without_rows_is_told():
    model, is_there = of_three("lightgbm"), KINDS != 2
    with pytest.warns(ThinningWarning, match="as on its training rows"):
        result = thin(model, WINE[is_there], KINDS[is_there], tolerance=0.1, random_state=0)
    assert "a class of the model has no rows" in result.judged_on
    adapter, own = adapter_for(model), rows_of(model, WINE_NEW, KINDS_NEW)
    raw = own.weighted_scores(result.kept, result.weights, result.intercept)
    expected = adapter.link.expected(raw)
    if result.leaves is not None:
        expected = softmax(own.scores(result.kept, result.leaves, result.intercept), axis=1)
    np.testing.assert_allclose(result.model.predict_proba(WINE_NEW), expected, atol=1e-6)


def test_folds_of_models_like_it_and_words_as_classes():
    model = lightgbm.LGBMClassifier(**LGB3).fit(WINE, WORDS[KINDS])
    result = thin(model, WINE, WORDS[KINDS], tolerance=0.05, random_state=0)
    assert result.judged_on.startswith("3 folds of X")
    assert set(result.model.predict(WINE_NEW)) <= set(WORDS)
    assert (result.model.predict(WINE_NEW) == WORDS[KINDS_NEW]).mean() > 0.8


def test_a_forest_of_xgboosts_is_trained_again_with_as_many_trees():
    forest = xgboost.XGBRFRegressor(**XGB1, random_state=0).fit(WAVE, HEIGHTS)
    again = adapter_for(forest).fresh().fit(WAVE, HEIGHTS)
    assert len(adapter_for(again).weights) == len(adapter_for(forest).weights) == 20


def test_the_leaves_are_optimal_and_told_to_a_gap(boosted):
    """Against scipy on the indicators of the leaves."""
    rows = rows_of(boosted, X, Y)
    result, C = LeafPath(rows).down_to(100.0, 5, sizes_below(12, None))[1], 100.0
    assert 0 <= result.solution.gap <= 1e-6
    ones = [np.eye(len(own))[rows.leaf_ids[j]] for j, own in zip(result.members, result.leaves, strict=True)]
    Z, signs = np.column_stack(ones), np.where(Y == 1, 1.0, -1.0)

    def objective(v):
        loss = np.logaddexp(0.0, -signs * (Z @ v[:-1] + v[-1])).mean()
        return 0.5 * v[:-1] @ v[:-1] + C * loss

    values = np.append(np.concatenate(result.leaves), result.intercept)
    best = minimize(objective, np.zeros(Z.shape[1] + 1)).fun
    assert objective(values) == pytest.approx(best, rel=1e-5)


def test_imitating_is_fitting_the_models_probabilities(boosted):
    rows = rows_of(boosted, X, Y)
    p = boosted.predict_proba(X)[:, 1]
    _, stage = LeafPath(rows.imitating(p)).down_to(2500.0, 10, sizes_below(12, None))
    found = expit(rows.scores(stage.members, stage.leaves, stage.intercept))
    assert np.abs(found - p).mean() < 0.02


@pytest.mark.parametrize("which", ["xgboost", "random forest"])
@pytest.mark.parametrize("imitates", [False, True])
def test_the_leaves_of_several_classes_are_optimal(which, imitates):
    """Against scipy on the indicators of the leaves, for rounds of trees and for trees with vectors."""
    model, C = of_three(which), 300.0
    adapter, rows = adapter_for(model), rows_of(model, WINE, KINDS)
    shares = adapter.expected(rows.full_scores) if imitates else np.eye(3)[KINDS]
    path = LeafPath(rows.imitating(shares) if imitates else rows)
    stage = path.down_to(C, 3, sizes_below(12, None))[1]
    assert 0 <= stage.solution.gap <= 1e-6
    trees = adapter.members.trees_of(stage.members)
    classes = [adapter.members.columns_of(tree) for tree in trees]
    ones = [np.eye(len(adapter.members.values[tree]))[rows.leaf_ids[tree]] for tree in trees]
    shapes = [adapter.members.values[tree].shape for tree in trees]
    ends = np.cumsum([0, *(int(np.prod(shape)) for shape in shapes)])

    def objective(v):
        F, gradient = np.tile(v[ends[-1] :], (len(KINDS), 1)), v.copy()
        parts = [v[low:high].reshape(shape) for (low, high), shape in zip(pairwise(ends), shapes, strict=True)]
        for Z, own, speaks in zip(ones, parts, classes, strict=True):
            F[:, speaks] += Z @ own
        total = logsumexp(F, axis=1)
        R = (np.exp(F - total[:, None]) - shares) * C / len(KINDS)
        for Z, speaks, (low, high) in zip(ones, classes, pairwise(ends), strict=True):
            gradient[low:high] += (Z.T @ R[:, speaks]).ravel()
        gradient[ends[-1] :] = R.sum(axis=0)
        values = v[: ends[-1]]
        return 0.5 * values @ values + C * (total - (shares * F).sum(axis=1)).mean(), gradient

    found = np.concatenate([*(own.ravel() for own in stage.leaves), stage.intercept])
    options = {"maxiter": 10_000, "ftol": 1e-15, "gtol": 1e-9, "maxcor": 50}
    best = minimize(objective, np.zeros(len(found)), jac=True, method="L-BFGS-B", options=options).fun
    assert objective(found)[0] == pytest.approx(best, rel=1e-6)
    assert stage.solution.primal == pytest.approx(objective(found)[0], rel=1e-9)


@pytest.mark.parametrize("weights", [None, np.random.default_rng(0).integers(1, 4, len(HEIGHTS)).astype(float)])
def test_leaves_are_those_of_ridge_regression(regressor, weights):
    """Ridge on the indicators of the leaves of the trees kept, for standardised y.

    The ridge of one makes the objective strongly convex: values that miss the optimum by the distance d have an
    objective that misses it by d^2/2 at least, so d is at most the root of twice the gap.
    """
    rows = rows_of(regressor, WAVE, HEIGHTS, weights)
    stage, C = LeafPath(rows).down_to(100.0, 5, sizes_below(12, None))[1], 100.0
    assert 0 <= stage.solution.gap <= 1e-6
    numbers = [rows.leaf_ids[j] for j in stage.members]
    Z = np.column_stack([own[:, None] == np.unique(own) for own in numbers]).astype(float)
    scale = np.sqrt(np.average((HEIGHTS - np.average(HEIGHTS, weights=weights)) ** 2, weights=weights))
    ridge = Ridge(alpha=rows.counts.sum() / C, tol=1e-12).fit(Z, HEIGHTS / scale, sample_weight=weights)
    own = np.concatenate([new[np.unique(j), 0] for new, j in zip(stage.leaves, numbers, strict=True)])
    furthest = np.sqrt(2.0 * (stage.solution.primal - stage.solution.dual))
    assert np.linalg.norm(own / scale - ridge.coef_) <= furthest
    assert stage.intercept == pytest.approx(scale * ridge.intercept_, rel=1e-6)


def test_leaves_of_counts_have_the_least_poisson_deviance():
    """At the optimum, the gradient of the programme is zero in every leaf."""
    X, y = rare()
    model = lightgbm.LGBMRegressor(**LGB1, objective="poisson").fit(X, y)
    rows = rows_of(model, X, y)
    stage, C = LeafPath(rows).down_to(100.0, 5, sizes_below(20, None))[1], 100.0
    mean = np.exp(rows.scores(stage.members, stage.leaves, stage.intercept))
    assert mean.mean() == pytest.approx(y.mean(), rel=1e-4)
    for member, own in zip(stage.members, stage.leaves, strict=True):
        sums = np.bincount(rows.leaf_ids[member], (y - mean) / y.mean() * C / len(y), minlength=len(own))
        np.testing.assert_allclose(own[:, 0], sums, atol=1e-3)


@pytest.mark.parametrize("which", ["boosted", "lightgbm", "catboost"])
def test_elimination_keeps_fewer_and_fewer_of_the_same_members(which, boosted):
    rows = rows_of(boosted, X, Y) if which == "boosted" else rows_of(of_three(which), WINE, KINDS)
    sizes = sizes_below(len(rows.members), None)
    stages = list(LeafPath(rows).stages(100.0 if which == "boosted" else 300.0, sizes))
    assert [len(stage.members) for stage in stages] == sizes
    assert sizes[-1] == 1
    for larger, smaller in pairwise(stages):
        assert set(smaller.members) < set(larger.members)


def test_each_size_is_about_an_eighth_smaller():
    assert sizes_below(12, None) == [10, 8, 6, 5, 4, 3, 2, 1]
    assert sizes_below(12, 7) == [10, 8, 7, 6, 5, 4, 3, 2, 1]


@pytest.mark.parametrize("which", ["xgboost", "catboost"])
def test_weights_are_repetitions(which):
    model, counts = of_three(which), np.random.default_rng(0).integers(0, 3, len(KINDS))
    adapter = adapter_for(model)
    weighted = read_rows(adapter, WINE, KINDS, counts)
    repeated = read_rows(adapter, np.repeat(WINE, counts, axis=0), np.repeat(KINDS, counts), None)
    first = [LeafPath(rows).down_to(100.0, 10, [10])[1] for rows in (weighted, repeated)]
    assert first[0].solution.primal == pytest.approx(first[1].solution.primal, rel=1e-5)


def test_no_more_trees_than_the_first_ones_need():
    model = lightgbm.LGBMClassifier(n_estimators=30, num_leaves=4, n_jobs=1, verbose=-1).fit(X, Y)
    result = thin(model, X, Y, tolerance=0.01, validation_data=(X_NEW, Y_NEW))
    is_first = (result.path["way"] == "truncate") & (result.path["validation_score"] >= result.full_score - 0.01)
    assert is_first.any()
    assert len(result.kept) <= result.path["trees"][is_first].min()


def test_the_first_trees_are_taken_where_they_are_best():
    """Trees that were trained on half of the rows, and then others on labels without any sense."""
    first = [DecisionTreeClassifier(max_depth=3, random_state=k).fit(X_NEW, Y_NEW) for k in range(2)]
    noise = np.random.default_rng(0).permutation(Y_NEW)
    rest = [DecisionTreeClassifier(max_depth=3, random_state=k).fit(X_NEW[:90], noise[:90]) for k in range(6)]
    result = thin([*first, *rest], X, Y, tolerance=0.01, validation_data=numbers(n=400, seed=3))
    assert result.way == "truncate"
    assert result.kept.tolist() == list(range(len(result.kept)))
    assert np.isnan(result.gap)


def test_the_score_told_is_that_of_the_model_returned(boosted):
    result = thin(boosted, X, Y, tolerance=0.02, validation_data=(X_NEW, Y_NEW), scoring="neg_log_loss")
    losses = -np.log(np.take_along_axis(result.model.predict_proba(X_NEW), Y_NEW[:, None], axis=1))
    assert result.path["validation_score"][result.chosen] == pytest.approx(-losses.mean(), rel=1e-6)


def test_the_log_loss_of_several_classes_is_that_of_the_model_returned():
    model = of_three("xgboost")
    result = thin(model, WINE, KINDS, tolerance=0.1, validation_data=(WINE_NEW, KINDS_NEW), scoring="neg_log_loss")
    expected = -log_loss(KINDS_NEW, result.model.predict_proba(WINE_NEW).astype(float))
    assert result.path["validation_score"][result.chosen] == pytest.approx(expected, rel=1e-5)


def test_most_trees_are_those_of_all_classes():
    model = of_three("xgboost")
    result = thin(model, WINE, KINDS, tolerance=0.3, max_trees=8, validation_data=(WINE_NEW, KINDS_NEW))
    assert len(result.kept) <= 2
    assert result.path["trees"].max() == 6
    with pytest.warns(ThinningWarning, match="No ensemble of 3 trees reaches"):
        one = thin(model, WINE, KINDS, max_trees=3, validation_data=(WINE_NEW, KINDS_NEW), scoring="neg_log_loss")
    assert one.path["trees"].tolist() == [3, 3]
    with pytest.raises(InvalidParameterError, match="max_trees=2 is less than one round of this model, which has 3"):
        thin(model, WINE, KINDS, max_trees=2)


def test_fewer_rounds_of_digits_than_the_first_ones_need():
    digits, labels = load_digits(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(labels))
    X, Y, X_NEW, Y_NEW = digits[order[::2]], labels[order[::2]], digits[order[1::2]], labels[order[1::2]]
    model = xgboost.XGBClassifier(n_estimators=25, max_depth=3, n_jobs=1).fit(X, Y)
    result = thin(model, X, Y, tolerance=0.01, validation_data=(X_NEW, Y_NEW))
    assert len(result.kept) <= 12
    assert result.model.get_booster().num_boosted_rounds() == len(result.kept)
    first = model.predict(X_NEW, iteration_range=(0, len(result.kept)))
    assert (result.model.predict(X_NEW) == Y_NEW).mean() > (first == Y_NEW).mean()


def test_another_score_and_the_most_trees(regressor):
    X_NEW, Y_NEW = HELD["validation_data"]
    result = thin(regressor, WAVE, HEIGHTS, scoring="neg_mean_absolute_error", tolerance=1.0, **HELD)
    errors = [mean_absolute_error(Y_NEW, model.predict(X_NEW)) for model in (regressor, result.model)]
    assert result.full_score == pytest.approx(-errors[0])
    assert errors[1] <= errors[0] + 1.0
    stumps = GradientBoostingRegressor(n_estimators=2, max_depth=1, learning_rate=1.0, random_state=0).fit(
        WAVE, HEIGHTS
    )
    with pytest.warns(ThinningWarning, match="No ensemble of 1 trees reaches the required R²"):
        assert len(thin(stumps, WAVE, HEIGHTS, max_trees=1, **HELD).kept) == 1
    with pytest.warns(ThinningWarning, match=r"No smaller ensemble reaches the required R².*tolerance="):
        unchanged = thin(stumps, WAVE, HEIGHTS, **HELD)
    assert unchanged.way == "unchanged"
    np.testing.assert_array_equal(unchanged.model.predict(WAVE), stumps.predict(WAVE))


@pytest.mark.parametrize("unit", [1e-9, 1e9])
def test_the_unit_of_y_does_not_matter(unit):
    results, (X_NEW, Y_NEW) = [], HELD["validation_data"]
    for y in (HEIGHTS, unit * HEIGHTS):
        model = GradientBoostingRegressor(n_estimators=12, max_depth=2, random_state=0).fit(WAVE, y)
        results.append(thin(model, WAVE, y, tolerance=0.01, validation_data=(X_NEW, y[0] / HEIGHTS[0] * Y_NEW)))
    one, other = results
    np.testing.assert_array_equal(one.kept, other.kept)
    assert one.way == other.way
    assert one.full_score == pytest.approx(other.full_score)
    np.testing.assert_allclose(unit * one.model.predict(X_NEW), other.model.predict(X_NEW), rtol=1e-7)


def test_repeated_rows_are_sample_weights(regressor):
    counts = np.random.default_rng(0).integers(0, 3, len(HEIGHTS))
    held, X_NEW = HELD | {"tolerance": 0.02}, HELD["validation_data"][0]
    weighted = thin(regressor, WAVE, HEIGHTS, sample_weight=counts, **held)
    repeated = thin(regressor, np.repeat(WAVE, counts, axis=0), np.repeat(HEIGHTS, counts), **held)
    np.testing.assert_array_equal(weighted.kept, repeated.kept)
    np.testing.assert_allclose(weighted.model.predict(X_NEW), repeated.model.predict(X_NEW), rtol=1e-5)


def test_medians_imitate_the_model_only():
    model = lightgbm.LGBMRegressor(**LGB1, objective="regression_l1").fit(WAVE, HEIGHTS)
    result = thin(model, WAVE, HEIGHTS, tolerance=0.05, **HELD)
    assert set(result.path["way"]) <= {"imitate", "truncate"}


@pytest.mark.parametrize(
    "model",
    [
        RandomForestClassifier(8, max_depth=3, random_state=0),
        AdaBoostClassifier(DecisionTreeClassifier(max_depth=2), n_estimators=8, random_state=0),
        BaggingClassifier(DecisionTreeClassifier(max_depth=3), 8, max_features=0.6, random_state=0),
    ],
    ids=lambda model: type(model).__name__,
)
def test_log_odds_of_averaged_trees_are_trees_of_ours(model):
    result = thin(model.fit(X, Y), X, Y, tolerance=0.1, validation_data=(X_NEW, Y_NEW))
    if result.leaves is not None:
        assert isinstance(result.model, ThinnedTreesClassifier)
        assert result.n_leaves == result.model.n_leaves_
    assert result.model.score(X_NEW, Y_NEW) >= model.score(X_NEW, Y_NEW) - 0.1


def test_our_own_models_keep_their_type_and_become_log_odds():
    model = DualBoostClassifier("lp", max_depth=2, max_trees=12).fit(X, Y)
    result = thin(model, X, Y, tolerance=0.03, validation_data=(X_NEW, Y_NEW))
    assert type(result.model) is DualBoostClassifier
    if result.leaves is not None:
        np.testing.assert_allclose(
            result.model.predict_proba(X_NEW)[:, 1], expit(result.model.decision_function(X_NEW)), atol=1e-9
        )


def test_single_precision_thresholds_are_kept_exactly():
    """On rows that are a rounding error away from the thresholds, where single precision decides."""
    forest = RandomForestClassifier(3, max_depth=3, random_state=0).fit(X, Y)
    edges = np.concatenate([tree.tree_.threshold[tree.tree_.feature >= 0] for tree in forest.estimators_])
    steps = np.concatenate([edges + k * np.spacing(edges.astype(np.float32)).astype(float) / 4 for k in range(-4, 5)])
    near = np.random.default_rng(0).choice(steps, size=(2000, X.shape[1]))
    adapter, kept = adapter_for(forest), np.arange(3)
    leaves = [np.arange(len(own))[:, None] + 1.0 for own in adapter.members.values]
    expected = adapter.rows(near, np.ones(2000), np.ones(2000)).scores(kept, leaves, 0.0)
    np.testing.assert_allclose(adapter.rewrite(kept, leaves, 0.0).decision_function(near), expected)


def test_members_that_are_no_trees_get_new_weights():
    model = BaggingClassifier(LogisticRegression(), 5, max_features=0.5, random_state=0).fit(X, Y)
    assert thin(model, X, Y, tolerance=0.1, random_state=0).way in ("weights", "truncate")
    with pytest.warns(ThinningWarning, match="method='refit': the members of the model are not all trees"):
        thin(model, X, Y, tolerance=0.1, method="refit", random_state=0)


def test_refitting_takes_no_formulation(boosted):
    for given in ({"C": 1.0}, {"formulation": "lp"}, {"epsilon": 0.1}):
        with pytest.raises(InvalidParameterError, match="method='refit' takes no formulation, C or epsilon"):
            thin(boosted, X, Y, method="refit", **given)
    with pytest.raises(InvalidParameterError, match="validation_fraction='half'"):
        thin(boosted, X, Y, validation_fraction="half")


def rows_with(values, leaf_ids):
    """Trees of two classes, given the values of their leaves and the leaf of each row."""
    n, members = len(leaf_ids[0]), Members([np.asarray(own, dtype=float)[:, None] for own in values]).merged()
    target = Logit().target(np.arange(2), 0.0)
    return ModelRows(members, leaf_ids, np.tile([1.0, -1.0], n // 2), np.ones(n), target, Logit(), np.zeros(n))


def test_leaves_of_equal_value_are_one_leaf_to_fits():
    """In single precision; a leaf without rows gets zero."""
    own = rows_with([[0.5, -1.0, 0.5 + 1e-12, 2.0, 7.0]], [np.array([0, 1, 2, 3])])
    assert own.refittable.fitted_leaves[0][0].tolist() == [1, 0, 1, 2, -1]
    stage = next(LeafPath(own).stages(10.0, [1]))
    assert stage.leaves[0].shape == (5, 1)
    assert stage.leaves[0][0, 0] == stage.leaves[0][2, 0] != stage.leaves[0][1, 0]
    assert stage.leaves[0][4, 0] == 0.0


def test_of_a_large_model_the_first_members_take_part(monkeypatch):
    leaf_ids = [np.tile(np.arange(4), 3) for _ in range(5)]
    leaf_ids[1] = np.zeros(12, dtype=int)  # one leaf for all rows
    own = rows_with([np.arange(4.0)] * 5, leaf_ids)
    monkeypatch.setattr(rows, "MOST_LEAVES", 8)
    assert own.refittable.members.tolist() == [0, 2]
    monkeypatch.setattr(rows, "MOST_LEAVES_OF_MEMBER", 3)
    assert not len(own.part(slice(None)).refittable.members)
