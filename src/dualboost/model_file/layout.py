"""The keys and limits of a model file, which writing and reading share."""

from __future__ import annotations

FORMAT = "dualboost-model"
"""The value of the key ``format`` in every model file."""
VERSION = 2
"""The version of the format that is written."""

LARGEST_TEXT = 32 * 2**20
"""The most bytes of JSON in a file; parsed, JSON takes up to 25 times as much memory."""
MOST_PARTS = 2**21
"""The most lists, objects and keys in a file: parsing these takes Python far longer than parsing numbers."""
MOST_FEATURES = 2**21
"""The most features of a model: a compiled model has a name for each, so that a tiny file that declares many features
could use any amount of memory."""

HEADER = ("format", "format_version", "dualboost_version", "model")
BODY = {
    "DualBoostClassifier": (
        *("parameters", "formulation", "classes", "features", "fit"),
        *("calibration", "balance", "intercept", "normalised", "trees", "history"),
    ),
    "DualBoostClassifierCV": (
        *("parameters", "formulation", "classes", "features", "fit", "tuning"),
        *("calibration", "balance", "intercept", "normalised", "trees", "history"),
    ),
    "ThinnedTreesClassifier": ("classes", "features", "intercept", "trees"),
    "DualBoostRegressor": (
        *("parameters", "formulation", "task", "features", "fit"),
        *("calibration", "intercept", "trees", "history"),
    ),
    "DualBoostRegressorCV": (
        *("parameters", "formulation", "task", "features", "fit", "tuning"),
        *("calibration", "intercept", "trees", "history"),
    ),
}
"""The keys of each kind of model, in the order in which they are written."""
MAY_LACK = {
    "DualBoostClassifier": ("intercept", "normalised"),
    "DualBoostClassifierCV": ("intercept", "normalised"),
    "ThinnedTreesClassifier": (),
    "DualBoostRegressor": ("calibration",),
    "DualBoostRegressorCV": ("calibration",),
}
"""The keys that older files do not have: those of before there were intercepts, whose scores are normalised, and those
of before regressors had intervals."""

STOP_REASONS = (
    *("certified", "converged", "max_trees", "time_limit", "no_improvement"),
    *("callback", "interrupted", "solver_failed", "grower_failed"),
)
COUNTS = ("iteration", "n_trees", "n_generated")
"""The columns of the history that are whole numbers."""
TIMINGS = ("pricing_seconds", "master_seconds")
"""The columns of the history that are not written, so that equal fits give equal files; older files have them."""
DEFAULT_FORMULATION = "nm"
"""The argument ``formulation`` of a file that does not contain it."""
DEFAULT_LOSS = "squared"
"""The same for the argument ``loss``."""
