"""The kinds of sources of data sets: how each is downloaded and turned into a table with a column ``target``."""

from __future__ import annotations

import io
import zipfile
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from ..errors import InvalidDataError, MissingDependencyError
from ..extras import how_to_install
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
        parts = [_member(content, ending) for ending in self.members] if self.members else [content]
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


def _member(content: bytes, ending: str) -> bytes:
    """The member of a ZIP archive, or of a ZIP archive in it, whose name has this ending."""
    found = _search(content, ending)
    if found is None:
        raise InvalidDataError(f"The archive has no file that ends with {ending!r}.")
    return found


def _search(content: bytes, ending: str) -> bytes | None:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        for name in archive.namelist():
            if name.endswith(ending):
                return archive.read(name)
        inner = (archive.read(name) for name in archive.namelist() if name.endswith(".zip"))
        return next((found for found in (_search(part, ending) for part in inner) if found is not None), None)
