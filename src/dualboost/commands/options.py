"""Options that commands share, and the names to choose from.

The names stand here once more, beside their registries, because importing those takes a second that --help does not
need.
"""

from __future__ import annotations

from pathlib import Path

import click

FORMULATIONS = (
    *("logistic", "nm", "qrlp", "lp", "cg", "erlp", "md", "lp-nu", "hard", "md-full", "convex", "lexi", "soft"),
    *("total", "mlp", "cq", "spatial"),
)
WITH_SIDES = ("cq", "spatial")
"""The formulations that ask something of learners beyond their margins."""
LOSSES_FOR_NUMBERS = ("squared", "huber", "absolute", "quantile", "quantiles", "poisson", "epsilon_insensitive")
LOSSES_FOR_CLASSES = ("exponential", "logistic", "squared_hinge", "huber")
"""Those of the formulation "convex"."""
LEARNERS = ("cart", "optimal", "xgboost")
TASKS = ("classification", "regression")
STANDARD = Path("-")
"""Standard input where a table is read, standard output where something is written."""

FILE = click.Path(path_type=Path)
TARGET = click.option("--target", required=True, help="The column with the labels, or the numbers.")
JSON = click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
