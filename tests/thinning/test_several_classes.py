"""Thinning of models with more than two classes, against the real libraries and an independent solver."""

import copy
import pickle
from itertools import pairwise

import lightgbm
import numpy as np
import pandas as pd
import pytest
import xgboost
from catboost import CatBoostClassifier
from scipy.optimize import minimize
from scipy.special import logsumexp, softmax
from sklearn.base import clone
from sklearn.datasets import load_digits, load_iris, load_wine
from sklearn.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.tree import DecisionTreeClassifier

from dualboost import DualBoostClassifier, load_model, thin
from dualboost.errors import InvalidDataError, InvalidParameterError, ThinningWarning, UnsupportedModelError
from dualboost.thinning import CLASS_ADAPTERS, ThinnedTreesClassifier, adapter_for
from dualboost.thinning.members import ClassLeaves
from dualboost.thinning.refitting import sizes_below
from dualboost.thinning.trials import read_rows

from ..several_classes import three_classes
from ..thoroughness import every

XGB = {"n_estimators": 12, "max_depth": 2, "learning_rate": 0.5, "n_jobs": 1}
LGB = {"n_estimators": 12, "num_leaves": 5, "min_child_samples": 5, "n_jobs": 1, "verbose": -1}
CAT = {"iterations": 15, "depth": 3, "verbose": 0, "thread_count": 1, "allow_writing_files": False}


def halves(load):
    """Every second row to train on, the others to judge on."""
    X, y = load(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(y))
    return X[order[::2]], y[order[::2]], X[order[1::2]], y[order[1::2]]


X, Y, X_NEW, Y_NEW = halves(load_wine)
WORDS = np.array(["red", "rosé", "white"])


def xgb_booster(X, y):
    params = {"objective": "multi:softmax", "num_class": 3, "max_depth": 2, "nthread": 1, "base_score": 0.3}
    return xgboost.train(params, xgboost.DMatrix(X, y), 8)


def lgb_booster(X, y):
    params = {"objective": "multiclass", "num_class": 3, "num_leaves": 4, "verbose": -1, "num_threads": 1}
    return lightgbm.train(params, lightgbm.Dataset(X, y), 8)


def early_stopped(X, y):
    model = xgboost.XGBClassifier(**(XGB | {"n_estimators": 60}), early_stopping_rounds=2)
    return model.fit(X[::2], y[::2], eval_set=[(X[1::2], y[1::2])], verbose=False)


def fitted_by(estimator):
    return lambda X, y: clone(estimator).fit(X, y)


FITS = {
    "xgboost": fitted_by(xgboost.XGBClassifier(**XGB)),
    "xgboost, parallel trees": fitted_by(xgboost.XGBClassifier(**XGB, num_parallel_tree=2, subsample=0.7)),
    "xgboost, dart": fitted_by(xgboost.XGBClassifier(**XGB, booster="dart", rate_drop=0.3)),
    "xgboost, stopped early": early_stopped,
    "xgboost booster": xgb_booster,
    "lightgbm": fitted_by(lightgbm.LGBMClassifier(**LGB)),
    "lightgbm, forest": fitted_by(
        lightgbm.LGBMClassifier(**LGB, boosting_type="rf", bagging_fraction=0.5, bagging_freq=1)
    ),
    "lightgbm booster": lgb_booster,
    "catboost": fitted_by(CatBoostClassifier(**CAT)),
    "catboost, depthwise": fitted_by(CatBoostClassifier(**CAT, grow_policy="Depthwise")),
    "catboost, lossguide": fitted_by(CatBoostClassifier(**CAT, grow_policy="Lossguide", max_leaves=9)),
    "random forest": fitted_by(RandomForestClassifier(12, max_depth=4, random_state=0)),
    "extra trees": fitted_by(ExtraTreesClassifier(12, max_depth=4, random_state=0)),
    "bagging": fitted_by(BaggingClassifier(DecisionTreeClassifier(max_depth=4), 12, max_features=0.5, random_state=0)),
    "gradient boosting": fitted_by(GradientBoostingClassifier(n_estimators=10, max_depth=2, random_state=0)),
    "hist gradient boosting": fitted_by(HistGradientBoostingClassifier(max_iter=10, max_leaf_nodes=5, random_state=0)),
    "ours": fitted_by(DualBoostClassifier(max_trees=10, max_depth=2)),
}
OURS_INSTEAD = ("random forest", "extra trees", "bagging", "hist gradient boosting")
"""Models whose libraries cannot hold refitted leaves."""


