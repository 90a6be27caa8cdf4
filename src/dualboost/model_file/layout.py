"""What both sides of a model file agree on."""

from __future__ import annotations

FORMAT, VERSION = "dualboost-model", 2

LARGEST_TEXT = 32 * 2**20
"""Bytes of JSON; parsed, it takes up to 25 times as much memory."""
MOST_PARTS = 2**21
"""Lists, objects and keys, which take Python far longer than numbers do."""
MOST_FEATURES = 2**21
"""What a name is made for when the model is compiled, so that a few bytes could ask for any amount of memory."""

HEADER = ("format", "format_version", "dualboost_version", "model")
BODY = {
    "DualBoostClassifier": (
        *("parameters", "formulation", "classes", "features", "fit"),
        *("calibration", "balance", "trees", "history"),
    ),
    "DualBoostClassifierCV": (
        *("parameters", "formulation", "classes", "features", "fit", "tuning"),
        *("calibration", "balance", "trees", "history"),
    ),
    "ThinnedTreesClassifier": ("classes", "features", "intercept", "trees"),
}
"""The keys of each kind of model, in the order in which they are written."""

STOP_REASONS = (
    *("certified", "converged", "max_trees", "time_limit", "no_improvement"),
    *("callback", "interrupted", "solver_failed"),
)
COUNTS = ("iteration", "n_trees", "n_generated")
"""The whole numbers of the history."""
DEFAULT_FORMULATION = "nm"
"""What a file means that does not name the argument ``formulation``."""
