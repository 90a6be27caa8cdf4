"""Weights of rows and of classes: a row of weight k is the row k times, and ``class_weight`` multiplies weights."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import load_diabetes, load_digits, load_wine
from sklearn.metrics import recall_score
from sklearn.model_selection import GridSearchCV, cross_val_score, train_test_split
from sklearn.utils.class_weight import compute_sample_weight

from dualboost import DualBoostClassifier, DualBoostClassifierCV, DualBoostRegressor, load_model, thin
from dualboost.errors import InvalidDataError, InvalidParameterError
from dualboost.formulations import FORMULATIONS

from ..conftest import small_dataset
from ..thoroughness import every, how_many


def same_model(one, other, X):
    np.testing.assert_array_equal(one.votes(X), other.votes(X))
    np.testing.assert_allclose(one.weights_, other.weights_, atol=1e-12)
    np.testing.assert_allclose(one.history_["objective"], other.history_["objective"], rtol=1e-12)
    assert one.stop_reason_ == other.stop_reason_


@pytest.mark.parametrize("depth", [1, 3])
def test_weights_equal_repeated_rows(formulation_shape, depth):
    X, y = small_dataset("twonorm")
    weights = np.random.default_rng(0).integers(0, 4, len(y))
    clf = DualBoostClassifier(formulation_shape, max_depth=depth, calibration="training", max_trees=20)
    weighted = clf.fit(X, y, sample_weight=weights)
    order = np.random.default_rng(1).permutation(weights.sum())
    repeated = DualBoostClassifier(formulation_shape, max_depth=depth, calibration="training", max_trees=20).fit(
        np.repeat(X, weights, axis=0)[order], np.repeat(y, weights)[order]
    )
    same_model(weighted, repeated, X)
    assert (weighted.duals_[weights == 0] == 0).all()
    np.testing.assert_allclose(
        np.sort(np.repeat(weighted.duals_ / np.maximum(weights, 1), weights)),
        np.sort(repeated.duals_),
        atol=1e-12,
    )


MODELS = {
    "classes, leaves": (load_digits, DualBoostClassifier(C=50.0, max_depth=3, max_trees=5), {"atol": 1e-9}),
    "classes, weights": (load_wine, DualBoostClassifier("lp", C=0.1, max_depth=2, max_trees=5), {"atol": 1e-6}),
    "numbers": (load_diabetes, DualBoostRegressor(C=10.0, max_depth=2, max_trees=5), {"rtol": 1e-6}),
}
"""Data, a model, and the tolerance of its scores."""


@pytest.mark.parametrize("name", MODELS)
def test_a_weight_of_two_is_the_row_twice_on_any_number_of_threads(name):
    load, model, tolerance = MODELS[name]
    X, Xt, y, _ = train_test_split(*load(return_X_y=True), test_size=0.3, random_state=0)
    twice = np.arange(len(X)) % 3 == 0

    weighted, on_threads = (clone(model).set_params(n_jobs=n).fit(X, y, np.where(twice, 2.0, 1.0)) for n in (1, 2))
    repeated = clone(model).fit(np.concatenate([X, X[twice]]), np.append(y, y[twice]))
    for method in ("predict_proba", "decision_function") if hasattr(model, "predict_proba") else ("predict",):
        found, expected, again = (getattr(one, method)(Xt) for one in (weighted, repeated, on_threads))
        np.testing.assert_allclose(found, expected, **tolerance)
        np.testing.assert_array_equal(again, found)


def test_zero_weight_rows_are_never_seen(formulation_shape):
    X, y = small_dataset("ringnorm")
    weights = np.ones(len(y))
    weights[100:] = 0.0
    spoilt = X.copy()
    spoilt[100:] = 1e9
    one = DualBoostClassifier(formulation_shape, calibration="training", max_trees=10).fit(
        spoilt, y, sample_weight=weights
    )
    other = DualBoostClassifier(formulation_shape, calibration="training", max_trees=10).fit(X[:100], y[:100])
    same_model(one, other, X)


def test_real_weights_matter_by_their_sum_over_equal_rows(formulation_shape):
    X, y = small_dataset("waveform")
    weights = np.random.default_rng(2).exponential(size=len(y))
    whole = DualBoostClassifier(formulation_shape, calibration="training", max_trees=10).fit(
        X, y, sample_weight=weights
    )
    halves = DualBoostClassifier(formulation_shape, calibration="training", max_trees=10).fit(
        np.vstack([X, X]), np.r_[y, y], sample_weight=np.r_[0.25 * weights, 0.75 * weights]
    )
    np.testing.assert_allclose(whole.objective_, halves.objective_, rtol=1e-6)
    np.testing.assert_array_equal(whole.votes(X), halves.votes(X))


@pytest.mark.parametrize("scale", [1e-4, 1e4])
def test_default_C_follows_the_scale_of_the_weights(formulation_shape, scale):
    """With C=None a common factor of all weights changes nothing but what depends on ln M."""
    X, y = small_dataset("twonorm")
    n_trees = 100 if formulation_shape == "hard" else 10  # before it separates the classes, a tie is its best margin
    clf = DualBoostClassifier(formulation_shape, calibration="training", max_trees=n_trees).fit(
        X, y, sample_weight=np.full(len(y), scale)
    )
    assert clf.gap_ <= 1e-6
    assert clf.score(X, y) > 0.8


def test_weights_that_no_model_file_could_hold_are_refused():
    X, y = small_dataset("twonorm")
    with pytest.raises(
        InvalidDataError, match=r"sample_weight contains 1e\+95; the largest weight may be 1e\+90: divide"
    ):
        DualBoostClassifier(max_trees=2).fit(X, y, sample_weight=np.full(len(y), 1e95))


@pytest.mark.parametrize("formulation", ["qrlp", "erlp"])
@pytest.mark.parametrize("total", [np.sum, sum, lambda weights: sum(weights[::-1])], ids=["numpy", "forwards", "back"])
def test_C_may_be_the_total_of_the_weights(formulation, total):
    """In whatever order it was added up: the bound is the same number up to rounding."""
    for seed in range(8):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(60, 3)).round(1)
        y = X[:, 0] + rng.normal(size=60) > 0
        weights = rng.random(60) * 10.0 ** rng.integers(-3, 4)
        clf = DualBoostClassifier(formulation, C=total(weights), max_trees=2, calibration="training")
        assert clf.fit(X, y, sample_weight=weights).gap_ <= 1e-6
    with pytest.raises(InvalidParameterError, match="the total of the sample weights"):
        clf.set_params(C=1.0001 * total(weights)).fit(X, y, sample_weight=weights)


@pytest.mark.parametrize("unit", [1e-48, 1e-9, 1e20])
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("formulation", ["md", "md-full", "nm", "lp-nu"])
def test_the_unit_of_the_weights_does_not_matter(formulation, n_classes, unit):
    """Their sizes may differ too: by a factor of a million here."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(80, 3))
    y = np.digitize(X[:, 0] + X[:, 1] ** 2 + rng.normal(size=80), [0.5, 1.5][: n_classes - 1])
    weights = np.exp(3.0 * rng.normal(size=80))
    one, other = (
        DualBoostClassifier(formulation, max_depth=2, calibration="training", max_trees=5, optimize="weights").fit(
            X, y, sample_weight=factor * weights
        )
        for factor in (1.0, unit)
    )
    assert other.gap_ <= 1e-6
    assert other.objective_ / (1.0 if formulation == "lp-nu" else unit) == pytest.approx(one.objective_, rel=2e-6)


