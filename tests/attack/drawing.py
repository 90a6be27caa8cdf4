"""Random fits: parameters over every formulation, learner, unit of correction and task."""

from dualboost.formulations import FORMULATIONS, NUMBER_LOSSES

from .case import Case
from .tables import random_columns, random_labels, random_numbers, random_weights

TASKS = ("two classes", "several classes", "numbers", "quantiles")
LEARNERS = (
    '"cart"', '"cart"', '"cart"', '"optimal"', 'CartLearner(criterion="edge")', 'CartLearner(voting="confidence")',
    "OptimalLearner(max_depth=1)", '["cart", OptimalLearner(max_depth=1)]',
    "[CartLearner(max_depth=1), CartLearner(max_depth=3)]", "LogisticRegression()",
    "DecisionTreeClassifier(max_depth=2, random_state=0)",
)  # fmt: skip
SOLVERS = (
    'SolverOptions(reoptimize="every")', 'SolverOptions(columns_per_iteration="all")',
    'SolverOptions(schedule="rotate")', 'SolverOptions(method="highs")', 'SolverOptions(method="clarabel")',
    'SolverOptions(method="ipm")',
    "SolverOptions(active_rows=5)", "SolverOptions(columns_per_iteration=3)",
)  # fmt: skip
CONVEX = [
    f"ConvexBoost(loss={loss!r}, penalty={penalty!r})"
    for loss in ("exponential", "logistic", "squared_hinge", "huber")
    for penalty in ("l1", "l2", "linf")
]
WITH_LEAVES = ("logistic", "lp", "cg", "convex")


def random_case(rng, most_rows=120, plain=False, is_whole=False):
    """A fit of any task.

    A plain one has weights that are multiplicities, for other solvers; plain and whole ones have neither held-out rows
    nor weights of classes nor a tuned C.
    """
    plain, whole_weights = plain or is_whole, plain
    task = TASKS[rng.choice(4, p=[0.45, 0.2, 0.25, 0.1])]
    n_rows = int(rng.integers(2, most_rows + 1))
    columns = random_columns(rng, n_rows, int(rng.integers(1, 6)))
    options, is_count = dict(_common(rng, plain)), False
    if task in ("two classes", "several classes"):
        estimator = "DualBoostClassifier"
        y = random_labels(rng, columns, 2 if task == "two classes" else int(rng.integers(3, 6)))
        options |= _of_classes(rng, n_rows, plain)
    else:
        estimator = "DualBoostRegressor"
        options |= _of_numbers(rng, task, plain)
        is_count = options["loss"] == '"poisson"' and rng.random() < 0.9
        y = random_numbers(rng, columns, is_count)
    if not plain and rng.random() < 0.1:
        estimator, options = estimator + "CV", {"Cs": "2", "cv": "2"} | options
        options = {name: source for name, source in options.items() if name not in ("C", "n_iter_no_change")}
    return Case(estimator, options, columns, y, random_weights(rng, n_rows, whole=whole_weights))


def _some(rng, share, name, sources):
    """An option with one of these values, now and then."""
    return {name: str(sources[rng.integers(len(sources))])} if rng.random() < share else {}


def _common(rng, plain):
    options = {"max_trees": str(rng.integers(1, 13))}
    options |= _some(rng, 0.8, "max_depth", range(1, 5)) | _some(rng, 0.5, "learner", LEARNERS)
    options |= _some(rng, 0.3, "solver", SOLVERS) | _some(rng, 0.3, "optimize", ['"leaves"', '"weights"'])
    options |= _some(rng, 0.1, "tol", ["1e-3", "1e-8"])
    if not plain:
        options |= _some(rng, 0.15, "validation_fraction", [0.1, 0.3, 0.5]) | _some(
            rng, 0.15, "n_iter_no_change", [1, 3]
        )
        options |= _some(rng, 0.2, "n_jobs", [2]) | _some(rng, 0.5, "random_state", range(3))
    return options


def _strength(rng):
    """C as text: a usual one, or an extreme one."""
    exponent = rng.uniform(-3, 3) if rng.random() < 0.7 else rng.uniform(-12, 14)
    return {"C": repr(float(10.0**exponent))} if rng.random() < 0.6 else {}


def _of_classes(rng, n_rows, plain):
    name = str(rng.choice(sorted(FORMULATIONS)))
    options = {"formulation": repr(name)}
    grid = FORMULATIONS[name]().C_grid(n_rows)
    options |= {"C": repr(float(rng.choice(grid)))} if rng.random() < 0.4 else _strength(rng)
    if name == "convex":
        options["formulation"] = str(rng.choice(CONVEX))
    if name not in WITH_LEAVES:
        options |= {"optimize": '"weights"'} if rng.random() < 0.95 else {}
    if FORMULATIONS[name].has_epsilon():
        options |= _some(rng, 0.3, "epsilon", [0.5, 0.1, 1e-3])
    if not plain:
        options |= _some(rng, 0.15, "class_weight", ['"balanced"'])
    return options | _some(rng, 0.7, "calibration", ['"training"'])


def _of_numbers(rng, task, plain):
    if task == "quantiles":
        levels = sorted({round(float(level), 2) for level in rng.uniform(0.01, 0.99, rng.integers(2, 5))} | {0.5, 0.9})
        options = {"loss": '"quantile"', "quantiles": repr(levels), "optimize": '"leaves"'}
        return options | _strength(rng) | ({} if plain else _some(rng, 0.3, "interval_calibration", ['"conformal"']))
    loss = str(rng.choice(list(NUMBER_LOSSES)))
    source = "QuantileLoss(quantiles=0.8)" if loss == "quantile" else repr(loss).replace("'", '"')
    return {"loss": source} | _strength(rng)
