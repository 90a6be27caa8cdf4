"""Fits over the workers of a Dask cluster find what one machine finds, whatever the partitions are."""

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import make_regression

from dualboost import DualBoostClassifier, DualBoostRegressor, load_model
from dualboost.dask import DaskDualBoostClassifier, DaskDualBoostRegressor
from dualboost.datasets import make_ringnorm
from dualboost.errors import ConstantPredictionWarning, InvalidDataError, InvalidParameterError, UnfittedModelError

pytestmark = pytest.mark.usefixtures("client")

SMALL = {"max_depth": 3, "max_trees": 4}


def rows(n=1200):
    return make_ringnorm(n, random_state=0)


def table(n=1200):
    X, y = rows(n)
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(X[:, :5]).add_prefix("x")
    kinds = np.array(["red", "green", "blue"])[rng.integers(0, 3, n)]
    return frame.assign(kind=kinds, noise=rng.random(n), label=np.where(y > 0, "yes", "no"))


def assert_same(found, alone):
    assert found.objective_ == pytest.approx(alone.objective_, rel=1e-8)
    assert found.gap_ <= 1e-6
    for one, other in zip(found.estimators_, alone.estimators_, strict=True):
        np.testing.assert_array_equal(one.feature, other.feature)
        np.testing.assert_array_equal(one.threshold, other.threshold)


@pytest.mark.parametrize("formulation", ["logistic", "nm"])
def test_arrays(formulation, tmp_path):
    X, y = rows()
    spread, labels = da.from_array(X, chunks=(350, 7)), da.from_array(y, chunks=350)
    model = DaskDualBoostClassifier(formulation, **SMALL).fit(spread, labels)
    alone = DualBoostClassifier(formulation, learner="xgboost", **SMALL).fit(X, y)
    assert_same(model, alone)
    assert sum(model.n_rows_) == len(y)
    assert model.traffic_.n_messages > 0
    predictions, probabilities = model.predict(spread), model.predict_proba(spread)
    assert isinstance(predictions, da.Array)  # computed only when asked for
    np.testing.assert_array_equal(predictions.compute(), alone.predict(X))
    np.testing.assert_allclose(probabilities.compute(), model.to_local().predict_proba(X))
    model.to_local().save(tmp_path / "model.json")
    np.testing.assert_array_equal(load_model(tmp_path / "model.json").predict(X), alone.predict(X))


def test_tables_from_parquet_files(tmp_path):
    frame = table()
    for k, part in enumerate((frame[:300], frame[300:900], frame[900:])):
        part.to_parquet(tmp_path / f"{k}.parquet")
    spread = dd.read_parquet(tmp_path / "*.parquet")
    model = DaskDualBoostClassifier(**SMALL).fit(spread.drop(columns="label"), spread["label"])
    alone = DualBoostClassifier(learner="xgboost", **SMALL).fit(frame.drop(columns="label"), frame["label"])
    assert_same(model, alone)
    found = model.predict_proba(spread.drop(columns="label"))
    assert list(found.columns) == ["no", "yes"]
    np.testing.assert_allclose(found.compute(), alone.predict_proba(frame.drop(columns="label")))


def test_empty_partitions_one_class_on_a_worker_and_categories_of_one_worker():
    frame = table().sort_values(["label", "kind"], ignore_index=True)
    parts = [frame.iloc[:0], frame.iloc[:100], frame.iloc[100:100], frame.iloc[100:900], frame.iloc[900:]]
    spread = dd.from_delayed([_delayed(part) for part in parts], meta=frame.iloc[:0])
    model = DaskDualBoostClassifier(**SMALL).fit(spread.drop(columns="label"), spread["label"])
    alone = DualBoostClassifier(learner="xgboost", **SMALL).fit(frame.drop(columns="label"), frame["label"])
    assert_same(model, alone)
    predictions = model.predict(spread.drop(columns="label")).compute()
    np.testing.assert_array_equal(predictions, alone.predict(frame.drop(columns="label")))


def _delayed(part):
    from dask.delayed import delayed

    return delayed(part)


def test_workers_without_weights_take_no_part():
    X, y = rows(600)
    weights = np.where(np.arange(600) < 200, 1.0, 0.0)
    parts = [da.from_array(values, chunks=(200, *values.shape[1:])) for values in (X, y, weights)]
    model = DaskDualBoostClassifier(**SMALL).fit(*parts)
    assert_same(model, DualBoostClassifier(learner="xgboost", **SMALL).fit(X, y, weights))


def test_numbers():
    X, y = make_regression(500, 6, noise=5.0, random_state=0)
    model = DaskDualBoostRegressor(**SMALL).fit(da.from_array(X, chunks=(150, 6)), da.from_array(y, chunks=150))
    alone = DualBoostRegressor(learner="xgboost", **SMALL).fit(X, y)
    assert_same(model, alone)
    np.testing.assert_allclose(model.predict(da.from_array(X, chunks=(150, 6))).compute(), alone.predict(X))


def test_what_is_wrong_is_said_and_nothing_is_fitted():
    X, y = rows(400)
    spread, labels = da.from_array(X, chunks=(100, 20)), da.from_array(y, chunks=100)
    model = DaskDualBoostClassifier(**SMALL)
    with pytest.raises(UnfittedModelError, match="not fitted"):
        model.predict(spread)
    with pytest.raises(InvalidDataError, match="divided alike"):
        model.fit(spread, labels.rechunk(200))
    with pytest.raises(InvalidDataError, match="pass a Dask DataFrame"):
        model.fit(X, y)
    with pytest.raises(InvalidDataError, match="positive sample_weight"):
        model.fit(spread, labels, da.zeros(400, chunks=100))
    with pytest.raises(InvalidParameterError, match="not for fits over workers"):
        DaskDualBoostClassifier(validation_fraction=0.1).fit(spread, labels)
    wrong = X.copy()
    wrong[399, 3] = np.inf  # on one of the workers
    with pytest.raises(InvalidDataError, match="infinity"):
        model.fit(da.from_array(wrong, chunks=(100, 20)), labels)
    with pytest.raises(UnfittedModelError):
        model.to_local()


def test_warnings_of_workers_reach_the_user():
    X, _ = rows(400)
    labels = da.from_array(np.arange(400) < 4, chunks=100)
    with pytest.warns(ConstantPredictionWarning):
        DaskDualBoostClassifier(max_depth=1, max_trees=1).fit(da.from_array(X, chunks=(100, 20)), labels)


def test_parameters_are_those_of_the_ordinary_estimator():
    model = DaskDualBoostClassifier("lp", C=0.1, max_trees=3)
    assert model.get_params()["learner"] == "xgboost"
    assert model.set_params(C=0.2).get_params()["C"] == 0.2
    assert repr(model).startswith("DaskDualBoostClassifier(C=0.2")
    with pytest.raises(AttributeError, match="no attribute 'unknown'"):
        _ = model.unknown
