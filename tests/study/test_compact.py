"""Results in parts, and results as compact tables: what is made of them is what is made of one run."""

import json
import os
import shutil
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from dualboost.errors import InvalidDataError, InvalidParameterError
from dualboost_study import read_results, run_study
from dualboost_study.folder import RECORDS, SUMMARY
from dualboost_study.observations import OBSERVATIONS
from dualboost_study.results import PARTS, TABLES, write_compact
from dualboost_study.sizes import CELL
from dualboost_study.tables import accuracy_table

from ..command_line import dualboost
from .killing import TINY

CART = replace(TINY, methods=("nm", "adaboost", "xgboost"), reoptimize="chosen")
REWEIGHT = replace(CART, experiments=("reweight",), methods=("nm",), reoptimize="as_needed")


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    """A study in two parts."""
    folder = tmp_path_factory.mktemp("study")
    run_study(CART, folder / "cart")
    run_study(REWEIGHT, folder / "reweight")
    return folder


@pytest.fixture
def compact(study, tmp_path):
    write_compact(read_results(study), study, tmp_path / "compact", TABLES)
    return tmp_path / "compact"


def tables_of(results):
    cells = results.fits.groupby(["experiment", "depth"]).size().index
    return {cell: accuracy_table(results, *cell) for cell in cells}


def test_parts_are_read_as_one(study):
    joined, cart, reweight = (read_results(path) for path in (study, study / "cart", study / "reweight"))
    assert len(joined.fits) == len(cart.fits) + len(reweight.fits)
    assert set(joined.fits["experiment"]) == {"cart", "reweight"}
    pd.testing.assert_frame_equal(joined.iterations, cart.iterations)
    assert joined.stages_are_optimal


def test_a_fit_in_two_parts_is_refused(study, tmp_path):
    for name in ("one", "two"):
        os.symlink(study / "reweight", tmp_path / name)
    with pytest.raises(InvalidDataError, match=r"24 fits are in two parts of the results, such as reweight/ring"):
        read_results(tmp_path)


def test_tables_are_rebuilt_from_compact_results(study, compact):
    expected, found = tables_of(read_results(study)), tables_of(read_results(compact))
    assert list(found) == list(expected)
    for cell, table in found.items():
        np.testing.assert_allclose(table.accuracy, expected[cell].accuracy, atol=1e-6)
        pd.testing.assert_frame_equal(table.trees, expected[cell].trees)
        assert (table.best == expected[cell].best).all(axis=None)


def test_observations_are_the_same_of_compact_results(study, compact):
    whole, small = read_results(study), read_results(compact)
    for one in OBSERVATIONS.values():
        assert one.judge(small).holds == one.judge(whole).holds


def test_curves_of_compact_results_are_those_of_the_fits_chosen(study, compact):
    whole, small = read_results(study), read_results(compact)
    for name, column in (("iterations", "accuracy"), ("margins", "margin")):
        merged = getattr(small, name).merge(getattr(whole, name), on=list(getattr(small, name))[:7])
        assert len(merged) == len(getattr(small, name)) > 0
        np.testing.assert_allclose(merged[f"{column}_x"], merged[f"{column}_y"], atol=1e-3)
    chosen = whole.chosen()
    with_margins = chosen[(chosen["experiment"] == "cart") & chosen["method"].isin(["nm", "adaboost"])]
    assert len(small.margins.merge(with_margins[CELL], on=CELL)) == 21 * len(with_margins)
    assert small.weights.groupby(CELL)["weight"].max().eq(1.0).all()
    assert set(small.weights["method"]) == {"nm", "adaboost"}


def test_what_is_missing_and_what_was_planned_is_kept(study, compact):
    summary = json.loads((compact / SUMMARY).read_text())
    assert list(summary["plans"]) == ["cart", "reweight"]
    assert summary["plans"]["cart"]["checksums"] == dict.fromkeys(sorted(CART.datasets), "generated")
    summary["plans"]["cart"]["seeds"] = 3
    (compact / SUMMARY).write_text(json.dumps(summary))
    assert read_results(compact).gaps == "36 planned fits are not there yet"
    again = compact.parent / "again"
    write_compact(read_results(compact), compact, again, TABLES)
    assert json.loads((again / SUMMARY).read_text()) == summary


def test_compact_results_do_not_go_into_the_folder_of_a_run(study):
    for source, out in ((study, study), (study, study / "cart")):
        with pytest.raises(InvalidParameterError, match="name another folder"):
            write_compact(read_results(source), source, out, TABLES)


