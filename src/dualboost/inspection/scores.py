"""What the scores of a fit are called."""

from __future__ import annotations

from typing import Any

from ..tasks.scoring import scoring_name


def held_out_name(estimator: Any) -> str:
    """The score on held-out rows: the one asked for, else that of the loss, else the accuracy."""
    own = getattr(estimator.formulation_, "scorer", None)
    return scoring_name(own if estimator.scoring is None else estimator.scoring)


def training_name(estimator: Any) -> str:
    """The score on the training rows."""
    return str(estimator.fitted_.task.quality_name)
