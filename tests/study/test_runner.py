"""Runs of the study: complete, resumable, the same whatever runs them."""

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from distributed import Client, LocalCluster

from dualboost.errors import InvalidDataError, InvalidParameterError
from dualboost_study import Preset, read_results, run_study
from dualboost_study.folder import RECORDS
from dualboost_study.protocol import METHODS

from ..thoroughness import how_many, only_thorough

SMALL = Preset(
    experiments=("cart", "confidence", "optimal", "reweight"),
    datasets=("twonorm",),
    depths=(1,),
    seeds=1,
    values=2,
    iterations=how_many(3, 5),
    most_rows=200,
)


def without_times(folder):
    results = read_results(folder)
    return [results.fits.drop(columns="seconds"), results.iterations, results.margins, results.weights]


def assert_same(folder, reference):
    for table, expected in zip(without_times(folder), without_times(reference), strict=True):
        pd.testing.assert_frame_equal(table, expected)


@pytest.fixture(scope="module")
def reference(tmp_path_factory):
    folder = tmp_path_factory.mktemp("reference")
    assert run_study(SMALL, folder).added == len(SMALL.cells())
    return folder


def test_every_cell_has_a_record(reference):
    results = read_results(reference)
    assert len(results.fits) == 2 * (9 + 6 + 6 + 6)
    assert "error" not in results.fits
    assert results.fits["test_accuracy"].between(0.4, 1.0).all()
    assert results.fits["trees"].between(0, 5).all()
    ours = results.fits[results.fits["method"].isin([name for name in METHODS if METHODS[name].is_totally_corrective])]
    assert (ours["gap"] <= 1e-6).all()


def test_tables_are_tidy(reference, tmp_path):
    results = read_results(reference)
    native = results.fits[results.fits["experiment"] != "reweight"]
    last = results.iterations.groupby(list(results.iterations.columns[:6])).tail(1)
    assert len(last) == len(native)
    merged = native.merge(
        last, on=["experiment", "dataset", "method", "depth", "seed", "value"], suffixes=("", "_last")
    )
    np.testing.assert_allclose(merged["accuracy"], merged["test_accuracy"], atol=1e-6)
    assert len(results.margins) == 101 * len(results.fits)
    assert len(results.weights) == results.fits["trees"].sum()
    for kind in ("csv", "parquet"):
        assert all(path.stat().st_size > 0 for path in results.write(tmp_path, kind))


def test_the_best_value_is_chosen_on_the_validation_rows(reference):
    results = read_results(reference)
    chosen = results.chosen()
    assert len(chosen) == len(results.fits) / SMALL.values
    best = results.fits.groupby(["experiment", "method"])["validation_accuracy"].max()
    found = chosen.set_index(["experiment", "method"])["validation_accuracy"]
    assert (found == best.reindex(found.index)).all()


@only_thorough
def test_records_do_not_depend_on_the_number_of_workers(reference, tmp_path):
    run_study(SMALL, tmp_path, n_jobs=2)
    assert_same(tmp_path, reference)


@only_thorough
def test_a_dask_cluster_gives_the_same_records(reference, tmp_path):
    n_workers = how_many(1, 2)
    with LocalCluster(n_workers=n_workers, threads_per_worker=1, dashboard_address=None) as cluster, Client(cluster):
        run_study(SMALL, tmp_path, n_jobs=2, backend="dask")
    assert_same(tmp_path, reference)


@only_thorough
def test_killed_again_and_again_and_resumed(reference, tmp_path):
    script = (
        "import sys; from tests.study.test_runner import SMALL; from dualboost_study import run_study;"
        "run_study(SMALL, sys.argv[1])"
    )
    rng = random.Random(0)
    for _ in range(how_many(1, 5)):
        process = subprocess.Popen(
            [sys.executable, "-c", script, str(tmp_path)], env=os.environ, start_new_session=True
        )
        wanted = count(tmp_path) + rng.randint(1, 6)
        while count(tmp_path) < wanted and process.poll() is None:
            time.sleep(0.01)
        time.sleep(rng.uniform(0.0, 0.05))
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    assert 0 < count(tmp_path) < len(SMALL.cells())
    with (tmp_path / RECORDS).open("a") as file:
        file.write('{"key": "cut off')  # what a kill in the middle of a write leaves
    run_study(SMALL, tmp_path)
    assert_same(tmp_path, reference)


def count(folder):
    path = folder / RECORDS
    return path.read_bytes().count(b"\n") if path.exists() else 0


@pytest.fixture
def with_rare(tmp_path):
    """A data set of which a small sample has one class only, beside one of which every sample has both."""
    lines = [f"{k},{int(k < 5)}" for k in range(105)]
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "rare.csv").write_text("a,target\n" + "\n".join(lines) + "\n")
    return replace(SMALL, datasets=("rare", "twonorm"), methods=("nm",), experiments=("cart",), most_rows=8)


