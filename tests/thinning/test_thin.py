import re

import numpy as np
import pytest
from sklearn.ensemble import (
    AdaBoostClassifier,
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    RandomForestClassifier,
)
from xgboost import XGBClassifier

from dualboost import DualBoostClassifier, thin
from dualboost.errors import DegenerateEnsembleWarning, InvalidParameterError, ThinningWarning
from dualboost.formulations import LPBoost
from dualboost.thinning import adapter_for

from ..conftest import THINNING_FORMULATIONS, has_no_C
from .models import TWO_CLASSES, numbers

X, Y = numbers(n=600)
X_NEW, Y_NEW = numbers(n=600, seed=1)


@pytest.fixture(scope="module")
def model():
    return XGBClassifier(n_estimators=60, max_depth=3, n_jobs=1).fit(X, Y)


@pytest.mark.parametrize("method", ["imitate", "reweight"])
def test_many_rows_of_few_kinds(method, monkeypatch):
    """Where a master would merge rows that no member tells apart, it heeds a free intercept: the result is the same."""
    stumps = RandomForestClassifier(6, max_depth=1, random_state=0).fit(X, Y)
    apart = thin(stumps, X, Y, method=method, formulation="lp", random_state=0)
    monkeypatch.setattr("dualboost.solvers.LEAST_ROWS", 0)
    merged = thin(stumps, X, Y, method=method, formulation="lp", random_state=0)
    assert merged.full_score == apart.full_score
    np.testing.assert_array_equal(merged.kept, apart.kept)
    assert merged.gap <= 1e-6


def test_the_smallest_ensemble_within_the_tolerance(model):
    result = thin(model, X, Y, tolerance=0.02, validation_data=(X_NEW, Y_NEW))
    path, chosen = result.path, result.chosen
    enough = result.full_score - 0.02
    assert path["validation_score"][chosen] >= enough
    smaller = path["trees"] < path["trees"][chosen]
    assert (path["validation_score"][smaller] < enough).all()
    assert (np.diff(path["trees"]) >= 0).all()
    assert len({len(column) for column in path.values()}) == 1
    assert len(result.kept) <= path["trees"][chosen] < 60
    assert result.way == "truncate" or 0 <= result.gap <= 1e-6
    assert result.model.get_booster().num_boosted_rounds() == len(result.kept)


def test_accuracy_is_kept_on_new_rows(model):
    result = thin(model, X, Y, tolerance=0.005, validation_data=(X_NEW[:300], Y_NEW[:300]))
    before, after = (np.mean(m.predict(X_NEW[300:]) == Y_NEW[300:]) for m in (model, result.model))
    assert len(result.kept) <= 36
    assert after >= before - 0.03  # 300 rows tell accuracies apart to two points


@pytest.mark.parametrize("tolerance", [0.005, 0.01, 0.03])
def test_the_accuracy_told_is_that_of_the_model_returned(tolerance):
    fitted = DualBoostClassifier("lp", max_depth=3, max_trees=40).fit(X, Y)
    result = thin(fitted, X, Y, tolerance=tolerance, validation_data=(X_NEW, Y_NEW))
    told = result.summary()["accuracy, validation"][1]
    assert told == pytest.approx(result.model.score(X_NEW, Y_NEW))
    assert told >= fitted.score(X_NEW, Y_NEW) - tolerance - 1e-9


def calibration_error(probabilities, y):
    """The mean difference between a probability and the share of the class, over ten bins of equal size."""
    order = np.argsort(probabilities, kind="stable")
    return np.mean([abs(probabilities[part].mean() - y[part].mean()) for part in np.array_split(order, 10)])


@pytest.mark.parametrize("name", [name for name in TWO_CLASSES if "words" not in name and "booster" not in name])
def test_probabilities_stay_calibrated(name):
    """On new rows, of models that lost many of their members."""
    case = TWO_CLASSES[name]
    data, new = case.data(n=800), case.data(n=2000, seed=3)
    fitted = case.fit(*data)
    result = thin(fitted, *data, tolerance=0.02, validation_data=case.data(n=400, seed=4))
    y = new[1] == adapter_for(fitted).classes[1]
    before = fitted if hasattr(fitted, "predict_proba") else VotingClassifierOf(fitted)
    errors = [calibration_error(m.predict_proba(new[0])[:, 1], y) for m in (before, result.model)]
    assert errors[1] <= errors[0] + 0.04


