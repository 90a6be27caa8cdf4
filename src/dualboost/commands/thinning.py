"""``dualboost thin``: makes the model in a file of dualboost, XGBoost or LightGBM smaller."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click
import numpy as np
import pandas as pd

from ..data.table_files import read_table
from ..errors import DualBoostError, InvalidDataError, InvalidParameterError, MissingDependencyError, ModelFormatError
from ..formulations import FORMULATIONS
from ..thinning import adapter_for
from ..thinning import thin as thin_model
from .models import FILE, TARGET, load_with_features
from .output import JSON, report, require_place
from .reading import features_for
from .targets import split_target

MOST_JUDGED = 10_000
"""How many rows the model is tried on before it is thinned."""
ADMITTED = [name for name, formulation in FORMULATIONS.items() if not formulation.has_sides]


@click.command()
@click.argument("model", type=FILE)
@click.argument("data", type=FILE)
@TARGET
@click.option("-o", "--out", type=FILE, required=True, help="The smaller model's file, of the same kind.")
@click.option("--tolerance", default=0.005, show_default=True, help="How much validation accuracy may be lost.")
@click.option("--max-trees", type=int, help="The largest number of trees.")
@click.option("--formulation", type=click.Choice(ADMITTED), help="New weights by this [default: leaves are refitted].")
@click.option("--validation", type=FILE, help="Rows that the model has not seen [default: folds or a fifth of DATA].")
@click.option("--random-state", default=0, show_default=True)
@JSON
def thin(
    model: Path,
    data: Path,
    target: str,
    out: Path,
    tolerance: float,
    max_trees: int | None,
    formulation: str | None,
    validation: Path | None,
    random_state: int,
    as_json: bool,
) -> None:
    """Drop most of a model's trees and keep its accuracy.

    MODEL is a file of dualboost (.json), XGBoost (.json, .ubj) or LightGBM (.txt). A model of XGBoost or LightGBM must
    have numeric columns; the labels in sorted order are its classes 0, 1, and so on.
    """
    require_place(out, model, data)
    _require_kind(out, model)
    fitted, X, y = _read(model, data, target)
    held = None if validation is None else _read(model, validation, target)[1:]
    result = thin_model(
        fitted, X, y, formulation=formulation, tolerance=tolerance, max_trees=max_trees, random_state=random_state,
        validation_data=held, verbose=1,
    )  # fmt: skip
    result.model.save(out) if _is_ours(model) else result.model.save_model(str(out))
    summary = result.summary()
    if not as_json:
        click.echo(summary)
        return
    names = {name: name.replace(",", "").replace(" ", "_") for name in summary}
    report({names[name]: {"before": before, "after": after} for name, (before, after) in summary.items()}, as_json)


def _require_kind(out: Path, model: Path) -> None:
    """Require an ending that fits the kind of model, since libraries choose the format by the ending."""
    endings = (".json", ".json.gz") if _is_ours(model) else (".txt",) if model.suffix == ".txt" else (".json", ".ubj")
    if not out.name.endswith(endings):
        raise InvalidParameterError(f"--out {out}: the name of such a model ends with {' or '.join(endings)}.")


def _is_ours(path: Path) -> bool:
    """Whether the file is one of dualboost: XGBoost's JSON files have a key "learner"."""
    if path.suffix in (".ubj", ".txt"):
        return False
    try:
        return "learner" not in json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError, TypeError):
        return True


def _read(model: Path, data: Path, target: str) -> tuple[Any, Any, Any]:
    if _is_ours(model):
        fitted, frame, features = load_with_features(model, data)
        return fitted, features, split_target(frame, target, data)[1]
    booster, names = _booster(model)
    frame = read_table(data)
    features, labels = split_target(frame, target, data)
    codes, classes = pd.factorize(labels, sort=True)
    n_classes = len(adapter_for(booster).classes)
    if len(classes) != n_classes:
        raise InvalidDataError(
            f"{data}: {target!r} must hold {n_classes} labels, one for each class of the model; it has "
            f"{len(classes)}: {list(classes)[:5]}."
        )
    rows = features_for(names, {}, features, data).to_numpy()
    _warn_of_another_order(booster, rows[:MOST_JUDGED], codes[:MOST_JUDGED], list(classes))
    return booster, rows, codes


def _warn_of_another_order(booster: Any, features: Any, codes: Any, classes: list[Any]) -> None:
    """Boosters know classes by number, so labels are taken in order; a model that then does badly had another one."""
    adapter = adapter_for(booster)
    labels = adapter.task.decode(adapter.raw_scores(booster, features))
    predicted = adapter.task.groups(adapter.task.encode(labels, len(codes)))
    right, majority = float(np.mean(predicted == codes)), float(np.bincount(codes).max() / len(codes))
    if right < majority:
        click.echo(
            f"dualboost: the model is right for {right:.0%} of the rows, the most frequent label for {majority:.0%}. "
            f"Its classes are taken to be {classes[:5]}, in this order: was it trained with another one?",
            err=True,
        )


def _booster(path: Path) -> tuple[Any, list[str]]:
    """The booster in a file of XGBoost or LightGBM, and the names of its features."""
    if not path.is_file():
        raise InvalidDataError(f"{path}: there is no such file.")
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
        raise MissingDependencyError("XGBoost's models need xgboost: pip install 'dualboost[thin]'.") from error
    booster = xgboost.Booster(model_file=str(path))
    return booster, list(booster.feature_names or (f"f{k}" for k in range(booster.num_features())))
