"""Thinning of regressors, against the real libraries and scikit-learn's ridge."""

import pickle
from typing import ClassVar

import lightgbm
import numpy as np
import pandas as pd
import pytest
import xgboost
from catboost import CatBoostRegressor
from sklearn.ensemble import (
    AdaBoostRegressor,
    BaggingRegressor,
    GradientBoostingRegressor,
    HistGradientBoostingRegressor,
    RandomForestRegressor,
)
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.metrics import mean_absolute_error, r2_score

from dualboost import DualBoostRegressor, load_model, thin
from dualboost.errors import (
    InvalidDataError,
    InvalidParameterError,
    ThinningWarning,
    UnfittedModelError,
    UnsupportedModelError,
)
from dualboost.formulations import QuantileLoss
from dualboost.thinning import NUMBER_ADAPTERS, adapter_for
from dualboost.thinning.paths import NumberLeafPath
from dualboost.thinning.refitting import sizes_below
from dualboost.thinning.trials import read_rows

from ..numbers_to_learn import amounts
from ..thoroughness import every
from .number_models import CASES, CAT, FEW, LGB, XGB, rare, wave

X, Y = wave()
X_NEW, Y_NEW = wave(seed=5)


def answers(model, X):
    return np.asarray(model.predict(xgboost.DMatrix(X) if isinstance(model, xgboost.Booster) else X), dtype=float)


@pytest.fixture(scope="module", params=every(CASES, FEW))
def case(request):
    """A fitted model, its rows, and rows that it has not seen."""
    data, fit = CASES[request.param]
    return fit(*data()), data(), data(seed=5)


@pytest.fixture(scope="module")
def thinned(case):
    model, rows, new = case
    return thin(model, *rows, tolerance=0.05, validation_data=new)


@pytest.fixture(scope="module")
def boosted():
    return GradientBoostingRegressor(n_estimators=12, max_depth=2, random_state=0).fit(X, Y)


def test_every_adapter_has_a_case():
    assert {type(adapter_for(fit(*data()))) for data, fit in CASES.values()} == set(NUMBER_ADAPTERS)


def test_leaves_add_up_to_the_model(case):
    model, _, (X_new, y_new) = case
    adapter = adapter_for(model)
    rows = read_rows(adapter, X_new, y_new, None)
    np.testing.assert_allclose(adapter.expected(rows.full_scores), answers(model, X_new), rtol=2e-6)


def test_the_model_returned_predicts_what_was_promised(case, thinned):
    """Leaves and intercept in the units of y, and the score on the rows that it was judged on."""
    model, _, (X_new, y_new) = case
    adapter = adapter_for(model)
    rows = read_rows(adapter, X_new, y_new, None)
    asked = thinned.kept, thinned.weights if thinned.leaves is None else thinned.leaves, thinned.intercept
    raw = rows.scores(*asked) if thinned.leaves is None else rows.refitted_scores(*asked)
    found = answers(thinned.model, X_new)
    np.testing.assert_allclose(found, adapter.expected(raw), rtol=2e-6)
    assert thinned.path["validation_score"][thinned.chosen] == pytest.approx(r2_score(y_new, found), abs=1e-5)
    assert thinned.full_score == pytest.approx(r2_score(y_new, answers(model, X_new)), abs=1e-5)


def test_fewer_trees_of_the_same_type_and_as_good(case, thinned):
    model, _, (X_new, y_new) = case
    assert type(thinned.model) is type(model)
    assert 0 < len(thinned.kept) < adapter_for(model).n_members
    assert r2_score(y_new, answers(thinned.model, X_new)) >= r2_score(y_new, answers(model, X_new)) - 0.05 - 1e-5


def test_the_first_trees_can_be_written(case):
    model, _, (X_new, y_new) = case
    adapter = adapter_for(model)
    rows = read_rows(adapter, X_new, y_new, None)
    kept = np.array([0, adapter.n_members - 1])
    weights = adapter.weights[kept] * np.array([0.5, 2.0])
    rebuilt = adapter.rebuild(kept, weights, adapter.intercept + 0.25)
    expected = adapter.expected(rows.scores(kept, weights, adapter.intercept + 0.25))
    np.testing.assert_allclose(answers(rebuilt, X_new), expected, rtol=2e-6)


