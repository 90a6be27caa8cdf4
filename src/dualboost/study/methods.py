"""The methods of the study: the hyperparameter of each, how it is fitted, and what is recorded of it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.ensemble import AdaBoostClassifier
from sklearn.tree import DecisionTreeClassifier

from .._typing import Matrix, Vector
from ..estimators.classifier import DualBoostClassifier
from ..formulations import FORMULATIONS, STUDIED
from ..masters import SolverOptions
from ..pricing import CartLearner, OptimalLearner
from ..thinning import TwoClassAdapter, adapter_for, thin

EQUAL_SIZE = "equal_size"
"""The experiment that compares ensembles of equal size (``sizes``)."""
ANY_NUMBER = 1000
"""A number of samples, for grids whose length does not depend on it."""


@dataclass(frozen=True)
class Settings:
    """The settings of a fit besides the hyperparameter of its method."""

    experiment: str
    depth: int
    iterations: int
    time_limit: float
    reoptimize: str
    tree_time_limit: float
    seed: int
    epsilon: float
    trees: Fitted | None = None
    """AdaBoost's trees, for the experiment that gives them new weights."""


@dataclass(eq=False)
class Fitted:
    """A model, and what is recorded of it."""

    model: Any
    weights: Vector
    """The weights of the trees, zeros included; ones if the method has no weights."""
    n_leaves: int
    stop_reason: str = ""
    gap: float = float("nan")
    objective: float = float("nan")

    @property
    def n_trees(self) -> int:
        return int(np.count_nonzero(self.weights))


class StudyMethod(ABC):
    """A method with one hyperparameter."""

    name: str
    title: str
    is_totally_corrective: bool = False
    has_margins: bool = False
    """Whether scores are normalised by the weights of the trees."""

    def takes_part(self, experiment: str) -> bool:
        """Whether the experiment makes sense for the method."""
        return self.is_totally_corrective or experiment in ("cart", EQUAL_SIZE)

    def has_optimal_stages(self, experiment: str) -> bool:
        """Whether the stages of a fit depend on how often the weights of its trees are optimised."""
        return False

    @abstractmethod
    def grid(self, n_samples: int, k: int) -> Vector:
        """The paper's values of the hyperparameter, without duplicates."""

    def n_values(self, k: int) -> int:
        """The number of values in a grid of k; a method without a hyperparameter has one value."""
        return len(self.grid(ANY_NUMBER, k))

    @abstractmethod
    def fit(self, X: Matrix, y: Vector, value: float, settings: Settings) -> Fitted: ...

    @abstractmethod
    def scores(self, model: Any, X: Matrix) -> Vector:
        """Scores that are positive for the second class; normalised margins where the method has them."""

    @abstractmethod
    def staged(self, model: Any, X: Matrix) -> Iterator[tuple[Vector, int]]:
        """After each iteration: the scores, and the number of trees used."""


class TotallyCorrective(StudyMethod):
    """One of dualboost's formulations: with CART, confidence-rated or optimal trees, or AdaBoost's trees reweighted."""

    is_totally_corrective = has_margins = True

    def __init__(self, name: str) -> None:
        self.name, self.title = name, FORMULATIONS[name].title

    def takes_part(self, experiment: str) -> bool:
        return experiment != "reweight" or not FORMULATIONS[self.name].has_sides

    def has_optimal_stages(self, experiment: str) -> bool:
        return experiment != "reweight"

    def grid(self, n_samples: int, k: int) -> Vector:
        return np.unique(FORMULATIONS[self.name]().C_grid(n_samples, k))

    def fit(self, X: Matrix, y: Vector, value: float, settings: Settings) -> Fitted:
        if settings.experiment == "reweight":
            return self._reweight(X, y, value, settings)
        model = DualBoostClassifier(
            self.name,
            C=value,
            epsilon=self._epsilon(settings),
            max_depth=settings.depth,
            max_trees=settings.iterations,
            learner=_learner(settings),
            time_limit=settings.time_limit,
            solver=SolverOptions(reoptimize=settings.reoptimize),
            calibration="training",  # no probability is asked for, and twins would take twice the time of the fit
            random_state=settings.seed,
        ).fit(X, y)
        return Fitted(model, model.weights_, model.n_leaves_, model.stop_reason_, model.gap_, model.objective_)

    def _epsilon(self, settings: Settings) -> float | None:
        return settings.epsilon if FORMULATIONS[self.name].has_epsilon() else None

    def _reweight(self, X: Matrix, y: Vector, value: float, settings: Settings) -> Fitted:
        trees = (settings.trees or adaboost_trees(X, y, settings)).model
        result = thin(
            trees, X, y, formulation=self.name, C=value, epsilon=self._epsilon(settings), method="reweight"
        )  # fmt: skip
        weights = np.zeros(len(trees.estimators_))
        weights[result.kept] = result.weights
        leaves = int(adapter_for(trees).n_leaves[result.kept].sum())
        return Fitted(result.model, weights, leaves, "one shot", result.gap)

    def scores(self, model: Any, X: Matrix) -> Vector:
        scores = np.asarray(model.decision_function(X))
        return scores if isinstance(model, DualBoostClassifier) else 0.5 * scores

    def staged(self, model: Any, X: Matrix) -> Iterator[tuple[Vector, int]]:
        if isinstance(model, DualBoostClassifier):
            yield from zip(model.staged_decision_function(X), model.history_["n_trees"].tolist(), strict=True)


