"""LightGBM: trees are removed from the text model, and their leaves scaled."""

from __future__ import annotations

import copy
import re
from collections.abc import Sequence
from typing import Any, ClassVar

import lightgbm
import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from ..._typing import Integers, Matrix, Scores, Vector
from ...errors import UnsupportedModelError
from ...estimators.parameters import BALANCED
from ...trees.lightgbm_text import parse_trees
from ..base import Adapter, ClassAdapter, ClassWeights, NumberAdapter, TwoClassAdapter, looked_up
from ..links import LOG_MEAN, MEAN, MEDIAN, Logit
from ..members import ClassMembers, NewLeaves, Outputs, require_fitted, two_classes

PARAMETER = re.compile(r"^\[(\w+): (.*)\]$", re.MULTILINE)
OBJECTIVE = re.compile(r"^objective=(\S+)(?:.*\bsigmoid:(\S+))?", re.MULTILINE)


class LightGBMModel(Adapter):
    """An estimator or a ``Booster``; with early stopping, the trees up to the best iteration."""

    describes: ClassVar[str] = "lightgbm.LGBMClassifier, lightgbm.Booster"
    estimator: ClassVar[type] = lightgbm.LGBMClassifier
    objectives: ClassVar[tuple[str, ...]]
    """The objectives of models that the adapter takes."""

    @classmethod
    def handles(cls, model: Any) -> bool:
        return isinstance(model, (cls.estimator, lightgbm.Booster))

    def __init__(self, model: Any) -> None:
        self._is_estimator = isinstance(model, lightgbm.LGBMModel)
        if self._is_estimator:
            require_fitted(model)
        self._model = model
        self._booster = model.booster_ if self._is_estimator else model
        best = self._booster.best_iteration
        self._text = self._booster.model_to_string(num_iteration=best if best > 0 else -1)
        self._slope = self._sigmoid()
        self._trees = parse_trees(self._text)
        if not self._trees:
            raise UnsupportedModelError("model has no trees; train it first.")
        self._n_rounds = len(self._trees) // self._booster.num_model_per_iteration()
        is_forest = "\naverage_output\n" in self._text
        self._share = 1.0 / self._n_rounds if is_forest else 1.0
        self.weights = np.full(self._n_rounds, self._share)

    def _sigmoid(self) -> float:
        found = OBJECTIVE.search(self._text)
        name = found[1] if found else "a function of your own"
        if found is None or name not in self.objectives:
            raise UnsupportedModelError(
                f"model with objective {name!r} cannot be thinned; with one of these it can: "
                f"{', '.join(self.objectives)}."
            )
        if "\nis_linear=1\n" in self._text:
            raise UnsupportedModelError("model with linear_tree=True cannot be thinned: its leaves are not constants.")
        return float(found[2] or 1.0)

    @property
    def class_weights(self) -> ClassWeights:
        return ClassWeights((self._model.class_weight,) if self._is_estimator else ())

    @property
    def feature_names(self) -> list[str] | None:
        names = self._booster.feature_name()
        made_up = [f"Column_{i}" for i in range(len(names))]
        return None if names == made_up else list(names)

    @property
    def n_features(self) -> int | None:
        return int(self._booster.num_feature())

    def _leaves(self, X: Any) -> Integers:
        """The leaf of each row, in one column for each tree."""
        return np.asarray(self._model.predict(X, pred_leaf=True)).reshape(-1, len(self._trees)).astype(np.intp)

    def fresh(self) -> Any | None:
        """Without early stopping, which needs rows that are not given here, but with as many rounds as it left."""
        return clone(self._model).set_params(n_estimators=self._n_rounds) if self._is_estimator else None

    def _of_trees(self, kept: Sequence[int], values: Sequence[Vector]) -> Any:
        """A model of some trees with other leaves."""
        header, *sections = self._text.split("\nTree=")
        *_, tail = sections[-1].partition("\nend of trees")
        header = re.sub(r"^(tree_sizes=.*|average_output)\n", "", header + "\n", flags=re.MULTILINE)
        changed = [_with_leaves(sections[j], number, values[number]) for number, j in enumerate(kept)]
        text = header + "\n".join(changed) + "\nend of trees" + tail
        booster = lightgbm.Booster(model_str=lightgbm.Booster(model_str=text).model_to_string())
        if not self._is_estimator:
            return booster
        thinned = copy.copy(self._model)
        own = {name: dict(held) for name, held in vars(thinned).items() if isinstance(held, dict)}
        vars(thinned).update(own)  # set_params writes into one of these
        thinned._Booster, thinned._best_iteration = booster, -1  # what booster_ returns
        return thinned.set_params(n_estimators=booster.current_iteration())

    def raw_scores(self, model: Any, X: Any) -> Scores:
        raw = np.asarray(model.predict(X, raw_score=True))
        return (
            self._share * raw if model is self._model else raw
        )  # a forest's raw score is a sum, its prediction a mean

    def saved_bytes(self, model: Any) -> int:
        booster = model.booster_ if self._is_estimator else model
        return len(booster.model_to_string())


