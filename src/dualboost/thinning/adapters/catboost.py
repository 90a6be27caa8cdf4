"""CatBoost: trees are removed from the JSON model, and their leaves scaled."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import logit

from ..._typing import Integers, Matrix, Scores, Vector
from ...errors import UnsupportedModelError
from ..base import Adapter, ClassAdapter, ClassWeights, NumberAdapter, TwoClassAdapter, is_instance_of, looked_up
from ..links import LOG_MEAN, MEAN, MEDIAN, Logit, predicts_by
from ..members import ClassMembers, NewLeaves, Outputs, require_one_output, two_classes, unfitted

ALWAYS = 1e6
"""No raw score is as large as this one: the cut of a threshold of zero or one."""


class CatBoostModel(Adapter):
    """Symmetric or other trees; the intercept is the model's bias."""

    describes: ClassVar[str] = "catboost.CatBoostClassifier"
    estimator: ClassVar[str] = "CatBoostClassifier"

    @classmethod
    def handles(cls, model: Any) -> bool:
        return is_instance_of(model, "catboost", cls.estimator)

    def __init__(self, model: Any) -> None:
        if not model.is_fitted():
            raise unfitted(model)
        self._model = model
        self._json = _as_json(model)
        self._key = "oblivious_trees" if "oblivious_trees" in self._json else "trees"
        scale, bias = self._json["scale_and_bias"]
        self._bias = np.array(bias, dtype=float)
        self._values = [np.array(_leaves(tree), dtype=float).reshape(-1, len(bias)) for tree in self._json[self._key]]
        """For each tree a row for each leaf; a column for each class if there are more than two."""
        self.weights = np.full(len(self._values), float(scale))
        self.n_leaves = np.array([len(values) for values in self._values], dtype=np.intp)
        self.n_nodes = 2 * self.n_leaves - 1
        self._parameters = self._json["model_info"].get("params", {})
        """Those of the training, which a sum of models does not have."""

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

    def _leaf_indices(self, X: Any) -> NDArray[Any]:
        """The leaf of each row, in one column for each tree."""
        return np.asarray(self._model.calc_leaf_indexes(X))

    def fresh(self) -> Any | None:
        if not self._parameters:
            return None
        return type(self._model)(**self._model.get_params())  # clone refuses some of its arguments

    def _of(self, kept: Integers, values: Sequence[Scores], bias: list[float]) -> Any:
        """A model of some trees with other leaves."""
        changed = _as_json(self._model)
        trees = [changed[self._key][j] for j in kept]
        for tree, own in zip(trees, values, strict=True):
            _write(tree, own)
        changed[self._key] = trees
        changed["scale_and_bias"] = [1.0, bias]
        thinned = type(self._model)(**self._model.get_params())
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "model.json"
            path.write_text(json.dumps(changed))
            thinned.load_model(os.fspath(path), format="json")
        return thinned

    def raw_scores(self, model: Any, X: Any) -> Scores:
        return np.asarray(model.predict(X, prediction_type="RawFormulaVal"))

    def saved_bytes(self, model: Any) -> int:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "model.cbm"
            model.save_model(os.fspath(path))
            return path.stat().st_size


