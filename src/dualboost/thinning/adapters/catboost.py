"""CatBoost: trees are removed from the JSON model and their leaves scaled."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from ..._typing import Integers, Vector
from ...errors import UnsupportedModelError
from ..base import Adapter, is_instance_of, looked_up
from ..checks import two_classes, unfitted
from ..kinds import NewLeaves
from ..links import Logit
from ..outputs import Outputs

Change = Callable[[Vector], Vector]
"""From the values of leaves to others."""


class CatBoostAdapter(Adapter):
    """``CatBoostClassifier`` with symmetric or other trees; the intercept is the model's bias."""

    describes: ClassVar[str] = "catboost.CatBoostClassifier"
    link = Logit()
    refits = True

    @classmethod
    def handles(cls, model: Any) -> bool:
        return is_instance_of(model, "catboost", "CatBoostClassifier")

    def __init__(self, model: Any) -> None:
        if not model.is_fitted():
            raise unfitted(model)
        self._model = model
        self.classes = two_classes(model)
        self._json = _as_json(model)
        self._key = "oblivious_trees" if "oblivious_trees" in self._json else "trees"
        self._values = [np.array(list(_leaves(tree)), dtype=float) for tree in self._json[self._key]]
        scale, (bias,) = self._json["scale_and_bias"]
        self.weights = np.full(len(self._values), float(scale))
        self.intercept = float(bias)
        self.n_leaves = np.array([len(values) for values in self._values], dtype=np.intp)
        self.n_nodes = 2 * self.n_leaves - 1

    @property
    def n_features(self) -> int | None:
        return len(self._model.feature_names_)

    @property
    def feature_names(self) -> list[str] | None:
        names = [str(name) for name in self._model.feature_names_]
        return None if names == [str(i) for i in range(len(names))] else names

    def outputs(self, X: Any) -> Outputs:
        return looked_up(self._values, np.asarray(self._model.calc_leaf_indexes(X)))

    def fresh(self) -> Any | None:
        return type(self._model)(**self._model.get_params())  # clone refuses some of its arguments

    def rebuild(self, kept: Integers, weights: Vector, intercept: float) -> Any:
        return self._of(kept, [partial(np.multiply, weight) for weight in weights.tolist()], intercept)

    def rewrite(self, kept: Integers, leaves: Sequence[NewLeaves], intercept: float) -> Any:
        return self._of(kept, leaves, intercept)

    def _of(self, kept: Integers, changes: Sequence[Change], intercept: float) -> Any:
        """A model of some trees with other leaves."""
        changed = _as_json(self._model)
        trees = [changed[self._key][j] for j in kept]
        for tree, change in zip(trees, changes, strict=True):
            _change(tree, change)
        changed[self._key] = trees
        changed["scale_and_bias"] = [1.0, [intercept]]
        thinned = type(self._model)(**self._model.get_params())
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "model.json"
            path.write_text(json.dumps(changed))
            thinned.load_model(os.fspath(path), format="json")
        return thinned

    def raw_scores(self, model: Any, X: Any) -> Vector:
        return np.asarray(model.predict(X, prediction_type="RawFormulaVal"))

    def saved_bytes(self, model: Any) -> int:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "model.cbm"
            model.save_model(os.fspath(path))
            return path.stat().st_size


def _as_json(model: Any) -> dict[str, Any]:
    """The model as CatBoost's own JSON."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.json"
        try:
            model.save_model(os.fspath(path), format="json")
        except Exception as error:
            raise UnsupportedModelError(f"model CatBoostClassifier cannot be written as JSON: {error}") from error
        read: dict[str, Any] = json.loads(path.read_text())
        return read


def _leaves(tree: dict[str, Any]) -> Iterator[float]:
    """The leaf values in the order of CatBoost's leaf indices: from left to right."""
    if "leaf_values" in tree:
        yield from tree["leaf_values"]
    elif "value" in tree:
        yield tree["value"]
    else:
        yield from _leaves(tree["left"])
        yield from _leaves(tree["right"])


def _change(tree: dict[str, Any], change: Change) -> None:
    if "leaf_values" in tree:
        tree["leaf_values"] = change(np.array(tree["leaf_values"], dtype=float)).tolist()
    elif "value" in tree:
        tree["value"] = float(change(np.array([tree["value"]], dtype=float))[0])
    else:
        _change(tree["left"], change)
        _change(tree["right"], change)
