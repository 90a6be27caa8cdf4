"""LightGBM: trees are removed from the text model, and their leaves scaled."""

from __future__ import annotations

import copy
import re
from collections.abc import Sequence
from typing import Any

import lightgbm
import numpy as np
from sklearn.base import clone

from ..._typing import Integers, Matrix, Scores, Vector
from ...errors import UnsupportedModelError
from ...estimators.parameters import BALANCED
from ...trees.lightgbm_text import parse_trees
from ..base import Adapter, ClassWeights, require_fitted, two_classes, with_shift
from ..links import LOG_MEAN, MEAN, MEDIAN, Link, Logit, LogProbabilities
from ..rows import LeafIds, Members

PARAMETER = re.compile(r"^\[(\w+): (.*)\]$", re.MULTILINE)
OBJECTIVE = re.compile(r"^objective=(\S+)(?:.*\bsigmoid:(\S+))?", re.MULTILINE)
TWO_CLASSES: dict[str, Link] = {"binary": Logit(), "cross_entropy": Logit()}
SEVERAL_CLASSES: dict[str, Link] = {"multiclass": LogProbabilities()}
"""Under "multiclassova" every class has a probability of its own, which refitted leaves have not."""
NUMBERS: dict[str, Link] = {
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
"""The text of a model that learns the square root of y."""


class LightGBMAdapter(Adapter):
    """An estimator or a ``Booster``; with early stopping, the trees up to the best iteration."""

    def __init__(self, model: Any) -> None:
        self._is_estimator = isinstance(model, lightgbm.LGBMModel)
        if self._is_estimator:
            require_fitted(model)
        self._model = model
        self._booster = model.booster_ if self._is_estimator else model
        best = self._booster.best_iteration
        self._text = self._booster.model_to_string(num_iteration=best if best > 0 else -1)
        n_scores = self._booster.num_model_per_iteration()
        self.link = self._read_link(n_scores)
        trees = parse_trees(self._text)
        if not trees:
            raise UnsupportedModelError("model has no trees; train it first.")
        self.members = Members([np.asarray(tree.votes, dtype=float)[:, None] for tree in trees], n_scores, n_scores)
        n_rounds = len(self.members)
        self._share = 1.0 / n_rounds if "\naverage_output\n" in self._text else 1.0
        self.weights = np.full(n_rounds, self._share)
        self.intercept = np.zeros(n_scores) if n_scores > 1 else 0.0
        self.classes = self._classes(n_scores)
        self.n_leaves = self.members.sizes()
        self.n_nodes = 2 * self.n_leaves - n_scores

    def _read_link(self, n_scores: int) -> Link:
        found = OBJECTIVE.search(self._text)
        name = found[1] if found else "a function of your own"
        known = self._known(name, n_scores)
        if name not in known:
            raise UnsupportedModelError(
                f"model with objective {name!r} cannot be thinned; with one of these it can: {', '.join(known)}."
            )
        if "\nis_linear=1\n" in self._text:
            raise UnsupportedModelError("model with linear_tree=True cannot be thinned: its leaves are not constants.")
        if ROOTS in self._text:
            raise UnsupportedModelError(
                "model with reg_sqrt=True cannot be thinned: its predictions are squares. Train it on the square root "
                "of y, and thin that."
            )
        return Logit(float(found[2] or 1.0)) if found and known is TWO_CLASSES else known[name]

    def _known(self, objective: str, n_scores: int) -> dict[str, Link]:
        is_of_numbers = not self._is_estimator and objective in (*NUMBERS, *REFUSED)
        if isinstance(self._model, lightgbm.LGBMRegressor) or is_of_numbers:
            return NUMBERS
        return SEVERAL_CLASSES if n_scores > 1 else TWO_CLASSES

    def _classes(self, n_scores: int) -> Any:
        if not self.link.takes_weights:
            return np.asarray(getattr(self._model, "classes_", np.arange(n_scores)))
        return two_classes(self._model) if self._is_estimator else np.arange(2)

    @property
    def class_weights(self) -> ClassWeights:
        """Weights by class, and the weights of the objective "binary", which the text names by one alias."""
        by_class = (self._model.class_weight,) if self._is_estimator else ()
        if not self.link.takes_weights:
            return ClassWeights(by_class)
        parameters = dict(PARAMETER.findall(self._text))
        if not parameters:
            return ClassWeights(by_class, "its text has no parameters of a training")
        if parameters.get("objective") != "binary":
            return ClassWeights(by_class)
        balanced = BALANCED if parameters.get("is_unbalance") == "1" else None
        positive = {self.classes.tolist()[1]: float(parameters.get("scale_pos_weight", 1.0))}
        return ClassWeights((*by_class, balanced, positive))

    @property
    def feature_names(self) -> list[str] | None:
        names = self._booster.feature_name()
        made_up = [f"Column_{i}" for i in range(len(names))]
        return None if names == made_up else list(names)

    @property
    def n_features(self) -> int | None:
        return int(self._booster.num_feature())

    def leaf_ids(self, X: Any) -> Sequence[LeafIds]:
        leaves = np.asarray(self._model.predict(X, pred_leaf=True)).reshape(-1, len(self.members.values))
        return list(leaves.astype(np.intp).T)

    def fresh(self) -> Any | None:
        """Without early stopping, which needs rows that are not given here, but with as many rounds as it left."""
        return clone(self._model).set_params(n_estimators=self.n_members) if self._is_estimator else None

    def written(self, kept: Integers, leaves: list[Matrix], intercept: Any) -> Any:
        """The first round gets the intercept."""
        header, *sections = self._text.split("\nTree=")
        *_, tail = sections[-1].partition("\nend of trees")
        header = re.sub(r"^(tree_sizes=.*|average_output)\n", "", header + "\n", flags=re.MULTILINE)
        trees = zip(self.members.trees_of(kept), with_shift(leaves, intercept), strict=True)
        changed = [_with_leaves(sections[j], number, own[:, 0]) for number, (j, own) in enumerate(trees)]
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
        return self._share * raw if model is self._model else raw  # the raw score of a forest is a sum

    def saved_bytes(self, model: Any) -> int:
        booster = model.booster_ if self._is_estimator else model
        return len(booster.model_to_string())


def _with_leaves(section: str, number: int, values: Vector) -> str:
    body = section.partition("\nend of trees")[0].split("\n", 1)[1]
    leaves = "leaf_value=" + " ".join(map(repr, values.tolist()))
    body = re.sub(r"^leaf_value=.*$", leaves, body, flags=re.MULTILINE)
    return f"Tree={number}\n{body.rstrip()}\n\n"