FEW = (
    *("xgboost", "xgboost, parallel trees", "lightgbm", "catboost, lossguide", "random forest"),
    *("hist gradient boosting", "ours"),
)


@pytest.fixture(scope="module", params=every(FITS, FEW))
def name(request):
    return request.param


@pytest.fixture(scope="module")
def fitted(name):
    return FITS[name](X, Y)


@pytest.fixture(scope="module")
def thinned(fitted):
    return thin(fitted, X, Y, tolerance=0.05, validation_data=(X_NEW, Y_NEW))


def rows_of(model, X=X_NEW, y=Y_NEW):
    return read_rows(adapter_for(model), X, y, None)


def probabilities(model, X):
    """What the library itself predicts."""
    if isinstance(model, xgboost.Booster):
        return softmax(model.predict(xgboost.DMatrix(X), output_margin=True), axis=1)
    return model.predict(X) if isinstance(model, lightgbm.Booster) else model.predict_proba(X)


def promised(model, result, X=X_NEW, y=Y_NEW):
    """The probabilities that the result describes by its leaves or weights."""
    adapter, rows = adapter_for(model), rows_of(model, X, y)
    if result.leaves is None:
        return adapter.link.expected(rows.scores(result.kept, result.weights, result.intercept))
    return softmax(rows.refitted_scores(result.kept, result.leaves, result.intercept), axis=1)


def test_every_adapter_has_a_case():
    assert {type(adapter_for(fit(X, Y))) for fit in FITS.values()} == set(CLASS_ADAPTERS)


def test_members_add_up_to_the_model(fitted):
    adapter, rows = adapter_for(fitted), rows_of(fitted)
    np.testing.assert_allclose(adapter.raw_scores(fitted, X_NEW), rows.full_scores, atol=2e-6)
    np.testing.assert_allclose(probabilities(fitted, X_NEW), adapter.expected(rows.full_scores), atol=1e-6)


def test_the_model_returned_is_what_was_computed(fitted, thinned):
    assert 0 < len(thinned.kept) < adapter_for(fitted).n_members
    np.testing.assert_allclose(probabilities(thinned.model, X_NEW), promised(fitted, thinned), atol=1e-6)
    assert np.isnan(thinned.gap) if thinned.leaves is None else 0 <= thinned.gap <= 1e-6


def test_the_type_is_kept_where_it_can_be(name, fitted, thinned):
    expected = ThinnedTreesClassifier if name in OURS_INSTEAD and thinned.leaves is not None else type(fitted)
    assert type(thinned.model) is expected


def test_accuracy_is_kept_to_the_tolerance(fitted, thinned):
    before, after = ((probabilities(model, X_NEW).argmax(axis=1) == Y_NEW).mean() for model in (fitted, thinned.model))
    assert after >= before - 0.05 - 1e-9
    assert thinned.full_score == pytest.approx(before)
    assert thinned.path["validation_score"][thinned.chosen] == pytest.approx(after)


def test_rounds_are_kept_whole_and_trees_are_counted(fitted, thinned):
    adapter = adapter_for(fitted)
    each = 3 if isinstance(fitted, FITS_OF_ROUNDS) else 1
    assert adapter.trees_per_member == each
    np.testing.assert_array_equal(thinned.path["trees"], each * thinned.path["members"])
    assert thinned.summary()["trees"] == (each * adapter.n_members, each * len(thinned.kept))
    assert f"{each * len(thinned.kept)} of {each * adapter.n_members} trees" in repr(thinned)
    if isinstance(thinned.model, lightgbm.Booster):
        assert thinned.model.num_trees() == 3 * len(thinned.kept)
    if isinstance(thinned.model, xgboost.Booster):
        assert thinned.model.num_boosted_rounds() == len(thinned.kept)


FITS_OF_ROUNDS = (
    *(xgboost.XGBClassifier, xgboost.Booster, lightgbm.LGBMClassifier, lightgbm.Booster),
    *(GradientBoostingClassifier, HistGradientBoostingClassifier),
)


def test_any_leaves_and_intercepts_can_be_written(fitted):
    adapter, rows, rng = adapter_for(fitted), rows_of(fitted), np.random.default_rng(1)
    kept = np.array([1, adapter.n_members - 1])
    leaves = [
        ClassLeaves(tuple(rng.normal(size=values.shape) for values in adapter.members.as_they_are(member).values))
        for member in kept.tolist()
    ]
    intercept = rng.normal(size=3)
    expected = softmax(rows.refitted_scores(kept, leaves, intercept), axis=1)
    np.testing.assert_allclose(probabilities(adapter.rewrite(kept, leaves, intercept), X_NEW), expected, atol=1e-6)


