"""``dualboost fit``, and the options that commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

# The names stand here once more, beside their registries, because importing those takes a second that --help does not
# need.

FORMULATIONS = (
    *("logistic", "nm", "qrlp", "lp", "cg", "erlp", "md", "lp-nu", "hard", "md-full", "convex", "lexi", "soft"),
    *("total", "mlp", "cq", "spatial"),
)
WITH_SIDES = ("cq", "spatial")
"""The formulations that ask something of learners beyond their margins."""
LOSSES_FOR_NUMBERS = ("squared", "huber", "absolute", "quantile", "poisson", "epsilon_insensitive")
LOSSES_FOR_CLASSES = ("exponential", "logistic", "squared_hinge", "huber")
"""Those of the formulation "convex"."""
LEARNERS = ("cart", "optimal", "xgboost")
TASKS = ("classification", "regression")
STANDARD = Path("-")
"""Standard input where a table is read, standard output where something is written."""

FILE = click.Path(path_type=Path)
TARGET = click.option("--target", required=True, help="The column with the labels, or the numbers.")
JSON = click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")


OF_NUMBERS = ("delta", "quantile", "quantiles", "calibrate")
"""Options of regression alone."""


@click.command()
@click.argument("data", type=FILE)
@TARGET
@click.option(
    "-o", "--out", type=FILE, default="model.json", show_default=True, help="The model file, or - for standard output."
)
@click.option("--task", type=click.Choice(TASKS), help="What the target is [default: guessed, and said].")
@click.option(
    "--formulation", type=click.Choice(FORMULATIONS), help="What is optimised for classes [default: logistic]."
)
@click.option(
    "--loss",
    type=click.Choice(list(dict.fromkeys(LOSSES_FOR_NUMBERS + LOSSES_FOR_CLASSES))),
    help="What is optimised for numbers [default: squared]; for classes with --formulation convex.",
)
@click.option("--delta", type=float, help="With --loss huber: where it becomes linear, in deviations of the target.")
@click.option("--quantile", type=float, help="With --loss quantile: above 0 and below 1.")
@click.option("--quantiles", help="With --loss quantile: several at once, such as 0.05,0.5,0.95.")
@click.option(
    "--calibrate",
    type=click.Choice(["conformal"]),
    help="With --quantiles: set rows aside, and let the interval cover as many new rows as it promises.",
)
@click.option(
    "--epsilon",
    type=float,
    help="The constant of erlp, qrlp, soft, total and mlp; or the half-width of --loss epsilon_insensitive.",
)
@click.option(
    "--optimize",
    type=click.Choice(["weights", "leaves"]),
    help="What is re-optimised after every new tree [default: the leaves for logistic and losses, else the trees].",
)
@click.option("--C", "C", default=None, help="A number, or auto to tune it on held-out rows [default: by formulation].")
@click.option(
    "--max-depth", type=int, help="The greatest depth of a tree [default: 5 for leaves, 2 if optimal; 1 for trees]."
)
@click.option("--max-trees", type=int, help="The greatest number of trees [default: 50 for leaves, 100 for trees].")
@click.option("--max-leaf-nodes", type=int, help="The most leaves of a tree [default: no limit].")
@click.option("--min-samples-leaf", default="1", show_default=True, help="The fewest rows in a leaf, or their share.")
@click.option("--max-features", help="How many columns a split is chosen from: a number, a share, sqrt or log2.")
@click.option("--subsample", type=float, help="The share of the rows that each tree is grown on, for leaves.")
@click.option(
    "--monotonic",
    multiple=True,
    metavar="COLUMN=+1",
    help="Predictions must not fall (+1), or not rise (-1), if this column rises; may be given again.",
)
@click.option(
    "--interactions",
    multiple=True,
    metavar="pairwise|none|A,B",
    help="Which columns may be on the way to one leaf: any two, one, or these; may be given again.",
)
@click.option(
    "--voting",
    type=click.Choice(["hard", "confidence"]),
    default="hard",
    show_default=True,
    help="How trees vote that have one weight each; over leaves, each of which has a value, it changes nothing.",
)
@click.option("--learner", type=click.Choice(LEARNERS), default="cart", show_default=True)
@click.option(
    "--select", type=click.Choice(["best", "sparsest"]), default="best", show_default=True, help="With --C auto."
)
@click.option(
    "--scale-free", is_flag=True, help="Let C mean the same on any number of rows; for cg, convex, erlp, lp and qrlp."
)
@click.option("--cv", type=int, help="With --C auto: the number of folds [default: a fifth of the rows is held out].")
@click.option("--scoring", help="What --C auto and early stopping go by, e.g. roc_auc [default: accuracy, or loss].")
@click.option(
    "--class-weight",
    multiple=True,
    metavar="balanced|LABEL=WEIGHT",
    help="Let every class weigh the same in all, or the rows of a class so much; may be given again.",
)
@click.option("--sample-weight", help="A column with the weight of each row: 2 counts as the row twice.")
@click.option("--categorical", multiple=True, help="A column of numbers that are categories; may be given again.")
@click.option("--drop", multiple=True, help="A column to leave out, such as an identifier; may be given again.")
@click.option("--eval-set", type=FILE, help="A second table with the target, to score on while fitting.")
@click.option("--validation-fraction", type=float, help="The share of the rows to score on while fitting.")
@click.option("--n-iter-no-change", type=int, help="Stop after so many trees without a better score on these rows.")
@click.option("--n-jobs", type=int, help="The number of threads; -1 for all [default: 1].")
@click.option(
    "--device",
    type=click.Choice(["cpu", "cuda"]),
    default="cpu",
    show_default=True,
    help="cuda fits on a GPU, with --learner xgboost.",
)
@click.option("--time-limit", type=float, help="Seconds for the fit, which may take a third longer.")
@click.option("--random-state", default=0, show_default=True)
@click.option("--scheduler", help="The address of a Dask scheduler, whose workers read DATA, such as 'data/*.parquet'.")
@click.option("--checkpoint", type=FILE, help="With --scheduler: a folder to keep trees in, from which a fit goes on.")
@JSON
def fit(
    data: Path,
    target: str,
    out: Path,
    task: str | None,
    C: str | None,
    select: str,
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
    from .models import description
    from .output import report, require_place, write_model

    require_place(out, *(path for path in (data, eval_set) if path is not None))
    if task is None and options["formulation"] is None and _is_of_numbers(options):
        task = TASKS[1]
    is_weighted = options["class_weight"] or sample_weight
    weights = [] if sample_weight is None else [sample_weight]
    columns = {"--drop": drop, "--categorical": categorical, "--sample-weight": weights}
    if scheduler is None:
        found = _fit_here(data, eval_set, target, columns, task, C, select, options)
    else:
        from .estimators import fit_over

        asked = options | {"C": C, "select": select, "eval_set": eval_set}
        found = fit_over(scheduler, data, target, columns, task, asked, checkpoint)
    model, learnt, n_rows, n_features = found
    write_model(model, out)
    said = learnt if task or as_json else f"{learnt}, guessed from the target (see --task)"
    figures = {"task": said, "model": str(out), "rows": n_rows, "features": n_features}
    quality = f"{'weighted_' if is_weighted else ''}training_{'accuracy' if learnt == TASKS[0] else 'r2'}"
    figures |= description(model) | {quality: model.history_["train_score"][-1]}
    judged = model.history_["validation_score"][-1]
    figures |= {"validation_score": judged} if judged == judged else {}
    report(figures, as_json, to_stderr=out == STANDARD)
    if model.stop_reason_ == "interrupted":
        raise KeyboardInterrupt


def _is_of_numbers(options: dict[str, Any]) -> bool:
    """Whether an option is given that classification by the default formulation does not have."""
    return options["loss"] in LOSSES_FOR_NUMBERS or any(options[name] is not None for name in OF_NUMBERS)


def _fit_here(
    data: Path,
    eval_set: Path | None,
    target: str,
    columns: dict[str, Any],
    task: str | None,
    C: str | None,
    select: str,
    options: dict[str, Any],
) -> tuple[Any, str, int, int]:
    """The model, its task, and the numbers of rows and of features."""
    from .estimators import asked_estimator
    from .tables import read_evaluation, read_training

    weights, categorical = next(iter(columns["--sample-weight"]), None), columns["--categorical"]
    training = read_training(data, target, columns["--drop"], task, categorical, weights)
    estimator = asked_estimator(training, C, select, options)
    rows = None if eval_set is None else read_evaluation(eval_set, target, training, categorical, weights)
    model = estimator.fit(training.features, training.target, training.weights, eval_set=rows)
    return model, training.task, len(training.target), training.features.shape[1]
