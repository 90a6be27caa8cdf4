"""What commands do with model files: load them, find the columns they use, predict, and describe them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from ..data.table_files import read_table
from ..data.tables import Table
from ..errors import InvalidDataError
from ..loading import load_model
from .reading import features_for


def description(model: Any) -> dict[str, Any]:
    """The figures of a fit; values of leaves and the intercept are in the units of y."""
    task, intercept = model.fitted_.task, model.fitted_.in_units.intercept
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
    """The predictions, and what a model says beside them."""
    task = fitted.fitted_.task
    columns = {"prediction": fitted.predict(features)}
    if task.has_classes:
        columns |= _probabilities(fitted, features)
    elif task.n_outputs > 1:
        columns |= _quantiles(fitted, features)
    return pd.DataFrame(columns)


def _quantiles(fitted: Any, features: Table) -> dict[str, Any]:
    """A column for each quantile, and the ends of the outermost interval."""
    names = [*fitted.fitted_.task.output_names, "lower", "upper"]
    found = np.hstack([fitted.predict_quantiles(features), fitted.predict_interval(features)])
    return dict(zip(names, found.T, strict=True))


def _probabilities(fitted: Any, features: Table) -> dict[str, Any]:
    """A column for each class."""
    found = fitted.predict_proba(features)
    return {f"probability_{name}": found[:, k] for k, name in enumerate(fitted.classes_)}


def summary_of(fitted: Any, predictions: pd.DataFrame) -> dict[str, Any]:
    """How often each class is predicted, or the mean of the predictions."""
    if not fitted.fitted_.task.has_classes:
        return {"mean": predictions["prediction"].mean()}
    counts = predictions["prediction"].value_counts()
    return {"classes": {str(name): int(count) for name, count in counts.items()}}
