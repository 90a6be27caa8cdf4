"""The report's data and page, without a browser (see ``browser_tests``)."""

import json
from dataclasses import replace

import pytest

from dualboost_study import read_results, run_study
from dualboost_study.figures import draw_figures
from dualboost_study.markdown import accuracy_by_dataset
from dualboost_study.report import packed, report_data, write_report

from .conftest import SMALL


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    folder = tmp_path_factory.mktemp("results")
    run_study(SMALL, folder)
    return read_results(folder)


def test_a_page_of_its_own(results, tmp_path):
    data = report_data(results)
    assert len(data["observations"]) == 19
    assert data["summary"]["sentences"][0].startswith("10 fits: 3 methods on 1 data set")
    assert data["n_fits"] == len(results.fits)
    assert {table["experiment"] for table in data["tables"]} == {"cart", "confidence", "reweight"}
    assert all(len(curve["iteration"]) == 4 for curve in data["anytime"] if curve["method"] == "xgboost")
    page = write_report(results, tmp_path / "report.html").read_text()
    assert "http://www.w3.org/2000/svg" in page
    assert page.count("http") == 1, "nothing is fetched"
    embedded = page.split('id="data">')[1].split("</script>")[0]
    assert json.loads(embedded.replace("<\\/", "</")) == json.loads(json.dumps(packed(data)))


def test_a_data_set_of_any_name_stays_text(results, tmp_path):
    named = replace(results, fits=results.fits.assign(dataset="<!--<script>|\x1b"))
    page = write_report(named, tmp_path / "report.html").read_text()
    embedded = page.split('id="data">')[1].split("</script>")[0]
    assert "<" not in embedded
    assert json.loads(embedded) == json.loads(json.dumps(packed(report_data(named))))
    (row,) = [line for line in accuracy_by_dataset(named).splitlines() if "script" in line][:1]
    assert row.startswith(r"| <!--<script>\|\u001b | ")


def test_results_that_the_paper_has_not_make_a_page_too(tmp_path):
    run_study(replace(SMALL, methods=("nm",), depths=(2,), experiments=("cart",)), tmp_path)
    results = read_results(tmp_path)
    assert report_data(results)["comparison"] == {"cells": [], "methods": []}
    assert write_report(results, tmp_path / "new" / "report.html").exists()
    assert draw_figures(results, tmp_path / "figures")


def test_figures_are_pdf_files(results, tmp_path):
    paths = draw_figures(results, tmp_path / "figures")
    names = {path.stem for path in paths}
    assert {"accuracy_against_trees_cart", "reweighting", "variants_confidence", "seconds_cart"} <= names
    by_dataset = ("anytime", "weights", "margins", "margins_over_values", "sensitivity")
    assert {f"{kind}_twonorm" for kind in by_dataset} <= names
    assert all(path.read_bytes().startswith(b"%PDF") for path in paths)


def test_entries_with_the_same_names_are_packed():
    entries = [{"a": 1, "b": [1, 2]}, {"a": 2, "b": []}]
    assert packed({"x": entries}) == {"x": {"columns": ["a", "b"], "rows": [[1, [1, 2]], [2, []]]}}
    assert packed([{"a": 1}, {"b": 2}]) == [{"a": 1}, {"b": 2}]


def test_the_papers_figures_are_beside_ours(results):
    data = report_data(results)
    paper = next(table for table in data["paper"] if (table["experiment"], table["depth"]) == ("cart", 1))
    row, column = paper["datasets"].index("twonorm"), paper["methods"].index("nm")
    assert (paper["accuracy"][row][column], paper["trees"][row][column]) == (0.961, 60)
    seconds = {row["method"]: row["paper_seconds"] for row in data["paper_seconds"]}
    assert seconds == {"nm": 646.3, "adaboost": 0.5, "xgboost": 0.2}


def test_without_the_experiment_there_are_no_sizes(results):
    assert report_data(results)["sizes"] == {"means": [], "matches": []}
