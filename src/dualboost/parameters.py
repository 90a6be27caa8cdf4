"""The parameters of the estimators, in one table.

The checks of estimators, model files, the options of ``dualboost fit`` and the tests of docstrings are derived from it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

# This module imports no library, because --help would then take a second longer. So the names of formulations, losses
# and learners stand here once more; a test compares them with the registries.

FORMULATIONS = (
    *("logistic", "nm", "qrlp", "lp", "cg", "erlp", "md", "lp-nu", "hard", "md-full", "convex", "lexi", "soft"),
    *("total", "mlp", "cq", "spatial"),
)
WITH_SIDES = ("cq", "spatial")
"""The formulations whose programmes have rows beside the margins."""
LOSSES_FOR_NUMBERS = ("squared", "huber", "absolute", "quantile", "poisson", "epsilon_insensitive")
LOSSES_FOR_CLASSES = ("exponential", "logistic", "squared_hinge", "huber")
"""The losses of the formulation "convex"."""
LEARNERS = ("cart", "optimal", "xgboost")
CLASSIFICATION, REGRESSION = TASKS = ("classification", "regression")


@dataclass(frozen=True)
class Integer:
    least: int


@dataclass(frozen=True)
class Positive:
    """A finite number above 0."""


@dataclass(frozen=True)
class Fraction:
    """A number above 0 and below 1."""


@dataclass(frozen=True)
class Share:
    """A number above 0 and up to 1."""


@dataclass(frozen=True)
class CountOrShare:
    """A whole number, or a share of the whole; or one of some words."""

    whole: str
    takes_all: bool
    """Whether the share may be 1."""
    words: tuple[str, ...] = ()


@dataclass(frozen=True)
class Choice:
    names: tuple[str, ...]


@dataclass(frozen=True)
class Flag:
    """True or False."""


@dataclass(frozen=True)
class Other:
    """Checked, written and read by functions that are found by the name of the parameter."""


Kind = Integer | Positive | Fraction | Share | CountOrShare | Choice | Flag | Other


class Option(NamedTuple):
    """An option of ``dualboost fit``, as far as it does not follow from the parameter."""

    flag: str = ""
    type: type | None = None
    default: Any = None
    choices: tuple[str, ...] = ()
    metavar: str | None = None
    multiple: bool = False
    task: str | None = None
    """The only task that has the option."""


@dataclass(frozen=True)
class Parameter:
    """A parameter may be None if and only if that is its default; ``Other`` kinds have their own rules."""

    name: str
    kind: Kind
    default: Any
    of: tuple[str, ...]
    """The estimators that have it."""
    help: str
    option: Option | None = field(default=None)


CLASSIFIERS = ("DualBoostClassifier", "DualBoostClassifierCV")
REGRESSORS = ("DualBoostRegressor", "DualBoostRegressorCV")
ALL = CLASSIFIERS + REGRESSORS
UNTUNED = ("DualBoostClassifier", "DualBoostRegressor")
TUNED = ("DualBoostClassifierCV", "DualBoostRegressorCV")
OBJECTS = ()
"""Options of a loss, a formulation or a learner, which ``dualboost fit`` makes an object of."""

TABLE = (
    Parameter(
        *("formulation", Other(), "logistic", CLASSIFIERS),
        "What is optimised for classes [default: logistic].",
        Option(choices=FORMULATIONS, task=CLASSIFICATION),
    ),
    Parameter(
        *("loss", Other(), "squared", REGRESSORS),
        "What is optimised for numbers [default: squared]; for classes with --formulation convex.",
        Option(choices=tuple(dict.fromkeys(LOSSES_FOR_NUMBERS + LOSSES_FOR_CLASSES))),
    ),
    Parameter(
        *("delta", Positive(), None, OBJECTS),
        "With --loss huber: where it becomes linear, in deviations of the target.",
        Option(task=REGRESSION),
    ),
    Parameter(
        *("quantile", Fraction(), None, OBJECTS),
        "With --loss quantile: above 0 and below 1.",
        Option(task=REGRESSION),
    ),
    Parameter(
        *("quantiles", Other(), None, REGRESSORS),
        "With --loss quantile: several at once, such as 0.05,0.5,0.95.",
        Option(task=REGRESSION),
    ),
    Parameter(
        *("interval_calibration", Choice(("conformal",)), None, REGRESSORS),
        "With --quantiles: set rows aside, and let the interval cover as many new rows as it promises.",
        Option(task=REGRESSION),
    ),
    Parameter(
        *("epsilon", Positive(), None, CLASSIFIERS),
        "The constant of erlp, qrlp, soft, total and mlp; or the half-width of --loss epsilon_insensitive.",
        Option(),
    ),
    Parameter(
        *("optimize", Choice(("weights", "leaves")), None, ALL),
        "What is re-optimised after every new tree [default: the leaves for logistic and losses, else the trees].",
        Option(),
    ),
    Parameter(
        *("C", Other(), None, UNTUNED),
        "A number, or auto to tune it on held-out rows [default: by formulation].",
        Option(flag="--C"),
    ),
    Parameter("Cs", Other(), 10, TUNED, "The values of C to compare, or how many."),
    Parameter(
        *("max_depth", Integer(1), None, ALL),
        "The greatest depth of a tree [default: 5 for leaves, 2 if optimal; 1 for trees].",
        Option(),
    ),
    Parameter(
        *("max_trees", Integer(1), None, ALL),
        "The greatest number of trees [default: 50 for leaves, 100 for trees].",
        Option(),
    ),
    Parameter("max_leaf_nodes", Integer(2), None, ALL, "The most leaves of a tree [default: no limit].", Option()),
    Parameter(
        *("min_samples_leaf", CountOrShare("rows", takes_all=False), 1, ALL),
        "The fewest rows in a leaf, or their share.",
        Option(default="1"),
    ),
    Parameter(
        *("max_features", CountOrShare("features", takes_all=True, words=("sqrt", "log2")), None, ALL),
        "How many columns a split is chosen from: a number, a share, sqrt or log2.",
        Option(),
    ),
    Parameter(
        *("subsample", Share(), None, ALL),
        "The share of the rows that each tree is grown on, for leaves.",
        Option(),
    ),
    Parameter(
        *("monotonic_cst", Other(), None, ALL),
        "Predictions must not fall (+1), or not rise (-1), if this column rises; may be given again.",
        Option(flag="--monotonic", metavar="COLUMN=+1", multiple=True),
    ),
    Parameter(
        *("interaction_cst", Other(), None, ALL),
        "Which columns may be on the way to one leaf: any two, one, or these; may be given again.",
        Option(flag="--interactions", metavar="pairwise|none|A,B", multiple=True),
    ),
    Parameter(
        *("voting", Choice(("hard", "confidence")), "hard", OBJECTS),
        "How trees vote that have one weight each; over leaves, each of which has a value, it changes nothing.",
        Option(default="hard"),
    ),
    Parameter(
        *("learner", Other(), "cart", ALL),
        "How trees are grown.",
        Option(default="cart", choices=LEARNERS),
    ),
    Parameter(
        *("select", Choice(("best", "sparsest")), "best", TUNED),
        "With --C auto: the best score, or the fewest trees within one standard error of it.",
        Option(default="best"),
    ),
    Parameter(
        *("scale_free", Flag(), False, OBJECTS),
        "Let C mean the same on any number of rows; for cg, convex, erlp, lp and qrlp.",
        Option(task=CLASSIFICATION),
    ),
    Parameter(
        *("cv", Other(), None, TUNED),
        "With --C auto: the number of folds [default: a fifth of the rows is held out].",
        Option(type=int),
    ),
    Parameter(
        *("scoring", Other(), None, ALL),
        "The score for --C auto and early stopping, such as roc_auc [default: accuracy, or loss].",
        Option(),
    ),
    Parameter(
        *("class_weight", Other(), None, CLASSIFIERS),
        "Let every class weigh the same in all, or the rows of a class so much; may be given again.",
        Option(metavar="balanced|LABEL=WEIGHT", multiple=True, task=CLASSIFICATION),
    ),
    Parameter(
        *("validation_fraction", Fraction(), None, UNTUNED),
        "The share of the rows to score on while fitting.",
        Option(),
    ),
    Parameter("validation_fraction", Fraction(), 0.2, TUNED, "The share of the rows to score on, if there is no cv."),
    Parameter(
        *("n_iter_no_change", Integer(1), None, UNTUNED),
        "Stop after so many trees without a better score on these rows.",
        Option(),
    ),
    Parameter("n_jobs", Other(), None, ALL, "The number of threads; -1 for all [default: 1].", Option(type=int)),
    Parameter(
        *("device", Choice(("cpu", "cuda")), "cpu", ALL),
        "cuda fits on a GPU, with --learner xgboost.",
        Option(default="cpu"),
    ),
    Parameter("time_limit", Positive(), None, ALL, "Seconds for the fit, which may take a third longer.", Option()),
    Parameter(
        *("random_state", Other(), None, ALL),
        "The seed of all that is drawn at random.",
        Option(type=int, default=0),
    ),
    Parameter("tol", Positive(), 1e-6, ALL, "The largest relative duality gap of a solution."),
    Parameter("solver", Other(), None, ALL, "How the programmes are solved: SolverOptions(...)."),
    Parameter("categorical_features", Other(), "from_dtype", ALL, "The columns that hold categories."),
    Parameter(
        *("calibration", Choice(("cross_fit", "training")), "cross_fit", CLASSIFIERS),
        "The rows that probabilities are fitted to where none are held out.",
    ),
    Parameter("warm_start", Flag(), False, UNTUNED, "Whether fit goes on from the trees of the fit before."),
    Parameter("verbose", Other(), 0, ALL, "1 shows a progress bar on a terminal."),
    Parameter("callbacks", Other(), None, ALL, "Functions that are called after every iteration."),
)


def parameters_of(kind: str) -> dict[str, Parameter]:
    """The parameters of an estimator, by name."""
    return {parameter.name: parameter for parameter in TABLE if kind in parameter.of}


OPTIONS = {parameter.name: parameter for parameter in TABLE if parameter.option is not None}
"""The parameters that ``dualboost fit`` has an option for."""


def flag_of(name: str) -> str:
    """The option of a parameter, as it is written."""
    option = OPTIONS[name].option
    return option.flag if option is not None and option.flag else f"--{name.replace('_', '-')}"