@pytest.mark.parametrize("damage", ["not json", "{}", "[]", "1", '{"tables": 1}'])
def test_a_damaged_summary_is_told(compact, damage):
    (compact / SUMMARY).write_text(damage)
    with pytest.raises(InvalidDataError, match=r"summary\.json is damaged"):
        read_results(compact)


@pytest.mark.parametrize("name", PARTS)
@pytest.mark.parametrize("junk", [None, "text", 3, 1.5])
def test_a_part_of_the_summary_that_is_of_another_type_is_told(compact, name, junk):
    summary = json.loads((compact / SUMMARY).read_text())
    (compact / SUMMARY).write_text(json.dumps(summary | {name: junk}))
    with pytest.raises(InvalidDataError, match=r"summary\.json"):
        read_results(compact)


@pytest.mark.parametrize(
    "junk", [{}, {"fits": 3}, {"fits": {}}, {"fits": {"rows": 0}}, {"fits": {"rows": 0, "columns": []}}]
)
def test_a_description_without_fits_is_told(compact, junk):
    summary = json.loads((compact / SUMMARY).read_text())
    (compact / SUMMARY).write_text(json.dumps(summary | {"tables": junk}))
    with pytest.raises(InvalidDataError, match=r"summary\.json"):
        read_results(compact)


def test_a_table_that_is_not_the_one_described_is_told(compact):
    (compact / "fits.parquet").write_bytes((compact / "weights.parquet").read_bytes())
    with pytest.raises(InvalidDataError, match=r"fits\.parquet is not the table that summary\.json describes"):
        read_results(compact)
    (compact / "fits.parquet").unlink()
    with pytest.raises(InvalidDataError, match=r"fits\.parquet: there is no such file"):
        read_results(compact)


def test_the_command_writes_what_the_commands_read(study, tmp_path):
    written = dualboost("study", "export", str(study), "-o", "kept", "--compact", cwd=tmp_path)
    assert written.returncode == 0, written.stderr
    assert sum(path.stat().st_size for path in (tmp_path / "kept").iterdir()) < 60_000
    tables = [dualboost("study", "tables", folder, cwd=tmp_path).stdout for folder in ("kept", str(study))]
    assert "cart, depth 1" in tables[0]
    assert tables[0] == tables[1]


def test_fits_of_which_other_values_are_missing_are_not_kept(study, tmp_path):
    shutil.copytree(study / "cart", tmp_path / "cart")
    lines = (tmp_path / "cart" / RECORDS).read_text().splitlines(keepends=True)
    (tmp_path / "cart" / RECORDS).write_text("".join(lines[:-1]))
    write_compact(read_results(tmp_path / "cart"), tmp_path / "cart", tmp_path / "kept", TABLES)
    lost = json.loads(lines[-1])
    kept, whole = (read_results(folder) for folder in (tmp_path / "kept", study / "cart"))
    assert len(kept.fits) == len(whole.fits) - CART.values
    assert kept.gaps == f"{CART.values} planned fits are not there yet"
    of_split = [kept.fits[name] == lost[name] for name in ("method", "depth", "seed", "dataset")]
    assert not np.logical_and.reduce(of_split).any()


def test_a_study_does_not_go_on_beside_results_of_other_data(study, tmp_path):
    write_compact(read_results(study), study, tmp_path / "kept", TABLES)
    summary = tmp_path / "kept" / "summary.json"
    summary.write_text(summary.read_text().replace('"generated"', '"of another file"'))
    with pytest.raises(InvalidDataError, match="were made with other data than yours"):
        run_study(CART, tmp_path / "more", beside=tmp_path / "kept")
    assert not (tmp_path / "more").exists()


def test_a_study_goes_on_beside_kept_results(study, tmp_path):
    """What was kept stays; a later run adds a seed, and both are read as one."""
    parts, grown = tmp_path / "parts", replace(CART, seeds=CART.seeds + 1)
    write_compact(read_results(study), study, parts / "kept", TABLES)
    run_study(grown, parts / "more", beside=parts / "kept")
    run_study(grown, tmp_path / "at_once")
    joined, at_once = read_results(parts), read_results(tmp_path / "at_once")
    assert joined.gaps == ""
    assert set(read_results(parts / "more").fits["seed"]) == {CART.seeds}
    cart = joined.fits[joined.fits["experiment"] == "cart"].reset_index(drop=True)
    pd.testing.assert_frame_equal(cart[[*CELL, "trees"]], at_once.fits[[*CELL, "trees"]])
    assert len(joined.iterations) == len(at_once.iterations)
    tables = [accuracy_table(results, "cart", 1) for results in (joined, at_once)]
    np.testing.assert_allclose(tables[0].accuracy, tables[1].accuracy, atol=1e-6)
