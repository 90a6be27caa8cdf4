"""What runs on a worker."""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

from ..errors import DualBoostWarning
from ..models.fitted import FittedModel
from ..workers import Traffic
from ..workers.xgboost import connected
from .partitions import Part, joined_rows

LONGEST_WAIT = 600
"""Seconds after which a worker no longer waits for the others, whose part of a tree or a sum may take its time."""


class Found(NamedTuple):
    """What a worker hands back: the first one the model and its warnings, the others what they have sent."""

    traffic: Traffic
    n_rows: int
    model: FittedModel | None = None
    warnings: tuple[tuple[str, type[DualBoostWarning]], ...] = ()


def fit_on_worker(estimator: Any, parts: list[Part], arguments: dict[str, Any], place: int, options: Any) -> Found:
    """The part of one worker in a fit; ``arguments`` tell where the others are found."""
    from distributed import get_worker

    rows = joined_rows(estimator, parts)
    if estimator.n_jobs is None:
        estimator = estimator.set_params(n_jobs=get_worker().state.nthreads)
    known = {"dmlc_task_id": f"dualboost-{place:06d}", "dmlc_timeout": LONGEST_WAIT}
    with connected(**arguments, **known) as workers, warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", DualBoostWarning)
        model = estimator.fit_part(rows.X, rows.y, rows.weights, workers, **options)
    if workers.rank > 0:
        return Found(workers.traffic, len(rows.y))
    told = {(str(one.message), one.category) for one in caught if issubclass(one.category, DualBoostWarning)}
    return Found(workers.traffic, len(rows.y), model, tuple(sorted(told, key=str)))
