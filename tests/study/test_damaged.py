"""Damaged results: an error of ours that names the file and the line, or tables that can be made; nothing else."""

import copy
import json
import random
import re

import pytest

from dualboost.errors import DualBoostError, InvalidDataError
from dualboost_study import read_results, run_study
from dualboost_study.folder import PRESET, RECORDS
from dualboost_study.tables import accuracy_table

from ..thoroughness import how_many
from .killing import TINY

JUNK = (None, True, -1, 1.5, 10**40, "", "text", "\ud800", [], [None], {}, {"a": 1}, float("nan"), float("inf"))


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    folder = tmp_path_factory.mktemp("results")
    run_study(TINY, folder)
    return folder


@pytest.fixture
def damaged(results, tmp_path):
    """Writes a copy of the results with other records or another plan, and reads it."""

    def read(records=None, plan=None):
        (tmp_path / RECORDS).write_bytes((results / RECORDS).read_bytes() if records is None else records)
        (tmp_path / PRESET).write_bytes((results / PRESET).read_bytes() if plan is None else plan)
        return everything(tmp_path)

    return read


def everything(folder):
    """All that is made of results without a picture."""
    read = read_results(folder)
    read.write(folder)
    read.anytime(read.chosen())
    for (experiment, depth), _ in read.fits.groupby(["experiment", "depth"]):
        accuracy_table(read, experiment, depth)
    return read


def lines_of(results):
    return (results / RECORDS).read_bytes().splitlines(keepends=True)


def test_every_key_that_is_missing_or_of_another_type_is_told(results, damaged):
    lines = lines_of(results)
    record = json.loads(lines[2])
    for name in record:
        values = random.Random(name).sample(JUNK, how_many(4, len(JUNK)))
        for changed in [{k: v for k, v in record.items() if k != name}, *(record | {name: junk} for junk in values)]:
            content = b"".join([*lines[:2], json.dumps(changed).encode() + b"\n", *lines[3:]])
            told_or_read(damaged, content, line=3)


def told_or_read(damaged, content, line=None):
    """Read what can be read; otherwise the error must name the file, and the line if it is known."""
    error = error_of(lambda: damaged(content))
    found = re.search(rf"{re.escape(RECORDS)}: line (\d+) is damaged: .", error)
    assert found is not None or not error or "no fit that succeeded" in error, error
    assert line is None or found is None or int(found[1]) == line


def error_of(read):
    """The message of an error of ours; empty if there is none."""
    try:
        read()
    except DualBoostError as error:
        return str(error)
    return ""


def test_missing_and_wrong_values_are_refused(results, damaged):
    lines = lines_of(results)
    record = json.loads(lines[2])
    wrong = (
        {k: v for k, v in record.items() if k != "validation_accuracy"},
        {k: v for k, v in record.items() if k != "dataset"},
        record | {"trees": "many"},
        record | {"margins": 1},
        record | {"anytime_trees": record["anytime_trees"][:-1]},
        record | {"depth": "1"},
        record | {"key": "another"},
        record | {"error": 5},
        [record],
        5,
    )
    for changed in wrong:
        content = b"".join([*lines[:2], json.dumps(changed).encode() + b"\n", *lines[3:]])
        with pytest.raises(InvalidDataError, match=f"{RECORDS}: line 3 is damaged: "):
            damaged(content)


@pytest.mark.parametrize(
    "junk", [b"\n", b"\xff\xfe\x00\x01\n", b"[" * 100_000 + b"\n", b"9" * 9_999 + b"\n", b"null\n"]
)
def test_lines_that_are_no_records(results, damaged, junk):
    lines = lines_of(results)
    with pytest.raises(InvalidDataError, match=f"{RECORDS}: line 5 is damaged: "):
        damaged(b"".join([*lines[:4], junk, *lines[4:]]))


def test_random_damage(results, damaged):
    content, rng = (results / RECORDS).read_bytes(), random.Random(0)
    for _ in range(how_many(60, 2000)):
        changed = bytearray(content)
        for _ in range(rng.randint(1, 3)):
            start = rng.randrange(len(changed))
            length = rng.choice([1, 1, 2, 30, 3000])
            changed[start : start + length] = rng.choice([b"", rng.randbytes(length), b"\n", b'"', b"}", b"0"])
        told_or_read(damaged, bytes(changed))


def test_damaged_plans(results, damaged):
    plan = json.loads((results / PRESET).read_text())
    plans = [b"[]", b"5", b"\xff", b"[" * 100_000, b""]
    for name in plan:
        for junk in JUNK[:-2]:
            changed = copy.deepcopy(plan) | {name: junk}
            plans.append(json.dumps(changed).encode())
    for content in plans:
        error = error_of(lambda content=content: damaged(plan=content))
        assert not error or PRESET in error, error


def test_records_that_cannot_be_read(results, tmp_path):
    (tmp_path / PRESET).write_bytes((results / PRESET).read_bytes())
    (tmp_path / RECORDS).mkdir()
    with pytest.raises(InvalidDataError, match=f"{RECORDS} cannot be read"):
        read_results(tmp_path)
