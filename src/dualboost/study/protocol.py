"""Presets, which say what is run, and the cells that they consist of, one for each fit."""

from __future__ import annotations

import sys
from dataclasses import asdict, dataclass, fields
from importlib import resources
from pathlib import Path
from typing import Any, NamedTuple

from ..arguments import require_choice, require_integer, require_positive
from ..errors import InvalidParameterError, MissingDependencyError
from ..extras import how_to_install
from .methods import EQUAL_SIZE, METHODS, PUBLISHED, Settings

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
