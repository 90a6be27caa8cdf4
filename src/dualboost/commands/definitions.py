"""The commands beside ``fit``; importing this module imports nothing but click."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click
from click.shell_completion import get_completion_class

from ..parameters import FORMULATIONS, LOSSES_FOR_NUMBERS, WITH_SIDES
from .fitting import FILE, JSON, STANDARD, TARGET


@click.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def completion(context: click.Context, shell: str) -> None:
    """Print the completion script for a shell: eval "$(dualboost completion bash)"."""
    kind = get_completion_class(shell)
    if kind is None:
        raise click.ClickException(f"click has no completion for {shell}.")
    root = context.find_root()
    click.echo(kind(root.command, {}, "dualboost", "_DUALBOOST_COMPLETE").source())


@click.command()
@click.argument("model", type=FILE)
@click.option("-o", "--out", type=FILE, required=True, help="The file to write: .c, .sql, .onnx or .txt.")
@click.option("--name", help="In C: how the names of functions begin [default: model].")
@click.option("--probability-of", help="In SQL: the class whose probability to write [default: the prediction].")
@click.option("--quantile", type=float, help="In SQL: the level to write, of a model with several quantiles.")
@click.option("--end", type=click.Choice(["lower", "upper"]), help="In SQL: the end of the outermost interval.")
@JSON
def export(model: Path, out: Path, as_json: bool, **options: Any) -> None:
    """Write a model as C (.c), an expression of SQL (.sql), ONNX (.onnx) or a LightGBM model (.txt).

    The ending of the file's name decides which.
    """
    from ..data.files import write_whole
    from ..errors import InvalidDataError, InvalidParameterError
    from ..export import FORMATS
    from .models import load, report, require_place

    require_place(out, model)
    if out.suffix not in FORMATS:
        raise InvalidParameterError(f"--out {out}: the name must end with one of {', '.join(FORMATS)}.")
    export_format = FORMATS[out.suffix]
    given = {name: value for name, value in options.items() if value is not None}
    for name, value in given.items():
        if name not in export_format.options:
            raise InvalidParameterError(f"--{name.replace('_', '-')} {value} is not for {out.suffix}: leave it out.")
    fitted = load(model)
    if "probability_of" in given:
        given["probability_of"] = _label(fitted, given["probability_of"])
    content = export_format.content(fitted, **given)
    try:
        write_whole(out, content)
    except OSError as error:
        raise InvalidDataError(f"{out}: cannot be written: {error.strerror or error}.") from error
    trees = fitted.tree_sum().trees
    figures = {"export": str(out), "bytes": len(content), "trees": len(trees)}
    report(figures | {"leaves": sum(tree.n_leaves for tree in trees)}, as_json)


def _label(fitted: Any, text: str) -> Any:
    """The class with this text; the text itself if there is none, which the export then refuses."""
    classes = getattr(fitted, "classes_", ())
    return next((label for label in classes if str(label) == text), text)


HEADINGS = {"--formulation": "For classes (--formulation):", "--loss": "For numbers (--loss):"}
"""By the option of ``dualboost fit``."""
WIDTH = 2 + max(map(len, FORMULATIONS + LOSSES_FOR_NUMBERS))


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print one JSON list.")
def formulations(as_json: bool) -> None:
    """What each formulation, and each loss for numbers, optimises, what its C means, and when to use it."""
    from .. import formulations as known

    registries: dict[str, dict[str, Any]] = {"--formulation": known.FORMULATIONS, "--loss": known.NUMBER_LOSSES}
    rows = [
        {
            "name": one.name,
            "option": option,
            "title": one.title,
            "optimises": one.optimises,
            "C": one.meaning_of_C,
            "use": one.use,
        }
        for option, registry in registries.items()
        for one in registry.values()
    ]
    if as_json:
        click.echo(json.dumps(rows))
        return
    for option, heading in HEADINGS.items():
        click.echo(f"{heading}\n")
        for row in (row for row in rows if row["option"] == option):
            click.echo(f"{row['name']:{WIDTH}}{row['title']}: {row['optimises']}")
            click.echo(f"{'':{WIDTH}}C: {row['C']}")
            click.echo(f"{'':{WIDTH}}{row['use']}\n")


@click.command()
@click.argument("model", type=FILE)
@click.argument("data", type=FILE)
@click.option(
    "-o", "--out", type=FILE, default="-", help="A .csv, .csv.gz or .parquet file [default: -, CSV to standard output]."
)
@JSON
def predict(model: Path, data: Path, out: Path, as_json: bool) -> None:
    """Predict the rows of DATA (- for standard input): the class, and the probability of each; or a number.

    A model of several quantiles gives these too, and the ends of the interval between the outermost ones.
    """
    from ..data.table_files import csv_content, require_table_name, write_table
    from .models import echo_content, load_with_features, predictions_of, report, require_place, summary_of

    if out != STANDARD:
        require_table_name(out)
        require_place(out, model, data)
    fitted, _, features = load_with_features(model, data)
    predictions = predictions_of(fitted, features)
    if out == STANDARD:
        text = predictions.to_json(orient="records", double_precision=15) + "\n" if as_json else None
        echo_content(csv_content(predictions) if text is None else text.encode())
        return
    write_table(predictions, out)
    report({"predictions": str(out), "rows": len(predictions)} | summary_of(fitted, predictions), as_json)


@click.command()
@click.argument("model", type=FILE)
@click.argument("data", type=FILE)
@TARGET
@JSON
def evaluate(model: Path, data: Path, target: str, as_json: bool) -> None:
    """Compare a model's predictions with the labels of DATA (- for standard input), or with its numbers.

    For more than two classes, auc is the mean over the classes, each against all others. For several quantiles, pinball
    loss is the mean over these, and coverage the share of rows inside the interval between the outermost ones.
    """
    from .models import load_with_features, report
    from .tables import figures_of

    fitted, frame, features = load_with_features(model, data)
    report(figures_of(fitted, frame, features, target, data), as_json)


@click.command()
@click.argument("model", type=FILE)
@click.option("--rules", "as_rules", is_flag=True, help="One line a rule, the strongest first, instead of trees.")
@click.option("--most", type=click.IntRange(1), default=20, show_default=True, help="Show no more trees or rules.")
@JSON
def show(model: Path, as_rules: bool, most: int, as_json: bool) -> None:
    """A model's figures, and its trees by weight, or its rules. Leaves that were corrected show their values."""
    from .models import load, show_as_json, show_as_text

    fitted = load(model)
    show_as_json(fitted) if as_json else show_as_text(fitted, as_rules, most)


