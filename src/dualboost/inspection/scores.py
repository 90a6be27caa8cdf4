"""What the scores of a fit are called."""

from __future__ import annotations

from typing import Any

from ..escaping import printable
from ..models.fitted import FittedModel
from ..tasks.scoring import scoring_name


def held_out_name(estimator: Any) -> str:
    """The score on held-out rows: the one asked for, else that of the loss, else the accuracy."""
    own = getattr(estimator.formulation_, "scorer", None)
    return scoring_name(own if estimator.scoring is None else estimator.scoring)


def training_name(estimator: Any) -> str:
    """The score on the training rows."""
    return str(estimator.fitted_.task.quality_name)


def score_name(model: FittedModel) -> str:
    """What the trees add up to."""
    task = model.task
    if not task.has_classes:
        return "the logarithm of the mean" if task.name == "counts" else "y"
    if task.n_outputs > 1:
        return "the score of the class"
    return f"the log-odds of {printable(task.output_names[1])}" if not model.ensemble.is_normalised else "the margin"
