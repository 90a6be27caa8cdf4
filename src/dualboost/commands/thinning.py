"""``dualboost thin``: makes the model in a file of dualboost, XGBoost or LightGBM smaller."""

from __future__ import annotations

from pathlib import Path

import click

from .options import FILE, FORMULATIONS, JSON, STANDARD, TARGET, WITH_SIDES


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
    from .output import echo, report, require_place, write_model
    from .thinned import is_ours, read_model_and_rows, require_kind, spelled

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
