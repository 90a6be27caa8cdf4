"""The features and the target of tables in files, and the figures of ``evaluate``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import narwhals as nw
import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.metrics import (
    confusion_matrix,
    log_loss,
    mean_pinball_loss,
    mean_poisson_deviance,
    recall_score,
    roc_auc_score,
)

from .._typing import Integers, Matrix, Vector
from ..data.columns import MOSTLY, Source, as_number, column_of_series, few, suggestion
from ..data.features import FeatureEncoder, require_finite
from ..data.table_files import name_of, read_table
from ..data.tables import Table
from ..errors import InvalidDataError
from ..escaping import csv_cell
from ..formulations.quantiles import QuantileLoss
from ..formulations.regression import PoissonLoss
from ..targets.base import FEW_NUMBERS, are_identifiers, look_measured
from ..targets.standardising import r_squared, root_mean_square


def source_of(path: Path) -> Source:
    """The words of messages about a table in a file."""
    return Source(
        name_of(path),
        1,
        "leave it out with --drop",
        "name it in --categorical",
        "store it as numbers",
        "Correct such cells, or leave them empty where the number is missing",
    )


def features_for(names: Sequence[str], frame: pd.DataFrame, path: Path) -> Table:
    """The columns that a model was fitted on, in their order."""
    missing = [name for name in names if name not in frame]
    if missing:
        raise InvalidDataError(f"{name_of(path)}: the model needs {few(missing)}, which the table does not have.")
    return Table(frame[list(names)], source_of(path))


def numbers_for(names: Sequence[str], frame: pd.DataFrame, path: Path) -> Matrix:
    """The columns that a model was fitted on, as numbers."""
    table = features_for(names, frame, path)
    features: Matrix = FeatureEncoder().transform(table)
    require_finite(features, table.source, table.names)
    return features


def numbers_of(column: pd.Series, path: Path, why: str) -> Vector:
    """A column as finite numbers; ``why`` it must hold numbers goes into errors."""
    source = source_of(path)
    numbers = column_of_series(nw.from_native(column, series_only=True), column.name, source).numbers(why)
    infinite = np.flatnonzero(np.isinf(numbers))
    if len(infinite):
        raise InvalidDataError(
            f"{source.column(column.name)} contains infinity in {source.row(int(infinite[0]))}; leave the row out, or "
            "put a number in its place."
        )
    return np.asarray(numbers)


class Training(NamedTuple):
    """A table to learn from."""

    features: Table
    target: NDArray[Any]
    task: str
    weights: Vector | None


def read_training(
    path: Path,
    target: str,
    dropped: Sequence[str] = (),
    task: str | None = None,
    categorical: Sequence[str] = (),
    weights: str | None = None,
) -> Training:
    """The features and the target of a training table; without a task, it is guessed."""
    frame = read_table(path, categorical)
    named = {"--drop": dropped, "--categorical": categorical, "--sample-weight": [] if weights is None else [weights]}
    require_columns(frame, target, named, path)
    frame = frame.astype(dict.fromkeys(categorical, "category"))
    column_of_weights = None if weights is None else _weights(frame[weights], path)
    others = [name for name in (*dropped, weights) if name is not None]
    features, column = split_frame(frame.drop(columns=others), target, path)
    task = task or guessed_task(column)
    y = _classes(column, path) if task == "classification" else target_numbers(column, path)
    return Training(Table(features, source_of(path)), y, task, column_of_weights)


def read_evaluation(
    path: Path, target: str, training: Training, categorical: Sequence[str], weights: str | None
) -> tuple[Any, ...]:
    """The features, the target and the weights of a second table."""
    names = [str(name) for name in training.features.names]
    frame = read_table(path, categorical)
    frame = frame.astype({name: "category" for name in categorical if name in frame})
    needed = names if weights is None else [*names, weights]
    features, y = (split_target if training.task == "classification" else split_numbers)(frame, target, path)
    features_for(needed, features, path)
    found = (features_for(names, features, path), y)
    return found if weights is None else (*found, _weights(features[weights], path))


def require_columns(frame: pd.DataFrame, target: str, named: dict[str, Sequence[str]], path: Path) -> None:
    """Require that the columns that options name are there, and are not the target."""
    for option, names in named.items():
        if target in names:
            raise InvalidDataError(f"{option} {target}: it is the column of the labels (--target).")
        unknown = [name for name in names if name not in frame]
        if unknown:
            raise InvalidDataError(
                f"{name_of(path)}: there is no column {unknown[0]!r} ({option}); "
                f"{suggestion(unknown[0], list(frame.columns))}"
            )


def _weights(column: pd.Series, path: Path) -> Vector:
    """The weights of the rows; an error names the row of a weight that is missing or below zero."""
    weights = numbers_of(column, path, "for --sample-weight")
    wrong = np.flatnonzero(~(weights >= 0))
    if len(wrong):
        raise InvalidDataError(
            f"{name_of(path)}: column {column.name!r} must hold a weight of at least 0 for every row; row "
            f"{int(wrong[0]) + 1} has {column.iloc[int(wrong[0])]}."
        )
    return weights


def guessed_task(column: pd.Series) -> str:
    """Regression for numbers with fractions and for many whole numbers; two different values are always classes."""
    return "regression" if look_measured(_mostly_numbers(column), FEW_NUMBERS) else "classification"


def _mostly_numbers(column: pd.Series) -> NDArray[Any]:
    """Text as numbers, without the few entries that are no numbers: these are refused later."""
    if pd.api.types.is_bool_dtype(column):
        return column.to_numpy()
    if pd.api.types.is_numeric_dtype(column):
        return column.to_numpy(dtype=float)
    numbers = pd.Series([as_number(entry) for entry in column], dtype=float).dropna()
    return (numbers if len(numbers) > MOSTLY * len(column) else column).to_numpy()


def split_target(frame: pd.DataFrame, target: str, path: Path) -> tuple[pd.DataFrame, NDArray[Any]]:
    """The features and the labels; raises an error if a label is missing."""
    features, column = split_frame(frame, target, path)
    return features, _as_labels(column)


def split_numbers(frame: pd.DataFrame, target: str, path: Path) -> tuple[pd.DataFrame, Vector]:
    """The features and the numbers to predict; raises an error if one is missing."""
    features, column = split_frame(frame, target, path)
    return features, target_numbers(column, path)


def target_numbers(column: pd.Series, path: Path) -> Vector:
    return numbers_of(column, path, "for regression")


def split_frame(frame: pd.DataFrame, target: str, path: Path) -> tuple[pd.DataFrame, pd.Series]:
    """The features and the column of the target, in which nothing may be missing."""
    if target not in frame:
        raise InvalidDataError(
            f"{name_of(path)}: there is no column {target!r} (--target); {suggestion(target, list(frame.columns))}"
        )
    column, features = frame[target], frame.drop(columns=target)
    if column.isna().any():
        first = int(np.flatnonzero(column.isna())[0]) + 1
        raise InvalidDataError(
            f"{name_of(path)}: {target!r} is missing in {int(column.isna().sum())} of {len(column)} rows, the first of "
            f"them row {first} (an empty cell, NA, None, nan, null and N/A are missing values): leave such rows out."
        )
    if features.shape[1] == 0:
        raise InvalidDataError(f"{name_of(path)}: there is no column besides {target!r}.")
    return features, column


def whole_labels(labels: pd.Series) -> pd.Series:
    """Numbers that are whole as integers, and all else unchanged."""
    is_number = isinstance(labels.dtype, np.dtype) and labels.dtype.kind == "f"
    is_whole = is_number and bool((labels.abs() < 2**53).all() and (labels % 1 == 0).all())
    return labels.astype(np.int64) if is_whole else labels


def _as_labels(labels: pd.Series) -> NDArray[Any]:
    """Booleans and whole numbers unchanged, all other labels as text."""
    labels = whole_labels(labels)
    kind = labels.dtype.kind if isinstance(labels.dtype, np.dtype) else "O"
    return labels.to_numpy() if kind in "biu" else labels.astype(str).to_numpy(dtype=object)


def _classes(column: pd.Series, path: Path) -> NDArray[Any]:
    """The labels; a target that is no class is refused: one label, numbers with fractions, or hardly a label twice."""
    labels = _as_labels(column)
    distinct, target = np.unique(labels).tolist(), f"{name_of(path)}: {column.name!r}"
    if len(distinct) < 2:
        raise InvalidDataError(f"{target} must hold two labels or more; it has 1: {few(distinct)}.")
    if len(distinct) == 2:
        return labels
    if labels.dtype == object and pd.api.types.is_float_dtype(column):
        raise InvalidDataError(
            f"{target} holds numbers with fractions, such as {few(distinct[:2])}: a model learns classes, which are "
            "words or whole numbers, unless --task is regression."
        )
    if are_identifiers(len(distinct), len(labels)):
        raise InvalidDataError(
            f"{target} has {len(distinct)} different labels in {len(labels)} rows: {few(distinct)}; a model learns "
            "classes that have two rows or more on average."
        )
    return labels


def figures_of(fitted: Any, frame: pd.DataFrame, features: Table, target: str, path: Path) -> dict[str, Any]:
    """The figures of a model on a table with a target."""
    figures: dict[str, Any] = {"rows": len(frame)}
    confusion: dict[str, Any] = {}
    if fitted.fitted_.target.has_classes:
        true = _class_numbers(split_target(frame, target, path)[1], fitted, path)
        predicted = np.searchsorted(fitted.classes_, fitted.predict(features))
        figures |= quality_figures(true, predicted, fitted.predict_proba(features))
        confusion = confusion_figures(true, predicted, fitted.classes_)
    else:
        numbers = split_numbers(frame, target, path)[1]
        figures |= number_figures(numbers, fitted.predict(features))
        figures |= figures_of_loss(fitted, features, numbers)
    return figures | {"trees": fitted.n_trees_, "leaves": fitted.n_leaves_} | confusion


def _class_numbers(labels: Any, model: Any, path: Path) -> Integers:
    by_text = {str(name): k for k, name in enumerate(model.classes_)}
    # The labels may be predictions from a CSV file.
    spelled = {csv_cell(name): k for name, k in by_text.items()} | by_text
    unknown = sorted({str(label) for label in np.unique(labels)} - set(spelled))
    if unknown:
        raise InvalidDataError(
            f"{name_of(path)}: the label {unknown[0]!r} is not one of the model's: {few(sorted(by_text))}."
        )
    return np.array([spelled[str(label)] for label in labels], dtype=np.intp)


def quality_figures(true: Integers, predicted: Integers, probabilities: Matrix) -> dict[str, float]:
    """Figures of rows whose classes are numbered; nan where the rows are of too few classes for a figure."""
    present = np.unique(true)
    has_several = len(present) > 1
    return {
        "accuracy": float(np.mean(predicted == true)),
        "balanced_accuracy": recall_score(true, predicted, labels=present, average="macro")
        if has_several
        else float("nan"),
        "auc": _mean_auc(true, probabilities) if has_several else float("nan"),
        "log_loss": log_loss(true, probabilities, labels=np.arange(probabilities.shape[1])),
    }


def number_figures(true: Vector, predicted: Vector) -> dict[str, float]:
    """Figures of rows with numbers; R^2 is nan where there is one row only."""
    return {
        "rmse": root_mean_square(true, predicted),
        "mae": float(np.mean(np.abs(true - predicted))),
        "r2": r_squared(true, predicted) if len(true) > 1 else float("nan"),
    }


def figures_of_loss(model: Any, features: Any, true: Vector) -> dict[str, float]:
    """Figures for losses whose predictions are not means."""
    loss, predicted = model.formulation_, model.predict(features)
    if model.fitted_.target.n_outputs > 1:
        return quantile_figures(model, features, true)
    if isinstance(loss, QuantileLoss):
        return {
            "pinball_loss": mean_pinball_loss(true, predicted, alpha=loss.quantiles),
            "share_below": float(np.mean(true <= predicted)),
        }
    if isinstance(loss, PoissonLoss):
        return {"poisson_deviance": float(mean_poisson_deviance(true, predicted))}
    return {}


def quantile_figures(model: Any, features: Any, true: Vector) -> dict[str, float]:
    """Figures of a model of several quantiles; the interval is between the outermost ones."""
    lower, upper = model.predict_interval(features).T
    return {
        "pinball_loss": -model.formulation_.scorer(model, features, true),
        "coverage": float(np.mean((lower <= true) & (true <= upper))),
        "mean_width": float(np.mean(upper - lower)),
    }


def _mean_auc(true: Integers, probabilities: Matrix) -> float:
    """The area under the curve of the second of two classes; of several, the mean over each class against the rest."""
    judged = [1] if probabilities.shape[1] == 2 else np.unique(true).tolist()
    return float(np.mean([roc_auc_score(true == k, probabilities[:, k]) for k in judged]))


def confusion_figures(true: Integers, predicted: Integers, classes: Any) -> dict[str, dict[str, int]]:
    """How often each class is predicted for the rows of each class."""
    table = confusion_matrix(true, predicted, labels=np.arange(len(classes)))
    return {
        f"true_{name}": {f"predicted_{other}": int(table[k, j]) for j, other in enumerate(classes)}
        for k, name in enumerate(classes)
    }
