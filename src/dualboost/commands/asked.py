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
from .limits import class_weight, interactions, max_features, monotonic, number_or_share
from .targets import Training

ESTIMATORS: dict[str, tuple[Any, Any]] = {
    "classification": (DualBoostClassifier, DualBoostClassifierCV),
    "regression": (DualBoostRegressor, DualBoostRegressorCV),
}
"""The estimator of each task, and the one that tunes C."""
LOSS_OPTIONS = ("delta", "quantile", "epsilon")
"""The options of losses for numbers."""
OF_OTHERS = {
    "classification": ("delta", "quantile", "quantiles", "calibrate"),
    "regression": ("formulation", "class_weight", "scale_free"),
}
"""The options that each task does not have."""
OF_TUNING = ("cv",)
"""The options that only --C auto has."""
OF_ONE_FIT = ("n_iter_no_change",)
"""Those that --C auto does not have."""


def asked_estimator(training: Training, C: str | None, select: str, options: dict[str, Any]) -> Any:
    if select != "best" and C != "auto":
        raise InvalidParameterError(f"--select {select} chooses among values of C: add --C auto.")
    given = _of_columns(_of_task(training.task, options), training)
    voting = given.pop("voting")
    if voting != "hard":  # a learner may have no other way to vote than its own
        given["learner"] = LEARNERS[given["learner"]](voting=voting)
    plain, tuned = ESTIMATORS[training.task]
    for name in OF_ONE_FIT if C == "auto" else OF_TUNING:
        value = given.pop(name)
        if value is not None:
            instead = "leave it out, or give C a number" if C == "auto" else "add --C auto"
            raise InvalidParameterError(f"--{_spelled(name)} {value} is not for {_said(C)}: {instead}.")
    if C == "auto":
        if given["validation_fraction"] is None:
            del given["validation_fraction"]
        return tuned(select=select, verbose=1, **given)
    try:
        value = None if C is None else float(C)
    except ValueError as error:
        raise InvalidParameterError(f"--C {C}: give a number, or auto.") from error
    return plain(C=value, verbose=1, **given)


def _of_task(task: str, options: dict[str, Any]) -> dict[str, Any]:
    """The options that the estimator of the task takes; one that is for the other task is refused."""
    for name in OF_OTHERS[task]:
        if _is_given(options[name]):
            raise _not_for(task, name, options[name])
    taken = {name: value for name, value in options.items() if name not in OF_OTHERS[task]}
    return _for_classes(taken) if task == "classification" else _for_numbers(taken)


def _of_columns(options: dict[str, Any], training: Training) -> dict[str, Any]:
    """The options with those read that name columns, classes, or numbers as text."""
    taken, columns = dict(options), [str(name) for name in training.features.names]
    found = {
        "min_samples_leaf": number_or_share("min-samples-leaf", taken.pop("min_samples_leaf")),
        "max_features": max_features(taken.pop("max_features")),
        "monotonic_cst": monotonic(taken.pop("monotonic"), columns),
        "interaction_cst": interactions(taken.pop("interactions"), columns),
    }
    if "class_weight" in taken:
        found["class_weight"] = class_weight(taken.pop("class_weight"), training.target)
    return taken | found


def _is_given(value: Any) -> bool:
    return value is not None and value is not False and value != ()


def _said(C: str | None) -> str:
    return "a fit at one C" if C is None else f"--C {C}"


def _spelled(name: str) -> str:
    return name.replace("_", "-")


def _not_for(task: str, name: str, value: Any) -> InvalidParameterError:
    said = "" if value is True else f" {' '.join(value) if isinstance(value, tuple) else value}"
    return InvalidParameterError(f"--{_spelled(name)}{said} is not for {task}: leave it out, or set --task.")


def _for_classes(options: dict[str, Any]) -> dict[str, Any]:
    """The options of a classifier; a loss, or a C that is free of scale, makes an object of the formulation."""
    taken = {name: value for name, value in options.items() if name not in ("loss", "formulation", "scale_free")}
    asked = {name: options[name] for name in ("loss", "scale_free") if _is_given(options[name])}
    name = options["formulation"]
    if not asked:
        return taken if name is None else taken | {"formulation": name}
    kind = FORMULATIONS[name or str(DualBoostClassifier().formulation)]
    for option, value in asked.items():
        if option not in kind().get_params():
            able = [one for one, other in FORMULATIONS.items() if option in other().get_params()]
            said = "" if value is True else f" {value}"
            raise InvalidParameterError(
                f"--{_spelled(option)}{said} is not for classification by {kind.name}: set --formulation "
                f"{' or '.join(able)}, set --task, or leave it out."
            )
    if taken["epsilon"] is not None and "epsilon" in kind().get_params():  # an object has its own
        asked["epsilon"] = taken.pop("epsilon")
    return taken | {"formulation": kind(**asked)}


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
            able = " or ".join(one for one, other in NUMBER_LOSSES.items() if name in other().get_params())
            raise InvalidParameterError(
                f"--{name} is no option of the loss {loss.name}: set --loss {able}, or leave it out."
            )
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