def noisy(n_classes, n=120):
    """Labels with much noise, so that leaves are even now and then."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 3)).round(1)
    return X, np.digitize(X[:, 0] + X[:, 1] ** 2 + rng.normal(size=n), [0.6, 1.5][: n_classes - 1])


def weights_of(kind, n):
    rng = np.random.default_rng(1)
    return {"one": np.ones(n), "whole": rng.integers(1, 4, n).astype(float), "real": rng.exponential(size=n)}[kind]


UNITS = how_many(
    [("whole", 7.0, 1), ("whole", 0.1, 1), ("whole", 1.0, 7)],
    [(kind, factor, copies) for kind in ("one", "whole") for factor in (0.1, 1.0, 7.0, 1000.0) for copies in (1, 7)]
    + [("real", 2.0**k, copies) for k in (-10, 0, 10) for copies in (1, 4)],
)
"""Kinds of weights, what they are multiplied by, and how often all rows are there. Real weights are multiplied without
rounding: of optima that are not unique, last digits choose one."""
NO_UNIT = {"qrlp": {"scale_free": True}, "erlp": {"scale_free": True}}
"""The paper's programmes of these two have the logarithm of the number of rows in them."""


ONLY_TWO = {name for name, formulation in FORMULATIONS.items() if not formulation.optimizes_for_classes}


