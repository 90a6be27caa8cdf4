"""``dualboost fit``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from ..errors import InvalidParameterError
from ..estimators.classifier import DualBoostClassifier
from ..estimators.classifier_cv import DualBoostClassifierCV
from ..estimators.regressor import DualBoostRegressor
from ..estimators.regressor_cv import DualBoostRegressorCV
from ..formulations import FORMULATIONS
from ..formulations.numbers import NUMBER_LOSSES
from ..pricing import LEARNERS
from .models import FILE, TARGET, description
from .output import JSON, report, require_place
from .targets import TASKS, read_training

ESTIMATORS: dict[str, tuple[Any, Any]] = {
    "classification": (DualBoostClassifier, DualBoostClassifierCV),
    "regression": (DualBoostRegressor, DualBoostRegressorCV),
}
"""The estimator of each task, and the one that tunes C."""
LOSS_OPTIONS = ("delta", "quantile")
OF_OTHERS = {"classification": ("loss", *LOSS_OPTIONS), "regression": ("formulation", "class_weight")}
"""The options that each task does not have."""
SPELLED = {"classification": "accuracy", "regression": "r2"}
"""The key of the score on the training rows."""


@click.command()
@click.argument("data", type=FILE)
@TARGET
@click.option("-o", "--out", type=FILE, default="model.json", show_default=True, help="The model file.")
@click.option("--task", type=click.Choice(TASKS), help="What the target is [default: guessed, and said].")
@click.option(
    "--formulation", type=click.Choice(list(FORMULATIONS)), help="What is optimised for classes [default: logistic]."
)
@click.option(
    "--loss", type=click.Choice(list(NUMBER_LOSSES)), help="What is optimised for numbers [default: squared]."
)
@click.option("--delta", type=float, help="With --loss huber: where it becomes linear, in deviations of the target.")
@click.option("--quantile", type=float, help="With --loss quantile: above 0 and below 1.")
@click.option(
    "--corrects",
    type=click.Choice(["trees", "leaves"]),
    help="What is re-optimised after every new tree [default: the leaves for logistic and losses, else the trees].",
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
    data: Path,
    target: str,
    out: Path,
    task: str | None,
    C: str | None,
    select: str,
    drop: tuple[str, ...],
    as_json: bool,
    **options: Any,
) -> None:
    """Fit a model to DATA, a CSV (or .csv.gz) or Parquet file. Text columns are categories; gaps are missing values.

    Text and few whole numbers are classes; numbers with fractions, or more than 20 different whole numbers, are learnt
    by regression.
    """
    require_place(out, data)
    training = read_training(data, target, drop, task)
    model = _estimator(training.task, C, select, options).fit(training.features, training.target)
    model.save(out)
    said = training.task if task or as_json else f"{training.task}, guessed from the target (see --task)"
    figures = {"task": said, "model": str(out), "rows": len(training.target), "features": training.features.shape[1]}
    weighted = "weighted_" if options["class_weight"] else ""
    quality = f"{weighted}training_{SPELLED[training.task]}"
    report(figures | description(model) | {quality: model.history_["train_accuracy"][-1]}, as_json)
    if model.stop_reason_ == "interrupted":
        raise KeyboardInterrupt


def _estimator(task: str, C: str | None, select: str, options: dict[str, Any]) -> Any:
    if select != "best" and C != "auto":
        raise InvalidParameterError(f"--select {select} chooses among values of C: add --C auto.")
    given = _of_task(task, options)
    voting = given.pop("voting")
    if voting != "hard":  # a learner may have no other way to vote than its own
        given["learner"] = LEARNERS[given["learner"]](voting=voting)
    plain, tuned = ESTIMATORS[task]
    if C == "auto":
        return tuned(select=select, verbose=1, **given)
    try:
        value = None if C is None else float(C)
    except ValueError as error:
        raise InvalidParameterError(f"--C {C}: give a number, or auto.") from error
    return plain(C=value, verbose=1, **given)


def _of_task(task: str, options: dict[str, Any]) -> dict[str, Any]:
    """The options that the estimator of the task takes; one that is for the other task is refused."""
    for name in OF_OTHERS[task]:
        if options[name] is not None:
            spelled = name.replace("_", "-")
            raise InvalidParameterError(f"--{spelled} {options[name]} is not for {task}: leave it out, or set --task.")
    taken = {name: value for name, value in options.items() if name not in (*OF_OTHERS[task], *LOSS_OPTIONS)}
    choice = "loss" if task == "regression" else "formulation"
    if taken[choice] is None:
        del taken[choice]
    return taken | _loss_object(options)


def _loss_object(options: dict[str, Any]) -> dict[str, Any]:
    """The loss with its options, if any is given."""
    given = {name: options[name] for name in LOSS_OPTIONS if options[name] is not None}
    if not given:
        return {}
    loss = NUMBER_LOSSES[options["loss"] or str(DualBoostRegressor().loss)]()
    for name in given:
        if name not in loss.get_params():
            raise InvalidParameterError(f"--{name} is no option of the loss {loss.name}: set --loss, or leave it out.")
    return {"loss": loss.set_params(**given)}
