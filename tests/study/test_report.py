"""The report's data and page, without a browser (see ``browser_tests``)."""

import json
from dataclasses import replace

import pytest

from dualboost.study import Preset, read_results, run_study
from dualboost.study.figures import draw_figures
from dualboost.study.report import report_data, write_report

SMALL = Preset(
    experiments=("cart", "confidence", "reweight"),
    datasets=("twonorm",),
    methods=("nm", "adaboost", "xgboost"),
    depths=(1,),
    seeds=1,
    values=2,
    iterations=4,
    most_rows=150,
)


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    folder = tmp_path_factory.mktemp("results")
    run_study(SMALL, folder)
    return read_results(folder)


def test_a_page_of_its_own(results, tmp_path):
    data = report_data(results)
    assert len(data["observations"]) == 18
    assert data["n_fits"] == len(results.fits)
    assert {table["experiment"] for table in data["tables"]} == {"cart", "confidence", "reweight"}
    assert all(len(curve["iteration"]) == 4 for curve in data["anytime"] if curve["method"] == "xgboost")
    page = write_report(results, tmp_path / "report.html").read_text()
    assert "http://www.w3.org/2000/svg" in page
    assert page.count("http") == 1, "nothing is fetched"
    embedded = page.split('id="data">')[1].split("</script>")[0]
    assert json.loads(embedded.replace("<\\/", "</")) == json.loads(json.dumps(data))


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
