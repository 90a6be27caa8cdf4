"""The folder of a run: damage is an error of ours that names file and line, and the lock admits one run at a time."""

import copy
import json
import os
import random
import re
import signal
import threading
import time

import pytest

from dualboost.errors import DualBoostError, InvalidDataError, InvalidParameterError
from dualboost_study import read_results, run_study
from dualboost_study.folder import PRESET, RECORDS, only_run
from dualboost_study.tables import accuracy_table

from ..thoroughness import how_many, only_thorough
from .killing import TINY, kill, lines, started

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


def test_every_key_that_is_missing_or_of_another_type_is_an_error(results, damaged):
    lines = lines_of(results)
    record = json.loads(lines[2])
    for name in record:
        values = random.Random(name).sample(JUNK, how_many(4, len(JUNK)))
        for changed in [{k: v for k, v in record.items() if k != name}, *(record | {name: junk} for junk in values)]:
            content = b"".join([*lines[:2], json.dumps(changed).encode() + b"\n", *lines[3:]])
            read_or_refused(damaged, content, line=3)


def read_or_refused(damaged, content, line=None):
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
        read_or_refused(damaged, bytes(changed))


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


def wait_for_records(process, folder, n=1):
    while len(lines(folder)) < n:
        assert process.poll() is None, process.communicate()
        time.sleep(0.01)


def stopped_run(folder, n_jobs=1):
    """A run that has written a record and was then made to wait, so that it holds the lock."""
    process = started(folder, n_jobs)
    wait_for_records(process, folder)
    os.killpg(process.pid, signal.SIGSTOP)
    return process


def test_a_second_run_is_refused_and_loses_no_record(tmp_path):
    first = stopped_run(tmp_path)
    before = (tmp_path / "records.jsonl").read_bytes()
    second = started(tmp_path)
    _, said = second.communicate(timeout=120)
    assert second.returncode == 1
    assert f"refused: {tmp_path} is in use by another run (process {first.pid} on " in said
    assert (tmp_path / "records.jsonl").read_bytes() == before
    os.killpg(first.pid, signal.SIGCONT)
    assert int(first.communicate(timeout=300)[0]) == len(TINY.cells())
    keys = [json.loads(line)["key"] for line in lines(tmp_path)]
    assert sorted(keys) == sorted(cell.key for cell in TINY.cells())


@only_thorough
def test_the_lock_of_a_killed_run_is_free_at_once(tmp_path):
    """Even if only the runner is killed, and its workers live on for a while."""
    for n_jobs in (1, 2):
        process = stopped_run(tmp_path / str(n_jobs), n_jobs)
        with pytest.raises(InvalidParameterError, match="in use by another run"), only_run(tmp_path / str(n_jobs)):
            pass
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        with only_run(tmp_path / str(n_jobs)):
            pass
        kill(process)


def test_runs_of_one_process_are_kept_apart(tmp_path):
    inside, leave = threading.Event(), threading.Event()

    def hold():
        with only_run(tmp_path):
            inside.set()
            leave.wait(30)

    thread = threading.Thread(target=hold)
    thread.start()
    inside.wait(30)
    with pytest.raises(InvalidParameterError, match=f"process {os.getpid()} on"):
        run_study(TINY, tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == [".lock"]
    leave.set()
    thread.join()
    with only_run(tmp_path), pytest.raises(InvalidParameterError), only_run(tmp_path):
        pass


@only_thorough
def test_runs_started_together_make_every_fit_once(tmp_path):
    """The first run makes the fits, and the other is refused."""
    runs = [started(tmp_path) for _ in range(2)]
    outcomes = [run.communicate(timeout=300) for run in runs]
    assert all(
        run.returncode == 0 or "in use by another run" in said[1] for run, said in zip(runs, outcomes, strict=True)
    )
    assert sum(int(said[0] or 0) for said in outcomes) == len(TINY.cells())
    assert len(lines(tmp_path)) == len(TINY.cells())


def test_a_folder_that_cannot_be_written_is_an_error(tmp_path):
    (tmp_path / ".lock").mkdir()
    with pytest.raises(InvalidParameterError, match="cannot be a folder for results"):
        run_study(TINY, tmp_path)