def test_the_model_that_came_in_is_unchanged_and_the_result_is_pickled(case, thinned):
    model, (X_own, _), (X_new, _) = case
    data, fit = next((data, fit) for data, fit in CASES.values() if type(fit(*data())) is type(model))
    again = fit(*data())
    before = answers(again, X_own)
    thin(again, *data(), tolerance=0.1, validation_fraction=0.3, random_state=0)
    np.testing.assert_array_equal(answers(again, X_own), before)
    loaded = pickle.loads(pickle.dumps(thinned.model))
    np.testing.assert_array_equal(answers(loaded, X_new), answers(thinned.model, X_new))


def test_the_summary_speaks_of_r2(case, thinned):
    _, (X_own, y_own), _ = case
    figures = thinned.summary()
    assert figures["R², rows given"][1] == pytest.approx(r2_score(y_own, answers(thinned.model, X_own)), abs=1e-5)
    assert "R², validation" in str(figures)
    assert figures["trees"][1] == len(thinned.kept) * adapter_for(case[0]).trees_per_member


@pytest.mark.parametrize("weights", [None, np.random.default_rng(0).integers(1, 4, len(Y)).astype(float)])
def test_leaves_are_those_of_ridge_regression(boosted, weights):
    """Ridge on the indicators of the leaves of the trees kept, for standardised y.

    The ridge of one makes the objective strongly convex: values that miss the optimum by the distance d have an
    objective that misses it by d^2/2 at least, so d is at most the root of twice the gap.
    """
    rows = read_rows(adapter_for(boosted), X, Y, weights)
    stage, C = NumberLeafPath(rows).down_to(100.0, 5, sizes_below(12, None))[1], 100.0
    assert 0 <= stage.solution.gap <= 1e-6
    numbers = [rows.leaves[j] for j in stage.members]
    Z = np.column_stack([own[:, None] == np.unique(own) for own in numbers]).astype(float)
    scale = np.sqrt(np.average((Y - np.average(Y, weights=weights)) ** 2, weights=weights))
    ridge = Ridge(alpha=rows.counts.sum() / C, tol=1e-12).fit(Z, Y / scale, sample_weight=weights)
    own = np.concatenate([new.values[np.unique(j)] for new, j in zip(stage.leaves, numbers, strict=True)])
    furthest = np.sqrt(2.0 * (stage.solution.primal - stage.solution.dual))
    assert np.linalg.norm(own / scale - ridge.coef_) <= furthest
    assert stage.intercept == pytest.approx(scale * ridge.intercept_, rel=1e-6)


def test_leaves_of_counts_have_the_least_poisson_deviance():
    """At the optimum, the gradient of the programme is zero in every leaf."""
    X, y = rare()
    model = lightgbm.LGBMRegressor(**LGB, objective="poisson").fit(X, y)
    rows = read_rows(adapter_for(model), X, y, None)
    stage, C = NumberLeafPath(rows).down_to(100.0, 5, sizes_below(20, None))[1], 100.0
    mean = np.exp(rows.refitted_scores(stage.members, stage.leaves, stage.intercept))
    assert mean.mean() == pytest.approx(y.mean(), rel=1e-4)
    for member, own in zip(stage.members, stage.leaves, strict=True):
        sums = np.bincount(rows.leaves[member], (y - mean) / y.mean() * C / len(y), minlength=len(own.values))
        np.testing.assert_allclose(own.values, sums, atol=1e-3)


@pytest.mark.parametrize("unit", [1e-9, 1e9])
def test_the_unit_of_y_does_not_matter(unit):
    results = []
    for y in (Y, unit * Y):
        model = GradientBoostingRegressor(n_estimators=12, max_depth=2, random_state=0).fit(X, y)
        results.append(thin(model, X, y, tolerance=0.01, validation_data=(X_NEW, y[0] / Y[0] * Y_NEW)))
    one, other = results
    np.testing.assert_array_equal(one.kept, other.kept)
    assert one.way == other.way
    assert one.full_score == pytest.approx(other.full_score)
    np.testing.assert_allclose(unit * one.model.predict(X_NEW), other.model.predict(X_NEW), rtol=1e-7)


def test_repeated_rows_are_sample_weights(boosted):
    counts = np.random.default_rng(0).integers(0, 3, len(Y))
    held = {"tolerance": 0.02, "validation_data": (X_NEW, Y_NEW)}
    weighted = thin(boosted, X, Y, sample_weight=counts, **held)
    repeated = thin(boosted, np.repeat(X, counts, axis=0), np.repeat(Y, counts), **held)
    np.testing.assert_array_equal(weighted.kept, repeated.kept)
    np.testing.assert_allclose(weighted.model.predict(X_NEW), repeated.model.predict(X_NEW), rtol=1e-5)


