"""The features of tables in files: found by name, and read as they are in Python."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import narwhals as nw
import numpy as np
import pandas as pd

from .._typing import Matrix, Vector
from ..data.columns import column_of_series
from ..data.features import FeatureEncoder, require_finite
from ..data.messages import Source, few
from ..data.table_files import name_of
from ..data.tables import Table
from ..errors import InvalidDataError


def source_of(path: Path) -> Source:
    """What messages say of a table in a file."""
    return Source(
        name_of(path),
        1,
        "leave it out with --drop",
        "name it in --categorical",
        "store it as numbers",
        "Correct such cells, or leave them empty where the number is missing",
    )


def features_for(names: Sequence[str], frame: pd.DataFrame, path: Path) -> Table:
    """The columns that a model was fitted on, in their order."""
    missing = [name for name in names if name not in frame]
    if missing:
        raise InvalidDataError(f"{name_of(path)}: the model needs {few(missing)}, which the table does not have.")
    return Table(frame[list(names)], source_of(path))


def numbers_for(names: Sequence[str], frame: pd.DataFrame, path: Path) -> Matrix:
    """The same for a model that takes numbers only."""
    table = features_for(names, frame, path)
    features: Matrix = FeatureEncoder().transform(table)
    require_finite(features, table.source, table.names)
    return features


def numbers_of(column: pd.Series, path: Path, why: str) -> Vector:
    """A column as finite numbers; ``why`` it must hold numbers is told where it does not."""
    source = source_of(path)
    numbers = column_of_series(nw.from_native(column, series_only=True), column.name, source).numbers(why)
    infinite = np.flatnonzero(np.isinf(numbers))
    if len(infinite):
        raise InvalidDataError(
            f"{source.column(column.name)} contains infinity in {source.row(int(infinite[0]))}; leave the row out, or "
            "put a number in its place."
        )
    return np.asarray(numbers)
