"""Rows that stay on disk are fitted as the same rows in memory are, and predicted alike."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import make_classification, make_regression

from dualboost import (
    DualBoostClassifier,
    DualBoostClassifierCV,
    DualBoostRegressor,
    DualBoostRegressorCV,
    RowsOnDisk,
    SolverOptions,
)
from dualboost.data import on_disk as lazy
from dualboost.data.on_disk import CodedFeatures
from dualboost.datasets import make_ringnorm
from dualboost.errors import InvalidDataError, InvalidParameterError
from dualboost.trees import growing as coding
from dualboost.workers import ALONE

from ..workers.running import fitted_by, on_workers, parts_of

SMALL = {"learner": "xgboost", "max_depth": 3, "max_trees": 5}


@pytest.fixture(autouse=True)
def _few_columns_at_a_time(monkeypatch):
    monkeypatch.setattr(coding, "NUMBERS_AT_ONCE", 3000)


def rows(n=1500):
    """Numbers with gaps, some equal rows, few values, a constant."""
    X, y = make_ringnorm(n, random_state=0)
    rng = np.random.default_rng(0)
    X[:, 0], X[:, 1], X[:, 2] = np.round(X[:, 0]), 3.0, np.round(X[:, 2], 1)
    X[rng.random(X.shape) < 0.05] = np.nan
    X[-20:], y[-20:] = X[:20], y[:20]
    return X.astype(np.float32), y, rng.integers(0, 3, n).astype(float)


def mapped(X, folder):
    np.save(folder / "X.npy", X)
    return np.load(folder / "X.npy", mmap_mode="r")


def assert_same(one, other, X):
    assert one.objective_ == other.objective_
    for a, b in zip(one.estimators_, other.estimators_, strict=True):
        np.testing.assert_array_equal(a.feature, b.feature)
        np.testing.assert_array_equal(a.threshold, b.threshold)
        np.testing.assert_allclose(a.covers, b.covers)
    np.testing.assert_array_equal(one.predict(X), other.predict(X))
    np.testing.assert_array_equal(one.duals_, other.duals_)


class Watched(np.memmap):
    """A memory-mapped array that records how many numbers each access reads."""

    def __getitem__(self, which):
        found = np.asarray(self)[which]
        self.sizes.append(found.size)
        return found


QUANTILES = {"loss": "quantile", "quantiles": [0.1, 0.5, 0.9]}
CONFORMAL = QUANTILES | {"interval_calibration": "conformal"}
VARIANTS = {
    "classes": (DualBoostClassifier, {}),
    "held out": (DualBoostClassifier, {"validation_fraction": 0.2}),
    "calibrated by twins": (DualBoostClassifier, {"formulation": "lp"}),
    "C of classes": (DualBoostClassifierCV, {"Cs": 2, "cv": 3}),
    "numbers": (DualBoostRegressor, {}),
    "C of numbers": (DualBoostRegressorCV, {"Cs": 2}),
    "quantiles": (DualBoostRegressor, QUANTILES),
    "conformal": (DualBoostRegressor, CONFORMAL),
    "conformal, held out": (DualBoostRegressor, CONFORMAL | {"n_iter_no_change": 2}),
    "C of conformal": (DualBoostRegressorCV, CONFORMAL | {"Cs": 2}),
}
REFUSED = [
    ("learner='cart' needs all of X in memory", {"learner": "cart"}),
    ("needs all of X in memory", {"learner": ["xgboost", "cart"]}),
    ("warm_start=True is for rows in memory", {"warm_start": True}),
    (r"categorical_features=\[0\] is for rows in memory", {"categorical_features": [0]}),
]


def variant(name, **other):
    estimator, options = VARIANTS[name]
    return estimator(**SMALL | {"max_trees": 3, "random_state": 0} | options | other)


@pytest.mark.parametrize("name", VARIANTS)
def test_every_estimator_reads_rows_on_disk_in_parts(name, tmp_path, monkeypatch):
    X, y, weights = rows(600)
    np.save(tmp_path / "X.npy", X)
    watched = np.load(tmp_path / "X.npy", mmap_mode="r").view(Watched)
    watched.sizes = []
    monkeypatch.setattr(lazy, "ROWS_AT_ONCE", 100)
    model = variant(name)
    alone = clone(model).fit(X, y, weights)
    assert_same(model.fit(watched, y, weights), alone, X)
    assert sum(watched.sizes) >= 2 * X.size
    assert max(watched.sizes) <= X.size // 3
    if hasattr(model, "interval_calibration"):
        assert model.fitted_.calibration == alone.fitted_.calibration


@pytest.mark.parametrize("name", VARIANTS)
def test_every_estimator_refuses_the_same_on_disk(name, tmp_path):
    X, y, _ = rows(300)
    on_disk, known = RowsOnDisk.of_array(mapped(X, tmp_path)), variant(name).get_params()
    for message, options in REFUSED:
        if options.keys() <= known.keys():
            with pytest.raises(InvalidParameterError, match=message):
                variant(name, **options).fit(on_disk, y)


@pytest.mark.parametrize("formulation", ["logistic", "nm"])
def test_a_memory_mapped_array_is_the_same_rows(formulation, tmp_path):
    X, y, weights = rows()
    model = DualBoostClassifier(formulation, **SMALL, calibration="training")
    alone = clone(model).fit(X, y, weights)
    on_disk = mapped(X, tmp_path)
    assert_same(model.fit(on_disk, y, weights), alone, X)
    np.testing.assert_allclose(model.predict_proba(RowsOnDisk.of_array(on_disk)), alone.predict_proba(X))


def test_what_is_kept_of_a_number_is_a_byte(tmp_path, monkeypatch):
    X, y, _ = rows()
    kept = []
    taken = coding.RowsToCode.taken
    monkeypatch.setattr(coding.RowsToCode, "taken", lambda *arguments: kept.append(taken(*arguments)) or kept[-1])
    DualBoostClassifier(**SMALL).fit(mapped(X, tmp_path), y)
    assert [one.codes.nbytes for one in kept] == [len(kept[0]) * X.shape[1]]


def test_several_classes_and_numbers(tmp_path):
    X, y = make_classification(600, 8, n_informative=5, n_classes=3, random_state=0)
    on_disk = RowsOnDisk.of_array(mapped(X, tmp_path))
    for formulation in ("logistic", "lp"):
        model = DualBoostClassifier(formulation, **SMALL)
        assert_same(DualBoostClassifier(formulation, **SMALL).fit(on_disk, y), model.fit(X, y), X)
    X, y = make_regression(600, 5, noise=3.0, random_state=0)
    on_disk = mapped(X, tmp_path)
    for loss in ("squared", "absolute"):
        model = DualBoostRegressor(loss, **SMALL)
        assert_same(DualBoostRegressor(loss, **SMALL).fit(on_disk, y), model.fit(X, y), X)


def test_parquet_files(tmp_path):
    X, y, _ = rows(1200)
    frame = pd.DataFrame(X).add_prefix("x").assign(whole=np.arange(1200) % 7, truth=X[:, 3] > 0)
    for k, part in enumerate((frame[:500], frame[500:])):
        part.assign(label=np.where(y > 0, "yes", "no")[part.index]).to_parquet(tmp_path / f"{k}.parquet")
    on_disk = RowsOnDisk.of_parquet(tmp_path / "*.parquet", leave_out=["label"])
    labels = on_disk.values("label")
    model = DualBoostClassifier(**SMALL).fit(on_disk, labels)
    alone = DualBoostClassifier(**SMALL).fit(frame, np.where(y > 0, "yes", "no"))
    assert_same(model, alone, frame)
    np.testing.assert_array_equal(model.predict(on_disk), alone.predict(frame))
    assert model.feature_names_in_.tolist() == frame.columns.tolist()


def test_probabilities_are_calibrated_and_rows_are_held_out(tmp_path):
    X, y, _ = rows()
    on_disk = mapped(X, tmp_path)
    model = DualBoostClassifier("nm", **SMALL).fit(on_disk, y)
    expected = DualBoostClassifier("nm", **SMALL).fit(X, y).predict_proba(X)
    np.testing.assert_allclose(model.predict_proba(X), expected, atol=0.05)
    held = DualBoostClassifier(**SMALL, validation_fraction=0.2).fit(on_disk, y)
    assert np.isfinite(held.history_["validation_score"]).all()


def test_over_workers(tmp_path):
    X, y, _ = rows()
    estimator = DualBoostClassifier(**SMALL)
    in_memory = [model for model, _ in fitted_by(2, estimator, X, y)]
    parts = parts_of(len(y), 2)

    def work(workers):
        own = parts[workers.rank]
        folder = tmp_path / str(workers.rank)
        folder.mkdir()
        return estimator.fit_part(RowsOnDisk.of_array(mapped(X[own], folder)), y[own], None, workers)

    for model in on_workers(2, work):
        assert model.figures == in_memory[0].figures


def test_a_row_goes_the_same_way_by_its_bin():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 3))
    X[rng.random(X.shape) < 0.1] = np.nan
    model = DualBoostClassifier(**SMALL).fit(X, rng.random(3000) < 0.5)
    bins = coding.to_code(RowsOnDisk.of_array(X), ALONE).taken(np.arange(3000))
    assert isinstance(bins, CodedFeatures)
    assert bins.codes.dtype == np.uint8
    for tree in model.estimators_:
        np.testing.assert_array_equal(tree.leaves(bins), tree.leaves(X))
    few = np.array([5, 2, 9])
    np.testing.assert_array_equal(bins.taken(few).dense(slice(None)), bins[few])


def test_what_cannot_be_is_said(tmp_path, monkeypatch):
    X, y, _ = rows(300)
    on_disk = RowsOnDisk.of_array(mapped(X, tmp_path))
    with pytest.raises(InvalidParameterError, match="learner='xgboost'"):
        DualBoostClassifier().fit(on_disk, y)
    with pytest.raises(InvalidParameterError, match="warm_start"):
        DualBoostClassifier(learner="xgboost", warm_start=True).fit(on_disk, y)
    with pytest.raises(InvalidParameterError, match="categorical_features"):
        DualBoostClassifier(learner="xgboost", categorical_features=[0]).fit(on_disk, y)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        DualBoostClassifier(learner="xgboost").fit(on_disk, y[1:])
    with pytest.raises(InvalidDataError, match="two dimensions"):
        RowsOnDisk.of_array(np.ones(3))
    with pytest.raises(InvalidDataError, match="no such file"):
        RowsOnDisk.of_parquet(tmp_path / "*.parquet")
    pd.DataFrame({"a": ["x"], "b": [1.0]}).to_parquet(tmp_path / "text.parquet")
    with pytest.raises(InvalidDataError, match="Column 'a' is of type"):
        RowsOnDisk.of_parquet(tmp_path / "text.parquet")
    with pytest.raises(InvalidDataError, match="no column 'c'"):
        RowsOnDisk.of_parquet(tmp_path / "text.parquet", leave_out=["c"])
    infinite = X.copy()
    infinite[7, 3] = np.inf
    with pytest.raises(InvalidDataError, match="infinity"):
        DualBoostClassifier(learner="xgboost").fit(mapped(infinite, tmp_path), y)
    model = DualBoostClassifier(**SMALL).fit(X, y)
    monkeypatch.setattr(lazy, "ROWS_AT_ONCE", 5)
    for answer in (model.predict, model.predict_proba, model.decision_function):
        for table in (infinite, RowsOnDisk.of_array(infinite)):
            with pytest.raises(InvalidDataError, match="column 3 contains infinity in row 7"):
                answer(table)
    with pytest.raises(InvalidDataError, match="eval_set: X: column 3 contains infinity in row 7"):
        DualBoostClassifier(**SMALL).fit(X, y, eval_set=(RowsOnDisk.of_array(infinite), y))
    with pytest.raises(InvalidDataError, match="3 columns on disk"):
        model.predict(RowsOnDisk.of_array(X[:, :3]))


def test_other_learners_read_a_memory_mapped_array_into_memory(tmp_path):
    X, y, _ = rows(300)
    solver = SolverOptions()
    one, other = (DualBoostClassifier(max_trees=3, solver=solver).fit(Z, y) for Z in (X, mapped(X, tmp_path)))
    assert one.objective_ == other.objective_


FILES = {
    "a column less": (
        lambda frame: frame.drop(columns="x1"),
        r"1.parquet: there is no column 'x1', which .*0.parquet has",
    ),
    "a column more": (lambda frame: frame.assign(x7=1.0), r"0.parquet: there is no column 'x7', which .*1.parquet has"),
    "text": (lambda frame: frame.assign(x1=frame["x1"].astype(str)), "1.parquet: column 'x1' is of type .*string, but"),
    "times": (lambda frame: frame.assign(x1=pd.Timestamp("2024-02-03")), "1.parquet: column 'x1' is of type timestamp"),
    "labels": (
        lambda frame: frame.assign(label=1),
        r"0.parquet: column 'label' is of type .*string, but of type int64",
    ),
}


@pytest.mark.parametrize(("change", "words"), FILES.values(), ids=FILES)
def test_files_with_other_columns_are_named(change, words, tmp_path):
    frame = pd.DataFrame({"x0": [1, 2], "x1": [0.5, 1.5], "label": ["a", "b"]})
    frame.to_parquet(tmp_path / "0.parquet")
    change(frame).to_parquet(tmp_path / "1.parquet")
    with pytest.raises(InvalidDataError, match=words):
        RowsOnDisk.of_parquet(tmp_path / "*.parquet", leave_out=["label"]).values("label")


@pytest.mark.parametrize(
    ("one", "other"), [([1, 2], [1.5, 2.5]), ([True, False], [0.5, 3.0]), ([None, None], [1.5, 2.5])]
)
@pytest.mark.parametrize("first", [0, 1])
def test_files_with_other_numbers_are_read_as_numbers(one, other, first, tmp_path):
    values = [one, other] if first == 0 else [other, one]
    for k, entries in enumerate(values):
        pd.DataFrame({"x": entries, "left": [k, str(k)][k]}).to_parquet(tmp_path / f"{k}.parquet")
    on_disk = RowsOnDisk.of_parquet(tmp_path / "*.parquet", leave_out=["left"])
    expected = np.array(values[0] + values[1], dtype=float)[:, None]
    np.testing.assert_array_equal(on_disk.dense(slice(None)), expected)
    np.testing.assert_array_equal(np.concatenate(list(on_disk.batches())), expected)
