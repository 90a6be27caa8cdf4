"""Tables of text with one broken cell: an error that names it, or a model where the column is what it would be."""

import io
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa

from dualboost import DualBoostClassifier
from dualboost.commands.tables import source_of
from dualboost.data.columns import as_number
from dualboost.data.tables import Table
from dualboost.errors import DualBoostError, InvalidDataError

from .sane import require
from .tables import random_columns, random_labels

BROKEN = [
    "oops",
    "?",
    "-",
    "unknown",
    "1,234",
    "12%",
    "$5",
    "5 kg",
    "1.2.3",
    "E11",
    "x1",
    "0x1F",
    " ",
    "--",
    "2024-13-45",
]
READERS = {
    "pandas": pd.DataFrame,
    "polars": lambda columns: pl.DataFrame(columns, schema=dict.fromkeys(columns, pl.String)),
    "arrow": lambda columns: pa.table({name: pa.array(column, pa.string()) for name, column in columns.items()}),
    "list": lambda columns: [list(row) for row in zip(*columns.values(), strict=True)],
    "csv": lambda columns: Table(_by_csv(columns), source_of(Path("t.csv"))),
}


def _by_csv(columns):
    """Beside a target, as in files: without it pandas would leave out rows where all is missing."""
    text = pd.DataFrame(columns).assign(y=1).to_csv(index=False)
    return pd.read_csv(io.StringIO(text), low_memory=False).drop(columns="y")


def _as_text(column, is_truth):
    """The entries as they are written; of some columns only the signs, as truth values."""
    if is_truth:
        return [None if value != value else str(value > 0) for value in column]
    return [None if value != value else repr(value) for value in column]


def require_cell_named(seed):
    """Whether the fit to a table with one broken cell was refused, which it must be where numbers are many."""
    rng = np.random.default_rng(seed)
    n_rows = int(rng.integers(8, 400))
    columns = random_columns(rng, n_rows, int(rng.integers(1, 4)))
    y = random_labels(rng, columns, 2)
    name, row = str(rng.choice(list(columns))), int(rng.integers(n_rows))
    word, reader = BROKEN[rng.integers(len(BROKEN))], str(rng.choice(list(READERS)))
    is_text = any(isinstance(value, str) for value in columns[name])
    if not is_text:
        columns = columns | {name: _as_text(columns[name], rng.random() < 0.2)}
    clean = {key: _texts(column) for key, column in columns.items()}
    spoilt, gap = (clean | {name: [*clean[name][:row], cell, *clean[name][row + 1 :]]} for cell in (word, None))
    plain = [entry for entry in gap[name] if entry is not None]
    are_many = not is_text and plain and (len(set(plain)) >= 9 or len(plain) >= 100)
    position = list(columns).index(name)
    refusal, model, told = _fitted(READERS[reader](spoilt), y)
    if refusal:
        is_named = repr(word) in refusal and f"row {row + (reader == 'csv')}" in refusal
        require(is_named or refusal == _fitted(READERS[reader](gap), y)[0], "the cell is not named:", refusal)
        return True
    require(not are_many, "column", name, "became categories beside", repr(word), "by", reader)
    clean_model = _fitted(READERS[reader](gap), y)[1]
    found, wanted = (one.fitted_.encoder.categories.get(position, np.array([])) for one in (model, clean_model))
    is_same = list(map(str, found)) == list(map(str, wanted))
    is_told = any(repr(word) in message for message in told)
    require(is_same or is_told or len(plain) <= 10, "other categories without a word:", found, wanted)
    return False


def _texts(column):
    return [value if value is None or isinstance(value, str) else None if value != value else repr(value)
            for value in column]  # fmt: skip


def _fitted(X, y):
    """The message of an error of ours or None, the model or None, and the messages of warnings."""
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        try:
            return (
                None,
                DualBoostClassifier(max_depth=1, max_trees=2).fit(X, np.array(y)),
                [str(w.message) for w in told],
            )
        except DualBoostError as error:
            return str(error), None, []


def require_cell_named_in_prediction(seed):
    """A number and a truth value are asked for where training had them."""
    rng = np.random.default_rng(seed)
    n_rows = int(rng.integers(8, 60))
    is_truth, word, row = rng.random() < 0.5, BROKEN[rng.integers(len(BROKEN))], int(rng.integers(n_rows))
    values = rng.random(n_rows) < 0.5 if is_truth else rng.normal(size=n_rows)
    _, model, _ = _fitted(pd.DataFrame({"z": values, "x": values * 1.0}), np.arange(n_rows) % 2)
    texts = [str(value) for value in values.tolist()]
    texts[row] = word
    require(as_number(word) is None, word, "is a number")
    try:
        model.predict(pd.DataFrame({"z": texts, "x": values * 1.0}))
    except InvalidDataError as error:
        require(f"row {row} has {word!r}" in str(error), "the error does not name the cell:", error)
    else:
        require(False, "predicted for", word)