def test_the_first_members_can_be_written(fitted):
    from dualboost.targets.scoring import Scoring
    from dualboost.thinning.refitting import Candidates
    from dualboost.thinning.trials import Trial

    adapter, rows = adapter_for(fitted), rows_of(fitted)
    point = Candidates(Trial(adapter, rows, rows), Scoring()).truncated(3)
    expected = adapter.link.expected(rows.scores(point.members, point.weights, point.intercept))
    rebuilt = adapter.rebuild(point.members, point.weights, point.intercept)
    assert type(rebuilt) is type(fitted) or isinstance(rebuilt, ThinnedTreesClassifier)
    np.testing.assert_allclose(probabilities(rebuilt, X_NEW), expected, atol=1e-6)


def test_the_model_that_came_in_is_not_changed(fitted):
    before = probabilities(fitted, X_NEW)
    thin(fitted, X, Y, tolerance=0.1, validation_data=(X_NEW, Y_NEW))
    np.testing.assert_array_equal(probabilities(fitted, X_NEW), before)


def test_the_model_returned_is_pickled_and_thinned_again(thinned):
    again = pickle.loads(pickle.dumps(thinned.model))
    np.testing.assert_array_equal(probabilities(again, X_NEW), probabilities(thinned.model, X_NEW))
    if not isinstance(again, ThinnedTreesClassifier) and len(thinned.kept) > 1:
        smaller = thin(again, X, Y, tolerance=0.3, validation_data=(X_NEW, Y_NEW))
        assert len(smaller.kept) < len(thinned.kept)


def test_the_first_members_are_among_the_candidates(thinned, fitted):
    first = thinned.path["members"][thinned.path["way"] == "truncate"]
    np.testing.assert_array_equal(first, sizes_below(adapter_for(fitted).n_members, None)[::-1])
    is_first = (thinned.path["way"] == "truncate") & (thinned.path["validation_score"] >= thinned.full_score - 0.05)
    if is_first.any():
        assert len(thinned.kept) <= thinned.path["members"][is_first].min()


@pytest.mark.parametrize("which", ["xgboost", "random forest"])
@pytest.mark.parametrize("imitates", [False, True])
def test_the_leaves_are_optimal(which, imitates):
    """Against scipy on the indicators of the leaves, for rounds of trees and for trees with vectors."""
    model, C = FITS[which](X, Y), 300.0
    adapter, rows = adapter_for(model), rows_of(model, X, Y)
    shares = adapter.expected(rows.full_scores) if imitates else np.eye(3)[Y]
    path = adapter.leaf_path(rows.imitating(shares) if imitates else rows)
    stage = path.down_to(C, 3, sizes_below(12, None))[1]
    assert 0 <= stage.solution.gap <= 1e-6
    trees = [tree for member in stage.members for tree in adapter.members.trees_of(member)]
    classes = [speaks for _ in stage.members for speaks in adapter.members.speaks_for]
    ones = [np.eye(len(adapter.members.values[tree]))[rows.leaves[tree]] for tree in trees]
    shapes = [adapter.members.values[tree].shape for tree in trees]
    ends = np.cumsum([0, *(int(np.prod(shape)) for shape in shapes)])

    def objective(v):
        F, gradient = np.tile(v[ends[-1] :], (len(Y), 1)), v.copy()
        parts = [v[low:high].reshape(shape) for (low, high), shape in zip(pairwise(ends), shapes, strict=True)]
        for Z, own, speaks in zip(ones, parts, classes, strict=True):
            F[:, speaks] += Z @ own
        total = logsumexp(F, axis=1)
        R = (np.exp(F - total[:, None]) - shares) * C / len(Y)
        for Z, speaks, (low, high) in zip(ones, classes, pairwise(ends), strict=True):
            gradient[low:high] += (Z.T @ R[:, speaks]).ravel()
        gradient[ends[-1] :] = R.sum(axis=0)
        values = v[: ends[-1]]
        return 0.5 * values @ values + C * (total - (shares * F).sum(axis=1)).mean(), gradient

    found = np.concatenate([*(own.ravel() for leaves in stage.leaves for own in leaves.values), stage.intercept])
    options = {"maxiter": 10_000, "ftol": 1e-15, "gtol": 1e-9, "maxcor": 50}
    best = minimize(objective, np.zeros(len(found)), jac=True, method="L-BFGS-B", options=options).fun
    assert objective(found)[0] == pytest.approx(best, rel=1e-6)
    assert stage.solution.primal == pytest.approx(objective(found)[0], rel=1e-9)


