"""``dualboost predict`` and ``dualboost evaluate``."""

from __future__ import annotations

from pathlib import Path

import click

from .options import FILE, JSON, STANDARD, TARGET


@click.command()
@click.argument("model", type=FILE)
@click.argument("data", type=FILE)
@click.option(
    "-o", "--out", type=FILE, default="-", help="A .csv, .csv.gz or .parquet file [default: -, CSV to the terminal]."
)
@JSON
def predict(model: Path, data: Path, out: Path, as_json: bool) -> None:
    """Predict the rows of DATA (- for standard input): the class, and the probability of each; or a number.

    A model of several quantiles gives these too, and the ends of the interval between the outermost ones.
    """
    from ..data.table_files import csv_text, require_table_name, write_table
    from .models import load_with_features, predictions_of, summary_of
    from .output import echo, report, require_place

    if out != STANDARD:
        require_table_name(out)
        require_place(out, model, data)
    fitted, _, features = load_with_features(model, data)
    predictions = predictions_of(fitted, features)
    if out == STANDARD:
        text = predictions.to_json(orient="records", double_precision=15) + "\n" if as_json else None
        echo(csv_text(predictions) if text is None else text, nl=False)
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
    from .models import load_with_features
    from .output import report
    from .quality import figures_of

    fitted, frame, features = load_with_features(model, data)
    report(figures_of(fitted, frame, features, target, data), as_json)
