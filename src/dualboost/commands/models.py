"""Models in files, and the figures, trees and rules that commands print."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import click
import numpy as np
import pandas as pd

from ..arguments import how_to_install
from ..data.table_files import name_of, read_table
from ..data.tables import Table
from ..errors import DualBoostError, InvalidDataError, InvalidParameterError, MissingDependencyError, ModelFormatError
from ..escaping import printable
from ..inspection.rules import class_text, class_values, draw_tree, names_of, quantile_text, used_trees
from ..loading import load_model
from ..model_file.writing import model_text
from ..thinning import adapter_for
from .fitting import STANDARD
from .tables import features_for, numbers_for, split_numbers, split_target


def description(model: Any) -> dict[str, Any]:
    """The figures of a fit; values of leaves and the intercept are in the units of y."""
    task, intercept = model.fitted_.target, model.fitted_.in_units.intercept
    has_quantiles = task.n_outputs > 1 and not task.has_classes
    return {
        "formulation" if task.has_classes else "loss": model.formulation_.name,
        "C": model.formulation_.C,
        "trees": model.n_trees_,
        "leaves": model.n_leaves_,
        "trees_generated": model.n_generated_,
        "intercept": dict(zip(task.output_names, intercept, strict=True)) if has_quantiles else intercept,
        "objective": model.objective_,
        "gap": model.gap_,
        "stopped": model.stop_reason_,
    }


def load(path: Path) -> Any:
    """The model in a file of ours."""
    if not path.exists():
        raise InvalidDataError(f"{path}: there is no such model file.")
    return load_model(path)


def load_with_features(model_path: Path, data: Path) -> tuple[Any, pd.DataFrame, Table]:
    """The model, the table, and the columns of the table that the model uses."""
    model = load(model_path)
    if not hasattr(model, "feature_names_in_"):
        raise InvalidDataError(f"{model_path}: the model was fitted without column names, so that no table fits it.")
    names, categories = [str(name) for name in model.feature_names_in_], model.fitted_.encoder.categories
    frame = read_table(data, [names[k] for k, known in categories.items() if known.dtype == object])
    return model, frame, features_for(names, frame, data)


def predictions_of(fitted: Any, features: Table) -> pd.DataFrame:
    """The predictions, with probabilities, or quantiles and intervals."""
    task = fitted.fitted_.target
    columns = {"prediction": fitted.predict(features)}
    if task.has_classes:
        columns |= _probabilities(fitted, features)
    elif task.n_outputs > 1:
        columns |= _quantiles(fitted, features)
    return pd.DataFrame(columns)


def _quantiles(fitted: Any, features: Table) -> dict[str, Any]:
    """A column for each quantile, and the ends of the outermost interval."""
    names = [*fitted.fitted_.target.output_names, "lower", "upper"]
    found = np.hstack([fitted.predict_quantiles(features), fitted.predict_interval(features)])
    return dict(zip(names, found.T, strict=True))


def _probabilities(fitted: Any, features: Table) -> dict[str, Any]:
    found = fitted.predict_proba(features)
    return {f"probability_{name}": found[:, k] for k, name in enumerate(fitted.classes_)}


def summary_of(fitted: Any, predictions: pd.DataFrame) -> dict[str, Any]:
    """How often each class is predicted, or the mean of the predictions."""
    if not fitted.fitted_.target.has_classes:
        return {"mean": predictions["prediction"].mean()}
    counts = predictions["prediction"].value_counts()
    return {"classes": {str(name): int(count) for name, count in counts.items()}}


def show_as_json(fitted: Any) -> None:
    """Print the figures and the rules as one JSON object."""
    rules = fitted.rules().to_dict("records")
    echo(as_json_text(description(fitted) | _classes(fitted) | {"rules": rules}))


def show_as_text(fitted: Any, as_rules: bool, most: int) -> None:
    """Print the figures, and the first trees or rules."""
    classes = {name: ", ".join(map(str, known)) for name, known in _classes(fitted).items()}
    report(classes | _certificate_or_why_not(description(fitted)), as_json=False)
    echo()
    lines = _rules(fitted) if as_rules else _trees(fitted)
    echo("\n".join(lines[:most]))
    if len(lines) > most:
        echo(f"… and {len(lines) - most} more (--most {len(lines)})")


def _certificate_or_why_not(figures: dict[str, Any]) -> dict[str, Any]:
    """The figures; of a thinned model, which solves no programme of its own, without objective and gap."""
    if not np.isnan(figures["gap"]):
        return figures
    others = {name: value for name, value in figures.items() if name not in ("objective", "gap")}
    return others | {"certificate": "none: the model was thinned"}


def _classes(fitted: Any) -> dict[str, Any]:
    return {"classes": fitted.classes_} if fitted.fitted_.target.has_classes else {}


def _trees(fitted: Any) -> list[str]:
    """Each tree with its share of all weights, or with the values of its leaves; the largest first."""
    trees, names, ensemble = used_trees(fitted.fitted_, "show"), names_of(fitted.fitted_), fitted.fitted_.in_units
    scales = ensemble.scales()
    order = sorted(trees, key=lambda j: (-scales[j], j))
    if ensemble.is_normalised:
        return [f"tree {j}, weight {scales[j]:.4f}\n{draw_tree(trees[j], names)}" for j in order]
    valued = {j: trees[j].with_votes(scales[j] * trees[j].votes) for j in order}
    return [f"tree {j}, values up to {scales[j]:.4g}\n{draw_tree(valued[j], names)}" for j in order]


def _rules(fitted: Any) -> list[str]:
    table = fitted.rules()
    task = fitted.fitted_.target
    of_one = _votes_of_two_classes if task.has_classes else _values
    of_several = _votes_of_classes if task.has_classes else _values_of_quantiles
    votes = (of_several if task.n_outputs > 1 else of_one)(table, fitted)
    return [f"{vote}  if {conditions}" for vote, conditions in zip(votes, table["conditions"], strict=True)]


def _values(table: Any, fitted: Any) -> list[str]:
    return [f"{value:+.4g}" for value in table["weighted_vote"]]


def _votes_of_two_classes(table: Any, fitted: Any) -> list[str]:
    first, second = names_of(fitted.fitted_).classes
    signs = np.where(table["vote"] > 0, second, first)
    return [f"{abs(vote):.4f}  {sign}" for vote, sign in zip(table["weighted_vote"], signs, strict=True)]


def _values_of_quantiles(table: Any, fitted: Any) -> list[str]:
    names = fitted.fitted_.target.output_names
    return [quantile_text(values, names) for values in class_values(table, names)]


def _votes_of_classes(table: Any, fitted: Any) -> list[str]:
    names = names_of(fitted.fitted_).classes
    return [class_text(values, names) for values in class_values(table, fitted.fitted_.target.output_names)]


MOST_PREDICTED = 10_000
"""How many rows the model is tried on before it is thinned."""


def spelled(summary: Any) -> dict[str, Any]:
    """The figures before and after, by names without spaces."""
    names = {name: name.replace("R²", "r2").replace(",", "").replace(" ", "_") for name in summary}
    return {names[name]: {"before": before, "after": after} for name, (before, after) in summary.items()}


def require_kind(out: Path, model: Path) -> None:
    """Require an ending that fits the kind of model, since libraries choose the format by the ending."""
    output_transforms = (
        (".json", ".json.gz") if is_ours(model) else (".txt",) if model.suffix == ".txt" else (".json", ".ubj")
    )
    if out == STANDARD and is_ours(model):
        return
    if not out.name.endswith(output_transforms):
        raise InvalidParameterError(
            f"--out {out}: the name of such a model ends with {' or '.join(output_transforms)}."
        )


def is_ours(path: Path) -> bool:
    """Whether the file is one of dualboost: XGBoost's JSON files have a key "learner"."""
    if path.suffix in (".ubj", ".txt"):
        return False
    try:
        return "learner" not in json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError, TypeError):
        return True


