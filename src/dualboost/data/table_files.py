"""Reads tables from CSV files, gzipped or not, and Parquet files; a file that cannot be read gives a one-line error."""

from __future__ import annotations

import csv
import gzip
import warnings
import zlib
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pandas as pd

from ..errors import InvalidDataError, MissingDependencyError

KINDS = (".csv", ".csv.gz", ".parquet")


def read_table(path: Path, text_columns: Iterable[str] = ()) -> pd.DataFrame:
    """The table in a file; ``text_columns`` stay text even where their values look like numbers."""
    if not path.name.endswith(KINDS):
        raise InvalidDataError(f"{path}: the name must end with one of {', '.join(KINDS)}.")
    if not path.is_file():
        raise InvalidDataError(f"{path}: there is no such file.")
    frame = _read_parquet(path) if path.suffix == ".parquet" else _read_csv(path, text_columns)
    if frame.empty:
        raise InvalidDataError(f"{path}: the table has no rows, or no columns.")
    return frame.rename(columns=str)


def _read_csv(path: Path, text_columns: Iterable[str]) -> pd.DataFrame:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", pd.errors.ParserWarning)  # pandas drops data of rows longer than the header
            _check_header(_header(path), path)
            dtypes: Any = dict.fromkeys(text_columns, str)
            frame: pd.DataFrame = pd.read_csv(path, dtype=dtypes, low_memory=False, index_col=False, encoding="utf-8")
            return frame
    except UnicodeDecodeError as error:
        raise InvalidDataError(f"{path}: not a UTF-8 text; save it in that encoding.") from error
    except InvalidDataError:
        raise
    except (pd.errors.ParserWarning, csv.Error, ValueError, OverflowError, OSError, EOFError, zlib.error) as error:
        raise InvalidDataError(f"{path}: cannot be read as CSV: {_one_line(error)}") from error


def _header(path: Path) -> list[str]:
    """The names of the columns as they are in the file."""
    opened: Any = gzip.open if path.suffix == ".gz" else open
    with opened(path, "rt", encoding="utf-8-sig", newline="") as file:
        return next(filter(None, csv.reader(file)), [])


def _check_header(names: list[str], path: Path) -> None:
    if len(names) == 1 and ";" in names[0]:
        raise InvalidDataError(f"{path}: columns are separated by semicolons; save it with commas.")
    twice = [name for name, times in Counter(names).items() if times > 1 and name]
    if twice:  # pandas would silently rename the second of two equal names
        raise InvalidDataError(f"{path}: two columns are named {twice[0]!r}; rename one.")


def _read_parquet(path: Path) -> pd.DataFrame:
    try:
        return pd.read_parquet(path)
    except ImportError as error:
        raise MissingDependencyError("Parquet files need pyarrow: pip install pyarrow.") from error
    except Exception as error:  # pyarrow has errors of many kinds for a damaged file
        raise InvalidDataError(f"{path}: cannot be read as Parquet: {_one_line(error)}") from error


def _one_line(error: BaseException) -> str:
    return " ".join(str(error).split()) or type(error).__name__