class VotingClassifierOf:
    """What a list of classifiers says together."""

    def __init__(self, members):
        self.adapter, self.members = adapter_for(members), members

    def predict_proba(self, X):
        positive = 0.5 * (1.0 + self.adapter.raw_scores(self.members, X))
        return np.column_stack([1.0 - positive, positive])


def test_a_given_C_solves_once(model):
    result = thin(model, X, Y, C=0.05)
    assert len(result.path["C"]) == 1
    assert result.C == result.path["C"][0] == 0.05
    assert np.isnan(result.path["validation_score"][0])
    assert result.path["trees"][0] == len(result.kept)
    same = thin(model, X, Y, formulation=LPBoost(C=0.05))
    np.testing.assert_array_equal(same.weights, result.weights)


def test_validation_fraction_none_compares_on_the_training_rows(model):
    result = thin(model, X, Y, tolerance=0.02, validation_fraction=None)
    assert np.isnan(result.path["validation_score"]).all()
    assert result.full_score == model.score(X, Y)
    assert result.path["train_score"][result.chosen] >= result.full_score - 0.02


def test_max_columns_caps_the_trees(model):
    result = thin(model, X, Y, tolerance=0.2, max_trees=5, validation_fraction=0.2, random_state=0)
    assert 0 < len(result.kept) <= 5
    assert len(thin(model, X, Y, C=0.1, max_trees=5).kept) <= 5


def test_same_seed_same_model(model):
    first, second = (thin(model, X, Y, tolerance=0.03, validation_fraction=0.2, random_state=3) for _ in range(2))
    np.testing.assert_array_equal(first.kept, second.kept)
    np.testing.assert_array_equal(first.weights, second.weights)


def test_sample_weights_are_repetitions():
    fitted = GradientBoostingClassifier(n_estimators=20, random_state=0).fit(X, Y)
    counts = np.random.default_rng(0).integers(0, 3, len(Y))
    weighted = thin(fitted, X, Y, sample_weight=counts, C=0.02)
    repeated = thin(fitted, np.repeat(X, counts, axis=0), np.repeat(Y, counts), C=0.02)
    np.testing.assert_array_equal(weighted.kept, repeated.kept)
    np.testing.assert_allclose(weighted.weights, repeated.weights, rtol=1e-4)


def test_the_model_is_returned_as_it_was_if_nothing_smaller_is_good_enough(model):
    asked = {"scoring": "neg_log_loss", "method": "imitate", "validation_fraction": None}
    with pytest.warns(ThinningWarning, match=r"The closest has \d+ trees?.*tolerance=") as warned:
        result = thin(model, X, Y, **asked)
    needed = float(re.search(r"tolerance=([\d.]+)", str(warned[0].message))[1])
    assert len(thin(model, X, Y, tolerance=needed, **asked).kept) < 60
    assert result.chosen is None
    assert result.C is None
    assert np.isnan(result.gap)
    np.testing.assert_array_equal(result.kept, np.arange(60))
    np.testing.assert_allclose(result.model.predict_proba(X), model.predict_proba(X), atol=1e-6)
    assert result.summary()["trees"] == (60, 60)


def test_the_best_of_so_many_trees_is_taken_if_none_is_within_the_tolerance(model):
    with pytest.warns(ThinningWarning, match="No ensemble of 2 trees"):
        result = thin(model, X, Y, max_trees=2, validation_fraction=0.2, random_state=0)
    assert len(result.kept) <= 2
    assert result.path["validation_score"][result.chosen] == result.path["validation_score"].max()


def test_a_model_that_knows_its_rows_by_heart_is_warned_about():
    fitted = ExtraTreesClassifier(20, random_state=0).fit(X, Y)
    with pytest.warns(ThinningWarning, match="as on its training rows.*validation_data"):
        thin(fitted, X, Y, validation_fraction=0.2, random_state=0)
    with pytest.warns(ThinningWarning, match="pass other rows as X and y"):
        thin(fitted, X, Y, validation_data=(X_NEW, Y_NEW), method="imitate")
    assert len(thin(fitted, X_NEW, Y_NEW, tolerance=0.02, random_state=0).kept) < 20


def test_sample_weights_that_are_shares_are_warned_about(model):
    with pytest.warns(ThinningWarning, match="sample weights add up to 1: as repetitions"):
        thin(model, X, Y, sample_weight=np.full(len(Y), 1.0 / len(Y)), method="imitate", random_state=0)