@pytest.mark.parametrize("which", ["lightgbm", "catboost"])
def test_elimination_keeps_fewer_and_fewer_of_the_same_members(which):
    model = FITS[which](X, Y)
    adapter, rows = adapter_for(model), rows_of(model, X, Y)
    stages = list(adapter.leaf_path(rows).stages(300.0, sizes_below(adapter.n_members, None)))
    assert len(stages[-1].members) == 1
    for larger, smaller in pairwise(stages):
        assert set(smaller.members) < set(larger.members)


@pytest.mark.parametrize("which", ["xgboost", "catboost"])
def test_weights_are_repetitions(which):
    model, counts = FITS[which](X, Y), np.random.default_rng(0).integers(0, 3, len(Y))
    adapter = adapter_for(model)
    weighted = read_rows(adapter, X, Y, counts)
    repeated = read_rows(adapter, np.repeat(X, counts, axis=0), np.repeat(Y, counts), None)
    first = [adapter.leaf_path(rows).down_to(100.0, 10, [10])[1] for rows in (weighted, repeated)]
    assert first[0].solution.primal == pytest.approx(first[1].solution.primal, rel=1e-5)


def test_folds_of_models_like_it_and_words_as_classes():
    model = lightgbm.LGBMClassifier(**LGB).fit(X, WORDS[Y])
    result = thin(model, X, WORDS[Y], tolerance=0.05, random_state=0)
    assert result.judged_on.startswith("3 folds of X")
    assert set(result.model.predict(X_NEW)) <= set(WORDS)
    assert (result.model.predict(X_NEW) == WORDS[Y_NEW]).mean() > 0.8


def test_a_class_without_rows_is_told():
    model, is_there = FITS["lightgbm"](X, Y), Y != 2
    with pytest.warns(ThinningWarning, match="knows by heart"):
        result = thin(model, X[is_there], Y[is_there], tolerance=0.1, random_state=0)
    assert "a class of the model has no rows" in result.judged_on
    np.testing.assert_allclose(result.model.predict_proba(X_NEW), promised(model, result), atol=1e-6)


def test_the_score_told_is_that_of_the_model_returned():
    model = FITS["xgboost"](X, Y)
    result = thin(model, X, Y, tolerance=0.1, validation_data=(X_NEW, Y_NEW), scoring="neg_log_loss")
    expected = -log_loss(Y_NEW, result.model.predict_proba(X_NEW).astype(float))
    assert result.path["validation_score"][result.chosen] == pytest.approx(expected, rel=1e-5)


def test_most_trees_are_those_of_all_classes():
    model = FITS["xgboost"](X, Y)
    result = thin(model, X, Y, tolerance=0.3, max_trees=8, validation_data=(X_NEW, Y_NEW))
    assert len(result.kept) <= 2
    assert result.path["trees"].max() == 6
    with pytest.warns(ThinningWarning, match="No ensemble of 3 trees reaches"):
        one = thin(model, X, Y, max_trees=3, validation_data=(X_NEW, Y_NEW), scoring="neg_log_loss")
    assert one.path["trees"].tolist() == [3, 3]
    with pytest.raises(InvalidParameterError, match="max_trees=2 is less than one round of this model, which has 3"):
        thin(model, X, Y, max_trees=2)


def test_fewer_rounds_of_digits_than_the_first_ones_need():
    X, Y, X_NEW, Y_NEW = halves(load_digits)
    model = xgboost.XGBClassifier(n_estimators=25, max_depth=3, n_jobs=1).fit(X, Y)
    result = thin(model, X, Y, tolerance=0.01, validation_data=(X_NEW, Y_NEW))
    assert len(result.kept) <= 12
    assert result.model.get_booster().num_boosted_rounds() == len(result.kept)
    first = model.predict(X_NEW, iteration_range=(0, len(result.kept)))
    assert (result.model.predict(X_NEW) == Y_NEW).mean() > (first == Y_NEW).mean()


def test_iris_in_a_frame_with_names():
    frame = load_iris(as_frame=True)
    model = HistGradientBoostingClassifier(max_iter=10, max_leaf_nodes=4, random_state=0).fit(frame.data, frame.target)
    result = thin(model, frame.data, frame.target, tolerance=0.1, validation_fraction=0.3, random_state=0)
    assert result.model.score(frame.data, frame.target) > 0.85
    assert list(result.model.feature_names_in_) == list(frame.data.columns)