class LightGBMAdapter(LightGBMModel, TwoClassAdapter):
    """Two classes."""

    objectives: ClassVar[tuple[str, ...]] = ("binary", "cross_entropy")
    refits = True
    link: Logit

    def __init__(self, model: Any) -> None:
        super().__init__(model)
        self.link = Logit(self._slope)
        self.classes = two_classes(model) if self._is_estimator else np.arange(2)
        self.intercept = 0.0
        self.n_leaves = np.array([tree.n_leaves for tree in self._trees], dtype=np.intp)
        self.n_nodes = 2 * self.n_leaves - 1

    @property
    def class_weights(self) -> ClassWeights:
        """Those by class, and those of the objective "binary", which the text names by one alias."""
        by_class, parameters = super().class_weights.given, dict(PARAMETER.findall(self._text))
        if not parameters:
            return ClassWeights(by_class, "its text has no parameters of a training")
        if parameters.get("objective") != "binary":
            return ClassWeights(by_class)
        balanced = BALANCED if parameters.get("is_unbalance") == "1" else None
        positive = {self.classes.tolist()[1]: float(parameters.get("scale_pos_weight", 1.0))}
        return ClassWeights((*by_class, balanced, positive))

    def outputs(self, X: Any) -> Outputs:
        return looked_up([tree.votes for tree in self._trees], self._leaves(X))

    def rebuild(self, kept: Integers, weights: Vector, intercept: float) -> Any:
        return self._of(kept, [a * self._trees[j].votes for j, a in zip(kept, weights, strict=True)], intercept)

    def rewrite(self, kept: Integers, leaves: Sequence[NewLeaves], intercept: float) -> Any:
        values = [new(self._trees[j].votes) / self._slope for j, new in zip(kept, leaves, strict=True)]
        return self._of(kept, values, intercept / self._slope)

    def _of(self, kept: Integers, values: list[Vector], intercept: float) -> Any:
        """A model of some trees with other leaves, the first of which get the intercept."""
        return self._of_trees(kept.tolist(), [values[0] + intercept, *values[1:]])


def _with_leaves(section: str, number: int, values: Vector) -> str:
    """The text of a tree under another number, with other leaf values."""
    body = section.partition("\nend of trees")[0].split("\n", 1)[1]
    leaves = "leaf_value=" + " ".join(map(repr, values.tolist()))
    body = re.sub(r"^leaf_value=.*$", leaves, body, flags=re.MULTILINE)
    return f"Tree={number}\n{body.rstrip()}\n\n"


class LightGBMClassesAdapter(LightGBMModel, ClassAdapter):
    """Softmax only: under "multiclassova" every class has a probability of its own, which refitted leaves have not."""

    objectives: ClassVar[tuple[str, ...]] = ("multiclass",)

    @classmethod
    def handles(cls, model: Any) -> bool:
        booster = getattr(model, "_Booster", None) if isinstance(model, lightgbm.LGBMClassifier) else model
        return isinstance(booster, lightgbm.Booster) and booster.num_model_per_iteration() > 1

    def __init__(self, model: Any) -> None:
        super().__init__(model)
        n_classes = self._booster.num_model_per_iteration()
        self.classes = np.asarray(model.classes_) if self._is_estimator else np.arange(n_classes)
        self.members = ClassMembers.of_rounds([tree.votes for tree in self._trees], n_classes)
        self.intercept = np.zeros(n_classes)
        self.n_leaves = self.members.n_leaves
        self.n_nodes = 2 * self.n_leaves - n_classes

    def leaf_numbers(self, X: Any) -> Sequence[NDArray[Any]]:
        return list(self._leaves(X).T)

    def written(self, kept: Integers, values: list[Matrix], intercept: Vector) -> Any:
        """The first round gets the intercepts."""
        columns = [own[:, 0] for own in values]
        for k, shift in enumerate(intercept):
            columns[k] = columns[k] + shift
        return self._of_trees(self.trees_kept(kept), columns)


OBJECTIVES = {
    "regression": MEAN,
    "regression_l1": MEDIAN,
    "huber": MEDIAN,
    "fair": MEDIAN,
    "mape": MEDIAN,
    "poisson": LOG_MEAN,
    "gamma": LOG_MEAN,
    "tweedie": LOG_MEAN,
}
REFUSED = ("quantile",)
"""Other objectives of regressors."""
ROOTS = "objective=regression sqrt"
"""What the text of a model says that learns the square root of y."""


class LightGBMNumbersAdapter(LightGBMModel, NumberAdapter):
    """``LGBMRegressor``, and a ``Booster`` with the objective of one."""

    describes: ClassVar[str] = "lightgbm.LGBMRegressor, lightgbm.Booster"
    estimator: ClassVar[type] = lightgbm.LGBMRegressor
    objectives: ClassVar[tuple[str, ...]] = tuple(OBJECTIVES)

    @classmethod
    def handles(cls, model: Any) -> bool:
        if not isinstance(model, lightgbm.Booster):
            return super().handles(model)
        return _objective(model.model_to_string(num_iteration=1)) in (*OBJECTIVES, *REFUSED)

    def __init__(self, model: Any) -> None:
        super().__init__(model)
        if ROOTS in self._text:
            raise UnsupportedModelError(
                "model with reg_sqrt=True cannot be thinned: its predictions are squares. Train it on the square root "
                "of y, and thin that."
            )
        self.predicts = OBJECTIVES[_objective(self._text)]
        self.leaf_values = [np.asarray(tree.votes, dtype=float) for tree in self._trees]
        self.intercept = 0.0
        self.n_leaves = np.array([tree.n_leaves for tree in self._trees], dtype=np.intp)
        self.n_nodes = 2 * self.n_leaves - 1

    def leaf_numbers(self, X: Any) -> Sequence[NDArray[Any]]:
        return list(self._leaves(X).T)

    def written(self, kept: Integers, values: list[Vector], intercept: float) -> Any:
        """The first tree gets the intercept."""
        return self._of_trees(kept.tolist(), [values[0] + intercept, *values[1:]])


def _objective(text: str) -> str:
    found = OBJECTIVE.search(text)
    return found[1] if found else ""
