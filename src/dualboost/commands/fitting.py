"""``dualboost fit``, and the options that commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from ..parameters import (
    LOSSES_FOR_NUMBERS,
    OPTIONS,
    REGRESSION,
    TASKS,
    Choice,
    Flag,
    Fraction,
    Integer,
    Parameter,
    Positive,
    Share,
    flag_of,
)

STANDARD = Path("-")
"""Standard input where a table is read, standard output where something is written."""

FILE = click.Path(path_type=Path)
TARGET = click.option("--target", required=True, help="The column with the labels, or the numbers.")
JSON = click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")


TYPES: dict[type, Any] = {Integer: int, Positive: float, Fraction: float, Share: float}
"""The types of options by the kinds of parameters; the others are text."""


def model_options(command: Any) -> Any:
    """Give a command the options of the table of parameters."""
    for parameter in reversed(OPTIONS.values()):
        command = _model_option(parameter)(command)
    return command


def _model_option(parameter: Parameter) -> Any:
    option, kind, flag = parameter.option, parameter.kind, flag_of(parameter.name)
    assert option is not None
    if isinstance(kind, Flag):
        return click.option(flag, parameter.name, is_flag=True, help=parameter.help)
    choices = kind.names if isinstance(kind, Choice) else option.choices
    return click.option(
        flag,
        parameter.name,
        type=click.Choice(choices) if choices else option.type or TYPES.get(type(kind)),
        default=option.default,
        show_default=option.default is not None,
        multiple=option.multiple,
        metavar=option.metavar,
        help=parameter.help,
    )


@click.command()
@click.argument("data", type=FILE)
@TARGET
@click.option(
    "-o", "--out", type=FILE, default="model.json", show_default=True, help="The model file, or - for standard output."
)
@click.option("--task", type=click.Choice(TASKS), help="What the target is [default: guessed from the target].")
@model_options
@click.option("--sample-weight", help="A column with the weight of each row: 2 counts as the row twice.")
@click.option("--categorical", multiple=True, help="A column of numbers that are categories; may be given again.")
@click.option("--drop", multiple=True, help="A column to leave out, such as an identifier; may be given again.")
@click.option("--eval-set", type=FILE, help="A second table with the target, to score on while fitting.")
@click.option("--scheduler", help="The address of a Dask scheduler, whose workers read DATA, such as 'data/*.parquet'.")
@click.option("--checkpoint", type=FILE, help="With --scheduler: a folder to keep trees in, from which a fit goes on.")
@JSON
def fit(
    data: Path,
    target: str,
    out: Path,
    task: str | None,
    sample_weight: str | None,
    categorical: tuple[str, ...],
    drop: tuple[str, ...],
    eval_set: Path | None,
    scheduler: str | None,
    checkpoint: Path | None,
    as_json: bool,
    **options: Any,
) -> None:
    """Fit a model to DATA, a CSV (or .csv.gz) or Parquet file, or - for standard input.

    Text columns are categories, gaps are missing values, and true and false are numbers. Text and few whole numbers are
    classes; numbers with fractions, or more than 20 different whole numbers, are learnt by regression.
    """
    from .models import description, report, require_place, write_model

    require_place(out, *(path for path in (data, eval_set) if path is not None))
    if task is None and options["formulation"] is None and _is_for_numbers(options):
        task = REGRESSION
    is_weighted = options["class_weight"] or sample_weight
    weights = [] if sample_weight is None else [sample_weight]
    columns = {"--drop": drop, "--categorical": categorical, "--sample-weight": weights}
    if scheduler is None:
        found = _fit_here(data, eval_set, target, columns, task, options)
    else:
        from .estimators import fit_over

        found = fit_over(scheduler, data, target, columns, task, options | {"eval_set": eval_set}, checkpoint)
    model, task_used, n_rows, n_features = found
    write_model(model, out)
    shown = task_used if task or as_json else f"{task_used}, guessed from the target (see --task)"
    figures = {"task": shown, "model": str(out), "rows": n_rows, "features": n_features}
    quality = f"{'weighted_' if is_weighted else ''}training_{'r2' if task_used == REGRESSION else 'accuracy'}"
    figures |= description(model) | {quality: model.history_["train_score"][-1]}
    score = model.history_["validation_score"][-1]
    figures |= {"validation_score": score} if score == score else {}
    report(figures, as_json, to_stderr=out == STANDARD)
    if model.stop_reason_ == "interrupted":
        raise KeyboardInterrupt


def _is_for_numbers(options: dict[str, Any]) -> bool:
    only = [name for name, one in OPTIONS.items() if one.option is not None and one.option.task == REGRESSION]
    return options["loss"] in LOSSES_FOR_NUMBERS or any(options[name] is not None for name in only)


def _fit_here(
    data: Path,
    eval_set: Path | None,
    target: str,
    columns: dict[str, Any],
    task: str | None,
    options: dict[str, Any],
) -> tuple[Any, str, int, int]:
    """The model, its task, and the numbers of rows and of features."""
    from .estimators import estimator_of
    from .tables import read_evaluation, read_training

    weights, categorical = next(iter(columns["--sample-weight"]), None), columns["--categorical"]
    training = read_training(data, target, columns["--drop"], task, categorical, weights)
    estimator = estimator_of(training, options)
    rows = None if eval_set is None else read_evaluation(eval_set, target, training, categorical, weights)
    model = estimator.fit(training.features, training.target, training.weights, eval_set=rows)
    return model, training.task, len(training.target), training.features.shape[1]
