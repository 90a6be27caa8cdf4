"""The published protocol: its methods, values and splits."""

from __future__ import annotations

import sys
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import asdict, dataclass, fields
from importlib import resources
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.ensemble import AdaBoostClassifier
from sklearn.tree import DecisionTreeClassifier

from dualboost._typing import Matrix, Vector
from dualboost.arguments import how_to_install, require_choice, require_integer, require_positive
from dualboost.errors import InvalidParameterError, MissingDependencyError
from dualboost.estimators.classifier import DualBoostClassifier
from dualboost.formulations import FORMULATIONS, STUDIED
from dualboost.learners import CartLearner, OptimalLearner
from dualboost.solvers import SolverOptions
from dualboost.thinning import adapter_for, thin

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
        rows = adapter.rows(X, np.ones(len(X)), np.ones(len(X)))
        scores = np.full(len(X), adapter.intercept)
        for n in range(1, adapter.n_members + 1):
            scores = scores + rows.outputs(n - 1)
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


EXPERIMENTS = ("cart", "confidence", "optimal", "reweight", EQUAL_SIZE)
LISTS: dict[str, tuple[str, ...] | None] = {
    "experiments": EXPERIMENTS,
    "datasets": None,
    "methods": tuple(METHODS),
    "depths": None,
}
"""The fields that are lists, and the values they may hold if these are fixed."""
CHOICES = {"preparation": ["quantile", "width", "raw"], "reoptimize": ["every", "as_needed", "chosen"]}
GROWING = ("experiments", "datasets", "methods", "depths", "seeds")
"""The fields that may change between runs into one folder: they say which fits are made, not how."""


MOST = 1_000
"""The most seeds, and the most values of a hyperparameter: more are a mistake, and take forever to count."""


class Cell(NamedTuple):
    """One fit: the k-th value of the method's hyperparameter."""

    experiment: str
    dataset: str
    method: str
    depth: int
    seed: int
    value: int

    @property
    def key(self) -> str:
        return "/".join(map(str, self))


@dataclass(frozen=True)
class Preset:
    """The protocol of a run; its fields are those of the TOML files in ``presets/``."""

    experiments: tuple[str, ...] = ("cart",)
    datasets: tuple[str, ...] = ()
    """The data sets; empty means all that are available."""
    methods: tuple[str, ...] = PUBLISHED
    """The methods, by default the paper's nine; empty means all methods."""
    depths: tuple[int, ...] = (1, 3, 5, 10)
    seeds: int = 5
    values: int = 10
    iterations: int = 100
    time_limit: float = 2700.0
    preparation: str = "quantile"
    """"quantile" or "width" bins, or "raw" for the features as they are (categories one-hot)."""
    most_features: int = 0
    """Data sets with more binary features than this get as many as the paper has; others than the paper's get its
    selection of features. 0 selects none."""
    most_rows: int = 0
    """The most rows of each data set; larger data sets are sampled. 0 takes all rows."""
    reoptimize: str = "every"
    """With "every", each stage of the anytime curves is an optimum; with "as_needed", only the last, which is faster.

    With "chosen", fits are as with "as_needed", and the values chosen are fitted once more as with "every".
    """
    tree_time_limit: float = 10.0
    epsilon: float = 0.01
    """That of ``qrlp`` and ``erlp``: 0.01 in the paper's text, 0.99 in its authors' library."""

    def __post_init__(self) -> None:
        if self.methods == ():
            object.__setattr__(self, "methods", tuple(METHODS))
        for name, known in LISTS.items():
            _check_list(name, getattr(self, name), known)
        for name, choices in CHOICES.items():
            require_choice(name, getattr(self, name), choices)
        for name in ("seeds", "values", "iterations"):
            require_integer(name, getattr(self, name), 1)
        for name in ("seeds", "values"):
            if getattr(self, name) > MOST:
                raise InvalidParameterError(f"{name}={getattr(self, name)} is too many: give at most {MOST:,}.")
        for name in ("most_features", "most_rows"):
            require_integer(name, getattr(self, name), 0)
        for name in ("time_limit", "tree_time_limit", "epsilon"):
            require_positive(name, getattr(self, name))

    def cells(self) -> list[Cell]:
        """Every fit, in a fixed order; each method has only the experiments that make sense for it.

        Seed by seed, so that a run that is not finished has the same seeds of nearly all data sets; what fits share (a
        prepared split, AdaBoost's trees) is the same for fits that follow each other.
        """
        return [
            Cell(experiment, dataset, method, depth, seed, value)
            for seed in range(self.seeds)
            for dataset in self.datasets
            for experiment in self.experiments
            for depth in self.depths
            for method in self.methods
            if METHODS[method].takes_part(experiment)
            for value in range(METHODS[method].n_values(self.values))
        ]

    def settings(self, cell: Cell) -> Settings:
        """The settings of a fit."""
        return Settings(
            cell.experiment,
            cell.depth,
            self.iterations,
            self.time_limit,
            "as_needed" if self.reoptimize == "chosen" else self.reoptimize,
            self.tree_time_limit,
            cell.seed,
            self.epsilon,
        )

    def as_table(self) -> dict[str, Any]:
        return asdict(self)


def _check_list(name: str, values: Any, known: tuple[str, ...] | None) -> None:
    """Require a list of names or depths without duplicates."""
    if not isinstance(values, tuple):
        raise InvalidParameterError(f"{name}={values!r}: give a list.")
    if name != "datasets" and not values:
        raise InvalidParameterError(f"{name}: the list is empty.")
    for value in values:
        if name == "depths":
            require_integer(name, value, 1)
        elif not isinstance(value, str) or (known is not None and value not in known):
            raise InvalidParameterError(f"{name}: {value!r} is not known; choose from {list(known or ['names'])}.")
        if values.count(value) > 1:
            raise InvalidParameterError(f"{name}: {value!r} is there twice.")


def load_preset(name: str | Path) -> Preset:
    """A preset of dualboost by its name, or from the user's own TOML file."""
    path = Path(name)
    if path.suffix == ".toml":
        text = _own_preset(path)
    else:
        file = resources.files(__package__) / "presets" / f"{name}.toml"
        if not file.is_file():
            raise InvalidParameterError(
                f"preset={str(name)!r} is not known; choose from {preset_names()} or name a .toml file."
            )
        text = file.read_text()
    table = _parse(text, str(name))
    known = {field.name for field in fields(Preset)}
    unknown = sorted(set(table) - known)
    if unknown:
        raise InvalidParameterError(f"preset {str(name)!r}: {unknown[0]!r} is not known; there are {sorted(known)}.")
    arguments: dict[str, Any] = {
        key: tuple(value) if isinstance(value, list) else value for key, value in table.items()
    }
    return Preset(**arguments)


def _own_preset(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidParameterError(f"preset={str(path)!r} cannot be read: {error}.") from error


def preset_names() -> list[str]:
    folder = resources.files(__package__) / "presets"
    return sorted(file.name.removesuffix(".toml") for file in folder.iterdir() if file.name.endswith(".toml"))


def _parse(text: str, name: str) -> dict[str, Any]:
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        try:
            import tomli as tomllib
        except ImportError as error:
            raise MissingDependencyError(f"The study needs tomli: {how_to_install('tomli')}.") from error
    try:
        table: dict[str, Any] = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InvalidParameterError(f"preset={name!r} is not TOML: {error}.") from error
    return table