@pytest.mark.parametrize(
    ("name", "n_classes"),
    [(name, 2) for name in FORMULATIONS] + [(name, 3) for name in sorted(set(FORMULATIONS) - ONLY_TWO)],
)
def test_probabilities_have_no_unit_of_weights(name, n_classes):
    """Neither a factor of all weights nor copies of all rows change them, with twins as without."""
    X, y = noisy(n_classes)

    def probabilities(kind, factor=1.0, copies=1):
        formulation = FORMULATIONS[name](**NO_UNIT.get(name, {}))
        clf = DualBoostClassifier(formulation, max_depth=2, max_trees=3, optimize=FORMULATIONS[name].optimize)
        weights = factor * np.tile(weights_of(kind, len(y)), copies)
        return clf.fit(np.tile(X, (copies, 1)), np.tile(y, copies), weights).predict_proba(X)

    wanted = {kind: probabilities(kind) for kind in {kind for kind, _, _ in UNITS}}
    for unit in UNITS:
        np.testing.assert_allclose(probabilities(*unit), wanted[unit[0]], atol=1e-9, err_msg=str(unit))


@pytest.mark.parametrize("kind", every(["whole", "real"], few=["whole"]))
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize(
    "options",
    [
        {"calibration": "training"},
        {"validation_fraction": 0.3},
        {"validation_fraction": 0.3, "n_iter_no_change": 2, "scoring": "neg_log_loss"},
        {"class_weight": "balanced"},
        {"class_weight": {0: 5.0}},
        {"learner": "optimal"},
        {"formulation": "lp", "scoring": "neg_log_loss", "validation_fraction": 0.3},
    ],
    ids=lambda options: "-".join(options),
)
def test_whatever_probabilities_are_fitted_to(options, n_classes, kind):
    X, y = noisy(n_classes)
    weights = weights_of(kind, len(y))
    clf = DualBoostClassifier(**{"formulation": "nm", "max_depth": 2, "max_trees": 4, "random_state": 0} | options)
    wanted = clf.fit(X, y, weights).predict_proba(X)
    for factor in (0.1, 7.0):
        np.testing.assert_allclose(clf.fit(X, y, factor * weights).predict_proba(X), wanted, atol=1e-9)


def test_rows_passed_to_be_scored_have_no_unit_either():
    X, y = noisy(2, 240)
    clf, weights = DualBoostClassifier("nm", max_trees=4), weights_of("whole", 100)
    wanted = clf.fit(X[100:], y[100:], eval_set=(X[:100], y[:100], weights)).predict_proba(X)
    for factor, copies in ((7.0, 1), (0.1, 1), (1.0, 7)):
        held = (np.tile(X[:100], (copies, 1)), np.tile(y[:100], copies), factor * np.tile(weights, copies))
        np.testing.assert_allclose(clf.fit(X[100:], y[100:], eval_set=held).predict_proba(X), wanted, atol=1e-9)


def test_weights_of_classes_that_are_all_the_same_are_a_unit():
    X, y = noisy(2)
    clf = DualBoostClassifier("nm", max_trees=4)
    wanted = clf.fit(X, y).predict_proba(X)
    found = clf.set_params(class_weight={0: 7.0, 1: 7.0}).fit(X, y).predict_proba(X)
    np.testing.assert_allclose(found, wanted, atol=1e-9)


@pytest.mark.parametrize("factor", [0.01, 100.0])
def test_a_tuned_model_has_no_unit(factor):
    """The standard error, which decides how sparse the choice may be, counts rows."""
    X, y = noisy(2)
    clf = DualBoostClassifierCV("nm", Cs=4, cv=None, select="sparsest", max_trees=4, random_state=0)
    weights = weights_of("whole", len(y))
    one, other = clone(clf).fit(X, y, weights), clone(clf).fit(X, y, factor * weights)
    np.testing.assert_allclose(other.path_["standard_error"], one.path_["standard_error"], rtol=1e-9)
    np.testing.assert_allclose(other.predict_proba(X), one.predict_proba(X), atol=1e-9)


@pytest.mark.parametrize("factor", [0.01, 7.0])
def test_intervals_have_no_unit(factor):
    X, y = noisy(3, 240)
    options = {"quantiles": [0.1, 0.5, 0.9], "max_trees": 4, "interval_calibration": "conformal", "random_state": 0}
    reg = DualBoostRegressor("quantile", **options)
    weights = weights_of("whole", len(y))
    wanted = reg.fit(X, X[:, 0] + y, weights).predict_interval(X)
    np.testing.assert_allclose(reg.fit(X, X[:, 0] + y, factor * weights).predict_interval(X), wanted, atol=1e-6)


