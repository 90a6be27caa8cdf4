"""Fits whose value is chosen are made once more with every stage optimal; the rest stays as it is."""

import json
from dataclasses import replace

import pandas as pd
import pytest

from dualboost_study import read_results, run_study
from dualboost_study.folder import RECORDS, STAGES
from dualboost_study.sizes import CELL, chosen_cells

from .killing import TINY

CHOSEN = replace(TINY, reoptimize="chosen", experiments=("cart", "reweight"), depths=(2,))


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    """The same study with each way to optimise."""
    found = {}
    for way in ("chosen", "as_needed", "every"):
        found[way] = tmp_path_factory.mktemp(way)
        run_study(replace(CHOSEN, reoptimize=way), found[way])
    return found


def records_of(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_tables_are_made_of_fits_that_are_optimised_as_needed(folders):
    chosen, as_needed = (read_results(folders[way]) for way in ("chosen", "as_needed"))
    pd.testing.assert_frame_equal(chosen.fits.drop(columns="seconds"), as_needed.fits.drop(columns="seconds"))
    pd.testing.assert_frame_equal(chosen.margins, as_needed.margins)
    pd.testing.assert_frame_equal(chosen.weights, as_needed.weights)
    assert (chosen.stages_are_optimal, as_needed.stages_are_optimal) == (True, False)


def test_curves_are_those_of_optimal_stages(folders):
    chosen, every = (read_results(folders[way]) for way in ("chosen", "every"))
    of_chosen = every.iterations.merge(chosen.chosen()[CELL], on=CELL)
    pd.testing.assert_frame_equal(chosen.iterations, of_chosen)
    assert set(chosen.iterations["method"]) == {"nm", "lp", "xgboost"}


def test_only_totally_corrective_fits_with_stages_are_made_again(folders):
    again = {record["key"] for record in records_of(folders["chosen"] / STAGES)}
    chosen = chosen_cells(read_results(folders["chosen"]).fits)
    expected = {cell.key for cell in chosen if cell.experiment == "cart" and cell.method != "xgboost"}
    assert again == expected
    assert not (folders["every"] / STAGES).exists()


def test_a_split_without_all_its_stages_is_left_out_until_they_are_there(folders, tmp_path):
    for name in ("preset.json", RECORDS):
        (tmp_path / name).write_bytes((folders["chosen"] / name).read_bytes())
    lines = (folders["chosen"] / STAGES).read_bytes().splitlines(keepends=True)
    (tmp_path / STAGES).write_bytes(b"".join(lines[1:]) + b'{"key": "cut off')
    cut, whole = read_results(tmp_path), read_results(folders["chosen"])
    lost = json.loads(lines[0])
    is_lost = (whole.iterations["dataset"] == lost["dataset"]) & (whole.iterations["seed"] == lost["seed"])
    assert is_lost.any()
    pd.testing.assert_frame_equal(cut.iterations, whole.iterations[~is_lost].reset_index(drop=True))
    assert cut.gaps == "1 planned fits are not there yet"
    assert run_study(CHOSEN, tmp_path).added == 1
    pd.testing.assert_frame_equal(read_results(tmp_path).iterations, whole.iterations)


def test_seeds_come_one_after_the_other_and_small_data_sets_first(tmp_path):
    (tmp_path / "wide.csv").write_text("a,target\n" + "".join(f"{k % 7},{k % 2}\n" for k in range(200)))
    (tmp_path / "small.csv").write_text("a,target\n" + "".join(f"{k % 7},{k % 2}\n" for k in range(60)))
    preset = replace(TINY, datasets=("wide", "small"), methods=("nm",), depths=(1,), values=2, most_rows=0)
    run_study(replace(preset, reoptimize="chosen"), tmp_path / "out", tmp_path)
    order = [(record["seed"], record["dataset"]) for record in records_of(tmp_path / "out" / RECORDS)]
    assert list(dict.fromkeys(order)) == [(0, "small"), (0, "wide"), (1, "small"), (1, "wide")]


def test_epsilon_is_that_of_the_preset(tmp_path):
    preset = replace(TINY, experiments=("cart", "reweight"), methods=("qrlp", "nm"), seeds=1, depths=(2,))
    fits = {}
    for epsilon in (0.01, 0.99):
        run_study(replace(preset, epsilon=epsilon), tmp_path / str(epsilon))
        fits[epsilon] = read_results(tmp_path / str(epsilon)).fits
    differ = fits[0.01]["gap"].ne(fits[0.99]["gap"])
    assert set(fits[0.01].loc[differ, "method"]) == {"qrlp"}
    assert set(fits[0.01].loc[differ, "experiment"]) == {"cart", "reweight"}
