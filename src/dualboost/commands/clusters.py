"""``dualboost fit`` over the workers of a Dask cluster, which read the files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from ..dask import DaskDualBoostClassifier, DaskDualBoostRegressor
from ..dask.partitions import require_distributed
from ..data.on_disk import ParquetFiles
from ..data.table_files import name_of
from ..data.tables import Table
from ..errors import InvalidDataError, InvalidParameterError
from .asked import asked_estimator
from .reading import source_of
from .targets import Training, guessed_task, require_columns, split_frame, whole_labels

ESTIMATORS: dict[str, Any] = {"classification": DaskDualBoostClassifier, "regression": DaskDualBoostRegressor}
LONGEST_WAIT = 10.0
"""Seconds within which the scheduler must answer."""
SAMPLE = 10_000
"""How many of the first rows are read to tell the task."""


class FittedOver(NamedTuple):
    """A model that was fitted over a cluster."""

    model: Any
    task: str
    n_rows: int
    n_features: int


def fit_over(
    scheduler: str,
    path: Path,
    target: str,
    columns: dict[str, Sequence[str]],
    task: str | None,
    options: dict[str, Any],
    checkpoint: Path | None,
) -> FittedOver:
    """Fit to Parquet files that the workers read; ``columns`` are those that options name, by option."""
    distributed = require_distributed()
    try:
        client = distributed.Client(scheduler, timeout=LONGEST_WAIT)
    except (OSError, ValueError) as error:
        raise InvalidParameterError(f"--scheduler {scheduler}: no scheduler answers there ({error}).") from error
    with client:
        frame = _frame(path, columns["--drop"])
        sample = frame.head(SAMPLE, npartitions=-1)
        require_columns(sample, target, columns, path)
        others = [*columns["--drop"], *columns["--sample-weight"]]
        known, column = split_frame(sample.drop(columns=others), target, path)
        task = task or guessed_task(column)
        training = Training(Table(known, source_of(path)), column.to_numpy(), task, None)
        estimator = _estimator(training, options, client)
        frame = frame.astype(dict.fromkeys(columns["--categorical"], "category"))
        weights = next((frame[name] for name in columns["--sample-weight"]), None)
        features = frame.drop(columns=[target, *others])
        y = frame[target].map_partitions(whole_labels) if task == "classification" else frame[target]
        estimator.fit(features, y, weights, checkpoint=checkpoint)
        return FittedOver(estimator.to_local(), task, sum(estimator.n_rows_), features.shape[1])


def _frame(path: Path, dropped: Sequence[str]) -> Any:
    import dask.dataframe as dd

    if path.suffix != ".parquet":
        raise InvalidDataError(f"{name_of(path)}: with --scheduler, give Parquet files, such as 'data/*.parquet'.")
    files = ParquetFiles(path)  # Dask leaves out the columns that the first file does not have
    files.of_columns([name for name in files.names if name not in dropped])
    try:
        return dd.read_parquet(str(path))
    except OSError as error:
        raise InvalidDataError(f"{name_of(path)}: cannot be read: {error}") from error


def _estimator(training: Training, options: dict[str, Any], client: Any) -> Any:
    """The estimator that the options ask for; the learner that is not asked for is XGBoost's."""
    C, select, eval_set = (options.pop(name) for name in ("C", "select", "eval_set"))
    if C == "auto" or eval_set is not None:
        wrong = "--C auto" if C == "auto" else "--eval-set"
        raise InvalidParameterError(f"{wrong} needs all rows in one place: leave it out, or leave --scheduler out.")
    learner = "xgboost" if options["learner"] == "cart" else options["learner"]
    asked = asked_estimator(training, C, select, options | {"learner": learner})
    return ESTIMATORS[training.task](**asked.set_params(verbose=0).get_params(deep=False), client=client)