class CatBoostAdapter(CatBoostModel, TwoClassAdapter):
    """Two classes; where CatBoost has them in another order than the sorted one, scores change their sign."""

    link = Logit()
    refits = True

    def __init__(self, model: Any) -> None:
        super().__init__(model)
        classes = two_classes(model)
        self.classes = np.sort(classes)
        self._sign = 1 if classes[1] == self.classes[1] else -1
        self.cut = self._sign * float(np.clip(logit(model.get_probability_threshold()), -ALWAYS, ALWAYS))
        self.intercept = self._sign * float(self._bias[0])
        self._outputs = [self._sign * values[:, 0] for values in self._values]

    def outputs(self, X: Any) -> Outputs:
        return looked_up(self._outputs, self._leaf_indices(X))

    def rebuild(self, kept: Integers, weights: Vector, intercept: float) -> Any:
        return self._written(kept, [a * self._outputs[j] for j, a in zip(kept, weights, strict=True)], intercept)

    def rewrite(self, kept: Integers, leaves: Sequence[NewLeaves], intercept: float) -> Any:
        return self._written(kept, [new(self._outputs[j]) for j, new in zip(kept, leaves, strict=True)], intercept)

    def _written(self, kept: Integers, values: Sequence[Vector], intercept: float) -> Any:
        return self._of(kept, [self._sign * own for own in values], [self._sign * intercept])

    def raw_scores(self, model: Any, X: Any) -> Vector:
        return self._sign * super().raw_scores(model, X)

    def probabilities(self, model: Any, X: Any, scores: Scores) -> Scores:
        return super().probabilities(model, X, scores)[:, :: self._sign]


def _as_json(model: Any) -> dict[str, Any]:
    """The model as CatBoost's own JSON."""
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


def _write(tree: dict[str, Any], values: Scores) -> None:
    """Write the values of leaves, in the order of ``_leaves``, into a tree."""
    if "leaf_values" in tree:
        tree["leaf_values"] = values.ravel().tolist()
        return
    for node, own in zip(_leaf_nodes(tree), values.tolist(), strict=True):
        node["value"] = own


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


LOSS = "MultiClass"
"""The loss whose probabilities are the softmax of the scores."""


class CatBoostClassesAdapter(CatBoostModel, ClassAdapter):
    """The intercepts are the model's bias; columns are sorted by class, where CatBoost has another order."""

    @classmethod
    def handles(cls, model: Any) -> bool:
        return super().handles(model) and model.is_fitted() and np.size(model.get_scale_and_bias()[1]) > 1

    def __init__(self, model: Any) -> None:
        super().__init__(model)
        if self._loss != LOSS:
            raise UnsupportedModelError(
                f"model with loss_function={self._loss!r} and {len(model.classes_)} classes cannot be thinned; one "
                f"with {LOSS!r} can."
            )
        self._order = np.argsort(model.classes_)
        self.classes = np.asarray(model.classes_)[self._order]
        self.members = ClassMembers.of_vectors([values[:, self._order] for values in self._values])
        self.intercept = self._bias[self._order]

    def leaf_numbers(self, X: Any) -> Sequence[NDArray[Any]]:
        return list(self._leaf_indices(X).T)

    def written(self, kept: Integers, values: list[Matrix], intercept: Vector) -> Any:
        back = np.argsort(self._order)
        return self._of(kept, [own[:, back] for own in values], intercept[back].tolist())

    def raw_scores(self, model: Any, X: Any) -> Scores:
        return super().raw_scores(model, X)[:, self._order]

    def probabilities(self, model: Any, X: Any, scores: Scores) -> Scores:
        return super().probabilities(model, X, scores)[:, self._order]


LOSSES = {
    "RMSE": MEAN,
    "MAE": MEDIAN,
    "MAPE": MEDIAN,
    "Huber": MEDIAN,
    "LogCosh": MEDIAN,
    "Poisson": LOG_MEAN,
    "Tweedie": LOG_MEAN,
}


class CatBoostNumbersAdapter(CatBoostModel, NumberAdapter):
    """``CatBoostRegressor``."""

    describes: ClassVar[str] = "catboost.CatBoostRegressor"
    estimator: ClassVar[str] = "CatBoostRegressor"

    def __init__(self, model: Any) -> None:
        super().__init__(model)
        require_one_output(model, len(self._bias))
        self.predicts = predicts_by("loss_function", self._loss, LOSSES)
        self.leaf_values = [values[:, 0] for values in self._values]
        self.intercept = float(self._bias[0])

    def leaf_numbers(self, X: Any) -> Sequence[NDArray[Any]]:
        return list(self._leaf_indices(X).T)

    def written(self, kept: Integers, values: list[Vector], intercept: float) -> Any:
        return self._of(kept, values, [intercept])
