"""What is frozen of a model, an export, a command: plain values that JSON holds. Only the public interface is used."""

import hashlib
import inspect
import io
import json
import os
import re
import sys
import tempfile
import warnings
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from pathlib import Path

import numpy as np
import pandas as pd
import scipy.sparse
import xgboost

import dualboost
import dualboost.dask
from dualboost.cli import main as command_line

RENAMED: dict[str, str] = {
    "calibrate": "interval_calibration",
    "corrects": "optimize",
    "SolverOptions.master": "method",
    "TubeLoss": "EpsilonInsensitiveLoss",
}
"""The names that cases use, with their names of today if these differ: ``"max_depth": "depth"`` for an argument (which
is also the option ``--depth``), an attribute, a method or a class; ``"CartLearner.max_depth"`` for one class only."""

VALUES = {("optimize", "trees"): "weights", ("thin.method", "thin"): "imitate"}
"""Values of arguments in cases, with their spelling of today."""

FIGURES = ("objective_", "bound_", "certified_", "n_trees_", "n_leaves_", "n_generated_", "n_iter_", "stop_reason_")
FIGURES += ("weights_", "intercept_", "classes_", "n_features_in_", "feature_names_in_", "feature_importances_")
FIGURES += ("C_", "Cs_", "scores_", "path_")
ANSWERS = ("predict", "decision_function", "predict_proba", "predict_interval", "predict_quantiles")
MASKED = (
    (re.compile(r"0x[0-9a-f]{6,}"), "0x"),  # addresses
    (re.compile(r"\S*/golden_\w+/?"), ""),  # the folder of a case
    (re.compile(r"sk-[a-z-]+-id-\d+"), "sk-id"),  # scikit-learn counts what it draws
    (re.compile(r"(\bgap\b[^\d\n]*)[\d.]+(e[-+]?\d+)?"), r"\1#"),  # gaps vary
    (re.compile(r"^(seconds|bytes).*\n?", re.MULTILINE), ""),  # in summaries; bytes hold gaps and names of modules
)
NUMBER = re.compile(r"-?\b\d+\.?\d*(?:[eE][-+]?\d+)?")
UNTOLD = (DeprecationWarning, FutureWarning, PendingDeprecationWarning)


def now(name, of=""):
    """The name of today."""
    return RENAMED.get(f"{of}.{name}", RENAMED.get(name, name))


def made(kind, *arguments, **options):
    """An object of a public class or function, by the names that cases use."""
    found = getattr(dualboost, now(kind), None) or getattr(dualboost.formulations, now(kind), None)
    found = found or getattr(dualboost.dask, now(kind))
    return found(
        *arguments, **{now(name, kind): _value(now(name, kind), kind, value) for name, value in options.items()}
    )


def _value(name, kind, value):
    """The spelling of today."""
    key = value if isinstance(value, str) else None
    return VALUES.get((f"{kind}.{name}", key), VALUES.get((name, key), value))


def masked(text):
    """The text without what differs from run to run."""
    for pattern, instead in MASKED:
        text = pattern.sub(instead, text)
    return text


def plain(value):
    """Numbers with twelve digits, lists, dicts with strings as keys, and text for all else."""
    if isinstance(value, pd.DataFrame):
        value = {str(name): value[name].tolist() for name in value}
    if isinstance(value, dict):
        return {str(key): plain(entry) for key, entry in value.items()}
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if isinstance(value, list | tuple):
        return [plain(entry) for entry in value]
    if isinstance(value, float):
        return float(f"{value:.12g}")
    return value if value is None or isinstance(value, bool | int | str) else masked(str(value))


def rounded(text):
    """The text with numbers of nine digits; those that are zero but for rounding are zero."""

    def short(match):
        number = float(match[0])
        return match[0] if match[0].lstrip("-").isdigit() else f"{0.0 if abs(number) < 1e-12 else number:.9g}"

    return NUMBER.sub(short, text)


def digest(text):
    """Length and hash of a text with rounded numbers."""
    text = rounded(masked(text))
    return [len(text), hashlib.sha256(text.encode()).hexdigest()[:16]]


