"""A scale-free C means the same on rows that are repeated, under weights of any scale, and on folds as on all rows."""

import re

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import GridSearchCV

from dualboost import DualBoostClassifier, DualBoostClassifierCV, load_model
from dualboost.errors import DegenerateEnsembleWarning, InvalidParameterError
from dualboost.formulations import (
    FORMULATIONS,
    STUDIED,
    CGBoost,
    ConvexBoost,
    ERLPBoost,
    LPBoost,
    MDBoost,
    NMBoost,
    QRLPBoost,
)

from ..conftest import small_dataset
from ..thoroughness import how_many

SCALED = ("lp", "cg", "qrlp", "erlp", "convex", "spatial")
"""Those whose paper states a C that counts rows."""


def scale_free(name, **parameters):
    return FORMULATIONS[name](**parameters, **({"scale_free": True} if name in SCALED else {}))


def fitted(formulation, X, y, weights=None, depth=2):
    clf = DualBoostClassifier(formulation, max_depth=depth, max_trees=12, calibration="training")
    return clf.fit(X, y, sample_weight=weights)


def same(one, other, X, atol=0.0):
    np.testing.assert_array_equal(one.votes(X), other.votes(X))
    np.testing.assert_allclose(one.decision_function(X), other.decision_function(X), atol=atol)
    assert one.formulation_.C == other.formulation_.C


@pytest.mark.parametrize("name", FORMULATIONS)
def test_repeated_rows_and_the_scale_of_weights_change_nothing(name):
    """A power of two scales numbers without rounding, so that equally good ensembles are chosen between alike."""
    X, y = small_dataset("ringnorm")
    once = fitted(scale_free(name), X, y)
    assert scale_free(name).is_scale_free
    same(once, fitted(scale_free(name), np.tile(X, (4, 1)), np.tile(y, 4)), X)
    same(once, fitted(scale_free(name), X, y, np.full(len(y), 2.0**-10)), X)


@pytest.mark.parametrize("weights", ["one", "whole", "fractions"])
@pytest.mark.parametrize("name", ["logistic", *STUDIED])
def test_the_scale_of_weights_changes_nothing_where_categories_count_rows(name, weights):
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"number": rng.normal(size=300), "kind": rng.choice(list("abcdefghij"), 300)})
    y = table.number + table.kind.map(dict(zip("abcdefghij", rng.normal(size=10), strict=True))) > 0
    own = {"one": np.ones(300), "whole": rng.integers(1, 4, 300), "fractions": rng.uniform(0.5, 2, 300)}[weights]
    once = fitted(scale_free(name), table, y, own)
    for scale in (2.0**-10, 2.0**10):
        same(once, fitted(scale_free(name), table, y, scale * own), table)


@pytest.mark.parametrize("name", STUDIED)
def test_weights_of_a_thousandth_give_the_same_model(name):
    X, y = small_dataset("twonorm")
    same(fitted(scale_free(name), X, y), fitted(scale_free(name), X, y, np.full(len(y), 1e-3)), X, atol=1e-9)


def test_the_papers_C_counts_rows():
    X, y = small_dataset("twonorm")
    few, more = (fitted(LPBoost(C=0.02), np.tile(X, (n, 1)), np.tile(y, n), depth=1) for n in (1, 4))
    assert few.n_trees_ < more.n_trees_
    assert not LPBoost().is_scale_free


@pytest.mark.parametrize(("name", "of_paper"), [("lp", 0.25), ("cg", 0.25), ("convex", 0.25), ("qrlp", 40.0)])
def test_both_meanings_have_the_same_models(name, of_paper):
    X, y = small_dataset("twonorm")
    power = FORMULATIONS[name]().power_of_rows
    free = of_paper * len(y) ** -power
    one, other = fitted(FORMULATIONS[name](C=of_paper), X, y), fitted(scale_free(name, C=free), X, y)
    np.testing.assert_allclose(one.decision_function(X), other.decision_function(X), atol=1e-7)
    assert one.objective_ == pytest.approx(other.objective_)


def test_a_bound_on_the_weights_is_scale_free_anyway():
    assert ConvexBoost(penalty="linf").is_scale_free
    assert ConvexBoost(penalty="linf").default_C(500) == ConvexBoost(penalty="linf", scale_free=True).default_C(500)


