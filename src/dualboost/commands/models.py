"""``dualboost fit``, ``predict`` and ``evaluate``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
import numpy as np
import pandas as pd

from .._typing import Integers
from ..data.table_files import read_table
from ..errors import InvalidDataError, InvalidParameterError, MissingDependencyError
from ..estimators.classifier import DualBoostClassifier
from ..estimators.classifier_cv import DualBoostClassifierCV
from ..formulations import FORMULATIONS
from ..loading import load_model
from ..pricing import LEARNERS
from .output import JSON, report, require_place
from .quality import confusion_figures, quality_figures
from .reading import features_for, few, read_training, split_target

DEFAULTS = DualBoostClassifier().get_params()
"""The options have the defaults of the estimator."""
FILE = click.Path(path_type=Path)
TARGET = click.option("--target", required=True, help="The column with the labels.")


@click.command()
@click.argument("data", type=FILE)
@TARGET
@click.option("-o", "--out", type=FILE, default="model.json", show_default=True, help="The model file.")
@click.option(
    "--formulation", type=click.Choice(list(FORMULATIONS)), default=DEFAULTS["formulation"], show_default=True
)
@click.option(
    "--corrects",
    type=click.Choice(["trees", "leaves"]),
    help="What is re-optimised after every new tree [default: the leaves for logistic, the trees for others].",
)
@click.option("--C", "C", default=None, help="A number, or auto to tune it on held-out rows [default: by formulation].")
@click.option(
    "--max-depth", type=int, help="The greatest depth of a tree [default: 5 for leaves, 2 if optimal; 1 for trees]."
)
@click.option("--max-trees", type=int, help="The greatest number of trees [default: 50 for leaves, 100 for trees].")
@click.option("--voting", type=click.Choice(["hard", "confidence"]), default="hard", show_default=True)
@click.option("--learner", type=click.Choice(list(LEARNERS)), default="cart", show_default=True)
@click.option(
    "--select", type=click.Choice(["best", "sparsest"]), default="best", show_default=True, help="With --C auto."
)
@click.option("--class-weight", type=click.Choice(["balanced"]), help="Let every class weigh the same.")
@click.option("--drop", multiple=True, help="A column to leave out, such as an identifier; may be given again.")
@click.option("--time-limit", type=float, help="Seconds after which no further tree is generated.")
@click.option("--random-state", default=0, show_default=True)
@JSON
def fit(
    data: Path, target: str, out: Path, C: str | None, select: str, drop: tuple[str, ...], as_json: bool, **options: Any
) -> None:
    """Fit a model to DATA, a CSV (or .csv.gz) or Parquet file. Text columns are categories; gaps are missing values."""
    require_place(out, data)
    features, labels = read_training(data, target, drop)
    model = _estimator(C, select, options).fit(features, labels)
    model.save(out)
    figures = {"model": str(out), "rows": len(labels), "features": features.shape[1]}
    report(figures | description(model) | {"training_accuracy": model.history_["train_accuracy"][-1]}, as_json)
    if model.stop_reason_ == "interrupted":
        raise KeyboardInterrupt


def _estimator(C: str | None, select: str, options: dict[str, Any]) -> DualBoostClassifier:
    if select != "best" and C != "auto":
        raise InvalidParameterError(f"--select {select} chooses among values of C: add --C auto.")
    voting = options.pop("voting")
    if voting != "hard":  # a learner may have no other way to vote than its own
        options["learner"] = LEARNERS[options["learner"]](voting=voting)
    if C == "auto":
        return DualBoostClassifierCV(select=select, verbose=1, **options)
    try:
        value = None if C is None else float(C)
    except ValueError as error:
        raise InvalidParameterError(f"--C {C}: give a number, or auto.") from error
    return DualBoostClassifier(C=value, verbose=1, **options)


def description(model: Any) -> dict[str, Any]:
    return {
        "formulation": model.formulation_.name,
        "C": model.formulation_.C,
        "trees": model.n_trees_,
        "leaves": model.n_leaves_,
        "trees_generated": model.n_generated_,
        "intercept": model.intercept_,
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
    """Predict the rows of DATA: the class, and the probability of each."""
    if out is not None:
        require_place(out, model, data)
    fitted, _, features = load_with_features(model, data)
    probabilities = fitted.predict_proba(features)
    columns = {f"probability_{name}": probabilities[:, k] for k, name in enumerate(fitted.classes_)}
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
    counts = {str(name): int(count) for name, count in predictions["prediction"].value_counts().items()}
    report({"predictions": str(out), "rows": len(predictions), "classes": counts}, as_json)


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
    """Compare a model's predictions with the labels of DATA.

    For more than two classes, auc is the mean over the classes, each against all others.
    """
    fitted, frame, features = load_with_features(model, data)
    true = _class_numbers(split_target(frame, target, data)[1], fitted, data)
    predicted = np.searchsorted(fitted.classes_, fitted.predict(features))
    figures = quality_figures(true, predicted, fitted.predict_proba(features))
    size = {"trees": fitted.n_trees_, "leaves": fitted.n_leaves_}
    report({"rows": len(true)} | figures | size | confusion_figures(true, predicted, fitted.classes_), as_json)


def _class_numbers(labels: Any, model: Any, path: Path) -> Integers:
    """The number of each label's class in the model, where it may have another type than in the table."""
    by_text = {str(name): k for k, name in enumerate(model.classes_)}
    unknown = sorted({str(label) for label in np.unique(labels)} - set(by_text))
    if unknown:
        raise InvalidDataError(f"{path}: the label {unknown[0]!r} is not one of the model's: {few(sorted(by_text))}.")
    return np.array([by_text[str(label)] for label in labels], dtype=np.intp)
