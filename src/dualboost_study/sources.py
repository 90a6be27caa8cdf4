"""The paper's data on the network: recipes, addresses, and verified downloads."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import zipfile
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from dualboost.arguments import how_to_install
from dualboost.data.files import write_whole
from dualboost.errors import InvalidDataError, InvalidParameterError, MissingDependencyError

from .datasets import TARGET

Tidy = Callable[[pd.DataFrame], pd.DataFrame]


class Source(ABC):
    """One data set on the network; ``rows`` is the number of rows that its table must have."""

    rows: int

    @abstractmethod
    def table(self, downloads: Path) -> pd.DataFrame:
        """The tidy table; downloaded files are kept in the folder ``downloads``."""


@dataclass(frozen=True)
class OpenML(Source):
    """A data set of OpenML; scikit-learn verifies the checksum that OpenML states."""

    data_id: int
    rows: int
    tidy: Tidy

    def table(self, downloads: Path) -> pd.DataFrame:
        from sklearn.datasets import fetch_openml

        found = fetch_openml(data_id=self.data_id, as_frame=True, data_home=str(downloads), parser="auto")
        return self.tidy(found.frame)


@dataclass(frozen=True)
class Web(Source):
    """A file, or members of a ZIP archive (or of a ZIP archive in it), chosen by their endings and concatenated."""

    url: str
    rows: int
    tidy: Tidy
    members: tuple[str, ...] = ()
    sha256: str | None = None
    """The checksum of the download, if it is known."""
    reading: tuple[tuple[str, Any], ...] = ()
    """Arguments for ``pandas.read_csv``."""

    def table(self, downloads: Path) -> pd.DataFrame:
        content = _download(self.url, self.sha256, downloads)
        parts = [_member(content, output_transform) for output_transform in self.members] if self.members else [content]
        return self.tidy(pd.concat([self._frame(part) for part in parts], ignore_index=True))

    def _frame(self, content: bytes) -> pd.DataFrame:
        frame: pd.DataFrame = pd.read_csv(io.BytesIO(content), **dict(self.reading))
        return frame


@dataclass(frozen=True)
class Survey(Source):
    """A task of the package folktables, 2018, sampled because the paper has a quarter of the task's rows."""

    task: str
    state: str
    rows: int

    def table(self, downloads: Path) -> pd.DataFrame:
        try:
            import folktables
        except ImportError as error:
            raise MissingDependencyError(f"Census data need folktables: {how_to_install('folktables')}.") from error
        source = folktables.ACSDataSource("2018", "1-Year", "person", root_dir=str(downloads))
        people = source.get_data(states=[self.state], download=True)
        features, label, _ = getattr(folktables, self.task).df_to_pandas(people)
        frame = features.assign(**{TARGET: label.to_numpy().ravel().astype(int)})
        return frame.sample(n=min(self.rows, len(frame)), random_state=0).reset_index(drop=True)


def _download(url: str, sha256: str | None, downloads: Path) -> bytes:
    try:
        import pooch
    except ImportError as error:
        raise MissingDependencyError(f"Downloads need pooch: {how_to_install('pooch')}.") from error
    pooch.get_logger().setLevel("ERROR")  # pooch would log every file
    name = url.rsplit("/", 1)[-1]
    return Path(pooch.retrieve(url, sha256 and f"sha256:{sha256}", name, downloads)).read_bytes()


def _member(content: bytes, output_transform: str) -> bytes:
    """The member of a ZIP archive, or of a ZIP archive in it, whose name has this ending."""
    found = _search(content, output_transform)
    if found is None:
        raise InvalidDataError(f"The archive has no file that ends with {output_transform!r}.")
    return found


def _search(content: bytes, output_transform: str) -> bytes | None:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        for name in archive.namelist():
            if name.endswith(output_transform):
                return archive.read(name)
        inner = (archive.read(name) for name in archive.namelist() if name.endswith(".zip"))
        return next((found for found in (_search(part, output_transform) for part in inner) if found is not None), None)


# By its numbers of rows, the paper dropped duplicates (breast cancer, image, solar flare, splice), as is done here.