@pytest.mark.parametrize("name", how_many(["lp", "qrlp"], ["lp", "cg", "qrlp", "erlp"]))
def test_a_C_from_folds_is_meant_for_all_rows(name):
    """With either meaning of C the folds see the same programmes, and the refit has that of the best."""
    X, y = small_dataset("waveform")
    kind, M = FORMULATIONS[name], float(len(y))
    free = np.array([0.05, 0.2, 0.4]) if kind().power_of_rows > 0 else np.array([5.0, 20.0, 100.0])
    options = {"cv": 3, "max_trees": 12, "calibration": "training"}
    one = DualBoostClassifierCV(kind(), Cs=free * M ** kind().power_of_rows, **options).fit(X, y)
    other = DualBoostClassifierCV(kind(scale_free=True), Cs=free, **options).fit(X, y)
    np.testing.assert_allclose(one.scores_, other.scores_)
    np.testing.assert_allclose(one.Cs_, other.Cs_ * M ** kind().power_of_rows)
    np.testing.assert_allclose(one.decision_function(X), other.decision_function(X), atol=1e-7)


def test_a_grid_of_its_own_is_tuned():
    X, y = small_dataset("twonorm")
    tuned = DualBoostClassifierCV(ERLPBoost(scale_free=True), Cs=3, max_trees=8, random_state=0).fit(X, y)
    np.testing.assert_allclose(tuned.Cs_, [0.01, np.sqrt(0.005), 0.5])
    assert tuned.formulation_ == ERLPBoost(C=tuned.C_, scale_free=True)


def test_a_grid_search_over_formulations_compares_like_with_like():
    """Scores do not depend on the scale of the weights, and the refit means what the folds meant."""
    X, y = small_dataset("waveform")
    clf = DualBoostClassifier(max_depth=1, max_trees=8, calibration="training")
    free = [LPBoost(20.0, scale_free=True), CGBoost(20.0, scale_free=True), QRLPBoost(0.2, scale_free=True)]
    grids = {
        "free": [*free, ERLPBoost(0.2, scale_free=True), NMBoost(), MDBoost()],
        "paper": [LPBoost(20.0 / len(y))],
    }
    found = {
        (name, scale): GridSearchCV(clf, {"formulation": grid}, cv=3).fit(X, y, sample_weight=np.full(len(y), scale))
        for name, grid in grids.items()
        for scale in (1.0, 0.25)
    }
    scores = {key: search.cv_results_["mean_test_score"] for key, search in found.items()}
    np.testing.assert_array_equal(scores["free", 1.0], scores["free", 0.25])
    assert (scores["paper", 1.0] != scores["paper", 0.25]).all()
    best = found["free", 1.0]
    assert best.best_estimator_.formulation_.C == best.best_params_["formulation"].resolve(len(y)).C


def test_the_hint_for_an_empty_ensemble_is_in_the_units_of_C():
    X, y = small_dataset("twonorm")
    with pytest.warns(DegenerateEnsembleWarning, match="smallest C that uses a learner") as caught:
        fitted(LPBoost(C=0.5, scale_free=True), X, y)
    least = float(re.search(r"is about ([\d.e+-]+\d)", str(caught[0].message)).group(1))
    assert 1.0 < least < 10.0
    assert fitted(LPBoost(C=1.05 * least, scale_free=True), X, y).n_trees_ >= 1


def test_model_files_keep_it(tmp_path):
    X, y = small_dataset("twonorm")
    clf = fitted(QRLPBoost(C=0.2, scale_free=True), X, y)
    clf.save(tmp_path / "model.json")
    loaded = load_model(tmp_path / "model.json")
    assert loaded.formulation_ == clf.formulation_
    assert loaded.get_params()["formulation__scale_free"] is True


@pytest.mark.parametrize("given", [1, "yes", None])
def test_it_is_a_truth_value(given):
    with pytest.raises(InvalidParameterError, match="scale_free="):
        LPBoost(scale_free=given)


def test_a_share_of_the_rows_is_at_most_one():
    with pytest.raises(InvalidParameterError, match="at most 1"):
        fitted(ERLPBoost(C=30.0, scale_free=True), *small_dataset("twonorm"))
