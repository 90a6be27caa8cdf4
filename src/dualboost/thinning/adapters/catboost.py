"""CatBoost: trees are removed from the JSON model, and their leaves scaled."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import logit

from ..._typing import Integers, Matrix, Scores
from ...errors import UnsupportedModelError
from ..base import Adapter, ClassWeights, require_one_output, two_classes, unfitted
from ..links import LOG_MEAN, MEAN, MEDIAN, Link, Logit, LogProbabilities, link_for
from ..rows import LeafIds, Members

ALWAYS = 1e6
"""No raw score is as large as this one: the cut of a threshold of zero or one."""
SOFTMAX = "MultiClass"
"""The loss of several classes whose probabilities are the softmax of the scores."""
NUMBERS: dict[str, Link] = {
    "RMSE": MEAN,
    "MAE": MEDIAN,
    "MAPE": MEDIAN,
    "Huber": MEDIAN,
    "LogCosh": MEDIAN,
    "Poisson": LOG_MEAN,
    "Tweedie": LOG_MEAN,
}


class CatBoostAdapter(Adapter):
    """Symmetric or other trees; the intercept is the bias of the model.

    Where CatBoost does not have the classes in sorted order, columns are sorted, and scores of two classes change
    their sign.
    """

    def __init__(self, model: Any) -> None:
        if not model.is_fitted():
            raise unfitted(model)
        self._model = model
        self._json = _as_json(model)
        self._key = "oblivious_trees" if "oblivious_trees" in self._json else "trees"
        self._parameters = self._json["model_info"].get("params", {})
        """Those of the training, which a sum of models does not have."""
        scale, bias = self._json["scale_and_bias"]
        self._order, self._sign = np.arange(len(bias)), 1
        self.link = self._read_task(len(bias))
        values = [np.array(_leaves(tree), dtype=float).reshape(-1, len(bias)) for tree in self._json[self._key]]
        self.members = Members([self._sorted(own) for own in values], len(bias))
        self.intercept = self._sorted(np.array(bias, dtype=float))
        self.intercept = self.intercept if len(bias) > 1 else float(self.intercept[0])
        self.weights = np.full(len(values), float(scale))
        self.n_leaves = self.members.sizes()
        self.n_nodes = 2 * self.n_leaves - 1

    def _read_task(self, n_scores: int) -> Link:
        if not hasattr(self._model, "predict_proba"):
            require_one_output(self._model, n_scores)
            return link_for("loss_function", self._loss, NUMBERS)
        if n_scores == 1:
            classes = two_classes(self._model)
            self.classes = np.sort(classes)
            self._sign = 1 if classes[1] == self.classes[1] else -1
            threshold = self._model.get_probability_threshold()
            self.cut = self._sign * float(np.clip(logit(threshold), -ALWAYS, ALWAYS))
            return Logit()
        classes = np.asarray(self._model.classes_)
        if self._loss != SOFTMAX:
            raise UnsupportedModelError(
                f"model with loss_function={self._loss!r} and {len(classes)} classes cannot be thinned; one with "
                f"{SOFTMAX!r} can."
            )
        self._order = np.argsort(classes)
        self.classes = classes[self._order]
        return LogProbabilities()

    def _sorted(self, scores: Scores) -> Scores:
        return self._sign * scores[..., self._order]

    @property
    def _loss(self) -> str:
        found = self._parameters.get("loss_function") or json.loads(self._json["model_info"]["loss_function"])
        return str(found["type"])

    @property
    def class_weights(self) -> ClassWeights:
        """One for each class, whether these were given or balanced by CatBoost."""
        if not self._parameters:
            return ClassWeights(unread="it has no parameters of a training")
        weights = self._parameters["data_processing_options"].get("class_weights")
        return ClassWeights((dict(zip(self._model.classes_.tolist(), weights, strict=True)),) if weights else ())

    @property
    def n_features(self) -> int | None:
        return len(self._model.feature_names_)

    @property
    def feature_names(self) -> list[str] | None:
        names = [str(name) for name in self._model.feature_names_]
        return None if names == [str(i) for i in range(len(names))] else names

    def leaf_ids(self, X: Any) -> Sequence[LeafIds]:
        found: NDArray[Any] = np.asarray(self._model.calc_leaf_indexes(X))
        return list(found.T)

    def fresh(self) -> Any | None:
        if not self._parameters:
            return None
        return type(self._model)(**self._model.get_params())  # clone refuses some of its arguments

    def written(self, kept: Integers, leaves: list[Matrix], intercept: Any) -> Any:
        changed, back = _as_json(self._model), np.argsort(self._order)
        trees = [changed[self._key][j] for j in kept]
        for tree, own in zip(trees, leaves, strict=True):
            _write(tree, self._sign * own[:, back])
        changed[self._key] = trees
        changed["scale_and_bias"] = [1.0, (self._sign * np.atleast_1d(intercept)[back]).tolist()]
        thinned = type(self._model)(**self._model.get_params())
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "model.json"
            path.write_text(json.dumps(changed))
            thinned.load_model(os.fspath(path), format="json")
        return thinned

    def raw_scores(self, model: Any, X: Any) -> Scores:
        raw = np.asarray(model.predict(X, prediction_type="RawFormulaVal"))
        return self._sorted(raw) if raw.ndim > 1 else self._sign * raw

    def saved_bytes(self, model: Any) -> int:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "model.cbm"
            model.save_model(os.fspath(path))
            return path.stat().st_size


def _as_json(model: Any) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.json"
        try:
            model.save_model(os.fspath(path), format="json")
        except Exception as error:
            raise UnsupportedModelError(f"model {type(model).__name__} cannot be written as JSON: {error}") from error
        read: dict[str, Any] = json.loads(path.read_text())
        return read


def _leaves(tree: dict[str, Any]) -> list[Any]:
    """The leaf values in the order of CatBoost's leaf indices, all classes of a leaf next to each other."""
    return tree["leaf_values"] if "leaf_values" in tree else [node["value"] for node in _leaf_nodes(tree)]


def _write(tree: dict[str, Any], values: Matrix) -> None:
    if "leaf_values" in tree:
        tree["leaf_values"] = values.ravel().tolist()
        return
    for node, own in zip(_leaf_nodes(tree), values.tolist(), strict=True):
        node["value"] = own if len(own) > 1 else own[0]


def _leaf_nodes(node: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The leaves of a tree that is not symmetric, in the order of CatBoost's leaf indices.

    From left to right, but where one child only is a leaf, it comes before the leaves of the other.
    """
    if "value" in node:
        yield node
        return
    left, right = node["left"], node["right"]
    is_right_first = "value" in right and "value" not in left
    for child in (right, left) if is_right_first else (left, right):
        yield from _leaf_nodes(child)