ADULT = [
    "age",
    "workclass",
    "fnlwgt",
    "education",
    "education-num",
    "marital-status",
    "occupation",
    "relationship",
    "race",
    "sex",
    "capital-gain",
    "capital-loss",
    "hours-per-week",
    "native-country",
]
COMPAS = [
    "sex",
    "age",
    "age_cat",
    "race",
    "juv_fel_count",
    "juv_misd_count",
    "juv_other_count",
    "priors_count",
    "days_b_screening_arrest",
    "c_days_from_compas",
    "c_charge_degree",
    "c_charge_desc",
    "decile_score",
    "score_text",
    "v_decile_score",
    "v_score_text",
]
"""The columns that are known at the screening; others would reveal a later arrest."""
FLARE = [
    "spot_class",
    "largest_spot",
    "distribution",
    "activity",
    "evolution",
    "prev_24h_activity",
    "historically_complex",
    "became_complex",
    "area",
    "largest_spot_area",
    "c_flares",
    "m_flares",
    "x_flares",
]


def _target(column: str) -> Tidy:
    """A step that makes the column the target, and leaves the other columns unchanged."""
    return lambda frame: frame.rename(columns={column: TARGET})


def _adult(frame: pd.DataFrame) -> pd.DataFrame:
    frame[TARGET] = frame[TARGET].str.rstrip(".")  # the test file ends its labels with a full stop
    return frame


def _breast_cancer(frame: pd.DataFrame) -> pd.DataFrame:
    return frame.rename(columns={"Class": TARGET}).dropna().drop_duplicates()


def _compas(frame: pd.DataFrame) -> pd.DataFrame:
    return frame[[*COMPAS, "two_year_recid"]].rename(columns={"two_year_recid": TARGET})


def _image(frame: pd.DataFrame) -> pd.DataFrame:
    """Raetsch's two classes, without a column that is constant."""
    first = frame.pop("class").isin(["brickface", "sky", "foliage", "path"])
    constant = [name for name in frame if frame[name].nunique() == 1]
    return frame.drop(columns=constant).assign(**{TARGET: first.astype(int)}).drop_duplicates()


def _solar_flare(frame: pd.DataFrame) -> pd.DataFrame:
    """Raetsch's task: whether the distribution of the spots is other than open."""
    is_other = frame["distribution"] != "O"
    dropped = ["spot_class", "largest_spot", "distribution", "largest_spot_area"]
    return frame.drop(columns=dropped).assign(**{TARGET: is_other.astype(int)}).drop_duplicates()


def _splice(frame: pd.DataFrame) -> pd.DataFrame:
    """Whether there is a boundary; rows with an ambiguous base are dropped."""
    bases = frame.drop(columns=["Class", "Instance_name"], errors="ignore").astype(str)
    is_boundary = frame["Class"].astype(str).str.strip() != "N"
    is_clear = bases.isin(list("ACGT")).all(axis=1)
    return bases.assign(**{TARGET: is_boundary.astype(int)})[is_clear].drop_duplicates()


def _thyroid(frame: pd.DataFrame) -> pd.DataFrame:
    """Whether the thyroid is normal, which is the largest class."""
    name = "Class" if "Class" in frame else "class"
    is_ill = frame[name] != frame[name].mode()[0]
    return frame.drop(columns=name).assign(**{TARGET: is_ill.astype(int)})


