"""Models of dualboost, XGBoost and LightGBM in files, and the rows to thin them by."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from ..data.table_files import name_of, read_table
from ..errors import DualBoostError, InvalidDataError, InvalidParameterError, MissingDependencyError, ModelFormatError
from ..extras import how_to_install
from ..thinning import adapter_for
from .models import load_with_features
from .options import STANDARD
from .output import echo
from .reading import numbers_for
from .targets import split_numbers, split_target

MOST_JUDGED = 10_000
"""How many rows the model is tried on before it is thinned."""


def spelled(summary: Any) -> dict[str, Any]:
    """The figures before and after, by names without spaces."""
    names = {name: name.replace("R²", "r2").replace(",", "").replace(" ", "_") for name in summary}
    return {names[name]: {"before": before, "after": after} for name, (before, after) in summary.items()}


def require_kind(out: Path, model: Path) -> None:
    """Require an ending that fits the kind of model, since libraries choose the format by the ending."""
    endings = (".json", ".json.gz") if is_ours(model) else (".txt",) if model.suffix == ".txt" else (".json", ".ubj")
    if out == STANDARD and is_ours(model):
        return
    if not out.name.endswith(endings):
        raise InvalidParameterError(f"--out {out}: the name of such a model ends with {' or '.join(endings)}.")


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
        split = split_target if fitted.fitted_.task.has_classes else split_numbers
        y = split(frame, target, data)[1]
        fitted.fitted_.encoder.transform(features)  # what cannot be read is told as of this file
        return fitted, features.native, y
    booster, names = _booster(model)
    frame, adapter = read_table(data), adapter_for(booster)
    if not adapter.task.has_classes:
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
    _warn_of_another_order(booster, rows[:MOST_JUDGED], codes[:MOST_JUDGED], list(classes))
    return booster, rows, codes


def _warn_of_another_order(booster: Any, features: Any, codes: Any, classes: list[Any]) -> None:
    """Boosters know classes by number, so labels are taken in order; a model that then does badly had another one."""
    adapter = adapter_for(booster)
    labels = adapter.task.decode(adapter.raw_scores(booster, features))
    predicted = adapter.task.groups(adapter.task.encode(labels, len(codes)))
    right, majority = float(np.mean(predicted == codes)), float(np.bincount(codes).max() / len(codes))
    if right < majority:
        echo(
            f"dualboost: the model is right for {right:.0%} of the rows, the most frequent label for {majority:.0%}. "
            f"Its classes are taken to be {classes[:5]}, in this order: was it trained with another one?",
            err=True,
        )


def _booster(path: Path) -> tuple[Any, list[str]]:
    """The booster in a file of XGBoost or LightGBM, and the names of its features."""
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