def read_model_and_rows(model: Path, data: Path, target: str) -> tuple[Any, Any, Any]:
    if is_ours(model):
        fitted, frame, features = load_with_features(model, data)
        split = split_target if fitted.fitted_.target.has_classes else split_numbers
        y = split(frame, target, data)[1]
        fitted.fitted_.encoder.transform(features)  # so that errors name this file
        return fitted, features.native, y
    booster, names = _booster(model)
    frame, adapter = read_table(data), adapter_for(booster)
    if not adapter.target.has_classes:
        features, numbers = split_numbers(frame, target, data)
        return booster, numbers_for(names, features, data), numbers
    features, labels = split_target(frame, target, data)
    codes, classes = pd.factorize(labels, sort=True)
    n_classes = len(adapter.classes)
    if len(classes) != n_classes:
        raise InvalidDataError(
            f"{name_of(data)}: {target!r} must hold {n_classes} labels, one for each class of the model; it has "
            f"{len(classes)}: {list(classes)[:5]}."
        )
    rows = numbers_for(names, features, data)
    _warn_of_another_order(booster, rows[:MOST_PREDICTED], codes[:MOST_PREDICTED], list(classes))
    return booster, rows, codes


def _warn_of_another_order(booster: Any, features: Any, codes: Any, classes: list[Any]) -> None:
    """Boosters number classes, and labels are numbered in sorted order; a poor accuracy hints at another order."""
    adapter = adapter_for(booster)
    labels = adapter.target.decode(adapter.raw_scores(booster, features))
    predicted = adapter.target.groups(adapter.target.encode(labels, len(codes)))
    right, majority = float(np.mean(predicted == codes)), float(np.bincount(codes).max() / len(codes))
    if right < majority:
        echo(
            f"dualboost: the model is right for {right:.0%} of the rows, the most frequent label for {majority:.0%}. "
            f"Its classes are taken to be {classes[:5]}, in this order: was it trained with another one?",
            err=True,
        )