@pytest.mark.parametrize(
    "estimator",
    [
        xgboost.XGBClassifier(**XGB, enable_categorical=True),
        lightgbm.LGBMClassifier(**LGB),
        HistGradientBoostingClassifier(max_iter=10, categorical_features="from_dtype", random_state=0),
        DualBoostClassifier(max_trees=8),
    ],
    ids=lambda model: type(model).__name__,
)
def test_gaps_and_categories(estimator):
    (X, Y), (X_NEW, Y_NEW) = three_classes(), three_classes(seed=1)
    model = estimator.fit(X, Y)
    result = thin(model, X, Y, tolerance=0.1, validation_data=(X_NEW, Y_NEW))
    np.testing.assert_allclose(result.model.predict_proba(X_NEW), promised(model, result, X_NEW, Y_NEW), atol=1e-6)


def test_trees_of_ours_are_saved(tmp_path):
    model = FITS["random forest"](X, WORDS[Y])
    result = thin(model, X, WORDS[Y], tolerance=0.05, validation_data=(X_NEW, WORDS[Y_NEW]))
    assert isinstance(result.model, ThinnedTreesClassifier)
    result.model.save(tmp_path / "small.json")
    loaded = load_model(tmp_path / "small.json")
    np.testing.assert_array_equal(loaded.predict_proba(X_NEW), result.model.predict_proba(X_NEW))
    np.testing.assert_array_equal(loaded.predict(X_NEW), result.model.predict(X_NEW))
    raw = result.model.booster_.predict(X_NEW, raw_score=True)
    np.testing.assert_allclose(raw, result.model.decision_function(X_NEW), atol=1e-9)


def test_files_of_the_libraries(tmp_path):
    boosted, light = FITS["xgboost"](X, Y), FITS["lightgbm"](X, Y)
    for model in (boosted, light):
        small = thin(model, X, Y, tolerance=0.1, validation_data=(X_NEW, Y_NEW)).model
        booster = small.get_booster() if model is boosted else small.booster_
        booster.save_model(str(tmp_path / "model.json"))
        if model is boosted:
            loaded = xgboost.XGBClassifier()
            loaded.load_model(tmp_path / "model.json")
        else:
            loaded = lightgbm.Booster(model_file=tmp_path / "model.json")
        np.testing.assert_allclose(probabilities(loaded, X_NEW), small.predict_proba(X_NEW), atol=1e-7)


@pytest.mark.parametrize("given", [{"method": "thin"}, {"method": "reweight"}, {"formulation": "lp"}, {"C": 1.0}])
def test_new_weights_take_two_classes(given):
    (name, value) = next(iter(given.items()))
    with pytest.raises(InvalidParameterError, match=rf"{name}={value!r} asks for new weights.*method='refit'"):
        thin(FITS["lightgbm"](X, Y), X, Y, **given)


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (AdaBoostClassifier(n_estimators=3), "AdaBoostClassifier has 3 classes; models of this kind"),
        (BaggingClassifier(LogisticRegression(max_iter=2000), 3), "its members are decision trees"),
        (lightgbm.LGBMClassifier(**LGB, objective="multiclassova"), "objective 'multiclassova' cannot be thinned"),
        (xgboost.XGBClassifier(**XGB, multi_strategy="multi_output_tree"), "multi_strategy='one_output_per_tree'"),
        (CatBoostClassifier(**CAT, loss_function="MultiClassOneVsAll"), "loss_function='MultiClassOneVsAll'"),
    ],
    ids=["adaboost", "bagging", "one versus all", "trees with vectors", "one versus all, catboost"],
)
def test_what_cannot_be_thinned(model, words):
    with pytest.raises(UnsupportedModelError, match=words):
        thin(copy.deepcopy(model).fit(X, Y), X, Y)


def test_labels_and_columns_that_do_not_fit():
    model = FITS["random forest"](X, Y)
    with pytest.raises(InvalidDataError, match="but the model knows the classes"):
        thin(model, X, Y + 7)
    with pytest.raises(InvalidDataError, match="X has 12 columns"):
        thin(model, X[:, 1:], Y)
    with pytest.raises(UnsupportedModelError, match="y holds one class only"):
        thin(model, X[Y == 1], Y[Y == 1])
    with pytest.raises(InvalidDataError, match="In validation_data: "):
        thin(model, X, Y, validation_data=(X_NEW, pd.Series(Y_NEW[:-1])))
