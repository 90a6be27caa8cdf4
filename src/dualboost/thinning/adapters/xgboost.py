"""XGBoost: trees are removed from the JSON model, and their leaves scaled."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from ..._typing import Integers, Matrix, Scores, Vector
from ...errors import UnsupportedModelError
from ..base import Adapter, ClassAdapter, ClassWeights, NumberAdapter, TwoClassAdapter, is_instance_of, looked_up
from ..links import LOG_MEAN, MEAN, MEDIAN, Logit
from ..members import ClassMembers, NewLeaves, Outputs, require_one_output, unfitted

CUTS = {"binary:logistic": 0.0, "binary:logitraw": 0.5, "reg:logistic": 0.0}
"""The objectives of two classes, and the raw score at which what XGBoost predicts is one half."""


class XGBoostModel(Adapter):
    """An estimator or a ``Booster``; with early stopping, the trees up to the best iteration."""

    describes: ClassVar[str] = "xgboost.XGBClassifier, xgboost.Booster"
    estimator: ClassVar[str] = "XGBClassifier"
    objectives: ClassVar[tuple[str, ...]]
    """The objectives of models that the adapter takes."""

    @classmethod
    def handles(cls, model: Any) -> bool:
        return is_instance_of(model, "xgboost", cls.estimator, "Booster")

    def __init__(self, model: Any) -> None:
        import xgboost

        self._xgboost = xgboost
        self._is_estimator = isinstance(model, xgboost.XGBModel)
        if self._is_estimator and not model.__sklearn_is_fitted__():
            raise unfitted(model)
        self._model = model
        self._booster = model.get_booster() if self._is_estimator else model
        self._json = json.loads(self._booster.save_raw("json"))
        self._require_objective()
        self._n_used = self._rounds_used()
        trees = tree_model(self._json)["trees"]
        indptr = tree_model(self._json).get("iteration_indptr") or range(len(trees) + 1)
        self._trees = trees[: indptr[self._n_used]]
        if not self._trees:
            raise unfitted(model)
        drops = self._json["learner"]["gradient_booster"].get("weight_drop", [1.0] * len(self._trees))
        self._values = [
            drop * np.array(tree["split_conditions"], dtype=float)
            for tree, drop in zip(self._trees, drops, strict=False)
        ]

    def _require_objective(self) -> None:
        learner = self._json["learner"]
        kind, objective = learner["gradient_booster"]["name"], self._objective
        if kind == "gblinear":
            raise UnsupportedModelError("model with booster='gblinear' has no trees to thin.")
        if objective not in self.objectives:
            raise UnsupportedModelError(
                f"model with objective={objective!r} cannot be thinned; with one of these it can: "
                f"{', '.join(self.objectives)}."
            )

    @property
    def _objective(self) -> str:
        return str(self._json["learner"]["objective"]["name"])

    def _rounds_used(self) -> int:
        try:
            return int(self._booster.best_iteration) + 1
        except AttributeError:  # no early stopping
            return int(self._booster.num_boosted_rounds())

    def _on_missing(self) -> tuple[Vector, Integers]:
        """The raw scores of a row of missing values, and its leaves: their difference is what the trees do not say."""
        names, types = self._booster.feature_names, self._booster.feature_types
        empty = np.full((1, self._booster.num_features()), np.nan)
        row = self._xgboost.DMatrix(empty, feature_names=names, feature_types=types, enable_categorical=True)
        rounds = (0, self._n_used)
        raw = np.asarray(self._booster.predict(row, output_margin=True, iteration_range=rounds), dtype=float)
        leaves = self._booster.predict(row, pred_leaf=True, iteration_range=rounds).astype(np.intp).ravel()
        return raw.ravel(), leaves

    @property
    def class_weights(self) -> ClassWeights:
        """Objectives without a weight of the positive class have no such entry."""
        weight = float(self._json["learner"]["objective"].get("reg_loss_param", {}).get("scale_pos_weight", 1.0))
        return ClassWeights(({1: weight},) if weight != 1.0 else ())

    @property
    def feature_names(self) -> list[str] | None:
        return self._booster.feature_names

    @property
    def n_features(self) -> int | None:
        return int(self._booster.num_features())

    def _leaves(self, X: Any) -> Integers:
        """The leaf of each row, in one column for each tree."""
        if self._is_estimator:
            leaves = self._model.apply(X, iteration_range=(0, self._n_used))
        else:
            leaves = self._booster.predict(self._matrix(X), pred_leaf=True, iteration_range=(0, self._n_used))
        return np.asarray(leaves).astype(np.intp).reshape(-1, len(self._trees))

    def _matrix(self, X: Any) -> Any:
        names = None if hasattr(X, "columns") else self._booster.feature_names
        return self._xgboost.DMatrix(X, feature_names=names, enable_categorical=True)

    def fresh(self) -> Any | None:
        """Without early stopping, which needs rows that are not given here, but with as many rounds as it left."""
        if not self._is_estimator:
            return None
        is_forest = is_instance_of(
            self._model, "xgboost", "XGBRFClassifier", "XGBRFRegressor"
        )  # its trees are one round
        n_estimators = self._model.n_estimators if is_forest else self._n_used
        return clone(self._model).set_params(n_estimators=n_estimators, early_stopping_rounds=None)

    def _of_trees(self, kept: Sequence[int], values: Sequence[Vector], n_classes: int) -> Any:
        """A model of some trees with other leaves, in rounds of one tree for each class."""
        changed = json.loads(self._booster.save_raw("json"))
        model = tree_model(changed)
        model["trees"] = [
            _with_leaves(model["trees"][j], number, own)
            for number, (j, own) in enumerate(zip(kept, values, strict=True))
        ]
        model["tree_info"] = list(range(n_classes)) * (len(kept) // n_classes)
        model["iteration_indptr"] = list(range(0, len(kept) + 1, n_classes))
        model["gbtree_model_param"] |= {"num_trees": str(len(kept)), "num_parallel_tree": "1"}
        if "weight_drop" in changed["learner"]["gradient_booster"]:
            changed["learner"]["gradient_booster"]["weight_drop"] = [1.0] * len(kept)
        for name in ("best_iteration", "best_score", "scikit_learn"):
            changed["learner"]["attributes"].pop(name, None)
        return self._loaded(bytearray(json.dumps(changed), "utf-8"), len(kept) // n_classes)

    def _loaded(self, raw: bytearray, n_rounds: int) -> Any:
        if not self._is_estimator:
            return self._xgboost.Booster(model_file=raw)
        thinned = type(self._model)(**self._model.get_params())
        thinned.load_model(raw)
        # XGBoost's set_params would also hand constraints by name to the booster, which cannot read them.
        thinned.n_estimators, thinned.base_score = n_rounds, self._model.base_score
        return thinned

    def raw_scores(self, model: Any, X: Any) -> Scores:
        scores = model.predict(X, output_margin=True) if self._is_estimator else self._predicted(model, X)
        return np.asarray(scores, dtype=float)

    def _predicted(self, booster: Any, X: Any) -> Any:
        rounds = (0, self._n_used) if booster is self._model else (0, 0)
        return booster.predict(self._matrix(X), output_margin=True, iteration_range=rounds)

    def probabilities(self, model: Any, X: Any, scores: Scores) -> Scores:
        """Not by ``predict_proba``, which takes raw scores for probabilities under "binary:logitraw"."""
        found: Scores = self.link.expected(scores)
        return found

    def saved_bytes(self, model: Any) -> int:
        booster = model.get_booster() if self._is_estimator else model
        return len(booster.save_raw("ubj"))


class XGBoostAdapter(XGBoostModel, TwoClassAdapter):
    """Two classes."""

    objectives: ClassVar[tuple[str, ...]] = tuple(CUTS)
    link = Logit()
    refits = True

    def __init__(self, model: Any) -> None:
        super().__init__(model)
        self.classes = np.arange(2)
        self.cut = CUTS[self._objective]
        self.weights = np.ones(len(self._trees))
        raw, leaves = self._on_missing()
        self.intercept = float(raw[0]) - float(looked_up(self._values, leaves[None, :]).sum(dtype=float))
        self.n_nodes = np.array([len(tree["left_children"]) for tree in self._trees], dtype=np.intp)
        self.n_leaves = (self.n_nodes + 1) // 2

    def outputs(self, X: Any) -> Outputs:
        return looked_up(self._values, self._leaves(X))

    def rebuild(self, kept: Integers, weights: Vector, intercept: float) -> Any:
        return self._of(kept, [a * self._values[j] for j, a in zip(kept, weights, strict=True)], intercept)

    def rewrite(self, kept: Integers, leaves: Sequence[NewLeaves], intercept: float) -> Any:
        return self._of(kept, [new(self._values[j]) for j, new in zip(kept, leaves, strict=True)], intercept)

    def _of(self, kept: Integers, values: list[Vector], intercept: float) -> Any:
        """A model of some trees with other leaves, the first of which get what the intercept differs by."""
        return self._of_trees(kept.tolist(), [values[0] + (intercept - self.intercept), *values[1:]], n_classes=1)


def tree_model(model: dict[str, Any]) -> dict[str, Any]:
    """The part of the JSON model that holds the trees; in a DART model it is one level deeper."""
    booster: dict[str, Any] = model["learner"]["gradient_booster"]
    trees: dict[str, Any] = booster.get("gbtree", booster)["model"]
    return trees


def _with_leaves(tree: dict[str, Any], number: int, values: Vector) -> dict[str, Any]:
    """The tree under another number with other leaf values, which XGBoost keeps beside the split conditions."""
    is_leaf = np.array(tree["left_children"]) == -1
    for name in ("split_conditions", "base_weights"):
        tree[name] = np.where(is_leaf, values, np.array(tree[name], dtype=float)).tolist()
    tree["id"] = number
    return tree


class XGBoostClassesAdapter(XGBoostModel, ClassAdapter):
    """Trees that a round grows in parallel for the same class are members of their own."""

    objectives: ClassVar[tuple[str, ...]] = ("multi:softprob", "multi:softmax")

    @classmethod
    def handles(cls, model: Any) -> bool:
        return super().handles(model) and _n_classes(model) > 2

    def __init__(self, model: Any) -> None:
        super().__init__(model)
        n_classes = int(self._json["learner"]["learner_model_param"]["num_class"])
        self.classes = np.arange(n_classes)
        self._order = self._by_members(n_classes)
        self.members = ClassMembers.of_rounds([self._values[j] for j in self._order], n_classes)
        self.weights = np.ones(self.members.n_members)
        self.n_nodes = self.members.n_leaves
        self.n_leaves = (self.n_nodes + n_classes) // 2
        self.intercept = self._base_scores()

    def _require_objective(self) -> None:
        super()._require_objective()
        if any(int(tree["tree_param"]["size_leaf_vector"]) > 1 for tree in tree_model(self._json)["trees"][:1]):
            raise UnsupportedModelError(
                "model with multi_strategy='multi_output_tree' cannot be thinned; train it with "
                "multi_strategy='one_output_per_tree'."
            )

    def _by_members(self, n_classes: int) -> list[int]:
        """The trees, those of one round next to each other and in the order of their classes."""
        info = np.array(tree_model(self._json)["tree_info"][: len(self._trees)])
        of_class = [np.flatnonzero(info == k) for k in range(n_classes)]
        return [int(j) for j in np.column_stack(of_class).ravel()]

    def _base_scores(self) -> Vector:
        raw, leaves = self._on_missing()
        said = np.array([self._values[j][leaves[j]] for j in self._order])
        return np.asarray(raw - said.reshape(self.n_members, -1).sum(axis=0))

    def leaf_numbers(self, X: Any) -> Sequence[NDArray[Any]]:
        leaves = self._leaves(X)
        return [leaves[:, j] for j in self._order]

    def written(self, kept: Integers, values: list[Matrix], intercept: Vector) -> Any:
        """The first round gets what the intercepts differ by: the base score stays as it is."""
        columns = [own[:, 0] for own in values]
        for k, shift in enumerate(intercept - self.intercept):
            columns[k] = columns[k] + shift
        trees = [self._order[tree] for tree in self.trees_kept(kept)]
        return self._of_trees(trees, columns, len(self.classes))


def _n_classes(model: Any) -> int:
    """How many classes a model has; 0 if it is not fitted."""
    if hasattr(model, "get_booster"):
        return int(model.n_classes_) if model.__sklearn_is_fitted__() else 0
    return int(json.loads(model.save_config())["learner"]["learner_model_param"]["num_class"])


OBJECTIVES = {
    "reg:squarederror": MEAN,
    "reg:absoluteerror": MEDIAN,
    "reg:pseudohubererror": MEDIAN,
    "reg:squaredlogerror": MEDIAN,
    "count:poisson": LOG_MEAN,
    "reg:gamma": LOG_MEAN,
    "reg:tweedie": LOG_MEAN,
}
OF_NUMBERS = ("reg:", "count:")
"""How the objectives of regressors begin."""
OF_CLASSES = "reg:logistic"
"""The one that begins so and predicts a probability."""


class XGBoostNumbersAdapter(XGBoostModel, NumberAdapter):
    """``XGBRegressor``, and a ``Booster`` with the objective of one."""

    describes: ClassVar[str] = "xgboost.XGBRegressor, xgboost.Booster"
    estimator: ClassVar[str] = "XGBRegressor"
    objectives: ClassVar[tuple[str, ...]] = tuple(OBJECTIVES)

    @classmethod
    def handles(cls, model: Any) -> bool:
        if not is_instance_of(model, "xgboost", "Booster"):
            return super().handles(model)
        name = json.loads(model.save_config())["learner"]["objective"]["name"]
        return name.startswith(OF_NUMBERS) and name != OF_CLASSES

    def __init__(self, model: Any) -> None:
        super().__init__(model)
        self.predicts = OBJECTIVES[self._objective]
        self.leaf_values = self._values
        self.weights = np.ones(len(self._trees))
        raw, leaves = self._on_missing()
        self.intercept = float(raw[0]) - sum(float(own[leaf]) for own, leaf in zip(self._values, leaves, strict=True))
        self.n_nodes = np.array([len(tree["left_children"]) for tree in self._trees], dtype=np.intp)
        self.n_leaves = (self.n_nodes + 1) // 2

    def _require_objective(self) -> None:
        super()._require_objective()
        require_one_output(self._model, int(self._json["learner"]["learner_model_param"]["num_target"]))

    def leaf_numbers(self, X: Any) -> Sequence[NDArray[Any]]:
        return list(self._leaves(X).T)

    def written(self, kept: Integers, values: list[Vector], intercept: float) -> Any:
        """The first tree gets what the intercept differs by: the base score stays as it is."""
        moved = [values[0] + (intercept - self.intercept), *values[1:]]
        return self._of_trees(kept.tolist(), moved, n_classes=1)