def _booster(path: Path) -> tuple[Any, list[str]]:
    if not path.is_file():
        raise InvalidDataError(f"{path}: there is no such model file.")
    try:
        return _lightgbm_booster(path) if path.suffix == ".txt" else _xgboost_booster(path)
    except DualBoostError:
        raise
    except Exception as error:  # each library has its own types of errors
        raise ModelFormatError(f"{path}: cannot be read as a model: {str(error).splitlines()[0]}") from error


def _lightgbm_booster(path: Path) -> tuple[Any, list[str]]:
    import lightgbm

    if not path.read_bytes().startswith(b"tree\n"):  # LightGBM would also print its error
        raise ModelFormatError(f"{path}: is no text model of LightGBM's.")
    booster = lightgbm.Booster(model_file=str(path))
    return booster, list(booster.feature_name())


def _xgboost_booster(path: Path) -> tuple[Any, list[str]]:
    try:
        import xgboost
    except ImportError as error:
        raise MissingDependencyError(f"XGBoost's models need xgboost: {how_to_install('xgboost')}.") from error
    booster = xgboost.Booster(model_file=str(path))
    return booster, list(booster.feature_names or (f"f{k}" for k in range(booster.num_features())))


OF_CLASSES = ("true_", "predicted_")
"""The beginnings of figures whose names end with the name of a class."""


def echo(text: str = "", nl: bool = True, err: bool = False) -> None:
    """Print text with names from tables and files, of which only line breaks may control the terminal."""
    click.echo(printable(text, kept="\n"), nl=nl, err=err)


def echo_content(content: bytes) -> None:
    """Write the content of a file to standard output: unchanged to a file or a pipe, escaped to a terminal."""
    if sys.stdout.isatty():
        echo(content.decode(), nl=False)
    else:
        click.echo(content, nl=False)


def require_place(out: Path, *inputs: Path) -> None:
    """Raise an error, before any work is done, if ``out`` cannot be written or would replace an input."""
    if out == STANDARD:
        return
    if out.resolve() in [path.resolve() for path in inputs]:
        raise InvalidParameterError(f"--out {out} is an input; choose another file.")
    if out.is_dir():
        raise InvalidParameterError(f"--out {out} is a folder; name a file.")
    if not out.resolve().parent.is_dir():
        raise InvalidParameterError(f"--out {out}: there is no folder {out.parent}.")


def write_model(model: Any, out: Path) -> None:
    """Write a model of ours to its file, or to standard output."""
    if out == STANDARD:
        echo_content(model_text(model).encode())
    else:
        model.save(out)


def report(figures: dict[str, Any], as_json: bool, to_stderr: bool = False) -> None:
    """Print one figure on each line, or one JSON object with the same names."""
    if as_json:
        echo(as_json_text(figures), err=to_stderr)
        return
    lines = [(printable(_with_spaces(name)), printable(_readable(value))) for name, value in figures.items()]
    width = max(len(name) for name, _ in lines) + 2
    for name, value in lines:
        echo(f"{name:{width}}{value}", err=to_stderr)


def _with_spaces(name: str) -> str:
    """The name with spaces; the name of a class in it stays as it is."""
    return name.replace("_", " ", 1 if name.startswith(OF_CLASSES) else -1)


def as_json_text(value: Any) -> str:
    """JSON, with null for numbers that are not finite."""
    return json.dumps(_plain(value), allow_nan=False)


def _readable(value: Any) -> str:
    if isinstance(value, (float, np.floating)):
        return f"{value:.4g}"
    if isinstance(value, dict):
        names = {name: _with_spaces(name) if name.startswith(OF_CLASSES) else name for name in value}
        return ", ".join(f"{names[name]}: {_readable(part)}" for name, part in value.items())
    if isinstance(value, np.ndarray) and value.ndim:
        return ", ".join(map(_readable, value))
    return str(value)


def _plain(value: Any) -> Any:
    if isinstance(value, (np.generic, np.ndarray)):
        value = value.tolist()
    if isinstance(value, dict):
        return {name: _plain(part) for name, part in value.items()}
    if isinstance(value, list):
        return [_plain(part) for part in value]
    return None if isinstance(value, float) and not np.isfinite(value) else value