@click.command()
@click.argument("model", type=FILE)
@click.argument("data", type=FILE)
@TARGET
@click.option(
    "-o", "--out", type=FILE, required=True, help="The smaller model's file, of the same kind; - for standard output."
)
@click.option(
    "--tolerance",
    default=0.005,
    show_default=True,
    help="How much validation accuracy, or R² of a regressor, may be lost.",
)
@click.option("--scoring", help="What may be lost instead of accuracy or R², such as roc_auc or balanced_accuracy.")
@click.option("--max-trees", type=int, help="The largest number of trees.")
@click.option(
    "--formulation",
    type=click.Choice([name for name in FORMULATIONS if name not in WITH_SIDES]),
    help="New weights by this [default: leaves are refitted].",
)
@click.option("--validation", type=FILE, help="Rows that the model has not seen [default: folds or a fifth of DATA].")
@click.option("--random-state", default=0, show_default=True)
@JSON
def thin(
    model: Path,
    data: Path,
    target: str,
    out: Path,
    tolerance: float,
    scoring: str | None,
    max_trees: int | None,
    formulation: str | None,
    validation: Path | None,
    random_state: int,
    as_json: bool,
) -> None:
    """Drop most of a model's trees and keep its accuracy, or R² where it predicts numbers.

    MODEL is a file of dualboost (.json), XGBoost (.json, .ubj) or LightGBM (.txt). A model of XGBoost or LightGBM must
    have numeric columns; if it is a classifier, the labels in sorted order are its classes 0, 1, and so on.
    """
    from ..thinning import thin as thin_model
    from .models import echo, is_ours, read_model_and_rows, report, require_kind, require_place, spelled, write_model

    require_place(out, model, data)
    require_kind(out, model)
    fitted, X, y = read_model_and_rows(model, data, target)
    held = None if validation is None else read_model_and_rows(model, validation, target)[1:]
    result = thin_model(
        fitted, X, y, formulation=formulation, tolerance=tolerance, max_trees=max_trees, random_state=random_state,
        validation_data=held, scoring=scoring, verbose=1,
    )  # fmt: skip
    write_model(result.model, out) if is_ours(model) else result.model.save_model(str(out))
    summary = result.summary()
    if as_json:
        report(spelled(summary), as_json, to_stderr=out == STANDARD)
    else:
        echo(str(summary), err=out == STANDARD)
