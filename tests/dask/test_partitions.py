"""Partitions that are no parts of one table are refused by their number; other differences change nothing."""

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from dask.delayed import delayed
from distributed import Client, LocalCluster
from scipy import sparse

from dualboost import DualBoostClassifier
from dualboost.dask import DaskDualBoostClassifier, DaskDualBoostRegressor
from dualboost.errors import InvalidDataError

pytestmark = pytest.mark.usefixtures("client")

SMALL = {"max_depth": 2, "max_trees": 3}
RNG = np.random.default_rng(0)
X = pd.DataFrame(RNG.normal(size=(120, 3)).round(3)).add_prefix("x").assign(kind=RNG.choice(["red", "blue"], 120))
Y = pd.Series(np.where(X["x0"] + (X["kind"] == "red") > 0.5, "yes", "no"))
WEIGHTS = pd.Series(1 + np.arange(120) % 2)
SPANS = slice(0, 40), slice(40, 40), slice(40, 90), slice(90, 120)
ODD = 2
"""The partition that differs from the others; partition 1 is empty."""


def column(name, change):
    return lambda part: part.assign(**{name: change(part[name])})


def constant(value):
    return lambda part: pd.Series([value] * len(part), part.index)


def text_but(word):
    return lambda part: part.astype(str).where(part.index != 43, word)


def partitions(values, change=None, odd=ODD):
    """The pieces as a collection; one of them is changed."""
    pieces = [values.iloc[span] for span in SPANS]
    if change is not None:
        pieces[odd] = change(pieces[odd])
    with dask.config.set({"dataframe.convert-string": False}):  # else Dask makes text of objects
        return dd.from_delayed([delayed(piece) for piece in pieces], meta=values.iloc[:0], verify_meta=False)


def blocks(pieces, dtype=float):
    """An array of Dask's from arrays that may be of other types than it declares."""
    shapes = [(40, *np.shape(pieces[0])[1:])] * len(pieces)
    return da.concatenate(
        [da.from_delayed(delayed(piece), shape, dtype) for piece, shape in zip(pieces, shapes, strict=True)]
    )


@pytest.fixture(scope="module")
def alone():
    return DualBoostClassifier(learner="xgboost", **SMALL).fit(X, Y)


def assert_same(model, alone, rows=X):
    assert model.objective_ == pytest.approx(alone.objective_, rel=1e-8)
    np.testing.assert_array_equal(model.to_local().predict(rows), alone.predict(rows))
    found, wanted = (one.encoder.categories for one in (model.fitted_, alone.fitted_))
    assert {k: names.tolist() for k, names in found.items()} == {k: names.tolist() for k, names in wanted.items()}


SAME = {
    "numbers as text": (column("x0", lambda part: part.astype(str)), None),
    "numbers as objects": (column("x0", lambda part: part.astype(object)), None),
    "nullable types": (lambda part: part.convert_dtypes(), None),
    "text as categories": (column("kind", lambda part: part.astype("category")), None),
    "text as objects": (column("kind", lambda part: part.astype(object)), None),
    "y as categories": (None, lambda part: part.astype("category")),
    "y as a column": (None, lambda part: part.to_frame()),
}


@pytest.mark.parametrize(("change_X", "change_y"), SAME.values(), ids=SAME)
def test_a_type_that_differs_means_nothing(change_X, change_y, alone):
    spread = partitions(X, change_X)
    model = DaskDualBoostClassifier(**SMALL).fit(spread, partitions(Y, change_y))
    assert_same(model, alone)
    np.testing.assert_array_equal(model.predict(spread).compute(), alone.predict(X))


MISSING = {
    "text, as objects": ("kind", constant(None)),
    "text, as numbers": ("kind", constant(np.nan)),
    "numbers, as objects": ("x0", constant(None)),
    "numbers, as text": ("x0", lambda part: constant(None)(part).astype("str")),
}


@pytest.mark.parametrize(("name", "change"), MISSING.values(), ids=MISSING)
def test_a_column_without_an_entry_in_a_partition_is_what_it_is_in_others(name, change):
    whole = X.assign(**{name: X[name].where((X.index < 40) | (X.index >= 90), None)})
    model = DaskDualBoostClassifier(**SMALL).fit(partitions(whole, column(name, change)), partitions(Y))
    assert_same(model, DualBoostClassifier(learner="xgboost", **SMALL).fit(whole, Y))


