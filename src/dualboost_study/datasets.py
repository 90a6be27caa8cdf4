"""Data sets: files and generators, preparation, and selection of features."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.ensemble import RandomForestClassifier

from dualboost._typing import Integers, Matrix, Vector
from dualboost.arguments import require_choice
from dualboost.data.table_files import read_table
from dualboost.datasets import make_ringnorm, make_twonorm, make_waveform
from dualboost.errors import InvalidDataError

BINS = ["quantile", "width"]


class Rule(NamedTuple):
    """How a column becomes indicators: one for each interval between cuts, or one for each value."""

    column: str
    are_cuts: bool
    values: NDArray[Any]
    has_gaps: bool


@dataclass
class Binariser:
    """Turns numbers into indicators of ``n_bins`` bins, and categories into indicators of all but the first category.

    The paper's "equal-sized" bins may have equal width or equal numbers of rows; its numbers of features fit both
    (ringnorm 20 x 4 = 80). A feature with at most ``n_bins`` different numbers has a bin for each of them. Missing
    values have an indicator of their own; a category that is not in the training rows has none.
    """

    bins: str = "quantile"
    n_bins: int = 4
    _rules: list[Rule] = field(default_factory=list, repr=False)

    def __post_init__(self) -> None:
        require_choice("bins", self.bins, BINS)

    def fit(self, frame: pd.DataFrame) -> Binariser:
        self._rules = [self._rule(str(name), frame[name]) for name in frame]
        return self

    def _rule(self, name: str, column: pd.Series) -> Rule:
        given, has_gaps = column.dropna(), bool(column.isna().any())
        if not pd.api.types.is_numeric_dtype(column):
            return Rule(name, False, np.array(sorted(given.astype(str).unique())[1:]), has_gaps)
        values = np.unique(given)
        if len(values) <= self.n_bins:
            return Rule(name, False, values, has_gaps)
        numbers, shares = given.to_numpy(dtype=float), np.arange(1, self.n_bins) / self.n_bins
        is_quantile = self.bins == "quantile"
        cuts = np.unique(np.quantile(numbers, shares)) if is_quantile else numbers.min() + shares * np.ptp(numbers)
        return Rule(name, True, cuts, has_gaps)

    def transform(self, frame: pd.DataFrame) -> Matrix:
        return np.column_stack([indicator for _, indicator in self._indicators(frame)]).astype(float)

    @property
    def feature_names(self) -> list[str]:
        """One name for each indicator."""
        empty = pd.DataFrame({rule.column: pd.Series(dtype=object) for rule in self._rules})
        return [name for name, _ in self._indicators(empty)]

    def _indicators(self, frame: pd.DataFrame) -> Iterator[tuple[str, NDArray[np.bool_]]]:
        for name, are_cuts, values, has_gaps in self._rules:
            column = frame[name]
            missing = column.isna().to_numpy()
            if are_cuts:
                place = np.searchsorted(values, pd.to_numeric(column, errors="coerce").to_numpy(dtype=float))
                for k in range(len(values) + 1):
                    yield f"{name} in bin {k}", (place == k) & ~missing
            else:
                given = column.astype(str).to_numpy() if values.dtype.kind in "UO" else column.to_numpy()
                for value in values:
                    yield f"{name} = {value}", (given == value) & ~missing
            if has_gaps:
                yield f"{name} is missing", missing


# A data set is a file ``<name>.csv.gz`` or ``.csv`` with a column ``target``, in the registry or not. Three data sets
# of the registry are generated if there is no file.

FOLDER_VARIABLE = "DUALBOOST_DATA"
TARGET = "target"
GENERATOR_SEED = 0


@dataclass(frozen=True)
class StudyDataset:
    """A data set of the paper, with the paper's figures for rows, binary features and the share of the larger class."""

    name: str
    source: str
    rows: int
    binary_features: int
    majority_share: float
    identifiers: tuple[str, ...] = ()
    """Columns that only identify a row; they are no features."""
    generate: Callable[..., tuple[Any, Any]] | None = None


DATASETS: dict[str, StudyDataset] = {
    dataset.name: dataset
    for dataset in (
        StudyDataset("banana", "KEEL, banana", 5300, 8, 0.551),
        StudyDataset("breast_cancer", "UCI 14, breast cancer (Ljubljana)", 263, 36, 0.726),
        StudyDataset("diabetes", "UCI, Pima Indians diabetes", 768, 112, 0.651),
        StudyDataset("german_credit", "UCI 144, Statlog German credit", 1000, 80, 0.721),
        StudyDataset("heart", "UCI 145, Statlog heart", 270, 52, 0.574),
        StudyDataset("image", "UCI 147, Statlog image segmentation, two classes", 2086, 72, 0.550),
        StudyDataset("ringnorm", "DELVE, ringnorm", 7400, 80, 0.509, generate=make_ringnorm),
        StudyDataset("solar_flare", "UCI 89, solar flare, without duplicates", 144, 36, 0.576),
        StudyDataset("splice", "UCI 69, splice junctions, two classes", 2991, 61, 0.550),
        StudyDataset("thyroid", "UCI 102, new thyroid, two classes", 215, 20, 0.702),
        StudyDataset("titanic", "Titanic passengers", 887, 94, 0.614, identifiers=("Name",)),
        StudyDataset("twonorm", "DELVE, twonorm", 7400, 80, 0.507, generate=make_twonorm),
        StudyDataset("waveform", "UCI 107, waveform, two classes", 5000, 84, 0.666, generate=make_waveform),
        StudyDataset("adult", "UCI 2, adult", 48842, 19, 0.761),
        StudyDataset("compas", "ProPublica, COMPAS two years", 7206, 14, 0.549),
        StudyDataset("employment_ca2018", "folktables ACSEmployment, CA 2018", 75660, 84, 0.573),
        StudyDataset("employment_tx2018", "folktables ACSEmployment, TX 2018", 52089, 84, 0.580),
        StudyDataset("public_coverage_ca2018", "folktables ACSPublicCoverage, CA 2018", 34638, 57, 0.632),
        StudyDataset("public_coverage_tx2018", "folktables ACSPublicCoverage, TX 2018", 24732, 130, 0.812),
        StudyDataset("mushroom_secondary", "UCI 848, secondary mushroom", 61069, 63, 0.552),
    )
}