def test_weights_on_all_rows_have_a_C_that_means_what_it_meant_on_a_part(model):
    """With either meaning of C, the ensemble is taken on a half of the rows and fitted to all of them alike."""
    options = {"method": "reweight", "validation_fraction": 0.5, "random_state": 0}
    result = thin(model, X_NEW, Y_NEW, formulation=LPBoost(), **options)
    grid = LPBoost().C_grid(300)
    np.testing.assert_allclose(np.abs(np.log(grid * 0.5 / result.C)).min(), 0.0, atol=0.01)
    free = thin(model, X_NEW, Y_NEW, formulation=LPBoost(scale_free=True), **options)
    assert np.isclose(LPBoost(scale_free=True).C_grid(300), free.C).any()


def test_a_C_that_leaves_nothing_predicts_the_larger_class(model):
    lost = pytest.warns(ThinningWarning, match="predicts class . for no row")
    with lost, pytest.warns(DegenerateEnsembleWarning, match="smallest C"):
        result = thin(model, X, Y, C=1e-6)
    assert len(result.kept) == 1
    larger = np.bincount(Y).argmax()
    assert (result.model.predict(X) == larger).all()
    assert np.abs(result.model.predict_proba(X)[:, 1].mean() - Y.mean()) < 0.05


@pytest.mark.parametrize("formulation", THINNING_FORMULATIONS)
def test_reweighting_adaboost_with_every_formulation(formulation):
    fitted = AdaBoostClassifier(n_estimators=40, random_state=0).fit(X, Y)
    result = thin(fitted, X, Y, formulation=formulation, method="reweight", random_state=0)
    assert result.intercept == 0
    assert result.path["validation_score"][result.chosen] == result.path["validation_score"].max()
    assert len(result.path["C"]) > (0 if has_no_C(formulation) else 5)
    assert 0 < len(result.kept) <= 40
    assert result.gap <= 1e-6
    # the paper's grid of "erlp" gives little more on so noisy rows
    assert result.model.score(X_NEW, Y_NEW) > (0.6 if has_no_C(formulation) else 0.7)


@pytest.mark.parametrize("formulation", THINNING_FORMULATIONS)
def test_thinning_with_every_formulation(model, formulation):
    result = thin(model, X, Y, formulation=formulation, tolerance=0.03, random_state=0)
    assert 0 < len(result.kept) < 60
    assert result.way == "truncate" or result.gap <= 1e-6
    assert result.model.score(X_NEW, Y_NEW) > model.score(X_NEW, Y_NEW) - 0.05


@pytest.mark.parametrize("formulation", ["cq", "spatial"])
def test_formulations_with_side_rows_are_refused(model, formulation):
    with pytest.raises(InvalidParameterError, match=f"formulation='{formulation}'.*'lp'"):
        thin(model, X, Y, formulation=formulation)


def test_a_forest_that_fits_its_rows_perfectly():
    fitted = RandomForestClassifier(50, random_state=0).fit(X, Y)
    result = thin(fitted, X, Y, tolerance=0.01, validation_data=(X_NEW, Y_NEW))
    assert len(result.kept) < 50
    assert result.model.score(X_NEW, Y_NEW) >= fitted.score(X_NEW, Y_NEW) - 0.02


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"tolerance": -0.1}, "tolerance=-0.1"),
        ({"tolerance": "small"}, "tolerance='small'"),
        ({"validation_fraction": 1.5}, "validation_fraction=1.5"),
        ({"max_trees": 0}, "max_trees=0"),
        ({"formulation": "xx"}, "formulation='xx'"),
        ({"method": "prune"}, "method='prune'"),
        ({"C": -1.0}, "C=-1.0"),
        ({"epsilon": 0}, "epsilon=0"),
        ({"random_state": "seed"}, "random_state='seed'"),
        ({"validation_data": 3}, "validation_data of type int"),
        ({"verbose": -1}, "verbose=-1"),
    ],
)
def test_bad_arguments_are_named(model, arguments, message):
    with pytest.raises(InvalidParameterError, match=message):
        thin(model, X, Y, **arguments)


def test_no_progress_bar_when_piped(model, capsys):
    thin(model, X, Y, tolerance=0.05, validation_fraction=0.2, random_state=0, verbose=1)
    assert capsys.readouterr().err == ""
