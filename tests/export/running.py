"""Runs exports where they are meant to run, and returns their answers under the names of our methods."""

import ctypes
import sqlite3
import subprocess
import tempfile
from collections import Counter
from pathlib import Path

import duckdb
import numpy as np
import onnx
import onnxruntime
import pandas as pd

from dualboost import to_c, to_onnx, to_sql

GCC = ("gcc", "-std=c99", "-pedantic", "-Wall", "-Werror", "-O2", "-shared", "-fPIC")
DOUBLES = np.ctypeslib.ndpointer(np.float64, flags="C_CONTIGUOUS")


def answers(model, X):
    """What the estimator says."""
    methods = ["predict", "predict_proba"] if hasattr(model, "classes_") else ["predict"]
    if n_quantiles(model):
        methods += ["predict_quantiles", "predict_interval"]
    return {method: getattr(model, method)(X) for method in methods}


def n_quantiles(model):
    task = None if hasattr(model, "classes_") else model.fitted_.target
    return task.n_outputs if task is not None and task.n_outputs > 1 else 0


def compiled(text):
    """The functions of a C file."""
    with tempfile.TemporaryDirectory() as folder:
        source, library = Path(folder, "model.c"), Path(folder, "model.so")
        source.write_text(text, encoding="utf-8")
        subprocess.run([*GCC, "-o", library, source, "-lm"], check=True)
        return ctypes.CDLL(str(library))


def categories_of(model):
    return model.tree_sum().inputs.categories


def numbers_for_c(functions, model, X):
    """X as doubles; categories by the function that knows their names."""
    X = pd.DataFrame(X)
    columns, used = [], set(model.tree_sum().used_features.tolist())
    for k, name in enumerate(X.columns):
        if k not in used:
            columns.append(np.full(len(X), np.nan))
        elif k not in categories_of(model) or k in model.tree_sum().inputs.numbered:
            columns.append(X[name].astype(float).to_numpy())
        else:
            functions.model_category.restype = ctypes.c_double
            named = ["no such name" if gap else str(v) for v, gap in zip(X[name], X[name].isna(), strict=True)]
            columns.append([functions.model_category(k, name.encode()) for name in named])
    return np.ascontiguousarray(np.column_stack(columns), dtype=float)


def in_c(model, X):
    functions = compiled(to_c(model))
    rows = numbers_for_c(functions, model, X)

    def each(method, width):
        function, found = getattr(functions, f"model_{method}"), np.empty((len(rows), width))
        function.argtypes, function.restype = [DOUBLES, DOUBLES], None
        for row, answer in zip(rows, found, strict=True):
            function(row, answer)
        return found

    predict = functions.model_predict
    predict.argtypes = [DOUBLES]
    if hasattr(model, "classes_"):
        labels = (ctypes.c_char_p * len(model.classes_)).in_dll(functions, "model_classes")
        assert [label.decode() for label in labels] == [str(label) for label in model.classes_]
        codes = [predict(row) for row in rows]
        return {"predict": model.classes_[codes], "predict_proba": each("predict_proba", len(model.classes_))}
    predict.restype = ctypes.c_double
    found = {"predict": np.array([predict(row) for row in rows])}
    if n_quantiles(model):
        found["predict_quantiles"] = each("predict_quantiles", n_quantiles(model))
        found["predict_interval"] = each("predict_interval", 2)
    return found


def as_table(X):
    """X with None for what is missing, and categories as plain values."""
    frame = X if isinstance(X, pd.DataFrame) else pd.DataFrame(X, columns=[f"x{k}" for k in range(X.shape[1])])
    plain = {name: [None if gap else v for v, gap in zip(frame[name].astype(object), frame[name].isna(), strict=True)]
             for name in frame}  # fmt: skip
    return pd.DataFrame(plain, dtype=object)


def that_a_table_has(model, X):
    """X without columns that no tree tests and that a database cannot hold beside the others."""
    if not isinstance(X, pd.DataFrame):
        return X
    used = {X.columns[k] for k in model.tree_sum().used_features}
    names = Counter(name.lower() for name in X)
    kept = [name for name in X if name in used or (name and "\0" not in name and names[name.lower()] == 1)]
    return X[kept] if kept else pd.DataFrame({"row": np.arange(len(X))})


def in_sqlite(model, X):
    to_sql(model)  # what is refused is refused before a table is made
    table = as_table(that_a_table_has(model, X))
    connection = sqlite3.connect(":memory:")
    names = ", ".join('"' + name.replace('"', '""') + '"' for name in table)
    connection.execute(f"CREATE TABLE t ({names})")
    rows = [tuple(map(_plain, row)) for row in table.to_numpy()]
    connection.executemany(f"INSERT INTO t VALUES ({', '.join('?' * table.shape[1])})", rows)
    return _in_sql(model, lambda query: connection.execute(query).fetchall())


def in_duckdb(model, X):
    to_sql(model)
    connection, X = duckdb.connect(), that_a_table_has(model, X)
    frame = X if isinstance(X, pd.DataFrame) else as_table(X).astype(X.dtype)
    connection.register("given", frame)
    connection.execute("CREATE TABLE t AS SELECT * FROM given")
    return _in_sql(model, lambda query: connection.execute(query).fetchall())


def _plain(value):
    return value.item() if isinstance(value, np.generic) else value


def _in_sql(model, run):
    def column(**asked):
        return [row[0] for row in run(f"SELECT {to_sql(model, **asked)} FROM t")]

    if hasattr(model, "classes_"):
        predicted = np.array(column()).astype(model.classes_.dtype)
        return {
            "predict": predicted,
            "predict_proba": np.column_stack([column(probability_of=label) for label in model.classes_]),
        }
    found = {"predict": np.array(column())}
    if n_quantiles(model):
        levels = model.fitted_.target.levels
        found["predict_quantiles"] = np.column_stack([column(quantile=level) for level in levels])
        found["predict_interval"] = np.column_stack([column(end=end) for end in ("lower", "upper")])
    return found


NEW_TEXT = "a text that no table of the tests has"
"""Stands for a missing value: the empty text may be a category."""


def in_onnx(model, X):
    exported = to_onnx(model)
    onnx.checker.check_model(exported, full_check=True)
    session = onnxruntime.InferenceSession(exported.SerializeToString(), providers=["CPUExecutionProvider"])
    names = {"predict": "prediction", "predict_quantiles": "quantiles", "predict_interval": "interval"}
    if hasattr(model, "classes_"):
        names = {"predict": "label", "predict_proba": "probabilities"}
    elif not n_quantiles(model):
        names = {"predict": "prediction"}
    found = session.run(list(names.values()), {one.name: _input(model, one, X) for one in session.get_inputs()})
    return dict(zip(names, found, strict=True))


def _input(model, one, X):
    if not categories_of(model):
        return np.asarray(X.astype(float))
    column = X[one.name]
    kind = {"tensor(string)": object, "tensor(int64)": np.int64, "tensor(bool)": bool}.get(one.type, float)
    unknown = {object: NEW_TEXT, np.int64: -1, bool: False, float: np.nan}[kind]
    values = [unknown if gap else value for value, gap in zip(column, column.isna(), strict=True)]
    return np.array(values, dtype=kind)[:, None]


TARGETS = {"C": in_c, "SQLite": in_sqlite, "DuckDB": in_duckdb, "ONNX": in_onnx}
