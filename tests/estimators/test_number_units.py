"""Units and repeated rows: a model does not depend on the unit of y, and a scale-free C not on the unit of weights."""

import re
import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_diabetes
from sklearn.model_selection import GridSearchCV

from dualboost import DualBoostClassifier, DualBoostClassifierCV, DualBoostRegressor, load_model
from dualboost.errors import DataWarning, DegenerateEnsembleWarning, InvalidParameterError
from dualboost.formulations import (
    FORMULATIONS,
    NUMBER_LOSSES,
    STUDIED,
    CGBoost,
    ConvexBoost,
    ERLPBoost,
    LPBoost,
    MDBoost,
    NMBoost,
    QRLPBoost,
    QuantileLoss,
)

from ..conftest import small_dataset
from ..thoroughness import how_many

X, Y = load_diabetes(return_X_y=True)
X, X_UNSEEN = X[:120], X[120:240]
TARGETS = {"whole": Y[:120], "any": Y[:120] + np.random.default_rng(0).normal(size=120)}
"""Targets with many ties, and without."""
SEVERAL = QuantileLoss(quantiles=[0.05, 0.5, 0.95])
LEAVES_ONLY = (SEVERAL, "weights")
"""Several quantiles need a value for each in every leaf, and refuse weights of whole trees."""
POSITIVE_ONLY = ("quantile",)
"""Losses under which a negative factor makes another programme."""
WITH_KINKS = ("absolute", "quantile", "epsilon_insensitive")
"""Losses whose weights of trees solve a linear programme, which magnifies the digits that a far centre costs y."""
TWO_SIDED = ("epsilon_insensitive", "weights")
"""A linear programme with two rows for each of the data, which a negative factor may put into another order."""
WEIGHTS = np.random.default_rng(1).uniform(0.1, 3.0, 120)


def predicted(loss, optimize, y, **more):
    loss = QuantileLoss(quantiles=0.8) if loss == "quantile" else loss
    return DualBoostRegressor(loss, optimize=optimize, max_depth=2, max_trees=4).fit(X, y, **more).predict(X_UNSEEN)


def apart(found, expected):
    """The largest difference, in deviations of the predictions."""
    return np.abs(found - expected).max() / np.std(expected)


@settings(max_examples=how_many(15, 1000))
@given(
    loss=st.sampled_from([SEVERAL, *(name for name in NUMBER_LOSSES if name != "poisson")]),
    optimize=st.sampled_from(["leaves", "weights"]),
    targets=st.sampled_from(list(TARGETS)),
    weights=st.sampled_from([None, WEIGHTS]),
    logarithm=st.floats(-9.0, 9.0),
    shift=st.floats(-3.0, 5.0),
    is_negative=st.booleans(),
)
def test_the_unit_of_y_changes_nothing(loss, optimize, targets, weights, logarithm, shift, is_negative):
    """Units are moved by up to 100,000 deviations, which costs y five of its sixteen digits."""
    assume((loss, optimize) != LEAVES_ONLY)
    y = TARGETS[targets]
    is_negative = is_negative and loss not in POSITIVE_ONLY
    a = -(10.0**logarithm) if is_negative else 10.0**logarithm
    b = a * y.std() * 10.0**shift
    found = (predicted(loss, optimize, a * y + b, sample_weight=weights) - b) / a
    is_far = shift > 2.0 and optimize == "weights" and loss in WITH_KINKS
    limit = 1e-6 if is_far or (is_negative and (loss, optimize) == TWO_SIDED) else 1e-9
    assert apart(found, predicted(loss, optimize, y, sample_weight=weights)) <= limit


@pytest.mark.parametrize("loss", ["squared", "absolute", SEVERAL])
def test_a_unit_far_from_zero_grows_the_same_trees_where_leaves_have_few_rows(loss):
    """Trees are grown on samples here, and many splits of small nodes are equally good."""
    y = TARGETS["any"]
    reg, far = (DualBoostRegressor(loss, max_depth=4, max_trees=8) for _ in range(2))
    reg.fit(X, y)
    far.fit(X, y + 2e5 * y.std())
    assert apart(far.predict(X_UNSEEN) - 2e5 * y.std(), reg.predict(X_UNSEEN)) <= 1e-9


