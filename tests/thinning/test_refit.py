"""Thinning by refitted leaves: what is chosen, on which rows, and that the model returned is what was chosen."""

from itertools import pairwise
from typing import ClassVar

import lightgbm
import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import expit
from sklearn.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    GradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

from dualboost import DualBoostClassifier, thin
from dualboost.errors import InvalidParameterError, ThinningWarning
from dualboost.thinning import ThinnedTreesClassifier, adapter_for
from dualboost.thinning import members as kinds
from dualboost.thinning.members import Kinds, NewLeaves, refittable_kinds, refitted_scores
from dualboost.thinning.paths import LeafPath
from dualboost.thinning.refitting import sizes_below
from dualboost.thinning.trials import read_rows

from .models import numbers

X, Y = numbers(n=300)
X_NEW, Y_NEW = numbers(n=600, seed=1)


class Counting(GradientBoostingClassifier):
    """Notes how many rows each fit had."""

    fits: ClassVar[list[int]] = []

    def fit(self, X, y, **kwargs):
        self.fits.append(len(y))
        return super().fit(X, y, **kwargs)


@pytest.fixture(scope="module")
def boosted():
    return GradientBoostingClassifier(n_estimators=12, max_depth=2, random_state=0).fit(X, Y)


def test_models_like_it_are_judged_on_rows_they_have_not_seen():
    Counting.fits.clear()
    model = Counting(n_estimators=6, max_depth=2, random_state=0).fit(X, Y)
    result = thin(model, X, Y, tolerance=0.05)
    assert Counting.fits == [300, 200, 200, 200]
    assert result.judged_on.startswith("3 folds of X (300 rows)")
    assert isinstance(result.model, Counting)
    assert 0 < len(result.kept) < 6
    again = thin(model, X, Y, tolerance=0.05)
    np.testing.assert_array_equal(result.model.predict_proba(X_NEW), again.model.predict_proba(X_NEW))


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


def test_the_leaves_are_optimal_and_told_to_a_gap(boosted):
    """Against scipy on the indicators of the leaves."""
    rows = read_rows(adapter_for(boosted), X, Y, None)
    result, C = LeafPath(rows).down_to(100.0, 5, sizes_below(12, None))[1], 100.0
    assert 0 <= result.solution.gap <= 1e-6
    outputs = rows.outputs[result.members]
    ones = [np.eye(len(own.values))[own.kinds.numbers(row)] for row, own in zip(outputs, result.leaves, strict=True)]
    Z, signs = np.column_stack(ones), np.where(Y == 1, 1.0, -1.0)

    def objective(v):
        loss = np.logaddexp(0.0, -signs * (Z @ v[:-1] + v[-1])).mean()
        return 0.5 * v[:-1] @ v[:-1] + C * loss

    values = np.append(np.concatenate([own.values for own in result.leaves]), result.intercept)
    best = minimize(objective, np.zeros(Z.shape[1] + 1)).fun
    assert objective(values) == pytest.approx(best, rel=1e-5)


def test_imitating_is_fitting_the_models_probabilities(boosted):
    rows = read_rows(adapter_for(boosted), X, Y, None)
    p = boosted.predict_proba(X)[:, 1]
    _, stage = LeafPath(rows.imitating(p)).down_to(2500.0, 10, sizes_below(12, None))
    found = expit(refitted_scores(rows.outputs[stage.members], stage.leaves, stage.intercept))
    assert np.abs(found - p).mean() < 0.02


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
    rows = np.random.default_rng(0).choice(steps, size=(2000, X.shape[1]))
    adapter = adapter_for(forest)
    outputs, kept = adapter.outputs(rows), np.arange(3)
    leaves = [NewLeaves(own, np.arange(len(own)) + 1.0) for own in map(Kinds.of, outputs)]
    thinned = adapter.rewrite(kept, leaves, 0.0)
    np.testing.assert_allclose(thinned.decision_function(rows), refitted_scores(outputs, leaves, 0.0))


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


def test_kinds_are_the_distinct_outputs():
    own = Kinds.of(np.array([0.5, -1.0, 0.5, 2.0], dtype=np.float32))
    np.testing.assert_array_equal(own.numbers(np.array([2.0, 0.5, 0.4])), [2, 1, 3])
    np.testing.assert_array_equal(NewLeaves(own, np.array([1.0, 2.0, 3.0]))([0.5, 7.0]), [2.0, 0.0])


def test_of_a_large_model_the_first_members_take_part(monkeypatch):
    outputs = np.tile(np.arange(4, dtype=np.float32), (5, 3))
    outputs[1] = 1.0  # says nothing
    monkeypatch.setattr(kinds, "MOST_LEAVES", 8)
    assert refittable_kinds(outputs)[0].tolist() == [0, 2]
    monkeypatch.setattr(kinds, "MOST_KINDS", 3)
    assert not len(refittable_kinds(outputs)[0])


def test_elimination_keeps_fewer_and_fewer_of_the_same_trees(boosted):
    adapter = adapter_for(boosted)
    path = LeafPath(read_rows(adapter, X, Y, None))
    stages = list(path.stages(100.0, sizes_below(12, None)))
    assert [len(stage.members) for stage in stages] == sizes_below(12, None) == [10, 8, 6, 5, 4, 3, 2, 1]
    for larger, smaller in pairwise(stages):
        assert set(smaller.members) < set(larger.members)