def test_categories_that_are_numbers_have_the_same_values_in_other_partitions():
    """pandas makes numbers of them where their lists differ, or where one partition has none."""
    one_worker = {"n_workers": 1, "processes": False, "dashboard_address": "127.0.0.1:0"}
    levels = X.assign(level=(np.arange(120) * 7 % 5).astype(int)).astype({"level": "category"})
    alone = DualBoostClassifier(learner="xgboost", **SMALL).fit(levels, Y)
    with LocalCluster(**one_worker) as workers, Client(workers) as client:
        model = DaskDualBoostClassifier(client=client, **SMALL)
        for change in (lambda part: part.cat.set_categories([7, 4, 3, 2, 1, 0]), lambda part: part.cat.as_ordered()):
            assert_same(model.fit(partitions(levels, column("level", change)), partitions(Y)), alone, levels)
        gap = levels.assign(level=levels["level"].where((X.index < 40) | (X.index >= 90)))
        model.fit(partitions(gap, column("level", constant(np.nan))), partitions(Y))
    assert model.fitted_.encoder.categories[4].tolist() == [0, 1, 2, 3, 4]


REFUSED = {
    "a word": (column("x0", text_but("abc")), r"'x0' holds numbers in partition 0 and text \('abc'\) in partition 2"),
    "text": (column("kind", constant(1.5)), r"'kind' holds text .* in partition 0 and numbers in partition 2"),
    "times": (column("x0", constant(pd.Timestamp("2024-02-03"))), "dates or times in partition 2"),
    "categories": (column("x0", lambda part: part.astype("category")), "categories that are numbers in partition 2"),
    "infinity": (column("x0", lambda part: part.where(part.index != 43, np.inf)), "infinity in row 3 of partition 2"),
    "a column less": (lambda part: part.drop(columns="x1"), "'x1' in partition 0, but not in partition 2"),
    "a column more": (lambda part: part.assign(x7=1.0), "'x7' in partition 2, but not in partition 0"),
    "another order": (lambda part: part[["x1", "x0", "x2", "kind"]], "another order in partition 2 .*'x1' .* of 'x0'"),
    "fewer rows": (lambda part: part[:7], "Partition 2: .* 7 rows in X, 50 rows in y"),
    "no rows": (lambda part: part[:0], "Partition 2: .* 0 rows in X, 50 rows in y"),
    "an array": (lambda part: part.to_numpy(), "a table in partition 0 and an array in partition 2"),
}


@pytest.mark.parametrize(("change", "words"), REFUSED.values(), ids=REFUSED)
def test_an_odd_partition_of_X_is_named(change, words):
    with pytest.raises(InvalidDataError, match=words):
        DaskDualBoostClassifier(**SMALL).fit(partitions(X, change), partitions(Y))


REFUSED_Y = {
    "empty": (lambda part: part[:0], "Partition 2: .* 50 rows in X, 0 rows in y"),
    "shorter": (lambda part: part[:9], "Partition 2: .* 50 rows in X, 9 rows in y"),
    "numbers": (lambda part: (part == "yes").astype(int), "y holds text .*in partition 0 and numbers in partition 2"),
    "a gap": (lambda part: part.where(part.index != 43, None), "Partition 2: .*NaN.* row 3 first"),
    "two columns": (lambda part: pd.concat([part, part], axis=1), "Partition 2: .*2 columns"),
}


@pytest.mark.parametrize(("change", "words"), REFUSED_Y.values(), ids=REFUSED_Y)
def test_an_odd_partition_of_y_is_named(change, words):
    with pytest.raises(InvalidDataError, match=words):
        DaskDualBoostClassifier(**SMALL).fit(partitions(X), partitions(Y, change))


REFUSED_WEIGHTS = {
    "empty": (lambda part: part[:0], "50 rows in y, 0 rows in sample_weight"),
    "words": (lambda part: part.astype(str) + "x", "one number for each row"),
    "missing": (constant(np.nan), "contains nan"),
    "negative": (lambda part: -part, "contains -"),
}


@pytest.mark.parametrize(("change", "words"), REFUSED_WEIGHTS.values(), ids=REFUSED_WEIGHTS)
def test_an_odd_partition_of_weights_is_named(change, words):
    with pytest.raises(InvalidDataError, match=f"Partition 2: .*{words}"):
        DaskDualBoostClassifier(**SMALL).fit(partitions(X), partitions(Y), partitions(WEIGHTS, change))


def test_weights_may_be_text_as_on_one_machine():
    weights = partitions(WEIGHTS, lambda part: part.astype(str))
    model = DaskDualBoostClassifier(**SMALL).fit(partitions(X), partitions(Y), weights)
    assert_same(model, DualBoostClassifier(learner="xgboost", **SMALL).fit(X, Y, WEIGHTS))