class Counting(GradientBoostingRegressor):
    """Notes how many rows each fit had."""

    fits: ClassVar[list[int]] = []

    def fit(self, X, y, **kwargs):
        self.fits.append(len(y))
        return super().fit(X, y, **kwargs)


def test_models_like_it_are_judged_on_rows_they_have_not_seen():
    Counting.fits.clear()
    model = Counting(n_estimators=8, max_depth=2, random_state=0).fit(X, Y)
    result = thin(model, X, Y, tolerance=0.05)
    assert Counting.fits == [300, 200, 200, 200]
    assert result.judged_on.startswith("3 folds of X (300 rows)")
    assert 0 < len(result.kept) < 8


def test_a_forest_of_xgboosts_is_trained_again_with_as_many_trees():
    forest = xgboost.XGBRFRegressor(**XGB, random_state=0).fit(X, Y)
    assert len(adapter_for(adapter_for(forest).fresh().fit(X, Y)).weights) == len(adapter_for(forest).weights) == 20


def test_rows_may_be_held_out_and_few_rows_are(boosted):
    assert "90 rows of X held out" in thin(boosted, X, Y, tolerance=0.1, validation_fraction=0.3).judged_on
    assert "it has fewer than 6 rows" in thin(boosted, X[:5], Y[:5], tolerance=0.9, max_trees=3).judged_on
    assert thin(boosted, X, Y, tolerance=0.1, validation_fraction=None).judged_on.startswith("the rows of X that")


def test_another_score_and_the_most_trees(boosted):
    held = {"validation_data": (X_NEW, Y_NEW)}
    result = thin(boosted, X, Y, scoring="neg_mean_absolute_error", tolerance=1.0, **held)
    errors = [mean_absolute_error(Y_NEW, model.predict(X_NEW)) for model in (boosted, result.model)]
    assert result.full_score == pytest.approx(-errors[0])
    assert errors[1] <= errors[0] + 1.0
    stumps = GradientBoostingRegressor(n_estimators=2, max_depth=1, learning_rate=1.0, random_state=0).fit(X, Y)
    with pytest.warns(ThinningWarning, match="No ensemble of 1 trees reaches the R² asked for"):
        assert len(thin(stumps, X, Y, max_trees=1, **held).kept) == 1
    with pytest.warns(ThinningWarning, match=r"No smaller ensemble reaches the R² asked for.*tolerance="):
        unchanged = thin(stumps, X, Y, **held)
    assert unchanged.way == "unchanged"
    np.testing.assert_array_equal(unchanged.model.predict(X), stumps.predict(X))


@pytest.mark.parametrize(
    "estimator",
    [
        xgboost.XGBRegressor(**XGB, enable_categorical=True),
        lightgbm.LGBMRegressor(**LGB),
        HistGradientBoostingRegressor(max_iter=20, max_leaf_nodes=6, categorical_features="from_dtype"),
        DualBoostRegressor(max_trees=8),
    ],
    ids=lambda model: type(model).__name__,
)
def test_gaps_and_categories(estimator):
    (frame, y), (frame_new, y_new) = amounts(), amounts(seed=1)
    result = thin(estimator.fit(frame, y), frame, y, tolerance=0.02, validation_data=(frame_new, y_new))
    rows = read_rows(adapter_for(estimator), frame_new, y_new, None)
    expected = rows.refitted_scores(result.kept, result.leaves, result.intercept)
    np.testing.assert_allclose(result.model.predict(frame_new), expected, rtol=1e-6)


def test_text_of_catboost_and_files_of_the_libraries(tmp_path):
    frame, y = amounts()
    text = frame.assign(colour=frame["colour"].astype(object).fillna("none").astype(str))
    model = CatBoostRegressor(**CAT, cat_features=["colour"]).fit(text, y)
    small = thin(model, text, y, tolerance=0.05, validation_fraction=0.3, random_state=0).model
    small.save_model(str(tmp_path / "small.cbm"))
    loaded = CatBoostRegressor().load_model(str(tmp_path / "small.cbm"))
    np.testing.assert_allclose(loaded.predict(text), small.predict(text))
    ours = thin(DualBoostRegressor(max_trees=8).fit(frame, y), frame, y, tolerance=0.05, validation_fraction=0.3).model
    ours.save(tmp_path / "ours.json")
    np.testing.assert_array_equal(load_model(tmp_path / "ours.json").predict(frame), ours.predict(frame))


def test_medians_imitate_the_model_only():
    model = lightgbm.LGBMRegressor(**LGB, objective="regression_l1").fit(X, Y)
    result = thin(model, X, Y, tolerance=0.05, validation_data=(X_NEW, Y_NEW))
    assert set(result.path["way"]) <= {"imitate", "truncate"}