def test_probabilities_of_a_thinned_ensemble_have_no_unit():
    X, y = noisy(2)
    clf, weights = DualBoostClassifier("nm", max_trees=12).fit(X, y), weights_of("whole", len(y))
    one, other = (
        thin(clf, X, y, sample_weight=factor * weights, formulation="lp", method="imitate", C=0.2 / factor).model
        for factor in (1.0, 7.0)
    )
    np.testing.assert_allclose(one.decision_function(X), other.decision_function(X), atol=1e-9)
    np.testing.assert_allclose(one.predict_proba(X), other.predict_proba(X), atol=1e-9)


# ``class_weight``

KINDS = {2: np.array(["no", "yes"]), 3: np.array([3, 5, 9])}


def rows(n_classes, n=240, seed=0):
    """Classes of which each is half as frequent as the one before, and that overlap."""
    rng = np.random.default_rng(seed)
    codes = rng.choice(n_classes, n, p=0.5 ** np.arange(n_classes) / (2 - 0.5 ** (n_classes - 1)))
    return rng.normal(size=(n, 3)) + 0.7 * codes[:, None], KINDS[n_classes][codes]


def class_weights_of(classes):
    return {name: 1.0 + 2.5 * k for k, name in enumerate(classes.tolist())}


def assert_same_model(one, other, X):
    np.testing.assert_array_equal(one.decision_function(X), other.decision_function(X))
    np.testing.assert_array_equal(one.predict_proba(X), other.predict_proba(X))
    np.testing.assert_array_equal(one.duals_, other.duals_)
    assert one.objective_ == other.objective_


@pytest.mark.parametrize("n_classes", KINDS)
@pytest.mark.parametrize("balanced", [True, False])
@pytest.mark.parametrize(
    "clf",
    [
        DualBoostClassifier(max_depth=2, max_trees=5),
        DualBoostClassifier(max_depth=2, max_trees=9, n_iter_no_change=3, random_state=0),
        DualBoostClassifierCV(Cs=2, max_depth=2, max_trees=3, random_state=0),
    ],
    ids=["plain", "early stopping", "tuned"],
)
def test_it_is_the_sample_weight_of_scikit_learn(clf, balanced, n_classes):
    X, y = rows(n_classes)
    class_weight = "balanced" if balanced else class_weights_of(KINDS[n_classes])
    by_hand = clone(clf).fit(X, y, sample_weight=compute_sample_weight(class_weight, y))
    assert_same_model(clone(clf).set_params(class_weight=class_weight).fit(X, y), by_hand, X)


def test_it_multiplies_the_sample_weight():
    X, y = rows(3)
    weights, by_class = np.random.default_rng(0).gamma(2.0, size=len(y)), class_weights_of(KINDS[3])
    options = {"max_depth": 2, "max_trees": 4}
    by_hand = DualBoostClassifier(**options).fit(X, y, weights * compute_sample_weight(by_class, y))
    assert_same_model(DualBoostClassifier(class_weight=by_class, **options).fit(X, y, weights), by_hand, X)


@pytest.mark.parametrize("formulation", ["logistic", "nm"])
def test_a_weight_of_two_is_the_row_twice(formulation):
    X, y = rows(2)
    weights = np.random.default_rng(0).integers(0, 3, len(y))
    clf = DualBoostClassifier(formulation, max_depth=2, max_trees=4, class_weight="balanced", calibration="training")
    repeated = clone(clf).fit(np.repeat(X, weights, axis=0), np.repeat(y, weights))
    weighted = clone(clf).fit(X, y, sample_weight=weights)
    np.testing.assert_allclose(weighted.decision_function(X), repeated.decision_function(X), atol=1e-9)


def test_a_rare_class_is_found_more_often():
    X, y = rows(3, n=600)
    plain, balanced = (
        DualBoostClassifier(max_depth=2, max_trees=5, class_weight=value).fit(X, y) for value in (None, "balanced")
    )
    recall = [recall_score(y, clf.predict(X), labels=[9], average=None)[0] for clf in (plain, balanced)]
    assert recall[1] > recall[0] + 0.1


