"""Tables as people have them, through Python and the command line: the right model, or the right message.

A label follows a number and a category, so that a model that reads the table right is right for nearly all rows.
"""

import json
import re
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet
import pytest
from scipy import sparse
from sklearn.base import clone

from dualboost import DualBoostClassifier, load_model
from dualboost.errors import DataWarning, InvalidDataError

from ..command_line import called

N = 240
SMALL = {"max_depth": 2, "max_trees": 6}
FIT = ("--target", "y", "--max-depth", 2, "--max-trees", 6, "-o", "model.json", "--json")


def clean(seed=0):
    """A number, a category of three, a flag, and a label that follows the first two."""
    rng = np.random.default_rng(seed)
    size, colour = rng.normal(size=N).round(3), rng.choice(["red", "green", "blue"], N)
    frame = pd.DataFrame({"size": size, "colour": colour, "flag": rng.random(N) < 0.5})
    return frame, np.where((size > 0) ^ (colour == "red"), "yes", "no")


FRAME, LABELS = clean()
GAPS = np.arange(N) % 10 == 0
SIZES = np.random.default_rng(1).normal(size=500)
DAYS = pd.date_range("2024-01-01", periods=N)


def dirty(**columns):
    return FRAME.assign(**columns)


def polars_table():
    """Categories, text and a flag, each with nulls."""
    return pl.from_pandas(FRAME).with_columns(
        pl.col("colour").cast(pl.Categorical),
        grade=pl.Series([None if gap else "a" for gap in GAPS], dtype=pl.Enum(["b", "a"])),
        flag=pl.when(pl.Series(GAPS)).then(None).otherwise(pl.col("flag")),
    )


def arrow_table():
    """A dictionary, and whole numbers with nulls."""
    return pa.table(
        {
            "size": FRAME["size"],
            "colour": pa.array(FRAME["colour"]).dictionary_encode(),
            "count": pa.array(np.arange(N) % 7, mask=GAPS),
        }
    )


def nullable():
    """pandas' own types, with NA in each."""
    frame = dirty(count=pd.array(np.arange(N) % 7, dtype="Int64")).convert_dtypes()
    return frame.mask(pd.DataFrame({name: GAPS & (name != "colour") for name in frame}))


def wide():
    """Five hundred columns that are mostly zero, of which one decides."""
    X = sparse.random(N, 500, density=0.02, random_state=0, format="lil")
    X[:, 7] = (LABELS == "yes").astype(float)[:, None]
    return X.tocsr()


@dataclass
class Dirty:
    """A table, how it is written to a file, and what is expected of it: a message, or none for a model."""

    name: str
    table: Any
    output_transform: str = ".csv"
    message: str = ""
    file: Any = None
    """The table in the file, with its labels, if the one in Python is of another kind."""

    def write(self, folder):
        path = folder / f"{self.name}{self.output_transform}"
        table = self.file if self.file is not None else self.table
        if isinstance(table, pd.DataFrame):
            table = table if "y" in table else table.assign(y=LABELS)
            table.to_parquet(path) if self.output_transform == ".parquet" else table.to_csv(path, index=False)
        elif isinstance(table, pl.DataFrame):
            table.with_columns(y=pl.Series(LABELS)).write_parquet(path)
        else:
            pyarrow.parquet.write_table(table.append_column("y", pa.array(LABELS)), path)
        return path


HALVES = dirty(size=FRAME["size"].where(np.arange(N) != 7, np.inf))
DATES = r"column 'when' holds dates or times \(row {} has '2024-01-0.*the month, the day of the week.*leave it out"
GOOD = [
    Dirty("strings", dirty(colour=FRAME["colour"].where(~GAPS, None)).drop(columns="flag")),
    Dirty("booleans", dirty(flag=LABELS == "yes")),
    Dirty("nullable", nullable(), ".parquet"),
    Dirty("polars", polars_table(), ".parquet"),
    Dirty("arrow", arrow_table(), ".parquet"),
    Dirty("sparse", wide(), file=pd.DataFrame(wide().toarray()).rename(columns=str)),
]
BAD = [
    Dirty("dates", dirty(when=DAYS), ".parquet", DATES),
    Dirty("text_dates", dirty(when=DAYS.astype(str)), message=DATES),
    Dirty("infinite", HALVES, message=r"column 'size' contains infinity in row {7}"),
]


