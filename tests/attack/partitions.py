"""Tables in random partitions, one of which differs: the model of one machine, or an error that names it.

A difference either means nothing, such as numbers that are text in one partition, or is refused.
"""

import logging
from contextlib import contextmanager
from itertools import pairwise
from typing import NamedTuple

import dask
import dask.dataframe as dd
import numpy as np
import pandas as pd
from dask.delayed import delayed
from distributed import Client, LocalCluster

from dualboost import DualBoostClassifier, DualBoostRegressor
from dualboost.dask import DaskDualBoostClassifier, DaskDualBoostRegressor
from dualboost.errors import InvalidDataError

from .sane import require

SMALL = {"max_depth": 2, "max_trees": 2}
KINDS = {"number": 0.5, "whole": 0.15, "flag": 0.1, "word": 0.15, "level": 0.1}
"""The kinds of columns and how often they are drawn; those of levels have a type for categories."""


def _nothing(part):
    return part


def _typed(dtype):
    return lambda part: part.astype(dtype)


def _as_text(part):
    return part.map(repr).astype(object)


def _with_other_list(part):
    return part.cat.set_categories(["unused", *part.cat.categories[::-1]])


def _words(part):
    return pd.Series(np.where(np.arange(len(part)) == len(part) - 1, "abc", "1.5"), part.index)


def _constant(value):
    return lambda part: pd.Series([value] * len(part), part.index)


