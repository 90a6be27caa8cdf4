"""The estimator that the options of ``dualboost fit`` ask for."""

from __future__ import annotations

from typing import Any

from ..errors import InvalidParameterError
from ..estimators.classifier import DualBoostClassifier
from ..estimators.classifier_cv import DualBoostClassifierCV
from ..estimators.regressor import DualBoostRegressor
from ..estimators.regressor_cv import DualBoostRegressorCV
from ..formulations import FORMULATIONS
from ..formulations.number_losses import NUMBER_LOSSES
from ..formulations.numbers import QuantileLoss
from ..formulations.quantiles import QuantilesLoss
from ..pricing import LEARNERS

ESTIMATORS: dict[str, tuple[Any, Any]] = {
    "classification": (DualBoostClassifier, DualBoostClassifierCV),
    "regression": (DualBoostRegressor, DualBoostRegressorCV),
}
"""The estimator of each task, and the one that tunes C."""
LOSS_OPTIONS = ("delta", "quantile", "epsilon")
"""The options of losses for numbers."""
OF_OTHERS = {
    "classification": ("delta", "quantile", "quantiles", "calibrate"),
    "regression": ("formulation", "class_weight"),
}
"""The options that each task does not have."""


def asked_estimator(task: str, C: str | None, select: str, options: dict[str, Any]) -> Any:
    if select != "best" and C != "auto":
        raise InvalidParameterError(f"--select {select} chooses among values of C: add --C auto.")
    given = _of_task(task, options)
    voting = given.pop("voting")
    if voting != "hard":  # a learner may have no other way to vote than its own
        given["learner"] = LEARNERS[given["learner"]](voting=voting)
    plain, tuned = ESTIMATORS[task]
    if C == "auto":
        return tuned(select=select, verbose=1, **given)
    try:
        value = None if C is None else float(C)
    except ValueError as error:
        raise InvalidParameterError(f"--C {C}: give a number, or auto.") from error
    return plain(C=value, verbose=1, **given)


def _of_task(task: str, options: dict[str, Any]) -> dict[str, Any]:
    """The options that the estimator of the task takes; one that is for the other task is refused."""
    for name in OF_OTHERS[task]:
        if options[name] is not None:
            raise _not_for(task, name, options[name])
    taken = {name: value for name, value in options.items() if name not in OF_OTHERS[task]}
    return _for_classes(taken) if task == "classification" else _for_numbers(taken)


def _not_for(task: str, name: str, value: Any) -> InvalidParameterError:
    return InvalidParameterError(f"--{name.replace('_', '-')} {value} is not for {task}: leave it out, or set --task.")


def _for_classes(options: dict[str, Any]) -> dict[str, Any]:
    """The options of a classifier; a loss makes an object of the formulation that has one."""
    loss, name = options.pop("loss"), options.pop("formulation")
    if name is None and loss is None:
        return options
    formulation: Any = name
    if loss is not None:
        kind = FORMULATIONS[name or str(DualBoostClassifier().formulation)]
        if "loss" not in kind().get_params():
            able = [one for one, other in FORMULATIONS.items() if "loss" in other().get_params()]
            raise InvalidParameterError(
                f"--loss {loss} is not for classification by {kind.name}: set --formulation {' or '.join(able)}, set "
                "--task, or leave it out."
            )
        formulation = kind(loss=loss)  # type: ignore[call-arg]
    return options | {"formulation": formulation}


def _for_numbers(options: dict[str, Any]) -> dict[str, Any]:
    """The options of a regressor; options of the loss make an object of it."""
    if options["loss"] is not None and options["loss"] not in NUMBER_LOSSES:
        raise _not_for("regression", "loss", options["loss"])
    taken = {name: value for name, value in options.items() if name not in LOSS_OPTIONS}
    if taken["loss"] is None:
        del taken["loss"]
    return taken | _loss_object(options) | _several_quantiles(options)


def _loss_object(options: dict[str, Any]) -> dict[str, Any]:
    """The loss with its options, if any is given."""
    given = {name: options[name] for name in LOSS_OPTIONS if options[name] is not None}
    if not given:
        return {}
    loss = NUMBER_LOSSES[options["loss"] or str(DualBoostRegressor().loss)]()
    for name in given:
        if name not in loss.get_params():
            raise InvalidParameterError(f"--{name} is no option of the loss {loss.name}: set --loss, or leave it out.")
    return {"loss": loss.set_params(**given)}


def _several_quantiles(options: dict[str, Any]) -> dict[str, Any]:
    """The levels as numbers, with the loss that takes levels; nothing where none are given."""
    given, calibrate = options["quantiles"], options["calibrate"]
    if given is None:
        if calibrate is not None:
            raise InvalidParameterError(
                f"--calibrate {calibrate} is for intervals: add --loss quantile --quantiles 0.05,0.5,0.95."
            )
        return {}
    loss = options["loss"] or str(DualBoostRegressor().loss)
    if loss not in (QuantileLoss.name, QuantilesLoss.name):
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
