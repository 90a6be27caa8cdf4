"""One run at a time in a folder: no fit is made twice, no record is lost, and no lock outlives its process."""

import json
import os
import signal
import threading
import time

import pytest

from dualboost.errors import InvalidParameterError
from dualboost_study import run_study
from dualboost_study.runner import only_run

from ..thoroughness import only_thorough
from .killing import TINY, kill, lines, started


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
    """Whoever comes first runs, the other is refused, and nobody needs to be told which one that is."""
    runs = [started(tmp_path) for _ in range(2)]
    outcomes = [run.communicate(timeout=300) for run in runs]
    assert all(
        run.returncode == 0 or "in use by another run" in said[1] for run, said in zip(runs, outcomes, strict=True)
    )
    assert sum(int(said[0] or 0) for said in outcomes) == len(TINY.cells())
    assert len(lines(tmp_path)) == len(TINY.cells())


def test_a_folder_that_cannot_be_written_is_told(tmp_path):
    (tmp_path / ".lock").mkdir()
    with pytest.raises(InvalidParameterError, match="cannot be a folder for results"):
        run_study(TINY, tmp_path)
