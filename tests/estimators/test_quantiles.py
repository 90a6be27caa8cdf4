"""Several quantiles at once: the optimum, the order, the intervals and their coverage."""

import pickle
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.datasets import load_diabetes
from sklearn.metrics import mean_pinball_loss
from sklearn.model_selection import cross_val_score, train_test_split

from dualboost import DualBoostRegressor, DualBoostRegressorCV
from dualboost.errors import DualBoostWarning, InvalidDataError, InvalidParameterError, UnsupportedFormulationError
from dualboost.estimators.calibrating import CalibratedPinballScorer
from dualboost.formulations import QuantileLoss

from ..number_programmes import ordered_quantiles
from ..thoroughness import how_many

LEVELS = (0.05, 0.5, 0.95)


@pytest.fixture(scope="module")
def diabetes():
    X, y = load_diabetes(return_X_y=True)
    return train_test_split(X, y, random_state=0)


@pytest.fixture(scope="module")
def fitted(diabetes):
    X, _, y, _ = diabetes
    return made(max_depth=2, max_trees=10).fit(X, y)


def made(levels=LEVELS, **options):
    return DualBoostRegressor("quantile", quantiles=list(levels), **options)


def wide(n_rows, seed=0):
    """Numbers whose spread depends on a feature."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 3))
    return X, X[:, 0] + np.exp(0.7 * X[:, 1]) * rng.normal(size=n_rows)


def one_hot(reg, X):
    return np.concatenate([np.eye(tree.n_leaves)[tree.leaves(X)] for tree in reg.estimators_], axis=1)


@pytest.mark.parametrize(("levels", "C"), [(LEVELS, 30.0), ((0.45, 0.5, 0.55), 1000.0), ((0.2, 0.9), 5.0)])
def test_the_objective_is_that_of_cvxpy(levels, C):
    """With levels close to each other and a large C, quantiles would cross without the constraint."""
    X, y = load_diabetes(return_X_y=True)
    X, y = X[:80], y[:80]
    weights = np.arange(80) % 3 + 1.0
    reg = made(levels, C=C, max_depth=2, max_trees=4).fit(X, y, weights)
    task = reg.fitted_.target
    targets = (y - task.centre) / task.scale
    expected = ordered_quantiles(one_hot(reg, X), targets, C * weights / weights.sum(), levels)
    assert reg.gap_ <= 1e-6
    assert reg.objective_ == pytest.approx(expected, rel=1e-6)


def test_the_order_holds_on_every_training_row_where_it_would_not_by_itself(diabetes):
    X, Xt, y, _ = diabetes
    levels = (0.4, 0.45, 0.5, 0.55, 0.6)
    reg = made(levels, C=2000.0, max_depth=3, max_trees=10).fit(X, y)
    assert (np.diff(reg.fitted_.scores(X), axis=1) >= 0).all()
    alone = [DualBoostRegressor(QuantileLoss(quantiles=level), C=2000.0, max_depth=3, max_trees=10) for level in levels]
    crossing = np.diff([one.fit(X, y).predict(X) for one in alone], axis=0) < 0
    assert crossing.any()
    assert (np.diff(reg.predict_quantiles(Xt), axis=1) >= 0).all()


@settings(max_examples=how_many(10, 200))
@given(
    seed=st.integers(0, 10_000),
    n_rows=st.integers(1, 60),
    levels=st.lists(st.integers(1, 99), min_size=2, max_size=5, unique=True),
    kind=st.sampled_from(["normal", "heavy", "few", "constant"]),
    C=st.sampled_from([None, 1e-3, 1e4]),
)
def test_every_table_has_certified_quantiles_in_order(seed, n_rows, levels, kind, C):
    rng = np.random.default_rng(seed)
    X = np.round(rng.normal(size=(n_rows, 3)), 1)
    y = {
        "normal": rng.normal(size=n_rows),
        "heavy": rng.standard_cauchy(n_rows) ** 3,
        "few": rng.integers(0, 3, n_rows),
        "constant": np.full(n_rows, 7.0),
    }[kind]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DualBoostWarning)
        reg = made([level / 100 for level in sorted(levels)], C=C, max_depth=2, max_trees=4)
        reg.fit(X, y, rng.integers(1, 4, n_rows))
    assert reg.gap_ <= 1e-6
    assert (np.diff(reg.fitted_.scores(X), axis=1) >= -1e-12).all()
    assert np.isfinite(reg.predict_quantiles(X)).all()


def test_quantiles_and_intervals_are_what_they_are_called(fitted, diabetes):
    X, Xt, y, _ = diabetes
    found = fitted.predict_quantiles(X)
    assert found.shape == (len(X), 3)
    for level, own in zip(LEVELS, found.T, strict=True):
        assert np.mean(y <= own) == pytest.approx(level, abs=0.03)
    ends, quantiles = fitted.predict_interval(Xt), fitted.predict_quantiles(Xt)[:, [0, 2]]
    np.testing.assert_allclose(ends, quantiles, atol=2e-6 * fitted.fitted_.target.scale)
    assert (ends[:, 0] < quantiles[:, 0]).all()
    assert (quantiles[:, 1] < ends[:, 1]).all()
    np.testing.assert_allclose(fitted.predict(Xt), fitted.predict_quantiles(Xt)[:, 1])
    np.testing.assert_allclose(list(fitted.staged_predict(Xt))[-1], fitted.predict(Xt))
    assert fitted.n_trees_ == 10
    again = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(again.predict_quantiles(Xt), fitted.predict_quantiles(Xt))


@pytest.mark.parametrize("seed", range(4))
def test_ends_at_a_count_include_it(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(1000, 4))
    y = rng.poisson(np.exp(0.3 * X[:, 0]))
    low, high = made(max_depth=2, max_trees=6).fit(X, y).predict_interval(X).T
    assert np.mean((low <= y) & (y <= high)) >= 0.9


def test_the_prediction_is_interpolated_where_there_is_no_median(diabetes):
    X, Xt, y, _ = diabetes
    reg = made([0.2, 0.4, 0.8], max_depth=2, max_trees=4).fit(X, y)
    low, high = reg.predict_quantiles(Xt)[:, 1:].T
    np.testing.assert_allclose(reg.predict(Xt), 0.75 * low + 0.25 * high)


def test_inner_intervals_have_a_coverage_of_their_own(diabetes):
    X, Xt, y, _ = diabetes
    reg = made(
        [0.05, 0.25, 0.75, 0.95], max_depth=2, max_trees=5, interval_calibration="conformal", random_state=0
    ).fit(X, y)
    inner, outer = reg.predict_interval(Xt, coverage=0.5), reg.predict_interval(Xt, coverage=0.9)
    assert np.diff(inner).mean() < np.diff(outer).mean()
    np.testing.assert_array_equal(outer, reg.predict_interval(Xt))
    with pytest.raises(InvalidParameterError, match=r"coverage=0.8 is none of the model's: 0.9, 0.5"):
        reg.predict_interval(Xt, coverage=0.8)


def test_conformal_intervals_cover_what_they_promise():
    """Over many fits, the mean coverage of new rows is at least that of the levels, and hardly more."""
    covered = []
    for seed in range(how_many(40, 300)):
        X, y = wide(160, seed)
        Xt, yt = wide(400, 10_000 + seed)
        low, high = (
            made([0.1, 0.9], max_depth=2, max_trees=3, interval_calibration="conformal", random_state=seed)
            .fit(X, y)
            .predict_interval(Xt)
            .T
        )
        covered.append(np.mean((low <= yt) & (yt <= high)))
    error = np.std(covered) / np.sqrt(len(covered))
    assert 0.8 - 3 * error <= np.mean(covered) <= 0.8 + 1 / 41 + 3 * error


def test_the_fit_knows_nothing_of_the_rows_set_aside():
    X, y = wide(200)
    reg = made([0.1, 0.9], max_depth=2, max_trees=3, interval_calibration="conformal", random_state=0).fit(X, y)
    aside = np.flatnonzero((reg.duals_ == 0).all(axis=1))
    assert len(aside) == 50
    changed = y.copy()
    changed[aside] += 100.0
    other = clone(reg).fit(X, changed)
    np.testing.assert_array_equal(other.predict_quantiles(X), reg.predict_quantiles(X))
    assert np.diff(other.predict_interval(X)).min() > 50


def test_a_weight_of_two_is_the_row_twice():
    X, y = wide(120)
    twice = np.arange(120) % 3 == 0
    weighted = made(max_depth=2, max_trees=4, C=5.0).fit(X, y, np.where(twice, 2.0, 1.0))
    repeated = made(max_depth=2, max_trees=4, C=5.0).fit(np.concatenate([X, X[twice]]), np.append(y, y[twice]))
    np.testing.assert_allclose(weighted.predict_quantiles(X), repeated.predict_quantiles(X), rtol=1e-6)


def test_the_unit_of_y_changes_nothing():
    X, y = wide(150)
    first = made(max_depth=2, max_trees=5).fit(X, y).predict_quantiles(X)
    other = made(max_depth=2, max_trees=5).fit(X, 3e5 * y - 7e6).predict_quantiles(X)
    np.testing.assert_allclose((other + 7e6) / 3e5, first, atol=1e-9 * first.std())


def test_tuning_stopping_and_searching(diabetes):
    X, Xt, y, yt = diabetes
    tuned = DualBoostRegressorCV("quantile", Cs=3, cv=2, quantiles=LEVELS, max_depth=2, max_trees=5).fit(X, y)
    losses = [mean_pinball_loss(yt, own, alpha=a) for a, own in zip(LEVELS, tuned.predict_quantiles(Xt).T, strict=True)]
    assert tuned.formulation_.scorer(tuned, Xt, yt) == pytest.approx(-np.mean(losses))
    assert (tuned.scores_ < 0).all()
    stopped = made(max_depth=2, max_trees=40, n_iter_no_change=2, random_state=0).fit(X, y)
    assert stopped.n_trees_ < 40
    assert cross_val_score(made(max_depth=2, max_trees=5), X, y, cv=2).min() > 0.2
    by_object = clone(DualBoostRegressor(QuantileLoss(quantiles=(0.1, 0.9)), max_trees=2)).fit(X, y)
    assert by_object.predict_interval(Xt).shape == (len(Xt), 2)


def test_intervals_to_be_calibrated_are_judged_as_such(fitted, diabetes):
    """By the pinball losses with the least widening, of all that matter, that covers its share of the rows."""
    X, Xt, y, yt = diabetes
    low, middle, high = fitted.predict_quantiles(Xt).T
    outside = np.maximum(low - yt, yt - high)
    shift = min(s for s in outside if np.mean(outside <= s) >= 0.9)
    judged = (low - shift, middle, high + shift)
    losses = [mean_pinball_loss(yt, own, alpha=level) for own, level in zip(judged, LEVELS, strict=True)]
    scorer = CalibratedPinballScorer(LEVELS)
    assert scorer(fitted, Xt, yt) == pytest.approx(-np.mean(losses))
    twice = np.arange(len(yt)) % 3 == 0
    repeated = scorer(fitted, np.concatenate([Xt, Xt[twice]]), np.append(yt, yt[twice]))
    assert scorer(fitted, Xt, yt, np.where(twice, 2.0, 1.0)) == pytest.approx(repeated)
    tuned, told = (
        DualBoostRegressorCV(
            "quantile",
            3,
            quantiles=LEVELS,
            interval_calibration="conformal",
            max_trees=3,
            random_state=0,
            scoring=scoring,
        ).fit(X, y)
        for scoring in (None, scorer)
    )
    np.testing.assert_array_equal(tuned.scores_, told.scores_)


def test_explanations_and_rules_speak_of_each_quantile(fitted, diabetes):
    _, Xt, _, _ = diabetes
    found = fitted.explain(Xt)
    sums = found.base_value + found.values.sum(axis=1)
    np.testing.assert_allclose(np.sort(sums, axis=1), fitted.predict_quantiles(Xt), rtol=1e-6)
    assert found.class_names == ["q0.05", "q0.5", "q0.95"]
    table = fitted.rules()
    assert {"value_q0.05", "value_q0.5", "value_q0.95"} < set(table.columns)
    assert len(table) == fitted.n_leaves_
    values = table[[f"value_{name}" for name in found.class_names]].to_numpy()
    told = values[np.arange(len(values)), np.abs(values).argmax(axis=1)]
    np.testing.assert_allclose(table["weighted_vote"], told)
    assert (told < 0).any()
    assert table["quantile"].tolist() == [found.class_names[k] for k in np.abs(values).argmax(axis=1)]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"quantiles": [0.9, 0.1]}, "increasing"),
        ({"quantiles": [0.1, 1.0]}, "above 0 and below 1"),
        ({"quantiles": [0.5]}, "two levels or more"),
        ({"quantiles": 0.5}, "list of levels"),
        ({"quantiles": [0.1, 0.9], "loss": "huber"}, r"for loss='quantile', but loss is 'huber'"),
        ({"interval_calibration": "conformal"}, "interval_calibration='conformal' is for intervals"),
        ({"quantiles": [0.1, 0.9], "interval_calibration": "split"}, "interval_calibration='split'"),
        ({"quantiles": [0.1, 0.9], "optimize": "weights"}, "optimize='leaves'"),
    ],
)
def test_arguments_that_do_not_fit(options, words):
    X, y = wide(60)
    with pytest.raises((InvalidParameterError, UnsupportedFormulationError), match=words):
        DualBoostRegressor(**{"loss": "quantile", **options}).fit(X, y)


def test_levels_of_a_range_are_the_numbers_meant():
    X, y = wide(60)
    reg = DualBoostRegressor("quantile", quantiles=np.linspace(0.1, 0.9, 9), max_trees=2).fit(X, y)
    assert reg.formulation_.quantiles == (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)


def test_too_few_rows_and_models_without_quantiles():
    X, y = wide(40)
    with pytest.raises(InvalidDataError, match="10 here, and intervals that cover 98% of new rows need 49: give 196"):
        made([0.01, 0.99], interval_calibration="conformal", max_trees=2).fit(X, y)
    with pytest.raises(InvalidParameterError, match="has no quantiles: fit with loss='quantile'"):
        DualBoostRegressor(max_trees=2).fit(X, y).predict_interval(X)