def _shorter(part):
    return part.iloc[: len(part) // 2]


def _empty(part):
    return part.iloc[:0]


def _with_gap(part):
    return part.astype(object).where(np.arange(len(part)) > 0, None)


HARMLESS = {
    "number": [_as_text, _typed(object), _typed("Float64")],
    "whole": [_as_text, _typed(float), _typed("Int64"), _typed("int16"), _typed(object)],
    "flag": [_typed(bool), _typed("boolean"), _typed(float), _typed("uint8")],
    "word": [_typed("category"), _typed(object), _typed("string")],
    "level": [_with_other_list, _typed(object), _typed(str)],
    "missing": [_constant(None), _constant(np.nan), lambda part: _constant(None)(part).astype("str")],
    "labels": [_typed("category"), _typed(object), lambda part: part.to_frame("y")],
    "targets": [_typed(object), _typed("Float64")],
    "weights": [_typed(float), _typed("Int64"), lambda part: part.astype(str)],
}
HARMFUL = {
    "number": [_words, _constant(pd.Timestamp("2024-02-03")), _typed("category"), _constant([1])],
    "whole": [_words, _constant(pd.Timedelta("1D")), _typed("category")],
    "flag": [_words, _typed("category")],
    "word": [_constant(1.5), _constant(pd.Timestamp("2024-02-03")), _constant({})],
    "level": [_constant(2), lambda part: part.cat.codes.astype("category")],
    "table": [
        _shorter, _empty,
        lambda part: part.iloc[:, 1:],
        lambda part: part.assign(more=1.0),
        lambda part: part.iloc[:, ::-1],
        lambda part: part.set_axis([*part.columns[1:], "other"], axis=1),
    ],
    "labels": [_shorter, _empty, _with_gap, _constant(1.5)],
    "targets": [_shorter, _empty, _with_gap, _as_text, _constant(np.inf)],
    "weights": [_shorter, _empty, _words, _constant(np.nan), _constant(-1.0)],
}  # fmt: skip


class Cut(NamedTuple):
    """A whole table, its partitions, and whether a fit over these must be refused because of the one at ``odd``."""

    X: pd.DataFrame
    y: pd.Series
    weights: pd.Series | None
    parts: list
    odd: int | None = None
    is_refused: bool = False
    what: str = ""


def random_cut(seed):
    rng = np.random.default_rng(seed)
    n_rows = int(rng.integers(30, 120))
    kinds = ["number", *rng.choice(list(KINDS), rng.integers(1, 5), p=list(KINDS.values()))]
    X = pd.DataFrame({f"{kind}{k}": _column(rng, kind, n_rows) for k, kind in enumerate(kinds)})
    total = X["number0"] + (X.iloc[:, -1].astype("category").cat.codes % 3) + 0.3 * rng.normal(size=n_rows)
    target = "targets" if rng.random() < 0.3 else "labels"
    y = total if target == "targets" else pd.Series(np.where(total > total.median(), "yes", "no"))
    weights = pd.Series(rng.integers(1, 4, n_rows)) if rng.random() < 0.4 else None
    ends = [0, *np.sort(rng.integers(0, n_rows + 1, rng.integers(1, 6))), n_rows]
    spans = [slice(start, end) for start, end in pairwise(ends)]
    filled = [k for k, span in enumerate(spans) if span.stop - span.start > 2]
    odd = int(rng.choice(filled))
    is_alone = sum(span.stop > span.start for span in spans) == 1
    places = [*(["table"] if len(X.columns) > 1 else []), *kinds, target, *(["weights"] if weights is not None else [])]
    place = int(rng.integers(len(places)))
    name = places[place]
    is_refused = name == "table" or (rng.random() < 0.5)
    is_column = name in KINDS
    column = X.columns[place - places.index(kinds[0])] if is_column else None
    if is_column and not is_refused and rng.random() < 0.25:
        X[column] = X[column].where(~np.isin(np.arange(n_rows), np.arange(n_rows)[spans[odd]]), None)
        name = "missing"
    parts = [[X.iloc[span], y.iloc[span], None if weights is None else weights.iloc[span]] for span in spans]
    if is_alone or rng.random() < 0.1:
        return Cut(X, y, weights, parts)
    changes = (HARMFUL if is_refused else HARMLESS)[name]
    chosen = int(rng.integers(len(changes)))
    _change(parts[odd], changes[chosen], column, 1 if name == target else 2 if name == "weights" else 0)
    return Cut(X, y, weights, parts, odd, is_refused, f"{name} {chosen} in partition {odd}")


def _column(rng, kind, n_rows):
    if kind == "number":
        return rng.normal(size=n_rows)
    if kind in ("word", "level"):
        words = pd.Series(rng.choice(["red", "green", "blue"], n_rows))
        return words if kind == "word" else words.astype("category")
    return rng.integers(0, 2 if kind == "flag" else 6, n_rows)


def _change(part, change, column, position):
    part[position] = change(part[position]) if column is None else part[0].assign(**{column: change(part[0][column])})


@contextmanager
def cluster():
    """Two workers, threads of this process, of which nothing is left."""
    options = {"n_workers": 2, "threads_per_worker": 1, "processes": False, "dashboard_address": "127.0.0.1:0"}
    unchanged = dask.config.set({"dataframe.convert-string": False})  # which makes text of objects
    with unchanged, LocalCluster(**options, silence_logs=logging.CRITICAL) as workers, Client(workers) as client:
        yield client


def _collection(pieces):
    parts = [delayed(piece) for piece in pieces]
    return dd.from_delayed(parts, meta=pieces[0].iloc[:0], verify_meta=False)


def fit_over_partitions(seed):
    """Whether the fit was refused, as it must be where the partitions are not those of one table."""
    cut = random_cut(seed)
    over, alone = DaskDualBoostClassifier, DualBoostClassifier
    if cut.y.dtype.kind == "f":
        over, alone = DaskDualBoostRegressor, DualBoostRegressor
    with cluster() as client:
        X, y, weights = (None if pieces[0] is None else _collection(pieces) for pieces in zip(*cut.parts, strict=True))
        model = over(client=client, **SMALL)
        try:
            model.fit(X, y, weights)
        except InvalidDataError as error:
            require(cut.is_refused, cut.what, "is refused:", error)
            require(f"artition {cut.odd}" in str(error), cut.what, "is not named:", error)
            return True
        require(not cut.is_refused, cut.what, "is not refused")
        found = model.predict(X).compute().to_numpy()
    one = alone(learner="xgboost", **SMALL).fit(cut.X, cut.y, cut.weights)
    require(np.isclose(model.objective_, one.objective_, rtol=1e-6), cut.what, model.objective_, one.objective_)
    wanted = one.predict(cut.X)
    require(found.tolist() == wanted.tolist() if cut.y.dtype.kind == "O" else np.allclose(found, wanted), cut.what)
    return False