def attempt(act):
    """What the function returns, or its error."""
    try:
        return plain(act())
    except Exception as error:
        return said(error)


def said(error):
    """The error as text; of one that quotes all data, the beginning."""
    text = f"{type(error).__name__}: {masked(str(error))}"
    return text if len(text) < 1000 else f"{text[:200]} ... {digest(text)}"


@contextmanager
def recorded():
    """A list that the warnings of the block are in once it has ended."""
    told = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield told
    shown = {f"{one.category.__name__}: {masked(str(one.message))}" for one in caught if one.category not in UNTOLD}
    told.extend(sorted(shown))


def of_fit(make, data, then=None, **fit):
    """A fit with its warnings, and the model, or the refusal; ``then`` are parameters of a second fit."""
    with recorded() as told:
        try:
            model = make().fit(data.X, data.y, **fit)
            if then:
                model.set_params(**{now(name): value for name, value in then.items()}).fit(data.X, data.y, **fit)
        except Exception as error:
            return {"refused": said(error)}
    return {**of_model(model, data), "warnings": told}


def of_model(model, data):
    """All that users can see of a fitted model of ours."""
    facts = {
        name: attempt(lambda name=name: getattr(model, now(name))) for name in FIGURES if hasattr(model, now(name))
    }
    facts |= answers(model, data.new)
    facts |= {
        "gap within tol": attempt(lambda: bool(getattr(model, now("gap_")) <= getattr(model, now("tol")))),
        "score": attempt(lambda: model.score(data.X, data.y)),
        "norm of duals": attempt(lambda: np.linalg.norm(getattr(model, now("duals_")))),
        "history": attempt(lambda: {key: len(value) for key, value in getattr(model, now("history_")).items()}),
        "stages": attempt(lambda: len(list(getattr(model, now("staged_predict"))(data.new)))),
        "rules": attempt(lambda: model.rules().sort_values(["tree", "leaf"])),
        "explained": attempt(lambda: model.explain(data.new).importances()),
        "effects": attempt(lambda: sizes(model.effects(data.X))),
        "repr": masked(repr(model)),
        "html": attempt(lambda: len(NUMBER.sub("#", masked(model._repr_html_())))),
    }
    return facts | exports(model, data)


def answers(model, new):
    """What a model of any library says of new rows."""
    if type(model).__module__.startswith("xgboost") and type(model).__name__ == "Booster":
        new = xgboost.DMatrix(new)
    return {
        name: attempt(lambda name=name: getattr(model, now(name))(new)) for name in ANSWERS if hasattr(model, now(name))
    }


def sizes(frame):
    """The columns of a table with the sums of their sizes, and the number of rows."""
    numbers = frame.select_dtypes("number").replace([np.inf, -np.inf], np.nan).abs().sum()
    return {"rows": len(frame), "columns": list(frame), "sizes": numbers.to_dict()}


def exports(model, data):
    """The model in files and in other languages."""

    def saved():
        with tempfile.TemporaryDirectory(prefix="golden_") as folder:
            path = Path(folder, "model.json")
            model.save(path)
            again = dualboost.load_model(path)
            assert np.array_equal(again.predict(data.new), model.predict(data.new))
            return digest(path.read_text())

    facts = {"file": attempt(saved)}
    for name in ("to_c", "to_sql"):
        facts[name] = attempt(lambda name=name: digest(made(name, model)))
    facts["to_onnx"] = attempt(lambda: digest(onnx_text(made("to_onnx", model))))
    facts["to_lightgbm"] = attempt(lambda: made("to_lightgbm", model).predict(codes(data.new)))
    return facts


def codes(X):
    """The rows as an array, with codes of categories, as LightGBM reads them."""
    if isinstance(X, pd.DataFrame):
        texts = X.select_dtypes(exclude="number").astype("category").apply(lambda column: column.cat.codes)
        return X.assign(**texts.replace(-1, np.nan)).to_numpy(dtype=float)
    return X.toarray() if scipy.sparse.issparse(X) else X


