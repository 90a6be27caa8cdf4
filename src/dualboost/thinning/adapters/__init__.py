"""The registry of adapters: one file a library.

To add a library, write a file with one subclass of ``Adapter`` and add one entry to ``ADAPTERS``; the entry names the
classes of the library's models, so that no library is imported before one of its models is passed. The constructor of
the adapter reads the model: its trees as ``Members``, weights, intercept, link and counts of nodes. Its methods are
``leaf_ids``, ``written``, ``raw_scores`` and ``saved_bytes``. A model in ``tests/thinning/models.py`` puts it under the
contract of all adapters.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any, NamedTuple

from sklearn.base import is_classifier

from ...errors import UnsupportedModelError
from ..base import Adapter


class Entry(NamedTuple):
    """Models of one library that one adapter reads."""

    package: str
    models: tuple[str, ...]
    """The names of their classes."""
    adapter: str
    """The module of this package and the class in it."""
    note: str = ""
    """The end of the description."""

    @property
    def describes(self) -> str:
        """The models, for messages."""
        if self.package == "builtins":
            return f"a {self.models[0]}{self.note}"
        prefix = "" if self.package in ("dualboost", "sklearn") else f"{self.package}."
        return ", ".join(prefix + name for name in self.models) + self.note

    def load(self) -> type[Adapter]:
        module, name = self.adapter.split(".")
        found: type[Adapter] = getattr(import_module(f".{module}", __name__), name)
        return found


ADAPTERS = (
    Entry("dualboost", ("DualBoostClassifier", "DualBoostRegressor"), "own.OwnAdapter"),
    Entry("sklearn", ("AdaBoostClassifier",), "classifiers.AdaBoostAdapter"),
    Entry(
        "sklearn",
        ("RandomForestClassifier", "ExtraTreesClassifier", "RandomForestRegressor", "ExtraTreesRegressor"),
        "averages.AverageAdapter",
    ),
    Entry("sklearn", ("BaggingClassifier", "BaggingRegressor"), "averages.BaggingAdapter", " of trees"),
    Entry(
        "sklearn",
        ("GradientBoostingClassifier", "GradientBoostingRegressor"),
        "gradient_boosting.GradientBoostingAdapter",
    ),
    Entry(
        "sklearn",
        ("HistGradientBoostingRegressor", "HistGradientBoostingClassifier"),
        "hist_gradient_boosting.HistGradientBoostingAdapter",
        " (the result is a ThinnedTreesClassifier)",
    ),
    Entry("xgboost", ("XGBClassifier", "XGBRegressor", "Booster"), "xgboost.XGBoostAdapter"),
    Entry("lightgbm", ("LGBMClassifier", "LGBMRegressor", "Booster"), "lightgbm.LightGBMAdapter"),
    Entry("catboost", ("CatBoostClassifier", "CatBoostRegressor"), "catboost.CatBoostAdapter"),
    Entry("builtins", ("list", "tuple"), "classifiers.ClassifiersAdapter", " of fitted classifiers"),
)

ENTRIES = {(entry.package, name): entry for entry in ADAPTERS for name in entry.models}


def adapter_for(model: Any) -> Adapter:
    """The adapter that reads this model, by its class or one of its base classes."""
    for base in type(model).__mro__:
        entry = ENTRIES.get((base.__module__.split(".")[0], base.__name__))
        if entry is not None:
            return entry.load()(model)
    known = "; ".join(entry.describes for entry in ADAPTERS)
    raise UnsupportedModelError(
        f"model of type {type(model).__name__} cannot be thinned{_hint(model)}. These can: {known}."
    )


HINTS = {
    "FixedThresholdClassifier": "pass its estimator_, and put the result into a FixedThresholdClassifier with the same "
    "threshold",
    "Pipeline": "pass its last step, and X as the other steps transform it",
    "AdaBoostRegressor": "it predicts a weighted median of its trees, which is no sum of them",
}
"""What to do instead, by the name of a class of scikit-learn."""
HINTS["TunedThresholdClassifierCV"] = HINTS["FixedThresholdClassifier"]


def _hint(model: Any) -> str:
    hint = next((HINTS[base.__name__] for base in type(model).__mro__ if base.__name__ in HINTS), "")
    if isinstance(model, type):
        hint = f"it is a class; pass a fitted {model.__name__}()"
    elif hasattr(model, "best_estimator_"):
        hint = "pass its best_estimator_"
    elif not hint and hasattr(model, "estimators_") and is_classifier(model):
        hint = "pass a list of its members"
    return hint and f" ({hint})"


__all__ = ["ADAPTERS", "Entry", "adapter_for"]