def _learner(settings: Settings) -> CartLearner | OptimalLearner:
    if settings.experiment == "optimal":
        return OptimalLearner(tree_time_limit=settings.tree_time_limit)
    return CartLearner(voting="confidence" if settings.experiment == "confidence" else "hard")


class LearningRate(StudyMethod):
    """A heuristic method, whose learning rate is tuned."""

    def grid(self, n_samples: int, k: int) -> Vector:
        return np.logspace(-3.0, 0.0, k)


class AdaBoost(LearningRate):
    name, title = "adaboost", "AdaBoost"
    has_margins = True

    def fit(self, X: Matrix, y: Vector, value: float, settings: Settings) -> Fitted:
        tree = DecisionTreeClassifier(max_depth=settings.depth)
        model = AdaBoostClassifier(
            tree, n_estimators=settings.iterations, learning_rate=value, random_state=settings.seed
        ).fit(X, y)
        leaves = sum(int(member.tree_.n_leaves) for member in model.estimators_)
        return Fitted(model, model.estimator_weights_[: len(model.estimators_)], leaves)

    def scores(self, model: Any, X: Matrix) -> Vector:
        return 0.5 * np.asarray(model.decision_function(X))

    def staged(self, model: Any, X: Matrix) -> Iterator[tuple[Vector, int]]:
        for n, scores in enumerate(model.staged_decision_function(X), start=1):
            yield 0.5 * np.asarray(scores), n


class Boosted(LearningRate):
    """Boosted trees of another library, which have no weights; an adapter reads their outputs."""

    @abstractmethod
    def make(self, value: float, settings: Settings) -> Any:
        """The library's classifier, not fitted."""

    def fit(self, X: Matrix, y: Vector, value: float, settings: Settings) -> Fitted:
        model = self.make(value, settings).fit(X, (y > 0).astype(int))
        adapter = adapter_for(model)
        return Fitted(model, np.ones(adapter.n_members), int(adapter.n_leaves.sum()))

    def scores(self, model: Any, X: Matrix) -> Vector:
        return adapter_for(model).raw_scores(model, X)

    def staged(self, model: Any, X: Matrix) -> Iterator[tuple[Vector, int]]:
        adapter = adapter_for(model)
        assert isinstance(adapter, TwoClassAdapter), "the study's models have two classes"
        scores = np.full(len(X), adapter.intercept)
        for n, output in enumerate(adapter.outputs(X), start=1):
            scores = scores + output
            yield scores, n


class XGBoost(Boosted):
    name, title = "xgboost", "XGBoost"

    def make(self, value: float, settings: Settings) -> Any:
        from xgboost import XGBClassifier

        return XGBClassifier(**_boosting(value, settings))


class LightGBM(Boosted):
    name, title = "lightgbm", "LightGBM"

    def make(self, value: float, settings: Settings) -> Any:
        from lightgbm import LGBMClassifier

        own = {"num_leaves": 2**settings.depth, "verbose": -1, "deterministic": True}
        return LGBMClassifier(**_boosting(value, settings), **own)


def _boosting(value: float, settings: Settings) -> dict[str, Any]:
    """The arguments that have the same names in both libraries; the value that is tuned is the learning rate."""
    return {
        "n_estimators": settings.iterations,
        "max_depth": settings.depth,
        "learning_rate": value,
        "n_jobs": 1,
        "random_state": settings.seed,
    }


ADABOOST = AdaBoost()


def adaboost_trees(X: Matrix, y: Vector, settings: Settings) -> Fitted:
    """The trees that the experiment "reweight" gives new weights: the same for every method and value."""
    return ADABOOST.fit(X, y, 1.0, settings)


HEURISTIC: tuple[StudyMethod, ...] = (ADABOOST, XGBoost(), LightGBM())
PUBLISHED = (*STUDIED, *(method.name for method in HEURISTIC))
"""The nine methods that the paper compares."""
FAMILY = tuple(name for name in FORMULATIONS if name not in STUDIED)
METHODS: dict[str, StudyMethod] = {
    method.name: method for method in (*map(TotallyCorrective, STUDIED), *HEURISTIC, *map(TotallyCorrective, FAMILY))
}