@pytest.mark.parametrize(
    "given", [{"method": "thin"}, {"method": "reweight"}, {"formulation": "lp"}, {"C": 1.0}, {"epsilon": 0.1}]
)
def test_new_weights_are_refused(boosted, given):
    given = given | ({"formulation": "erlp"} if "epsilon" in given else {})
    (name, value) = next((name, given[name]) for name in ("method", "formulation", "C") if name in given)
    with pytest.raises(InvalidParameterError, match=rf"{name}={value!r} asks for new weights.*predicts numbers"):
        thin(boosted, X, Y, **given)


def pairs(estimator):
    return estimator.fit(X, np.column_stack([Y, -Y]))


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: AdaBoostRegressor(n_estimators=3).fit(X, Y), "a weighted median.*These can: .*BaggingRegressor"),
        (lambda: LinearRegression().fit(X, Y), "LinearRegression cannot be thinned.*CatBoostRegressor"),
        (lambda: BaggingRegressor(LinearRegression(), 3).fit(X, Y), "decision trees; one is a LinearRegression"),
        (lambda: pairs(RandomForestRegressor(3, max_depth=2)), "predicts 2 numbers for each row"),
        (lambda: pairs(xgboost.XGBRegressor(**XGB)), "predicts 2 numbers for each row"),
        (lambda: pairs(CatBoostRegressor(**CAT, loss_function="MultiRMSE")), "predicts 2 numbers for each row"),
        (lambda: xgboost.XGBRegressor(**XGB, objective="reg:quantileerror", quantile_alpha=0.9).fit(X, Y), "objective"),
        (lambda: lightgbm.LGBMRegressor(**LGB, objective="quantile").fit(X, Y), "objective 'quantile'.*regression"),
        (lambda: lightgbm.LGBMRegressor(**LGB, reg_sqrt=True).fit(X, Y), "reg_sqrt=True cannot be thinned"),
        (lambda: CatBoostRegressor(**CAT, loss_function="Quantile").fit(X, Y), "loss_function='Quantile'"),
        (lambda: GradientBoostingRegressor(loss="quantile", n_estimators=3).fit(X, Y), "loss='quantile'.*huber"),
        (lambda: GradientBoostingRegressor(init=LinearRegression()).fit(X, Y), "a DummyRegressor can be thinned"),
        (
            lambda: DualBoostRegressor(QuantileLoss(quantiles=0.9), C=5.0, max_trees=2).fit(X, Y),
            "loss='quantile'.*squared",
        ),
        (
            lambda: DualBoostRegressor("quantile", C=5.0, quantiles=[0.1, 0.9], max_trees=2).fit(X, Y),
            "loss='quantile' cannot be thinned.*squared",
        ),
        (lambda: RandomForestRegressor(2, random_state=0).fit(*wave(2500)), "more than 1024 different leaves"),
        (
            lambda: xgboost.XGBRegressor(n_estimators=3).fit(np.ones_like(X), Y),
            "thinned: no tree has a split, so that every row",
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "made",
)
def test_what_cannot_be_thinned(make, words):
    with pytest.raises(UnsupportedModelError, match=f"(?s){words}"):
        thin(make(), *wave(2500))


def test_data_and_arguments_that_do_not_fit(boosted):
    with pytest.raises(UnfittedModelError, match="not fitted"):
        thin(xgboost.XGBRegressor(), X, Y)
    with pytest.raises(InvalidDataError, match="In validation_data: y is nan in row 0"):
        thin(boosted, X, Y, validation_data=(X[:2], [np.nan, 1.0]))
    with pytest.raises(InvalidDataError, match="every row needs a number"):
        thin(boosted, X, pd.Series(["a"] * len(Y)))
    with pytest.raises(UnsupportedModelError, match="y is the same number in all rows"):
        thin(boosted, X, np.ones(len(Y)))
    for unit in (1e-200, 1e200):
        with pytest.raises(InvalidDataError, match=r"y has numbers of size .* train the model on y in a unit"):
            thin(boosted, X, Y * unit)
    with pytest.raises(InvalidParameterError, match="scoring='accuracy' is for classes"):
        thin(boosted, X, Y, scoring="accuracy")
    with pytest.raises(InvalidParameterError, match=r"tolerance=1.5 must be a loss of R² of at least 0"):
        thin(boosted, X, Y, tolerance=1.5)
    with pytest.raises(InvalidDataError, match="negative number"):
        thin(HistGradientBoostingRegressor(loss="poisson", max_iter=3).fit(*rare()), X, -Y)
