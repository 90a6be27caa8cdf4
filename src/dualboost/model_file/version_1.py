"""Converts model files of version 1 to version 2.

In version 1 the options of learners and of the solver were parameters of the estimator, trees were called columns and
iterations, and there was a formulation "dda" for what is now an option of the solver. This module checks the keys that
were renamed or moved, so that a file of version 1 cannot contain keys of version 2; all else is checked as version 2.
"""

from __future__ import annotations

from typing import Any

from ..formulations import FORMULATIONS
from ..learners import LEARNERS, CartLearner, OptimalLearner
from ..solvers import SolverOptions
from .checks import SMALLEST, choice, fail, fields, inside, integer, number, text
from .objects import SOLVER, made, optional, whole_or_fraction

MODELS = ("DualBoostClassifier", "DualBoostClassifierCV", "ThinnedTreesClassifier")
"""The kinds of models that there were."""
COUNTS = {"n_columns": "n_trees"}
"""The old and the new name of the number of trees with a weight, in the figures, the history and the path."""
ARGUMENTS = {"max_iter": "max_trees"}
SOLVER_ARGUMENTS = {name: name for name in ("method", "reoptimize", "columns_per_iteration")} | {"pool": "schedule"}
TREE_ARGUMENTS = {
    "voting": text,
    "criterion": text,
    "n_thresholds": optional(integer),
    "tree_time_limit": whole_or_fraction,
}
DEFAULT_SAMPLE = 20_000
"""How many rows "dda" began with by default."""


def from_version_1(document: dict[str, Any]) -> dict[str, Any]:
    """The same model as a document of version 2."""
    if "parameters" not in document:
        return document
    _refuse(document, "", ("intercept", "normalised"))
    parts = {
        "parameters": _parameters(document["parameters"], document["model"]),
        "formulation": _formulation(document["formulation"], "formulation")[0],
        "fit": _fit(document["fit"]),
        "history": _renamed(document["history"], "history", COUNTS),
    }
    if "tuning" in document:
        tuning = fields(document["tuning"], "tuning", ("path",), document["tuning"])
        parts["tuning"] = tuning | {"path": _renamed(tuning["path"], "tuning.path", COUNTS)}
    return document | parts


def _renamed(value: Any, where: str, names: dict[str, str], required: bool = True) -> dict[str, Any]:
    entry = fields(value, where, tuple(names) if required else (), value)
    _refuse(entry, where, names.values())
    return {names.get(name, name): content for name, content in entry.items()}


def _refuse(entry: dict[str, Any], where: str, names: Any) -> None:
    for name in names:
        if name in entry:
            fail(inside(where, name), "is not a key of version 1 of the format")


def _fit(value: Any) -> dict[str, Any]:
    figures = _renamed(value, "fit", COUNTS)
    if figures.get("stop_reason") == "max_trees":
        fail("fit.stop_reason", "is 'max_trees', which version 1 of the format does not have")
    return figures | ({"stop_reason": "max_trees"} if figures.get("stop_reason") == "max_iter" else {})


def _parameters(value: Any, kind: str) -> dict[str, Any]:
    """The estimator's parameters, with those of learners and of the solver collected in objects."""
    found = _renamed(value, "parameters", ARGUMENTS, required=False)
    _refuse(found, "parameters", ("solver", "optimize"))
    formulation, active_rows = found.get("formulation"), None
    if "formulation" in found:
        formulation, active_rows = _formulation(formulation, "parameters.formulation")
    moved = (*SOLVER_ARGUMENTS, *TREE_ARGUMENTS, "epsilon", "formulation")
    kept = {name: entry for name, entry in found.items() if name not in moved}
    kept |= _epsilon(found, formulation) | {"learner": _learner(found), "solver": _solver(found, active_rows)}
    if isinstance(formulation, dict):  # the C of the object was overridden by the parameter C, or by tuning
        is_tuned = kind == "DualBoostClassifierCV"
        C = None if is_tuned else kept.get("C") if kept.get("C") is not None else formulation.get("C")
        kept |= {} if is_tuned else {"C": None}
        formulation = formulation | {"C": C}
    return kept | ({} if formulation is None else {"formulation": formulation})


def _formulation(value: Any, where: str) -> tuple[Any, int | None]:
    """A formulation, by name or as an object, and the number of rows to begin with if it was "dda"."""
    if value == "dda":
        return "lp", DEFAULT_SAMPLE
    if type(value) is dict:
        _refuse(value, where, ("scale_free",))
    if type(value) is not dict or value.get("name") != "dda":
        return value, None
    entry = fields(value, where, ("name", "C", "sample"))
    return {"name": "lp", "C": entry["C"]}, integer(entry["sample"], inside(where, "sample"), 2)


def _epsilon(found: dict[str, Any], formulation: Any) -> dict[str, float]:
    """Every estimator had an epsilon; it is kept only for a named formulation that uses it."""
    if "epsilon" not in found:
        return {}
    epsilon = number(found["epsilon"], "parameters.epsilon", SMALLEST)
    knows = isinstance(formulation, str) and formulation in FORMULATIONS and FORMULATIONS[formulation].has_epsilon()
    return {"epsilon": epsilon} if knows else {}


def _solver(found: dict[str, Any], active_rows: int | None) -> dict[str, Any] | None:
    options: dict[str, Any] = SolverOptions().get_params()
    for old, new in SOLVER_ARGUMENTS.items():
        if old in found:
            options[new] = SOLVER[new](found[old], inside("parameters", old))
    options["active_rows"] = active_rows
    made(SolverOptions, options, "parameters")
    return None if options == SolverOptions().get_params() else options


def _learner(found: dict[str, Any]) -> Any:
    options = {
        name: check(found[name], inside("parameters", name)) for name, check in TREE_ARGUMENTS.items() if name in found
    }
    for kind in (CartLearner, OptimalLearner):  # version 1 refused a wrong option even if it was not used
        known = kind().get_params()
        made(kind, {name: entry for name, entry in options.items() if name in known}, "parameters")
    learner, where = found.get("learner", "cart"), "parameters.learner"
    if type(learner) is list:
        return [_one_learner(member, inside(where, k), options) for k, member in enumerate(learner)]
    return _one_learner(learner, where, options)


def _one_learner(value: Any, where: str, options: dict[str, Any]) -> Any:
    """The learner as a name if all options have their defaults, else as an object.

    In version 1 a learner was a name, or a name with a depth.
    """
    name, depth = value, None
    if type(value) is not str:
        entry = fields(value, where, ("name", "max_depth"))
        name, depth = entry["name"], integer(entry["max_depth"], inside(where, "max_depth"), 1)
        where = inside(where, "name")
    default = LEARNERS[choice(name, where, LEARNERS)]().get_params()
    arguments = {key: options.get(key, entry) for key, entry in default.items()} | {"max_depth": depth}
    return name if arguments == default else {"name": name} | arguments
