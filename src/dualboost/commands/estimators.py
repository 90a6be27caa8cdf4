"""The estimator that the options of ``dualboost fit`` describe, and fits over a cluster."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..dask import DaskDualBoostClassifier, DaskDualBoostRegressor
from ..dask.cluster import require_distributed
from ..data.columns import few, suggestion
from ..data.on_disk import ParquetFiles
from ..data.table_files import name_of
from ..data.tables import Table
from ..errors import InvalidDataError, InvalidParameterError
from ..estimators.classifier import DualBoostClassifier
from ..estimators.cross_validation import DualBoostClassifierCV, DualBoostRegressorCV
from ..estimators.regressor import DualBoostRegressor
from ..formulations import FORMULATIONS, NUMBER_LOSSES
from ..formulations.quantiles import QuantileLoss
from ..learners import LEARNERS
from ..parameters import CLASSIFICATION, OPTIONS, REGRESSION, flag_of, parameters_of
from .tables import Training, guessed_task, require_columns, source_of, split_frame, whole_labels

SIGNS = {"+1": 1, "1": 1, "-1": -1, "0": 0}
INTERACTIONS = {"pairwise": "pairwise", "none": "no_interactions"}
"""The words of the option, and of the parameter."""
DRAWS = ("sqrt", "log2")
BALANCED = "balanced"


def number_or_share(option: str, text: str) -> int | float:
    """A whole number, or a fraction."""
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    raise InvalidParameterError(f"--{option} {text}: give a whole number, or a fraction such as 0.02.")


def max_features(text: str | None) -> int | float | str | None:
    return text if text is None or text in DRAWS else number_or_share("max-features", text)


def monotonic(entries: Sequence[str], columns: Sequence[str]) -> dict[str, int] | None:
    """The signs by column; None if there are none."""
    signs = {}
    for entry in entries:
        name, sign = _halves("monotonic", entry, "age=+1 or age=-1")
        if sign not in SIGNS:
            raise InvalidParameterError(f"--monotonic {entry}: the sign must be +1 or -1.")
        signs[_known("monotonic", name, columns)] = SIGNS[sign]
    return signs or None


def interactions(entries: Sequence[str], columns: Sequence[str]) -> Any:
    """A word for all columns, or sets of positions of columns; None if there are none."""
    words = [entry for entry in entries if entry in INTERACTIONS]
    if words and len(entries) > 1:
        raise InvalidParameterError(f"--interactions {words[0]} is for all columns: leave the others out.")
    if words:
        return INTERACTIONS[words[0]]
    names = [[_known("interactions", name, columns) for name in entry.split(",")] for entry in entries]
    return [{list(columns).index(name) for name in one} for one in names] or None


def class_weight(entries: Sequence[str], labels: NDArray[Any]) -> Any:
    """ "balanced", or the weights by label; None if there are none."""
    if BALANCED in entries and len(entries) > 1:
        raise InvalidParameterError(f"--class-weight {BALANCED} is for all classes: leave the others out.")
    if BALANCED in entries:
        return BALANCED
    known = {str(label): label for label in np.unique(labels).tolist()}
    weights = {}
    for entry in entries:
        label, weight = _halves("class-weight", entry, f"{BALANCED}, or {next(iter(known))}=5")
        if label not in known:
            raise InvalidParameterError(f"--class-weight {entry}: the classes are {few(known)}.")
        weights[known[label]] = number_or_share("class-weight", weight)
    return weights or None


def _halves(option: str, entry: str, example: str) -> tuple[str, str]:
    name, sign, value = entry.rpartition("=")
    if not sign:
        raise InvalidParameterError(f"--{option} {entry}: write {example}.")
    return name, value


def _known(option: str, name: str, columns: Sequence[str]) -> str:
    if name not in columns:
        raise InvalidParameterError(
            f"--{option} {name}: there is no such column to learn from; {suggestion(name, list(columns))}"
        )
    return name


ESTIMATORS: dict[str, tuple[Any, Any]] = {
    CLASSIFICATION: (DualBoostClassifier, DualBoostClassifierCV),
    REGRESSION: (DualBoostRegressor, DualBoostRegressorCV),
}
"""The estimator of each task, and the one that tunes C."""
LOSS_OPTIONS = {"delta": "delta", "quantile": "quantiles", "epsilon": "epsilon"}
"""The options of losses for numbers."""


def estimator_of(training: Training, options: dict[str, Any]) -> Any:
    """The estimator for these options, which are the options of the table of parameters."""
    C, select = options["C"], options["select"]
    if select != "best" and C != "auto":
        raise InvalidParameterError(f"--select {select} chooses among values of C: add --C auto.")
    given = _of_columns(_of_task(training.task, options), training)
    voting = given.pop("voting")
    if voting != "hard":  # other learners have no parameter for this
        given["learner"] = LEARNERS[given["learner"]](voting=voting)
    kind = ESTIMATORS[training.task][C == "auto"]
    if C == "auto":
        del given["C"]
        if given["validation_fraction"] is None:
            del given["validation_fraction"]
    else:
        del given["select"]
        given["C"] = _number(C)
    for name in [name for name in given if name not in parameters_of(kind.__name__)]:
        value = given.pop(name)
        if value is not None:
            where = "a fit at one C" if C is None else f"--C {C}"
            instead = "leave it out, or give C a number" if C == "auto" else "add --C auto"
            raise InvalidParameterError(f"{flag_of(name)} {value} is not for {where}: {instead}.")
    return kind(verbose=1, **given)


def _number(C: str | None) -> float | None:
    try:
        return None if C is None else float(C)
    except ValueError as error:
        raise InvalidParameterError(f"--C {C}: give a number, or auto.") from error


def _of_task(task: str, options: dict[str, Any]) -> dict[str, Any]:
    others = [name for name, one in OPTIONS.items() if one.option is not None and one.option.task not in (None, task)]
    for name in others:
        if _is_given(options[name]):
            raise _not_for(task, name, options[name])
    taken = {name: value for name, value in options.items() if name not in others}
    return _for_classes(taken) if task == CLASSIFICATION else _for_numbers(taken)


def _of_columns(options: dict[str, Any], training: Training) -> dict[str, Any]:
    """The options, where text becomes numbers, and names of columns and classes become parameters."""
    columns = [str(name) for name in training.features.names]
    found = {
        "min_samples_leaf": number_or_share("min-samples-leaf", options["min_samples_leaf"]),
        "max_features": max_features(options["max_features"]),
        "monotonic_cst": monotonic(options["monotonic_cst"], columns),
        "interaction_cst": interactions(options["interaction_cst"], columns),
    }
    if "class_weight" in options:
        found["class_weight"] = class_weight(options["class_weight"], training.target)
    return options | found


def _is_given(value: Any) -> bool:
    return value is not None and value is not False and value != ()


def _not_for(task: str, name: str, value: Any) -> InvalidParameterError:
    shown = "" if value is True else f" {' '.join(value) if isinstance(value, tuple) else value}"
    return InvalidParameterError(f"{flag_of(name)}{shown} is not for {task}: leave it out, or set --task.")


def _for_classes(options: dict[str, Any]) -> dict[str, Any]:
    """The options of a classifier; a loss, or a C that is free of scale, makes an object of the formulation."""
    taken = {name: value for name, value in options.items() if name not in ("loss", "formulation", "scale_free")}
    given = {name: options[name] for name in ("loss", "scale_free") if _is_given(options[name])}
    name = options["formulation"]
    if not given:
        return taken if name is None else taken | {"formulation": name}
    kind = FORMULATIONS[name or str(DualBoostClassifier().formulation)]
    for option, value in given.items():
        if option not in kind().get_params():
            able = [one for one, other in FORMULATIONS.items() if option in other().get_params()]
            shown = "" if value is True else f" {value}"
            raise InvalidParameterError(
                f"{flag_of(option)}{shown} is not for classification by {kind.name}: set --formulation "
                f"{' or '.join(able)}, set --task, or leave it out."
            )
    if taken["epsilon"] is not None and "epsilon" in kind().get_params():  # an object has its own
        given["epsilon"] = taken.pop("epsilon")
    return taken | {"formulation": kind(**given)}


def _for_numbers(options: dict[str, Any]) -> dict[str, Any]:
    if options["loss"] is not None and options["loss"] not in NUMBER_LOSSES:
        raise _not_for(REGRESSION, "loss", options["loss"])
    taken = {name: value for name, value in options.items() if name not in LOSS_OPTIONS}
    if taken["loss"] is None:
        del taken["loss"]
    return taken | _loss_object(options) | _several_quantiles(options)


def _loss_object(options: dict[str, Any]) -> dict[str, Any]:
    given = {name: options[name] for name in LOSS_OPTIONS if options[name] is not None}
    if not given:
        return {}
    loss = NUMBER_LOSSES[options["loss"] or str(DualBoostRegressor().loss)]()
    for name in given:
        if LOSS_OPTIONS[name] not in loss.get_params():
            able = " or ".join(
                one for one, other in NUMBER_LOSSES.items() if LOSS_OPTIONS[name] in other().get_params()
            )
            raise InvalidParameterError(
                f"--{name} is no option of the loss {loss.name}: set --loss {able}, or leave it out."
            )
    return {"loss": loss.set_params(**{LOSS_OPTIONS[name]: value for name, value in given.items()})}


def _several_quantiles(options: dict[str, Any]) -> dict[str, Any]:
    """The levels as numbers, with the loss that takes levels; nothing where none are given."""
    given, calibration = options["quantiles"], options["interval_calibration"]
    if given is None:
        if calibration is not None:
            raise InvalidParameterError(
                f"--interval-calibration {calibration} is for intervals: add --loss quantile --quantiles 0.05,0.5,0.95."
            )
        return {}
    loss = options["loss"] or str(DualBoostRegressor().loss)
    if loss != QuantileLoss.name:
        raise InvalidParameterError(
            f"--quantiles is no option of the loss {loss}: set --loss quantile, or leave it out."
        )
    if options["quantile"] is not None:
        raise InvalidParameterError(f"--quantile and --quantiles {given} are both given: leave one of them out.")
    try:
        levels = [float(level) for level in given.split(",")]
    except ValueError as error:
        raise InvalidParameterError(
            f"--quantiles {given}: give numbers with commas between them, such as 0.05,0.5,0.95."
        ) from error
    return {"loss": QuantileLoss.name, "quantiles": levels}


CLUSTER_ESTIMATORS: dict[str, Any] = {CLASSIFICATION: DaskDualBoostClassifier, REGRESSION: DaskDualBoostRegressor}
LONGEST_WAIT = 10.0
"""Seconds within which the scheduler must answer."""
SAMPLE = 10_000
"""How many of the first rows are read to guess the task."""


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
    """Fit to Parquet files that the workers read; ``columns`` are the names of columns by option."""
    distributed = require_distributed()
    try:
        client = distributed.Client(scheduler, timeout=LONGEST_WAIT)
    except (OSError, ValueError) as error:
        raise InvalidParameterError(f"--scheduler {scheduler}: no scheduler responds there ({error}).") from error
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
        y = frame[target].map_partitions(whole_labels) if task == CLASSIFICATION else frame[target]
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
    """The estimator for these options; the default learner is XGBoost's."""
    is_tuned, eval_set = options["C"] == "auto", options.pop("eval_set")
    if is_tuned or eval_set is not None:
        wrong = "--C auto" if is_tuned else "--eval-set"
        raise InvalidParameterError(f"{wrong} needs all rows in one place: leave it out, or leave --scheduler out.")
    learner = "xgboost" if options["learner"] == "cart" else options["learner"]
    local = estimator_of(training, options | {"learner": learner}).set_params(verbose=0)
    return CLUSTER_ESTIMATORS[training.task](**local.get_params(deep=False), client=client)
