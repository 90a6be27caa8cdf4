"""``dualboost predict`` and ``evaluate``, and what all commands say of a model."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
import numpy as np
import pandas as pd

from .._typing import Integers
from ..data.table_files import read_table
from ..errors import InvalidDataError, MissingDependencyError
from ..loading import load_model
from .output import JSON, report, require_place
from .quality import confusion_figures, number_figures, quality_figures
from .reading import features_for, few
from .targets import split_numbers, split_target

FILE = click.Path(path_type=Path)
TARGET = click.option("--target", required=True, help="The column with the labels, or the numbers.")


def description(model: Any) -> dict[str, Any]:
    """The figures of a fit; values of leaves and the intercept are in the units of y."""
    return {
        "formulation" if model.fitted_.task.has_classes else "loss": model.formulation_.name,
        "C": model.formulation_.C,
        "trees": model.n_trees_,
        "leaves": model.n_leaves_,
        "trees_generated": model.n_generated_,
        "intercept": model.fitted_.in_units.intercept,
        "objective": model.objective_,
        "gap": model.gap_,
        "stopped": model.stop_reason_,
    }


def load_with_features(model_path: Path, data: Path) -> tuple[Any, pd.DataFrame, pd.DataFrame]:
    """The model, the table, and the columns of the table that the model uses."""
    model = load_model(model_path)
    if not hasattr(model, "feature_names_in_"):
        raise InvalidDataError(f"{model_path}: the model was fitted without column names, so that no table fits it.")
    names = [str(name) for name in model.feature_names_in_]
    categories = {names[position]: known for position, known in model.fitted_.encoder.categories.items()}
    frame = read_table(data, categories)
    return model, frame, features_for(names, categories, frame, data)


@click.command()
@click.argument("model", type=FILE)
@click.argument("data", type=FILE)
@click.option("-o", "--out", type=FILE, help="A CSV, .csv.gz or Parquet file [default: CSV to the terminal].")
@JSON
def predict(model: Path, data: Path, out: Path | None, as_json: bool) -> None:
    """Predict the rows of DATA: the class, and the probability of each; or a number."""
    if out is not None:
        require_place(out, model, data)
    fitted, _, features = load_with_features(model, data)
    has_classes = fitted.fitted_.task.has_classes
    columns = _probabilities(fitted, features) if has_classes else {}
    predictions = pd.DataFrame({"prediction": fitted.predict(features)} | columns)
    if out is None:
        click.echo(
            predictions.to_json(orient="records", double_precision=15) + "\n"
            if as_json
            else predictions.to_csv(index=False),
            nl=False,
        )
        return
    write_table(predictions, out)
    summary = _counts(predictions) if has_classes else {"mean": predictions["prediction"].mean()}
    report({"predictions": str(out), "rows": len(predictions)} | summary, as_json)


def _probabilities(fitted: Any, features: pd.DataFrame) -> dict[str, Any]:
    """A column for each class."""
    found = fitted.predict_proba(features)
    return {f"probability_{name}": found[:, k] for k, name in enumerate(fitted.classes_)}


def _counts(predictions: pd.DataFrame) -> dict[str, Any]:
    """How often each class is predicted."""
    counts = predictions["prediction"].value_counts()
    return {"classes": {str(name): int(count) for name, count in counts.items()}}


def write_table(frame: pd.DataFrame, path: Path) -> None:
    try:
        frame.to_parquet(path, index=False) if path.suffix == ".parquet" else frame.to_csv(path, index=False)
    except ImportError as error:
        raise MissingDependencyError("Parquet files need pyarrow: pip install pyarrow.") from error
    except OSError as error:
        raise InvalidDataError(f"{path}: cannot be written: {error.strerror or error}.") from error


@click.command()
@click.argument("model", type=FILE)
@click.argument("data", type=FILE)
@TARGET
@JSON
def evaluate(model: Path, data: Path, target: str, as_json: bool) -> None:
    """Compare a model's predictions with the labels of DATA, or with its numbers.

    For more than two classes, auc is the mean over the classes, each against all others.
    """
    fitted, frame, features = load_with_features(model, data)
    figures: dict[str, Any] = {"rows": len(frame)}
    confusion: dict[str, Any] = {}
    if fitted.fitted_.task.has_classes:
        true = _class_numbers(split_target(frame, target, data)[1], fitted, data)
        predicted = np.searchsorted(fitted.classes_, fitted.predict(features))
        figures |= quality_figures(true, predicted, fitted.predict_proba(features))
        confusion = confusion_figures(true, predicted, fitted.classes_)
    else:
        figures |= number_figures(split_numbers(frame, target, data)[1], fitted.predict(features))
    report(figures | {"trees": fitted.n_trees_, "leaves": fitted.n_leaves_} | confusion, as_json)


def _class_numbers(labels: Any, model: Any, path: Path) -> Integers:
    """The number of each label's class in the model, where it may have another type than in the table."""
    by_text = {str(name): k for k, name in enumerate(model.classes_)}
    unknown = sorted({str(label) for label in np.unique(labels)} - set(by_text))
    if unknown:
        raise InvalidDataError(f"{path}: the label {unknown[0]!r} is not one of the model's: {few(sorted(by_text))}.")
    return np.array([by_text[str(label)] for label in labels], dtype=np.intp)