RECIPES: dict[str, Source] = {
    "banana": OpenML(1460, 5300, _target("Class")),
    "breast_cancer": OpenML(13, 263, _breast_cancer),
    "diabetes": OpenML(37, 768, _target("class")),
    "german_credit": OpenML(31, 1000, _target("class")),
    "heart": OpenML(53, 270, _target("class")),
    "image": OpenML(36, 2086, _image),
    "splice": OpenML(46, 2991, _splice),
    "thyroid": OpenML(40682, 215, _thyroid),
    "adult": Web(
        "https://archive.ics.uci.edu/static/public/2/adult.zip",
        48842,
        _adult,
        ("adult.data", "adult.test"),
        "7537312dd56c2b98035880805ce99e68183a30ee468aa5329d6df0fbb3cc21bb",
        (("names", [*ADULT, TARGET]), ("skipinitialspace", True), ("comment", "|"), ("keep_default_na", False)),
    ),
    "solar_flare": Web(
        "https://archive.ics.uci.edu/static/public/89/solar+flare.zip",
        144,
        _solar_flare,
        ("flare.data2",),
        reading=(("names", FLARE), ("sep", r"\s+"), ("comment", "*")),
    ),
    "mushroom_secondary": Web(
        "https://archive.ics.uci.edu/static/public/848/secondary+mushroom+dataset.zip",
        61069,
        _target("class"),
        ("secondary_data.csv",),
        reading=(("sep", ";"),),
    ),
    "titanic": Web(
        "https://web.stanford.edu/class/archive/cs/cs109/cs109.1166/stuff/titanic.csv", 887, _target("Survived")
    ),
    "compas": Web(
        "https://raw.githubusercontent.com/propublica/compas-analysis/master/compas-scores-two-years.csv",
        7214,  # eight more than in the paper, which does not say which rows it dropped
        _compas,
    ),
    "employment_ca2018": Survey("ACSEmploymentFiltered", "CA", 75660),
    "employment_tx2018": Survey("ACSEmploymentFiltered", "TX", 52089),
    "public_coverage_ca2018": Survey("ACSPublicCoverage", "CA", 34638),
    "public_coverage_tx2018": Survey("ACSPublicCoverage", "TX", 24732),
}
"""The source of each data set; the three data sets without a source are generated."""


CHECKSUMS = "checksums.json"
"""The file that holds the checksum of every table that was fetched."""
DOWNLOADS = "downloads"
"""The folder of the downloaded files, from which the tables are made."""


@dataclass(frozen=True)
class Fetched:
    """The outcome for one data set."""

    name: str
    state: str
    """"fetched", "there already" or "failed"."""
    detail: str = ""


def fetch(folder: Path, names: Sequence[str] = (), recipes: dict[str, Source] = RECIPES) -> Iterator[Fetched]:
    """Fetch the data sets that are not there yet; a data set that fails does not stop the others.

    ``checksums.json`` in the folder holds the checksum of every table that was fetched. A file that has changed since
    then, or a source that gives another table than before, is an error.
    """
    unknown = [name for name in names if name not in recipes]
    if unknown:
        raise InvalidParameterError(f"{unknown[0]!r} cannot be fetched; there are {sorted(recipes)}.")
    folder.mkdir(parents=True, exist_ok=True)
    for name in names or recipes:
        try:
            yield _fetch_one(folder, name, recipes[name])
        except (OSError, ValueError, KeyError, ImportError) as error:
            yield Fetched(name, "failed", f"{type(error).__name__}: {error}".splitlines()[0])


def _fetch_one(folder: Path, name: str, source: Source) -> Fetched:
    path, known = folder / f"{name}.csv.gz", _checksums(folder)
    if path.exists():
        if name in known:
            _require_same(name, known[name], gzip.decompress(path.read_bytes()))
        return Fetched(name, "there already", "verified" if name in known else "not one of ours: left alone")
    frame = source.table(folder / DOWNLOADS)
    _require_table(name, frame, source.rows)
    content = frame[[*frame.columns.drop(TARGET), TARGET]].to_csv(index=False).encode()
    if name in known:
        _require_same(name, known[name], content)
    write_whole(path, gzip.compress(content, mtime=0))
    write_whole(folder / CHECKSUMS, json.dumps(known | {name: _sha256(content)}, indent=1).encode())
    return Fetched(name, "fetched", f"{len(frame)} rows")


def _require_table(name: str, frame: pd.DataFrame, rows: int) -> None:
    if len(frame) != rows:
        raise InvalidDataError(f"{name}: {len(frame)} rows came where {rows} were expected; the source has changed.")
    if frame[TARGET].nunique(dropna=False) != 2:
        raise InvalidDataError(f"{name}: the target has {frame[TARGET].nunique(dropna=False)} classes, not two.")


def _require_same(name: str, expected: str, content: bytes) -> None:
    if _sha256(content) != expected:
        raise InvalidDataError(
            f"{name}: the checksum is not the one of the first time. Delete {name}.csv.gz and its line in {CHECKSUMS} "
            "to fetch it anew."
        )


def _checksums(folder: Path) -> dict[str, str]:
    path = folder / CHECKSUMS
    known: dict[str, str] = json.loads(path.read_text()) if path.exists() else {}
    return known


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