def fetch_folder(given: str | Path | None) -> Path:
    """The folder that ``fetch`` fills: the given one, or the environment variable's, or the user's cache."""
    named = given or os.environ.get(FOLDER_VARIABLE)
    if named:
        return Path(named)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "dualboost" / "study"


def data_folder(given: str | Path | None) -> Path | None:
    """The given folder, or the environment variable's, or the user's cache if it exists, or None."""
    folder = fetch_folder(given)
    if not given and FOLDER_VARIABLE not in os.environ:
        return folder if folder.is_dir() else None
    if not folder.is_dir():
        raise InvalidDataError(
            f"{folder} is not a folder; name one of <name>.csv.gz files (--data or {FOLDER_VARIABLE})."
        )
    return folder


def available(folder: Path | None) -> list[str]:
    """The names of the data sets that can be loaded: files in the folder, and data sets that can be generated."""
    files = [] if folder is None else folder.glob("*.csv*")
    found = {path.name.removesuffix(".gz").removesuffix(".csv") for path in files}
    return sorted(found | {name for name, dataset in DATASETS.items() if dataset.generate is not None})


def load(name: str, folder: Path | None) -> tuple[pd.DataFrame, Vector]:
    """The unprepared features, and labels in {-1, +1}; +1 is the last class in sorted order."""
    path, known = file_of(name, folder), DATASETS.get(name)
    if path is None:
        if known is None or known.generate is None:
            place = "no folder was named" if folder is None else f"{folder} has no {name}.csv.gz"
            raise InvalidDataError(f"Data set {name!r} cannot be loaded: {place}. There are: {available(folder)}.")
        X, labels = known.generate(known.rows, random_state=GENERATOR_SEED)
        return pd.DataFrame(X, columns=[f"x{i}" for i in range(X.shape[1])]), labels.astype(float)
    frame = read_table(path)
    if TARGET not in frame:
        raise InvalidDataError(f"{path.name} has no column {TARGET!r}; its columns are {list(frame)}.")
    labels = _labels(frame.pop(TARGET), path)
    features = frame.drop(columns=[column for column in (known.identifiers if known else ()) if column in frame])
    if features.shape[1] == 0:
        raise InvalidDataError(f"{path.name} has no column besides {TARGET!r}.")
    return features, labels


def _labels(target: pd.Series, path: Path) -> Vector:
    if target.isna().any():
        raise InvalidDataError(f"The target of {path.name} has {int(target.isna().sum())} gaps; fill or drop them.")
    codes, classes = pd.factorize(target, sort=True)
    if len(classes) != 2:
        raise InvalidDataError(f"The target of {path.name} must hold two classes; it has {list(classes)[:5]}.")
    return np.where(codes == 1, 1.0, -1.0)


def file_of(name: str, folder: Path | None) -> Path | None:
    """The file of a data set; None if there is no such file."""
    candidates = [] if folder is None else [folder / f"{name}.csv.gz", folder / f"{name}.csv"]
    return next((path for path in candidates if path.is_file()), None)


N_TREES = 100
STEPS = 20


def select_features(
    train: tuple[Matrix, Vector],
    validation: tuple[Matrix, Vector],
    seed: int,
    n_steps: int = STEPS,
    n_features: int | None = None,
) -> Integers:
    """The smallest set of features with the best validation accuracy, in the order of the columns.

    A random forest ranks the features by impurity importance, and ``n_steps`` leading sets of that ranking are
    compared. With ``n_features``, as many leading features are taken without a comparison.
    """

    def forest(X: Matrix) -> RandomForestClassifier:
        return RandomForestClassifier(N_TREES, random_state=seed).fit(X, train[1])

    X, n_columns = train[0], train[0].shape[1]
    ranking = np.argsort(-forest(X).feature_importances_, kind="stable")
    if n_features is not None:
        return np.sort(ranking[:n_features])
    best, best_score = ranking, -np.inf
    for size in np.unique(np.ceil(np.linspace(1, n_columns, min(n_steps, n_columns))).astype(int)):
        leading = ranking[:size]
        score = forest(X[:, leading]).score(validation[0][:, leading], validation[1])
        if score > best_score:
            best, best_score = leading, score
    return np.sort(best)