def onnx_text(model):
    """The graph as text; its numbers are bytes, which cannot be rounded, and are written out instead."""
    from onnx import numpy_helper

    tensors = [*model.graph.initializer, *(one.t for node in model.graph.node for one in node.attribute)]
    numbers = [numpy_helper.to_array(tensor).tolist() for tensor in tensors if tensor.HasField("raw_data")]
    for tensor in tensors:
        tensor.ClearField("raw_data")
    return f"{model}{numbers}"


def of_thinning(model, data, **options):
    """A model before and after ``thin``."""
    with recorded() as told:
        try:
            result = made("thin", model, data.X, data.y, **options)
        except Exception as error:
            return {"refused": said(error)}
    path = {name: result.path[name] for name in ("way", "trees", "members")}
    facts = {name: attempt(lambda name=name: getattr(result, now(name))) for name in ("kept", "weights", "intercept")}
    facts |= {name: attempt(lambda name=name: getattr(result, now(name))) for name in ("C", "chosen", "full_score")}
    return {
        **facts,
        **answers(result.model, data.new),
        "way": result.way,
        "judged on": result.judged_on,
        "gap": bool(np.isnan(result.gap) or result.gap <= 1e-6),
        "path": plain(path),
        "repr": repr(result),
        "summary": masked(str(result.summary())),
        "warnings": told,
    }


def command(*arguments, folder="."):
    """What a command prints; JSON as values, but for gaps and times. Errors are the last line of standard error."""
    written, errors, code = io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True), io.StringIO(), 0
    words, sys.argv, here = sys.argv, ["dualboost", *map(option, arguments)], os.getcwd()
    try:
        os.chdir(folder)
        with warnings.catch_warnings(), redirect_stdout(written), redirect_stderr(errors):
            command_line()
    except SystemExit as end:
        code = end.code or 0
    finally:
        sys.argv = words
        os.chdir(here)
    if code:
        return [code if isinstance(code, int) else masked(code), masked(errors.getvalue())]
    text = written.buffer.getvalue().decode()
    try:
        return plain(without_times(json.loads(text)))
    except ValueError:
        return rounded(masked(text))


def option(word):
    """An option of the command line by its name of today."""
    return "--" + now(word[2:].replace("-", "_")).replace("_", "-") if re.match("--[a-z]{2}", word) else word


def without_times(value):
    """JSON without gaps and times."""
    if isinstance(value, list):
        return [without_times(entry) for entry in value]
    if isinstance(value, dict):
        return {key: without_times(entry) for key, entry in value.items() if not re.search("gap|seconds|bytes", key)}
    return value


def subcommands(help_text):
    """The names in the list of commands of a help text."""
    return re.findall(r"^  ([a-z-]+)(?:  |$)", help_text.partition("Commands:")[2], re.MULTILINE)


def signature(function):
    """Names, kinds and defaults of the parameters, without types."""
    found = inspect.signature(function)
    bare = [one.replace(annotation=inspect.Parameter.empty) for one in found.parameters.values()]
    return masked(str(found.replace(parameters=bare, return_annotation=inspect.Signature.empty)))


def public(module):
    """The public names of a module, with signatures, and with the bases of errors; modules inside it are no names."""
    facts = {}
    for name in getattr(module, "__all__", [one for one in dir(module) if not one.startswith("_")]):
        value = getattr(module, name)
        if inspect.isclass(value) and issubclass(value, Exception | Warning):
            facts[name] = [base.__name__ for base in value.__mro__[1:-1]]
        elif callable(value) and value.__module__.startswith("dualboost"):
            facts[name] = attempt(lambda value=value: signature(value))
    return facts


def drawing(axes):
    """The words of a plot, and how much is drawn."""
    from matplotlib import pyplot

    facts = []
    for ax in np.ravel(axes)[0].figure.axes:
        words = [ax.get_title(), ax.get_xlabel(), ax.get_ylabel(), *(text.get_text() for text in ax.texts)]
        words += [text.get_text() for text in ax.get_legend().get_texts()] if ax.get_legend() else []
        facts.append([rounded(masked(" | ".join(words))), len(ax.lines), len(ax.patches), len(ax.collections)])
    pyplot.close("all")
    return facts