@settings(max_examples=how_many(3, 200))
@given(optimize=st.sampled_from(["leaves", "weights"]), logarithm=st.floats(-9.0, 9.0))
def test_the_unit_of_counts_changes_nothing(optimize, logarithm):
    a, y = 10.0**logarithm, TARGETS["whole"]
    assert apart(predicted("poisson", optimize, a * y) / a, predicted("poisson", optimize, y)) <= 1e-9


@pytest.mark.parametrize("loss", [*NUMBER_LOSSES, SEVERAL])
def test_a_weight_of_two_is_the_row_twice_also_for_the_unit_of_y(loss):
    y = TARGETS["any"]
    weights = np.arange(len(X)) % 4
    reg, again = DualBoostRegressor(loss, max_depth=2, max_trees=4), DualBoostRegressor(loss, max_depth=2, max_trees=4)
    wild = np.where(weights > 0, y, 1e9)
    reg.fit(X, wild, weights)
    again.fit(np.repeat(X, weights, axis=0), np.repeat(y, weights))
    assert reg.fitted_.target.scale == pytest.approx(again.fitted_.target.scale, rel=1e-12)
    assert apart(reg.predict(X_UNSEEN), again.predict(X_UNSEEN)) <= 1e-9


def outliers(kind, rng):
    """Rows, targets with outliers, and unseen rows with what is to be found there."""
    X = rng.normal(size=(1000, 4))
    truth = 2 * np.sign(X[:, 0]) + X[:, 1]
    noise = {
        "none": 0.3 * rng.normal(size=1000),
        "cauchy": 0.3 * rng.standard_cauchy(1000),
        "one": np.where(np.arange(1000) == 3, 1e12, 0.3 * rng.normal(size=1000)),
        "many": np.where(rng.random(1000) < 0.05, 1e6, 0.3 * rng.normal(size=1000)),
    }[kind]
    return X[:500], (truth + noise)[:500], X[500:], truth[500:]


@pytest.mark.parametrize("kind", ["cauchy", "one", "many"])
@pytest.mark.parametrize("loss", ["absolute", "huber", "quantile", "epsilon_insensitive"])
def test_outliers_hardly_move_robust_losses(loss, kind):
    def error(kind):
        X, y, unseen, truth = outliers(kind, np.random.default_rng(0))
        reg = DualBoostRegressor(loss, max_depth=2, max_trees=8).fit(X, y)
        assert reg.gap_ <= 1e-6
        return np.median(np.abs(reg.predict(unseen) - truth))

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        assert error(kind) < 2.5 * error("none")


def test_targets_out_of_reach_are_told():
    y = np.append(np.arange(119.0), 1e12)
    with pytest.warns(DataWarning, match=r"1 of 120 numbers of y are further than 3.7.e\+05 from their median, 59.5"):
        DualBoostRegressor("absolute", max_depth=2, max_trees=2).fit(X, y)


@pytest.mark.parametrize("loss", [name for name in NUMBER_LOSSES if name != "poisson"])
@pytest.mark.parametrize("optimize", ["leaves", "weights"])
def test_y_that_is_the_same_in_all_rows_is_predicted(loss, optimize):
    """Also under a tube, which is as wide as everything else in the standardised y, and has room for other numbers."""
    for value in (3.3, -5e-12, 0.0):
        reg = DualBoostRegressor(loss, optimize=optimize, max_trees=2)
        with pytest.warns(DegenerateEnsembleWarning, match="y is the same in all rows"):
            reg.fit(X, np.full(len(X), value))
        assert (reg.predict(X_UNSEEN) == value).all()


def test_intervals_of_a_constant_are_as_narrow_as_its_unit():
    reg = DualBoostRegressor("quantile", quantiles=[0.05, 0.95], interval_calibration="conformal", random_state=0)
    with pytest.warns(DegenerateEnsembleWarning):
        reg.fit(X, np.full(len(X), 7e-12))
    np.testing.assert_allclose(reg.predict_interval(X_UNSEEN), 7e-12, rtol=1e-5)


# A scale-free C on repeated rows, under weights of any scale, and on folds.

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
