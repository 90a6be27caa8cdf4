"""The published protocol: its methods, the values of their hyperparameters, and the presets."""

from __future__ import annotations

import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields
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
from dualboost.trees.tree import n_leaves

EQUAL_SIZE = "equal_size"
"""The experiment that compares ensembles of equal size (``sizes``)."""


@dataclass(frozen=True)
class Settings:
    """Everything that a fit depends on, except data and hyperparameter."""

    experiment: str
    depth: int
    iterations: int
    time_limit: float
    reoptimize: str
    tree_time_limit: float
    seed: int
    epsilon: float
    trees: Fitted | None = None
    """AdaBoost's trees, which the experiment "reweight" gives new weights."""


@dataclass(eq=False)
class Fitted:
    model: Any
    weights: Vector
    """The weight of each tree; ones if the method has no weights."""
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
    """Whether scores are divided by the sum of the weights."""
    optimizes_leaves: bool = False

    def supports(self, experiment: str) -> bool:
        return self.is_totally_corrective or experiment in ("cart", EQUAL_SIZE)

    def has_optimal_stages(self, experiment: str) -> bool:
        """Whether the stages of a fit depend on ``reoptimize``."""
        return False

    @abstractmethod
    def grid(self, n_samples: int, k: int) -> Vector:
        """The paper's k values of the hyperparameter, without duplicates; one value if there is no hyperparameter."""

    @abstractmethod
    def fit(self, X: Matrix, y: Vector, value: float, settings: Settings) -> Fitted: ...

    @abstractmethod
    def scores(self, model: Any, X: Matrix) -> Vector:
        """Scores that are positive for the second class; normalised margins where the method has them."""

    @abstractmethod
    def staged(self, model: Any, X: Matrix) -> Iterator[tuple[Vector, int]]:
        """The scores and the number of trees used after each iteration."""

    @abstractmethod
    def staged_leaves(self, model: Any) -> Iterator[int]:
        """The leaves of the trees used after each iteration."""


class TotallyCorrective(StudyMethod):
    """A formulation of dualboost; the experiment decides the trees: CART, confidence-rated, optimal, or AdaBoost's."""

    is_totally_corrective = has_margins = True

    def __init__(self, name: str) -> None:
        self.name, self.title = name, FORMULATIONS[name].title
        self.optimizes_leaves = FORMULATIONS[name].optimize == "leaves"

    def supports(self, experiment: str) -> bool:
        return experiment != "reweight" or not FORMULATIONS[self.name].has_sides

    def has_optimal_stages(self, experiment: str) -> bool:
        return experiment != "reweight"

    def grid(self, n_samples: int, k: int) -> Vector:
        return np.unique(FORMULATIONS[self.name]().C_grid(n_samples, k))

    def fit(self, X: Matrix, y: Vector, value: float, settings: Settings) -> Fitted:
        epsilon = settings.epsilon if FORMULATIONS[self.name].has_epsilon() else None
        if settings.experiment == "reweight":
            trees = (settings.trees or adaboost_trees(X, y, settings)).model
            result = thin(trees, X, y, formulation=self.name, C=value, epsilon=epsilon, method="reweight")
            weights = np.zeros(len(trees.estimators_))
            weights[result.kept] = result.weights
            leaves = int(adapter_for(trees).n_leaves[result.kept].sum())
            return Fitted(result.model, weights, leaves, "one shot", result.gap)
        learner = CartLearner(voting="confidence" if settings.experiment == "confidence" else "hard")
        is_optimal = settings.experiment == "optimal"
        model = DualBoostClassifier(
            self.name,
            C=value,
            epsilon=epsilon,
            max_depth=settings.depth,
            max_trees=settings.iterations,
            learner=OptimalLearner(tree_time_limit=settings.tree_time_limit) if is_optimal else learner,
            time_limit=settings.time_limit,
            solver=SolverOptions(reoptimize=settings.reoptimize),
            calibration="training",  # probabilities are not used, and twins would double the time of the fit
            random_state=settings.seed,
        ).fit(X, y)
        return Fitted(model, model.weights_, model.n_leaves_, model.stop_reason_, model.gap_, model.objective_)

    def scores(self, model: Any, X: Matrix) -> Vector:
        scores = np.asarray(model.decision_function(X))
        return scores if isinstance(model, DualBoostClassifier) else 0.5 * scores

    def staged(self, model: Any, X: Matrix) -> Iterator[tuple[Vector, int]]:
        if isinstance(model, DualBoostClassifier):
            yield from zip(model.staged_decision_function(X), model.history_["n_trees"].tolist(), strict=True)

    def staged_leaves(self, model: Any) -> Iterator[int]:
        sizes = np.array([n_leaves(learner) for learner in model.estimators_])
        for weights in model.fitted_.stages.weights:
            yield int(sizes[np.flatnonzero(weights)].sum())


class Heuristic(StudyMethod):
    """A method that chooses each weight once; its hyperparameter is the learning rate."""

    def grid(self, n_samples: int, k: int) -> Vector:
        return np.logspace(-3.0, 0.0, k)

    def staged_leaves(self, model: Any) -> Iterator[int]:
        yield from np.cumsum(adapter_for(model).n_leaves).tolist()


class AdaBoost(Heuristic):
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


class GradientBoosting(Heuristic):
    """Trees of another library, which have no weights; an adapter reads their outputs."""

    def __init__(self, name: str, title: str, classifier: Callable[..., Any]) -> None:
        self.name, self.title, self.classifier = name, title, classifier

    def fit(self, X: Matrix, y: Vector, value: float, settings: Settings) -> Fitted:
        model = self.classifier(
            n_estimators=settings.iterations,
            max_depth=settings.depth,
            learning_rate=value,
            n_jobs=1,
            random_state=settings.seed,
        ).fit(X, (y > 0).astype(int))
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


