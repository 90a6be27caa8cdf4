"""Effects: they add up to the score on every row, and are what the analysis of variance says."""

import sys
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from dualboost import DualBoostClassifier, DualBoostRegressor, load_model, thin
from dualboost.errors import DegenerateEnsembleWarning, MissingDependencyError, UnsupportedModelError
from dualboost.inspection.effects import effects_of

from ..numbers_to_learn import amounts, counts
from ..random_trees import random_tree
from ..several_classes import three_classes
from ..thinning.models import numbers, table
from ..thoroughness import every, how_many

CASES = {
    "stumps": (DualBoostClassifier(max_depth=1, max_trees=12), table),
    "depth 2": (DualBoostClassifier(max_depth=2, max_trees=12), table),
    "margins": (DualBoostClassifier("cg", max_depth=2, max_trees=12), table),
    "three classes": (DualBoostClassifier(max_depth=2, max_trees=6), three_classes),
    "numbers": (DualBoostRegressor(max_depth=2, max_trees=8), amounts),
    "counts": (DualBoostRegressor("poisson", max_depth=2, max_trees=6), counts),
    "quantiles": (DualBoostRegressor("quantile", quantiles=[0.1, 0.5, 0.9], max_depth=2, max_trees=5), amounts),
}


WITH_PAIRS = [name for name in CASES if name != "stumps"]


def fitted(name):
    estimator, data = CASES[name]
    return clone(estimator).fit(*data())


def new_rows():
    """Rows that were not in training, with gaps and a category that was not there."""
    new, _ = table(n=300, seed=8)
    return new.assign(colour=pd.Categorical(np.where(new.index % 7, new["colour"].astype(object), "unheard of")))


def scores(model, X):
    """The sum that the model is made of, in the units that people are shown."""
    return model.fitted_.in_units.decide(model._features(X)).reshape(len(X), -1)


def effect_columns(effects):
    return [name for name in effects if str(name).startswith("effect")]


def is_in(part, X, prefix):
    """Which rows are in which cells of an effect, by what the table says."""
    column = X[part[f"{prefix}feature"].iloc[0]]
    low, high = (part[f"{prefix}{end}"].to_numpy()[None, :] for end in ("low", "high"))
    if not (np.isnan(low).all() and np.isnan(high).all()):  # infinite ends are those of a number too
        values = column.to_numpy(dtype=float)[:, None]
        inside = (values > low) & (values <= high)
    else:
        inside = column.astype(object).astype(str).to_numpy()[:, None] == part[f"{prefix}value"].to_numpy()[None, :]
    is_missing = (part[f"{prefix}value"] == "missing").to_numpy()
    known = inside[:, ~is_missing].any(axis=1)
    inside[:, is_missing] = ~known[:, None]
    return inside


def added_up(effects, X):
    """The intercept and the effects of the cells that each row is in, from the table alone."""
    columns = effect_columns(effects)
    total = np.tile(effects.loc[effects["feature"] == "intercept", columns].to_numpy(), (len(X), 1))
    keys = [name for name in ("feature", "other_feature") if name in effects]
    for _, part in effects[effects["feature"] != "intercept"].groupby(keys, dropna=False, sort=False):
        inside = is_in(part, X, "")
        if len(keys) > 1 and part["other_feature"].notna().all():
            inside = inside & is_in(part, X, "other_")
        assert (inside.sum(axis=1) == 1).all()
        total += inside @ part[columns].to_numpy()
    return total


