"""Tables in CSV files, gzipped or not, and Parquet files; one that cannot be read or written gives a one-line error."""

from __future__ import annotations

import csv
import gzip
import io
import sys
import warnings
import zlib
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pandas as pd

from ..arguments import how_to_install
from ..errors import InvalidDataError, InvalidParameterError, MissingDependencyError
from ..escaping import csv_cell

KINDS = (".csv", ".csv.gz", ".parquet")
STANDARD_INPUT = Path("-")
CSV: dict[str, Any] = {"index": False, "lineterminator": "\n", "errors": "backslashreplace"}
"""How CSV files are written; lone surrogates, which UTF-8 lacks, become escapes."""
GZIP_START, PARQUET_START = b"\x1f\x8b", b"PAR1"


def name_of(path: Path) -> str:
    return "standard input" if path == STANDARD_INPUT else str(path)


def read_table(path: Path, text_columns: Iterable[str] = ()) -> pd.DataFrame:
    """The table in a file, or at standard input; ``text_columns`` stay text even where their values look like numbers.

    At standard input the first bytes give the format.
    """
    content = _standard_input() if path == STANDARD_INPUT else _require_file(path)
    is_parquet = path.suffix == ".parquet" if isinstance(content, Path) else _starts_with(content, PARQUET_START)
    frame = _read_parquet(content, path) if is_parquet else _read_csv(content, path, text_columns)
    if frame.empty:
        raise InvalidDataError(f"{name_of(path)}: the table has no rows, or no columns.")
    return frame.rename(columns=str)


def _require_file(path: Path) -> Path:
    if not path.name.endswith(KINDS):
        raise InvalidDataError(f"{path}: the name must end with one of {', '.join(KINDS)}.")
    if not path.is_file():
        raise InvalidDataError(f"{path}: there is no such file.")
    return path


def _standard_input() -> io.BytesIO:
    content = io.BytesIO(sys.stdin.buffer.read())
    if not _starts_with(content, GZIP_START):
        return content
    try:
        return io.BytesIO(gzip.decompress(content.getvalue()))
    except (OSError, EOFError, zlib.error) as error:
        raise InvalidDataError(f"standard input: cannot be decompressed: {_one_line(error)}") from error


def _starts_with(content: io.BytesIO, start: bytes) -> bool:
    return content.getvalue()[: len(start)] == start


def _read_csv(content: Path | io.BytesIO, path: Path, text_columns: Iterable[str]) -> pd.DataFrame:
    name = name_of(path)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", pd.errors.ParserWarning)  # pandas drops data of rows longer than the header
            _check_header(_header(content), name)
            dtypes: Any = dict.fromkeys(text_columns, str)
            frame: pd.DataFrame = pd.read_csv(
                content, dtype=dtypes, low_memory=False, index_col=False, encoding="utf-8"
            )
            return frame
    except UnicodeDecodeError as error:
        raise InvalidDataError(f"{name}: not a UTF-8 text; save it in that encoding.") from error
    except InvalidDataError:
        raise
    except (pd.errors.ParserWarning, csv.Error, ValueError, OverflowError, OSError, EOFError, zlib.error) as error:
        raise InvalidDataError(f"{name}: cannot be read as CSV: {_one_line(error)}") from error


def _header(content: Path | io.BytesIO) -> list[str]:
    if isinstance(content, io.BytesIO):
        lines = io.TextIOWrapper(io.BytesIO(content.getvalue()), encoding="utf-8-sig", newline="")
        return next(filter(None, csv.reader(lines)), [])
    opened: Any = gzip.open if content.suffix == ".gz" else open
    with opened(content, "rt", encoding="utf-8-sig", newline="") as file:
        return next(filter(None, csv.reader(file)), [])


def _check_header(names: list[str], name: str) -> None:
    if len(names) == 1 and ";" in names[0]:
        raise InvalidDataError(f"{name}: columns are separated by semicolons; save it with commas.")
    twice = [one for one, times in Counter(names).items() if times > 1 and one]
    if twice:  # pandas would silently rename the second of two equal names
        raise InvalidDataError(f"{name}: two columns are named {twice[0]!r}; rename one.")


def _read_parquet(content: Path | io.BytesIO, path: Path) -> pd.DataFrame:
    try:
        return pd.read_parquet(content)
    except ImportError as error:
        raise _needs_pyarrow() from error
    except Exception as error:  # pyarrow has errors of many kinds for a damaged file
        raise InvalidDataError(f"{name_of(path)}: cannot be read as Parquet: {_one_line(error)}") from error


def _needs_pyarrow() -> MissingDependencyError:
    return MissingDependencyError(f"Parquet files need pyarrow: {how_to_install('pyarrow')}.")


def require_table_name(path: Path) -> None:
    """Refuse a name without the ending of a format."""
    if not path.name.endswith(KINDS):
        raise InvalidParameterError(f"--out {path}: a table's name ends with one of {', '.join(KINDS)}.")


def write_table(frame: pd.DataFrame, path: Path) -> None:
    """Write a table in the format that its name ends with."""
    try:
        if path.suffix == ".parquet":
            frame.to_parquet(path, index=False)
        else:
            _with_csv_cells(frame).to_csv(path, **CSV)
    except ImportError as error:
        raise _needs_pyarrow() from error
    except OSError as error:
        raise InvalidDataError(f"{path}: cannot be written: {error.strerror or error}.") from error


def csv_content(frame: pd.DataFrame) -> bytes:
    """The bytes that ``write_table`` writes to a CSV file."""
    content = io.BytesIO()
    _with_csv_cells(frame).to_csv(content, **CSV)
    return content.getvalue()


def _with_csv_cells(frame: pd.DataFrame) -> pd.DataFrame:
    is_number = frame.dtypes.map(pd.api.types.is_numeric_dtype)
    cells = {name: frame[name].map(csv_cell) for name in frame.columns[~is_number]}
    return frame.assign(**cells)


def _one_line(error: BaseException) -> str:
    return " ".join(str(error).split()) or type(error).__name__