def test_numbers_to_learn_that_are_odd_in_a_partition_are_named():
    target = X["x0"].abs()
    model = DaskDualBoostRegressor(loss="poisson", **SMALL)
    for change, words in ((lambda part: -part, "Partition 2: .*negative"), (text_but("1"), "text in partition 2")):
        with pytest.raises(InvalidDataError, match=words):
            model.fit(partitions(X), partitions(target, change))


def test_blocks_of_an_array():
    numbers, labels = X[["x0", "x1", "x2"]].to_numpy(), Y.to_numpy(dtype=object)
    pieces, ys = np.split(numbers, 3), blocks(np.split(labels, 3), object)
    alone = DualBoostClassifier(learner="xgboost", **SMALL).fit(numbers, labels)

    def fit(block):
        return DaskDualBoostClassifier(**SMALL).fit(blocks([pieces[0], block, pieces[2]]), ys)

    for block in (pieces[1].astype(str), pieces[1].astype(object), np.ma.masked_less(pieces[1], -10.0)):
        assert fit(block).objective_ == pytest.approx(alone.objective_, rel=1e-8)
    truths = DaskDualBoostClassifier(**SMALL).fit(blocks([pieces[0], pieces[1] > 0, pieces[2]]), ys)
    assert truths.fitted_.encoder.truths == frozenset()
    masked = np.where(numbers < -1.0, np.nan, numbers)
    model = DaskDualBoostClassifier(**SMALL).fit(
        blocks([np.ma.masked_less(piece, -1.0) for piece in np.split(numbers, 3)]), ys
    )
    alone = DualBoostClassifier(learner="xgboost", **SMALL).fit(masked, labels)
    assert model.objective_ == pytest.approx(alone.objective_, rel=1e-8)
    for block, words in (
        (np.where(pieces[1] > 1, "abc", "1"), r"numbers in partition 0 and text \('abc'\) in partition 1"),
        (pieces[1].astype("M8[ns]"), "dates or times in partition 1"),
        (pieces[1][:, :2], "3 columns in partition 0 and 2 in partition 1"),
        (pieces[1][:7], "Partition 1: .* 7 rows in X, 40 rows in y"),
        (sparse.csr_matrix(pieces[1]), "an array in partition 0 and a sparse matrix in partition 1"),
        (np.where(pieces[1] > 2, np.inf, pieces[1]), r"infinity in row \d+ of partition 1"),
    ):
        with pytest.raises(InvalidDataError, match=words):
            fit(block)


def test_chunks_of_unknown_size():
    numbers, labels = X[["x0", "x1", "x2"]].to_numpy(), (Y == "yes").to_numpy()
    spread, ys = da.from_array(numbers, chunks=(50, 2)), da.from_array(labels, chunks=50)
    is_kept = spread[:, 1] < 1
    model = DaskDualBoostClassifier(**SMALL).fit(spread[is_kept], ys[is_kept])
    rows = numbers[:, 1] < 1
    alone = DualBoostClassifier(learner="xgboost", **SMALL).fit(numbers[rows], labels[rows])
    assert model.objective_ == pytest.approx(alone.objective_, rel=1e-8)
    np.testing.assert_array_equal(model.predict(spread[is_kept]).compute(), alone.predict(numbers[rows]))
    with pytest.raises(InvalidDataError, match=r"Partition 0: .*rows in X, 50 rows in y"):
        model.fit(spread[is_kept], ys)


@pytest.mark.parametrize(
    ("values", "words"),
    [(delayed(X), "is of type Delayed"), (da.zeros(120, chunks=40), "1 dimensions"), (X, "is of type DataFrame")],
    ids=["delayed", "vector", "in memory"],
)
def test_what_has_no_partitions_of_rows_is_refused(values, words):
    with pytest.raises(InvalidDataError, match=f"X {words}|X has {words}"):
        DaskDualBoostClassifier(**SMALL).fit(values, da.zeros(120, chunks=40))


def test_predictions_name_the_partition(alone):
    model = DaskDualBoostClassifier(**SMALL).fit(partitions(X), partitions(Y))
    for change, words in (
        (column("x0", constant("abc")), "Partition 2: .*'x0' must hold numbers"),
        (lambda part: part.drop(columns="x1"), "Partition 2: .*"),
    ):
        for method in (model.predict, model.predict_proba):
            with pytest.raises(InvalidDataError, match=words):
                method(partitions(X, change)).compute()
    block = np.split(X.to_numpy(), 3)[1]
    block[5, 0] = "abc"
    with pytest.raises(InvalidDataError, match=r"Partition 1: .*'abc'"):
        model.predict(blocks([X.to_numpy()[:40], block], object)).compute()
