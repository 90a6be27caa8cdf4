import gzip

import pandas as pd
import pytest

from dualboost.data.table_files import read_table
from dualboost.errors import InvalidDataError

TABLE = "age,job,ok,y\n37,nurse,True,yes\n52.5,,False,no\n,cook,True,yes\n"


def test_csv_gzipped_csv_and_parquet_are_the_same(tmp_path):
    path, zipped, parquet = tmp_path / "data.csv", tmp_path / "data.csv.gz", tmp_path / "data.parquet"
    path.write_text(TABLE)
    zipped.write_bytes(gzip.compress(TABLE.encode()))
    frame = read_table(path)
    frame.to_parquet(parquet)
    pd.testing.assert_frame_equal(frame, read_table(zipped))
    pd.testing.assert_frame_equal(frame, read_table(parquet))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "No columns to parse"),
        (b"a,y\n", "no rows"),
        (b"a,y,a\n1,2,3\n", "two columns are named 'a'; rename one"),
        (b"a;y\n1,5;2\n", "separated by semicolons"),
        (b"a,y\n1,2,3\n", "cannot be read as CSV"),
        (b"a,y\n1,2\n1,2,3\n", "cannot be read as CSV"),
        (b"a,y\n\xff\xfe,2\n", "not a UTF-8 text"),
        (b'a,y\n"1,2\n', "cannot be read as CSV"),
    ],
)
def test_what_is_no_table_is_told(content, message, tmp_path):
    path = tmp_path / "data.csv"
    path.write_bytes(content)
    with pytest.raises(InvalidDataError, match=message) as caught:
        read_table(path)
    assert "\n" not in str(caught.value)
    assert str(caught.value).startswith(str(path))


@pytest.mark.parametrize("name", ["data.csv.gz", "data.parquet"])
def test_damaged_files_are_told(name, tmp_path):
    (tmp_path / name).write_bytes(gzip.compress(TABLE.encode())[:20])
    with pytest.raises(InvalidDataError, match="cannot be read as"):
        read_table(tmp_path / name)


def test_files_that_are_not_there(tmp_path):
    with pytest.raises(InvalidDataError, match="no such file"):
        read_table(tmp_path / "data.csv")
    with pytest.raises(InvalidDataError, match="must end with"):
        read_table(tmp_path / "data.xlsx")
