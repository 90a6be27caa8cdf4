"""What is run: presets, and the cells that they unfold into, one fit each."""

from __future__ import annotations

import sys
from dataclasses import asdict, dataclass, fields
from importlib import resources
from pathlib import Path
from typing import Any, NamedTuple

from ..errors import InvalidParameterError, MissingDependencyError
from .methods import METHODS

EXPERIMENTS = ("cart", "confidence", "optimal", "reweight")


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
    """The protocol in one table; the fields are those of the TOML files in ``presets/``."""

    experiments: tuple[str, ...] = ("cart",)
    datasets: tuple[str, ...] = ()
    """Empty: every data set that is available."""
    methods: tuple[str, ...] = tuple(METHODS)
    depths: tuple[int, ...] = (1, 3, 5, 10)
    seeds: int = 5
    values: int = 10
    iterations: int = 100
    time_limit: float = 2700.0
    preparation: str = "quantile"
    """"quantile" or "width" bins, or "raw" for the features as they are (categories one-hot)."""
    most_features: int = 0
    """Data sets with more binary features than this get the paper's selection of features; 0 selects none."""
    most_rows: int = 0
    """A sample of at most so many rows of each data set; 0 takes all."""
    reoptimize: str = "every"
    """"every" makes each stage of the anytime curves an optimum; "as_needed" is faster."""
    tree_time_limit: float = 10.0

    def __post_init__(self) -> None:
        for name, known in (("experiments", EXPERIMENTS), ("methods", tuple(METHODS))):
            unknown = [value for value in getattr(self, name) if value not in known]
            if unknown:
                raise InvalidParameterError(f"{name}: {unknown[0]!r} is not known; choose from {list(known)}.")
        if self.preparation not in ("quantile", "width", "raw"):
            raise InvalidParameterError(f"preparation={self.preparation!r}: choose 'quantile', 'width' or 'raw'.")

    def cells(self, datasets: list[str]) -> list[Cell]:
        """Every fit, in a fixed order; methods take part in the experiments that mean something for them."""
        return [
            Cell(experiment, dataset, method, depth, seed, value)
            for dataset in datasets
            for seed in range(self.seeds)
            for experiment in self.experiments
            for depth in self.depths
            for method in self.methods
            if METHODS[method].takes_part(experiment)
            for value in range(self.values)
        ]

    def as_table(self) -> dict[str, Any]:
        return asdict(self)


def load_preset(name: str | Path) -> Preset:
    """A preset of ours by its name, or a TOML file of yours."""
    path = Path(name)
    if path.suffix == ".toml":
        text = path.read_text()
    else:
        file = resources.files(__package__) / "presets" / f"{name}.toml"
        if not file.is_file():
            raise InvalidParameterError(
                f"preset={str(name)!r} is not known; choose from {preset_names()} or name a .toml file."
            )
        text = file.read_text()
    table = _parse(text)
    known = {field.name for field in fields(Preset)}
    unknown = sorted(set(table) - known)
    if unknown:
        raise InvalidParameterError(f"preset {str(name)!r}: {unknown[0]!r} is not known; there are {sorted(known)}.")
    arguments: dict[str, Any] = {
        key: tuple(value) if isinstance(value, list) else value for key, value in table.items()
    }
    return Preset(**arguments)


def preset_names() -> list[str]:
    folder = resources.files(__package__) / "presets"
    return sorted(file.name.removesuffix(".toml") for file in folder.iterdir() if file.name.endswith(".toml"))


def _parse(text: str) -> dict[str, Any]:
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        try:
            import tomli as tomllib
        except ImportError as error:
            raise MissingDependencyError("The study needs tomli: pip install 'dualboost[study]'.") from error
    table: dict[str, Any] = tomllib.loads(text)
    return table