@pytest.mark.parametrize("name", CASES)
def test_they_add_up_to_the_score_on_every_row(name):
    model, X = fitted(name), new_rows()
    for rows in (None, X):
        np.testing.assert_allclose(added_up(model.effects(rows), X), scores(model, X), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("name", ["stumps", "depth 2"])
def test_they_add_up_to_what_users_see(name):
    model, X = fitted(name), new_rows()
    np.testing.assert_allclose(added_up(model.effects(), X)[:, 0], model.decision_function(X), atol=1e-9)


@pytest.mark.parametrize("name", every(WITH_PAIRS, few=["depth 2", "three classes"]))
def test_the_mean_over_each_feature_is_zero(name):
    found = effects_of(fitted(name).fitted_, None)
    assert found.pairs
    for effect in found.effects:
        for axis, cells in enumerate(effect.cells):
            means = np.tensordot(effect.values, cells.shares, axes=(axis, 0))
            np.testing.assert_allclose(means, 0.0, atol=1e-12 * max(1.0, np.abs(found.intercept).max()))


@pytest.mark.parametrize("name", every(WITH_PAIRS, few=["depth 2", "numbers"]))
def test_an_effect_is_the_partial_dependence_less_its_mean(name):
    """The score with the feature set to one value in all rows, on average, counted row by row."""
    model, (X, _) = fitted(name), CASES[name][1]()
    effects, values = model.effects(), {"a": [-2.0, -0.4, 0.9, np.nan], "colour": ["x", "v", "w", None]}
    single = effects[effects["other_feature"].isna()]
    for feature, tried in values.items():
        part = single[single["feature"] == feature]
        means, own = [], []
        for value in tried:
            changed = X.assign(**{feature: pd.Categorical([value] * len(X)) if feature == "colour" else value})
            cell = int(is_in(part, changed[:1], "")[0].argmax())
            means.append(scores(model, changed).mean(axis=0))
            own.append(part[effect_columns(effects)].to_numpy()[cell])
        np.testing.assert_allclose(np.diff(own, axis=0), np.diff(means, axis=0), atol=1e-9)


def test_without_pairs_the_intercept_is_the_mean_score():
    model, (X, _) = fitted("stumps"), table()
    effects = model.effects()
    assert "other_feature" not in effects
    assert effects["effect"].iloc[0] == pytest.approx(model.decision_function(X).mean(), abs=1e-12)


def test_rows_count_by_their_weights():
    X, y = table()
    weights = np.random.default_rng(0).integers(1, 4, len(y))
    weighted = DualBoostClassifier(max_depth=2, max_trees=6).fit(X, y, sample_weight=weights)
    repeated = np.repeat(np.arange(len(y)), weights)
    given = weighted.effects(X.iloc[repeated])
    pd.testing.assert_frame_equal(weighted.effects(), given, rtol=1e-9, atol=1e-9)


@given(seed=st.integers(0, 10**6), n_outputs=st.sampled_from([1, 3]), feature=st.sampled_from([0, 1]))
@settings(max_examples=how_many(20, 200))
def test_any_trees_of_two_features(seed, n_outputs, feature):
    rng = np.random.default_rng(seed)
    X = np.column_stack([rng.normal(size=(60, 2)), rng.integers(0, 4, 60)])
    frame = pd.DataFrame(X, columns=list("abc")).astype({"c": "category"})
    base = DualBoostClassifier(max_trees=1, max_depth=1).fit(frame, np.arange(60) % (2 if n_outputs == 1 else 3))
    trees = [random_tree(rng, n_outputs, numbers=(feature,)) for _ in range(3)]
    ensemble = replace(base.fitted_.ensemble, learners=trees, weights=rng.normal(size=3))
    model = base.with_fitted(replace(base.fitted_, ensemble=ensemble))
    holes = frame.mask(rng.random(frame.shape) < 0.2)
    np.testing.assert_allclose(added_up(model.effects(frame), holes), scores(model, holes), atol=1e-9)


def test_several_classes_have_a_column_each():
    model = fitted("three classes")
    assert effect_columns(model.effects()) == [f"effect_{label}" for label in model.classes_]


def test_the_strongest_come_first():
    found = effects_of(fitted("depth 2").fitted_, None)
    strengths = [effect.C_value for effect in found.effects]
    assert strengths == sorted(strengths, reverse=True)
    assert found.names.features[found.effects[0].cells[0].feature] in ("a", "colour")


def test_an_interaction_is_found_where_there_is_one():
    """The sign of a product is no sum of functions of its factors: all of it is in the pair."""
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, size=(4000, 2))
    reg = DualBoostRegressor(max_depth=2, max_trees=4).fit(X, np.sign(X[:, 0] * X[:, 1]))
    strongest = effects_of(reg.fitted_, None).effects[0]
    assert strongest.is_pair
    assert strongest.C_value > 0.8
    assert all(effect.C_value < 0.1 for effect in effects_of(reg.fitted_, None).singles)


def test_thinned_and_loaded_models(tmp_path):
    X, y = table()
    clf = DualBoostClassifier(max_depth=2, max_trees=20).fit(X, y)
    small, new = thin(clf, X, y, max_trees=5).model, new_rows()
    np.testing.assert_allclose(added_up(small.effects(), new)[:, 0], small.decision_function(new), atol=1e-9)
    clf.save(tmp_path / "model.json")
    loaded = load_model(tmp_path / "model.json")
    with pytest.raises(UnsupportedModelError, match="Pass X"):
        loaded.effects()
    pd.testing.assert_frame_equal(loaded.effects(X), clf.effects(), rtol=1e-9, atol=1e-9)


def test_sparse_features():
    X, y = numbers()
    X = np.where(X > 0.5, X, 0.0)
    clf = DualBoostClassifier(max_depth=1, max_trees=5).fit(sparse.csr_matrix(X), y)
    pd.testing.assert_frame_equal(clf.effects(), clf.effects(X), rtol=1e-9, atol=1e-9)


def test_what_has_no_effects(monkeypatch):
    X, y = table()
    with pytest.raises(NotFittedError, match="not fitted"):
        DualBoostClassifier().effects()
    deep = DualBoostClassifier(max_depth=4, max_trees=3).fit(X, y)
    with pytest.raises(UnsupportedModelError, match=r"tests [34] features on the way to one leaf.*max_depth=2"):
        deep.effects()
    stumps = fitted("stumps")
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(MissingDependencyError, match="effects returns a pandas data frame: pip install pandas"):
        stumps.effects()


def test_a_model_without_a_split():
    with pytest.warns(DegenerateEnsembleWarning):
        clf = DualBoostClassifier(max_depth=1).fit(np.zeros((20, 2)), np.arange(20) % 2)
    effects = clf.effects()
    assert effects["feature"].tolist() == ["intercept"]
    assert effects["effect"].iloc[0] == clf.decision_function(np.zeros((1, 2)))[0]


def test_numbers_of_any_size():
    """Rows next to the largest and the smallest numbers have effects like others."""
    X = np.array([[-1.7e308], [-1e-310], [1e-310], [1.7e308]] * 10)
    clf = DualBoostClassifier(max_depth=1, max_trees=4).fit(X, np.array([0, 1, 0, 1] * 10))
    found = effects_of(clf.fitted_, None).on_rows(X)
    np.testing.assert_allclose(found[:, 0], clf.decision_function(X), atol=1e-9)