@pytest.mark.filterwarnings("ignore::dualboost.errors.ConstantPredictionWarning")
@pytest.mark.parametrize("left_out", ["no", "yes"])
def test_classes_that_a_dict_leaves_out_weigh_one(left_out):
    X, y = rows(2)
    by_class = {"no": 1.0, "yes": 1.0} | {name: 3.0 for name in KINDS[2] if name != left_out}
    full = DualBoostClassifier(max_trees=3, class_weight=by_class).fit(X, y)
    part = DualBoostClassifier(max_trees=3, class_weight={k: v for k, v in by_class.items() if k != left_out}).fit(X, y)
    assert_same_model(full, part, X)


@pytest.mark.parametrize(
    ("value", "named"),
    [
        ("balance", r"class_weight='balance' must be None, 'balanced', or a dict"),
        ("balanced_subsample", "class_weight='balanced_subsample'"),
        ([1.0, 2.0], r"class_weight=\[1.0, 2.0\] must be None"),
        (2.0, "class_weight=2.0"),
        ({"no": -1.0}, r"class_weight\['no'\]=-1.0 must be a finite number above 0"),
        ({"no": 0}, r"class_weight\['no'\]=0"),
        ({"no": np.nan}, r"class_weight\['no'\]=nan"),
        ({"no": "2"}, r"class_weight\['no'\]='2'"),
        ({"no": 1, "Yes": 2}, r"has a weight for 'Yes', which is no class of y; the classes are \['no', 'yes'\]"),
        ({0: 1, 1: 2}, "has a weight for 0, which is no class"),
    ],
)
@pytest.mark.parametrize("estimator", [DualBoostClassifier, DualBoostClassifierCV])
def test_what_is_no_class_weight_is_refused(estimator, value, named):
    with pytest.raises(InvalidParameterError, match=named):
        estimator(class_weight=value).fit(*rows(2))


def test_a_class_without_a_row_to_train_on_is_told_before_it_is_weighed():
    X, y = rows(3)
    with pytest.raises(InvalidDataError, match="No row of class 9 has a positive sample_weight"):
        DualBoostClassifier(class_weight="balanced").fit(X, y, sample_weight=(y != 9).astype(float))


def test_a_fold_may_lack_a_class_that_has_a_weight():
    X, y = rows(3)
    y = np.where(np.arange(len(y)) == 7, 11, y)
    clf = DualBoostClassifier(max_trees=2, class_weight=class_weights_of(np.append(KINDS[3], 11)))
    with pytest.warns(UserWarning, match="least populated class"):
        assert np.isfinite(cross_val_score(clf, X, y, cv=3)).all()


def test_a_grid_search_over_it():
    X, y = rows(2)
    by_class = class_weights_of(KINDS[2])
    clf = DualBoostClassifier(max_trees=3, max_depth=2, class_weight=by_class)
    assert clone(clf).get_params()["class_weight"] == by_class
    search = GridSearchCV(clf, {"class_weight": [None, "balanced", by_class]}, cv=2, scoring="balanced_accuracy")
    search.fit(X, y)
    scores = search.cv_results_["mean_test_score"]
    assert max(scores[1:]) > scores[0]


LABELS = {
    "words": np.array(["no", "yes"]),
    "booleans": np.array([False, True]),
    "numbers": np.array([-1, 1]),
    "small numbers": np.array([0, 7], dtype=np.int8),
    "floats": np.array([0.0, 1.0]),
    "objects": np.array(["no", "yes"], dtype=object),
}


@pytest.mark.parametrize("labels", LABELS)
def test_a_model_file_keeps_it(labels, tmp_path):
    X, y = rows(2)
    y = LABELS[labels][(y == "yes").astype(int)]
    for value in ("balanced", None, dict(zip(LABELS[labels], (1, np.float64(2.5)), strict=True))):
        clf = DualBoostClassifier(max_trees=2, class_weight=value).fit(X, y)
        clf.save(tmp_path / "model.json")
        loaded = load_model(tmp_path / "model.json")
        assert loaded.class_weight == value
        assert_same_model(loaded.fit(X, y), clf, X)


def test_keys_of_a_table_by_any_type_of_label():
    X, y = rows(2)
    codes = (y == "yes").astype(int)
    expected = DualBoostClassifier(max_trees=2, class_weight={0: 1, 1: 3}).fit(X, codes)
    for labels in (codes.astype(bool), codes.astype(float), pd.Series(codes).astype("Int64")):
        assert_same_model(DualBoostClassifier(max_trees=2, class_weight={0: 1, 1: 3}).fit(X, labels), expected, X)
