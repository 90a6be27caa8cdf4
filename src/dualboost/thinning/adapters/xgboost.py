"""XGBoost: trees are removed from the JSON model, and their leaves scaled."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.base import clone

from ..._typing import Integers, Matrix, Scores, Vector
from ...errors import UnsupportedModelError
from ..base import Adapter, ClassWeights, require_one_output, unfitted, with_shift
from ..links import LOG_MEAN, MEAN, MEDIAN, Link, Logit, LogProbabilities, link_for
from ..rows import LeafIds, Members

CUTS = {"binary:logistic": 0.0, "binary:logitraw": 0.5, "reg:logistic": 0.0}
"""The objectives of two classes, and the raw score at which the prediction of XGBoost is one half."""
TWO_CLASSES: dict[str, Link] = dict.fromkeys(CUTS, Logit())
SEVERAL_CLASSES: dict[str, Link] = {"multi:softprob": LogProbabilities(), "multi:softmax": LogProbabilities()}
NUMBERS: dict[str, Link] = {
    "reg:squarederror": MEAN,
    "reg:absoluteerror": MEDIAN,
    "reg:pseudohubererror": MEDIAN,
    "reg:squaredlogerror": MEDIAN,
    "count:poisson": LOG_MEAN,
    "reg:gamma": LOG_MEAN,
    "reg:tweedie": LOG_MEAN,
}
OF_NUMBERS = ("reg:", "count:")
"""How the objectives of regressors begin; one of classes does too."""


class XGBoostAdapter(Adapter):
    """An estimator or a ``Booster``; with early stopping, the trees up to the best iteration.

    A round has a tree for each class. Trees that it grows in parallel for the same class are members of their own.
    """

    def __init__(self, model: Any) -> None:
        import xgboost

        self._xgboost, self._model = xgboost, model
        self._is_estimator = isinstance(model, xgboost.XGBModel)
        if self._is_estimator and not model.__sklearn_is_fitted__():
            raise unfitted(model)
        self._booster = model.get_booster() if self._is_estimator else model
        self._json = json.loads(self._booster.save_raw("json"))
        objective, n_classes = self._objective(), self._n_classes()
        known = self._known(objective, n_classes)
        self.link = link_for("objective", objective, known)
        self._require_one_score_a_leaf(known is NUMBERS)
        self.classes, self.cut = np.arange(max(n_classes, 2)), CUTS.get(objective, 0.0)
        self._n_used = self._rounds_used()
        trees = tree_model(self._json)["trees"]
        indptr = tree_model(self._json).get("iteration_indptr") or range(len(trees) + 1)
        trees = trees[: indptr[self._n_used]]
        if not trees:
            raise unfitted(model)
        drops = self._json["learner"]["gradient_booster"].get("weight_drop", [1.0] * len(trees))
        n_scores = n_classes if n_classes > 2 else 1
        self._order = self._by_members(len(trees), n_scores)
        values = [drops[j] * np.array(trees[j]["split_conditions"], dtype=float)[:, None] for j in self._order]
        self.members = Members(values, n_scores, n_scores)
        self.weights = np.ones(len(self.members))
        self.n_nodes = self.members.sizes()
        self.n_leaves = (self.n_nodes + n_scores) // 2
        self.intercept = self._base_scores()

    def _objective(self) -> str:
        if self._json["learner"]["gradient_booster"]["name"] == "gblinear":
            raise UnsupportedModelError("model with booster='gblinear' has no trees to thin.")
        return str(self._json["learner"]["objective"]["name"])

    def _n_classes(self) -> int:
        if self._is_estimator:
            return int(getattr(self._model, "n_classes_", 0))
        return int(self._json["learner"]["learner_model_param"]["num_class"])

    def _known(self, objective: str, n_classes: int) -> dict[str, Link]:
        is_of_numbers = objective.startswith(OF_NUMBERS) and objective not in CUTS
        if isinstance(self._model, self._xgboost.XGBRegressor) or (not self._is_estimator and is_of_numbers):
            return NUMBERS
        return SEVERAL_CLASSES if n_classes > 2 else TWO_CLASSES

    def _require_one_score_a_leaf(self, is_regressor: bool) -> None:
        if is_regressor:
            require_one_output(self._model, int(self._json["learner"]["learner_model_param"]["num_target"]))
        if any(int(tree["tree_param"]["size_leaf_vector"]) > 1 for tree in tree_model(self._json)["trees"][:1]):
            raise UnsupportedModelError(
                "model with multi_strategy='multi_output_tree' cannot be thinned; train it with "
                "multi_strategy='one_output_per_tree'."
            )

    def _rounds_used(self) -> int:
        try:
            return int(self._booster.best_iteration) + 1
        except AttributeError:  # no early stopping
            return int(self._booster.num_boosted_rounds())

    def _by_members(self, n_trees: int, n_scores: int) -> list[int]:
        """The trees by round, and within a round by class."""
        info = np.array(tree_model(self._json)["tree_info"][:n_trees])
        of_class = [np.flatnonzero(info == k) for k in range(n_scores)]
        return [int(j) for j in np.column_stack(of_class).ravel()]

    def _base_scores(self) -> Any:
        names, types = self._booster.feature_names, self._booster.feature_types
        empty = np.full((1, self._booster.num_features()), np.nan)
        row = self._xgboost.DMatrix(empty, feature_names=names, feature_types=types, enable_categorical=True)
        rounds = (0, self._n_used)
        raw = np.asarray(self._booster.predict(row, output_margin=True, iteration_range=rounds), dtype=float).ravel()
        leaves = self._booster.predict(row, pred_leaf=True, iteration_range=rounds).astype(np.intp).ravel()[self._order]
        members = self.members.merged() if self.link.merges_equal_leaves else self.members
        values = np.array([own[leaf, 0] for own, leaf in zip(members.values, leaves, strict=True)], dtype=float)
        found = raw - values.reshape(self.n_members, -1).sum(axis=0)
        return found if len(found) > 1 else float(found[0])

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

    def leaf_ids(self, X: Any) -> Sequence[LeafIds]:
        rounds = (0, self._n_used)
        if self._is_estimator:
            leaves = self._model.apply(X, iteration_range=rounds)
        else:
            leaves = self._booster.predict(self._matrix(X), pred_leaf=True, iteration_range=rounds)
        leaves = np.asarray(leaves).reshape(-1, len(self._order))
        return [leaves[:, j].astype(np.intp) for j in self._order]

    def _matrix(self, X: Any) -> Any:
        names = None if hasattr(X, "columns") else self._booster.feature_names
        return self._xgboost.DMatrix(X, feature_names=names, enable_categorical=True)

    def fresh(self) -> Any | None:
        """Without early stopping, which needs rows that are not given here, but with as many rounds as it left."""
        if not self._is_estimator:
            return None
        has_one_round = isinstance(self._model, (self._xgboost.XGBRFClassifier, self._xgboost.XGBRFRegressor))
        n_estimators = self._model.n_estimators if has_one_round else self._n_used
        return clone(self._model).set_params(n_estimators=n_estimators, early_stopping_rounds=None)

    def written(self, kept: Integers, leaves: list[Matrix], intercept: Any) -> Any:
        """The first round gets the difference of the intercepts: the base score stays as it is."""
        trees = [self._order[tree] for tree in self.members.trees_of(kept)]
        values = [own[:, 0] for own in with_shift(leaves, intercept - self.intercept)]
        changed, n_scores = json.loads(self._booster.save_raw("json")), self.members.n_outputs
        model = tree_model(changed)
        model["trees"] = [
            _with_leaves(model["trees"][j], number, own)
            for number, (j, own) in enumerate(zip(trees, values, strict=True))
        ]
        model["tree_info"] = list(range(n_scores)) * len(kept)
        model["iteration_indptr"] = list(range(0, len(trees) + 1, n_scores))
        model["gbtree_model_param"] |= {"num_trees": str(len(trees)), "num_parallel_tree": "1"}
        if "weight_drop" in changed["learner"]["gradient_booster"]:
            changed["learner"]["gradient_booster"]["weight_drop"] = [1.0] * len(trees)
        for name in ("best_iteration", "best_score", "scikit_learn"):
            changed["learner"]["attributes"].pop(name, None)
        return self._loaded(bytearray(json.dumps(changed), "utf-8"), len(kept))

    def _loaded(self, raw: bytearray, n_rounds: int) -> Any:
        if not self._is_estimator:
            return self._xgboost.Booster(model_file=raw)
        thinned = type(self._model)(**self._model.get_params())
        thinned.load_model(raw)
        # XGBoost's set_params would also hand constraints by name to the booster, which cannot read them.
        thinned.n_estimators, thinned.base_score = n_rounds, self._model.base_score
        return thinned

    def raw_scores(self, model: Any, X: Any) -> Scores:
        if self._is_estimator:
            return np.asarray(model.predict(X, output_margin=True), dtype=float)
        rounds = (0, self._n_used) if model is self._model else (0, 0)
        return np.asarray(model.predict(self._matrix(X), output_margin=True, iteration_range=rounds), dtype=float)

    def saved_bytes(self, model: Any) -> int:
        booster = model.get_booster() if self._is_estimator else model
        return len(booster.save_raw("ubj"))


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