def test_a_failed_fit_is_a_record_and_is_tried_again(with_rare, tmp_path):
    first = run_study(with_rare, tmp_path / "out", tmp_path / "data")
    assert (first.added, first.n_failed) == (4, 2)
    results = read_results(tmp_path / "out")
    failed = results.fits[results.fits["dataset"] == "rare"]
    assert failed["error"].str.contains("one class").all()
    assert len(results.chosen()) == 1
    assert results.gaps == "2 fits failed"
    again = run_study(with_rare, tmp_path / "out", tmp_path / "data")
    assert (again.added, again.n_failed) == (2, 2)
    assert len(read_results(tmp_path / "out").fits) == 4


def test_results_without_a_success_say_so(with_rare, tmp_path):
    run_study(replace(with_rare, datasets=("rare",)), tmp_path / "out", tmp_path / "data")
    with pytest.raises(InvalidDataError, match=r"no fit that succeeded; the first error: .*one class"):
        read_results(tmp_path / "out")


def test_a_data_set_that_cannot_be_used_is_told_first(tmp_path):
    with pytest.raises(InvalidDataError, match="'hart' cannot be loaded"):
        run_study(replace(SMALL, datasets=("twonorm", "hart")), tmp_path / "out")
    (tmp_path / "few.csv").write_text("a,target\n1,0\n2,1\n3,0\n")
    with pytest.raises(InvalidDataError, match="'few' has 1 rows of a class"):
        run_study(replace(SMALL, datasets=("few",)), tmp_path / "out", tmp_path)
    assert not (tmp_path / "out").exists()


def test_a_study_may_grow(tmp_path):
    small = replace(SMALL, experiments=("cart",), methods=("nm",))
    run_study(small, tmp_path)
    grown = run_study(replace(small, methods=("nm", "lp"), seeds=2), tmp_path)
    assert grown.added == 6
    results = read_results(tmp_path)
    assert len(results.fits) == 8
    assert results.gaps == ""


def test_what_is_not_there_yet_is_told(reference, tmp_path):
    shutil.copytree(reference, tmp_path / "cut")
    lines = (reference / RECORDS).read_text().splitlines(keepends=True)
    (tmp_path / "cut" / RECORDS).write_text("".join(lines[:-3]))
    assert read_results(tmp_path / "cut").gaps == "3 planned fits are not there yet"


def test_a_damaged_line_is_told(reference, tmp_path):
    shutil.copytree(reference, tmp_path / "cut")
    lines = (reference / RECORDS).read_text().splitlines(keepends=True)
    lines[4] = lines[4][:50] + "\n"
    (tmp_path / "cut" / RECORDS).write_text("".join(lines))
    for read in (read_results, lambda folder: run_study(SMALL, folder)):
        with pytest.raises(InvalidDataError, match="line 5 is damaged"):
            read(tmp_path / "cut")


def test_data_that_changed_is_told(tmp_path):
    rows = "\n".join(f"{k % 7},{k % 2}" for k in range(60))
    (tmp_path / "mine.csv").write_text("a,target\n" + rows)
    preset = replace(SMALL, datasets=("mine",), experiments=("cart",), methods=("nm",))
    run_study(preset, tmp_path / "out", tmp_path)
    (tmp_path / "mine.csv").write_text("a,target\n" + rows.replace("6,", "5,"))
    with pytest.raises(InvalidDataError, match="'mine' has changed"):
        run_study(preset, tmp_path / "out", tmp_path)


def test_the_export_tells_what_was_chosen(reference, tmp_path):
    results = read_results(reference)
    results.write(tmp_path)
    fits = pd.read_csv(tmp_path / "fits.csv")
    assert fits["chosen"].sum() == len(results.chosen())


def test_results_belong_to_one_preset(reference):
    with pytest.raises(InvalidParameterError, match=f"iterations was {SMALL.iterations} and is 6"):
        run_study(replace(SMALL, iterations=6), reference)


def test_a_folder_without_records(tmp_path):
    with pytest.raises(InvalidDataError, match="not a folder of study results"):
        read_results(tmp_path)


def test_the_plan_is_kept_beside_the_records(reference, tmp_path):
    plan = json.loads((reference / "preset.json").read_text())
    assert plan["most_rows"] == 200
    assert plan["checksums"] == {"twonorm": "generated"}
    assert plan["versions"]["numpy"] == np.__version__
    (tmp_path / "preset.json").write_text("{")
    with pytest.raises(InvalidDataError, match="is damaged"):
        read_results(tmp_path)