def _xgboost(**arguments: Any) -> Any:
    from xgboost import XGBClassifier

    return XGBClassifier(**arguments)


def _lightgbm(max_depth: int, **arguments: Any) -> Any:
    from lightgbm import LGBMClassifier

    return LGBMClassifier(
        max_depth=max_depth, num_leaves=2**max_depth, verbose=-1, deterministic=True, **arguments
    )  # fmt: skip


def adaboost_trees(X: Matrix, y: Vector, settings: Settings) -> Fitted:
    """The trees that the experiment "reweight" gives new weights: the same for every method and value."""
    return HEURISTICS[0].fit(X, y, 1.0, settings)


HEURISTICS: tuple[StudyMethod, ...] = (
    AdaBoost(),
    GradientBoosting("xgboost", "XGBoost", _xgboost),
    GradientBoosting("lightgbm", "LightGBM", _lightgbm),
)
OURS, HEURISTIC = list(STUDIED), [method.name for method in HEURISTICS]
PUBLISHED = (*OURS, *HEURISTIC)
"""The nine methods that the paper compares."""
FAMILY = [name for name in FORMULATIONS if name not in STUDIED]
METHODS: dict[str, StudyMethod] = {
    method.name: method for method in (*map(TotallyCorrective, OURS), *HEURISTICS, *map(TotallyCorrective, FAMILY))
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
"""The fields that may change between runs into one folder: they decide which fits are made, not how."""
ANY_N_SAMPLES = 1000
"""A number of samples for counting the values of a grid, which does not depend on it."""
MOST = 1_000
"""The most seeds, and the most values of a hyperparameter; a larger number is a mistake."""


class Cell(NamedTuple):
    """One fit; ``value`` is the index of a hyperparameter's value in the method's grid."""

    experiment: str
    dataset: str
    method: str
    depth: int
    seed: int
    value: int

    @property
    def key(self) -> str:
        return "/".join(map(str, self))

    @property
    def has_optimal_stages(self) -> bool:
        """Whether ``reoptimize="chosen"`` repeats the fit with every stage optimal, if its value is chosen."""
        return METHODS[self.method].has_optimal_stages(self.experiment)


CELL = list(Cell._fields)
"""The first columns of every table of results."""


def tuning_group(key: str) -> str:
    """The key of a cell without its value; the best value of each group is chosen."""
    return key.rpartition("/")[0]


def stages_key(key: str) -> str:
    """The key of the fit that repeats a cell with every stage optimal."""
    return f"{key}/stages"


@dataclass(frozen=True)
class Preset:
    """The protocol of a run, with the fields of the TOML files in ``presets/``."""

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
    """Bins of the features, "quantile" or "width", or "raw" for unchanged features with one-hot categories."""
    most_features: int = 0
    """The number of binary features above which features are selected; 0 selects none.

    A data set of the paper keeps the paper's number of features; for others the number is chosen as in the paper.
    """
    most_rows: int = 0
    """The most rows of each data set; larger data sets are sampled. 0 takes all rows."""
    reoptimize: str = "every"
    """With "every", each stage of the anytime curves is an optimum; with "as_needed", only the last, which is faster.

    With "chosen", fits are as with "as_needed", and the chosen values are fitted once more as with "every".
    """
    tree_time_limit: float = 10.0
    epsilon: float = 0.01
    """The epsilon of ``qrlp`` and ``erlp``: 0.01 in the paper's text, 0.99 in its authors' library."""

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

    @classmethod
    def from_table(cls, table: dict[str, Any]) -> Preset:
        """The preset with these fields, as TOML and JSON hold them."""
        values: dict[str, Any] = {
            name: tuple(value) if isinstance(value, list) else value for name, value in table.items()
        }
        return cls(**values)

    def cells(self) -> list[Cell]:
        """Every fit, in a fixed order, without experiments that a method does not support.

        Seeds come first, so that an unfinished run has equal seeds for nearly all data sets. Fits that share a split or
        AdaBoost's trees are neighbours, because both are cached.
        """
        return [
            Cell(experiment, dataset, method, depth, seed, value)
            for seed in range(self.seeds)
            for dataset in self.datasets
            for experiment in self.experiments
            for depth in self.depths
            for method in self.methods
            if METHODS[method].supports(experiment)
            for value in range(len(METHODS[method].grid(ANY_N_SAMPLES, self.values)))
        ]

    def settings(self, cell: Cell) -> Settings:
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


def _check_list(name: str, values: Any, known: tuple[str, ...] | None) -> None:
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
    """A preset of this package by its name, or a preset from a TOML file."""
    path, file = Path(name), resources.files(__package__) / "presets" / f"{name}.toml"
    if path.suffix == ".toml":
        try:
            text = path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise InvalidParameterError(f"preset={str(path)!r} cannot be read: {error}.") from error
    elif file.is_file():
        text = file.read_text(encoding="utf-8")
    else:
        raise InvalidParameterError(
            f"preset={str(name)!r} is not known; choose from {preset_names()} or name a .toml file."
        )
    table, known = _parse(text, str(name)), {field.name for field in fields(Preset)}
    unknown = sorted(set(table) - known)
    if unknown:
        raise InvalidParameterError(f"preset {str(name)!r}: {unknown[0]!r} is not known; there are {sorted(known)}.")
    return Preset.from_table(table)


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