@pytest.mark.parametrize("dirty", GOOD, ids=lambda dirty: dirty.name)
def test_the_right_model_from_python_and_the_command_line(dirty, tmp_path):
    here = DualBoostClassifier(**SMALL, random_state=0).fit(dirty.table, LABELS)
    assert here.score(dirty.table, LABELS) > 0.9
    path = dirty.write(tmp_path)
    done = called("fit", path.name, *FIT, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    there = load_model(tmp_path / "model.json")
    assert json.loads(done.stdout)["training_accuracy"] == pytest.approx(here.score(dirty.table, LABELS))
    table = dirty.table if dirty.file is None else dirty.file
    np.testing.assert_allclose(there.decision_function(table), here.decision_function(dirty.table), atol=1e-9)
    done = called("predict", "model.json", path.name, cwd=tmp_path)
    assert [line.split(",")[0] for line in done.stdout.splitlines()[1:]] == here.predict(dirty.table).tolist()


@pytest.mark.parametrize("dirty", BAD, ids=lambda dirty: dirty.name)
def test_the_right_message_from_python_and_the_command_line(dirty, tmp_path):
    with pytest.raises(InvalidDataError, match="^X: " + dirty.message.format(*range(N))):
        DualBoostClassifier(**SMALL).fit(dirty.table, LABELS)
    path = dirty.write(tmp_path)
    done = called("fit", path.name, *FIT, cwd=tmp_path)
    assert (done.returncode, done.stderr.count("\n")) == (1, 1)
    rows_from_one = dirty.message.format(*range(1, N + 1)).replace("leave it out", "leave it out with --drop")
    assert re.match(f"dualboost: {path.name}: {rows_from_one}", done.stderr), done.stderr


def test_categories_that_are_not_seen_in_training_are_gaps(tmp_path):
    X = FRAME.drop(columns="flag")
    unseen, gaps = (X.assign(colour=np.where(GAPS, new, X["colour"])) for new in ("violet", None))
    clf = DualBoostClassifier(**SMALL).fit(X, LABELS)
    np.testing.assert_array_equal(clf.decision_function(unseen), clf.decision_function(gaps))
    X.assign(y=LABELS).to_csv(tmp_path / "train.csv", index=False)
    assert called("fit", "train.csv", *FIT, cwd=tmp_path).returncode == 0
    answers = []
    for table in (unseen, gaps):
        table.to_csv(tmp_path / "new.csv", index=False)
        done = called("predict", "model.json", "new.csv", cwd=tmp_path)
        assert (done.returncode, done.stderr) == (0, "")
        answers.append(done.stdout)
    assert answers[0] == answers[1]
    X.assign(colour="violet").to_csv(tmp_path / "new.csv", index=False)
    done = called("predict", "model.json", "new.csv", cwd=tmp_path)
    assert "new.csv: column 'colour' has no value (such as 'violet') that is a category of the training" in done.stderr
    with pytest.warns(DataWarning, match="X: column 'colour' has no value"):
        clf.predict(X.assign(colour="violet"))


@pytest.mark.parametrize("gap", [None, np.nan, pd.NA])
def test_missing_labels_are_told_by_their_row(gap, tmp_path):
    labels = LABELS.astype(object)
    labels[[3, 8]] = gap
    for y in (labels, pd.Series(labels), pl.Series([None if pd.isna(one) else one for one in labels])):
        with pytest.raises(InvalidDataError, match=r"it is missing in 2 of 240 rows, row 3 first"):
            DualBoostClassifier(**SMALL).fit(FRAME, y)
    FRAME.assign(y=labels).to_csv(tmp_path / "train.csv", index=False)
    done = called("fit", "train.csv", *FIT, cwd=tmp_path)
    assert "dualboost: train.csv: 'y' is missing in 2 of 240 rows, the first of them row 4" in done.stderr


def test_a_word_among_numbers(tmp_path):
    """An error in training, where the column may be declared as text, and in prediction."""
    odd = FRAME["size"].astype(str).where(np.arange(N) != 5, "unknown")
    clean, spoilt = FRAME.drop(columns="flag"), FRAME.drop(columns="flag").assign(size=odd)
    with pytest.raises(InvalidDataError, match=r"column 'size' must hold numbers, unless .*; row 5 has 'unknown'"):
        DualBoostClassifier(**SMALL).fit(spoilt, LABELS)
    with pytest.raises(InvalidDataError, match=r"column 'size' must hold numbers, unless .*; row 5 has 'unknown'"):
        DualBoostClassifier(**SMALL, categorical_features=["colour"]).fit(spoilt, LABELS)
    mixed = FRAME["size"].astype(object).where(np.arange(N) != 5, "unknown")
    with pytest.raises(InvalidDataError, match=r"column 'size' must hold numbers, unless .*; row 5 has 'unknown'"):
        DualBoostClassifier(**SMALL).fit(clean.assign(size=mixed), LABELS)
    with pytest.raises(InvalidDataError, match="column 'size' must hold numbers, as in training; row 5 has 'unknown'"):
        DualBoostClassifier(**SMALL).fit(clean, LABELS).predict(spoilt)
    clean.assign(y=LABELS).to_csv(tmp_path / "clean.csv", index=False)
    spoilt.assign(y=LABELS).to_csv(tmp_path / "spoilt.csv", index=False)
    done = called("fit", "spoilt.csv", *FIT, cwd=tmp_path)
    expected = (
        "dualboost: spoilt.csv: column 'size' must hold numbers, unless you name it in --categorical; row 6 has "
        "'unknown'. Correct such cells, or leave them empty where the number is missing.\n"
    )
    assert (done.returncode, done.stderr) == (1, expected)
    assert called("fit", "spoilt.csv", *FIT, "--categorical", "size", cwd=tmp_path).returncode == 0
    assert called("fit", "clean.csv", *FIT, cwd=tmp_path).returncode == 0
    done = called("predict", "model.json", "spoilt.csv", cwd=tmp_path)
    expected = "dualboost: spoilt.csv: column 'size' must hold numbers, as in training; row 6 has 'unknown'.\n"
    assert (done.returncode, done.stderr) == (1, expected)


def test_numbers_written_as_text_are_told(tmp_path):
    """Unless they are few, begin with zeros as postcodes do, or are said to be categories."""
    spoilt = FRAME.drop(columns="flag").assign(size=FRAME["size"].round(1).astype(str))
    told = r"column 'size' holds numbers written as text, such as '.*', and each of its \d+ different values becomes a "
    with pytest.warns(DataWarning, match="^X: " + told + r"category: make numbers of it, as astype\(float\) does, or"):
        DualBoostClassifier(**SMALL).fit(spoilt, LABELS)
    spoilt.assign(y=LABELS).to_parquet(tmp_path / "spoilt.parquet")
    done = called("fit", "spoilt.parquet", *FIT, cwd=tmp_path)
    assert re.search(told + "category: store it as numbers, or name it in --categorical if", done.stderr), done.stderr
    assert called("fit", "spoilt.parquet", *FIT, "--categorical", "size", cwd=tmp_path).stderr == ""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        DualBoostClassifier(**SMALL, categorical_features=["size", "colour"]).fit(spoilt, LABELS)
        for numbers in (np.arange(N) % 10, [f"0{k % 40}" for k in range(N)]):
            DualBoostClassifier(**SMALL).fit(spoilt.assign(size=np.array(numbers).astype(str)), LABELS)


@pytest.mark.parametrize("n_words", [5, 20, 60, 100, 200])
@pytest.mark.parametrize("written", ["{}", "${},000"])
def test_text_that_is_mostly_numbers_is_always_warned_of(n_words, written):
    """Three or more words of letters and digits are codes, which are not refused."""
    cells = [f"bad{k}" if k < n_words else written.format(k % 400 + 1) for k in range(500)]
    with pytest.warns(DataWarning, match="X: column 'cell' is text, as row 0 has 'bad0'; its numbers"):
        DualBoostClassifier(**SMALL).fit(pd.DataFrame({"cell": cells, "size": SIZES}), SIZES > 0)


@pytest.mark.parametrize("numbers", [range(1, 8), [f"0{k}" for k in range(10, 60)], [1.5, "a", "b"]], ids=repr)
def test_codes_and_words_beside_few_numbers_are_not_warned_of(numbers):
    cells = [("V57", "V58", "K1A")[k % 3] if k % 4 == 0 else str(numbers[k % len(numbers)]) for k in range(500)]
    with warnings.catch_warnings():
        warnings.simplefilter("error", DataWarning)
        DualBoostClassifier(**SMALL).fit(pd.DataFrame({"cell": cells, "size": SIZES}), SIZES > 0)


def test_only_the_right_message_about_columns():
    """No warning about categories comes before the error that the columns are others."""
    clf = DualBoostClassifier(**SMALL).fit(FRAME, LABELS)
    reordered = FRAME[["colour", "size", "flag"]]
    for library in (pd.DataFrame, pl.from_pandas, pa.Table.from_pandas):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            with pytest.raises(ValueError, match="must be in the same order as they were in fit"):
                clf.predict(library(reordered))
            with pytest.raises(ValueError, match="seen at fit time, yet now missing:\n- flag"):
                clf.predict(library(FRAME[["size", "colour"]]))
            for asked in (clf.predict, lambda nothing: clone(clf).fit(nothing, LABELS)):
                with pytest.raises(InvalidDataError, match="X has no columns; pass a table with at least one"):
                    asked(library(FRAME[[]]))


def test_identifiers_are_warned_of_and_not_learnt(tmp_path):
    named = FRAME.drop(columns="flag").assign(name=[f"passenger {k}" for k in range(N)])
    clf = DualBoostClassifier("nm", **SMALL)
    with pytest.warns(
        DataWarning, match="X: column 'name' has 240 different values in 240 rows.*: leave it out, or"
    ) as told:
        fitted = clf.fit(named, LABELS)
    assert [warning.filename for warning in told] == [__file__]
    plain = DualBoostClassifier("nm", **SMALL).fit(named.drop(columns="name"), LABELS)
    np.testing.assert_array_equal(fitted.decision_function(named), plain.decision_function(named.drop(columns="name")))
    named.assign(y=LABELS).to_csv(tmp_path / "train.csv", index=False)
    done = called("fit", "train.csv", *FIT, cwd=tmp_path)
    assert "train.csv: column 'name' has 240 different values in 240 rows" in done.stderr
    assert "leave it out with --drop" in done.stderr
