"""The report and the page of results, without a browser (see ``browser_tests``)."""

import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from dualboost.errors import InvalidDataError
from dualboost_study import read_results, run_study
from dualboost_study.figures import draw_figures
from dualboost_study.markdown import BLOCK, BLOCKS, accuracy_by_dataset, filled, write_page
from dualboost_study.protocol import PUBLISHED
from dualboost_study.report import packed, report_data, write_report
from dualboost_study.tables import short

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


DOCS = Path(__file__).parents[2] / "docs"
HALF_OF_THE_LAST_DIGIT = np.array([5e-4, 0.5]) + 1e-9
"""Of accuracies and trees on the page; means that lie half-way are rounded by the last digit of a sum."""
WITH_SIZES = replace(
    SMALL,
    experiments=(*SMALL.experiments, "equal_size"),
    datasets=("ringnorm", "twonorm"),
    methods=("nm", "cg", "adaboost", "xgboost"),
)


@pytest.fixture(scope="module")
def with_sizes(tmp_path_factory):
    folder = tmp_path_factory.mktemp("results")
    run_study(WITH_SIZES, folder)
    return read_results(folder)


def cells_of(text):
    """The rows of a Markdown table, each as a list of cells."""
    lines = [line for line in text.splitlines() if line.startswith("| ") and not line.startswith("| ---")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def test_a_page_with_its_pictures(with_sizes, tmp_path):
    path = write_page(with_sizes, tmp_path / "page" / "results.md")
    text = path.read_text()
    assert text.count("<!-- begin") == text.count("<!-- end") == len(BLOCK.findall(text))
    assert {match["name"] for match in BLOCK.finditer(text)} >= set(BLOCKS)
    assert f"- {len(with_sizes.fits)} fits: 4 methods on 2 data sets" in text
    for picture in re.findall(r"!\[[^]]*\]\(([^)]+)\)", text):
        assert (path.parent / picture).read_bytes().startswith(b"\x89PNG"), picture
    assert "(results_times.png)" in text
    assert "(results_ranks.png)" not in text, "two data sets are too few for ranks"


def test_only_the_blocks_are_written(with_sizes, tmp_path):
    """A page that is filled again stays as it is, and what is around its blocks is never touched."""
    path = tmp_path / "mine.md"
    path.write_text("# Mine\n\n<!-- begin opening -->\noutdated\n<!-- end opening -->\n\nby hand\n")
    once = write_page(with_sizes, path).read_text()
    assert once.startswith("# Mine\n\n<!-- begin opening -->\n- ")
    assert once.endswith("<!-- end opening -->\n\nby hand\n")
    assert "outdated" not in once
    assert write_page(with_sizes, path).read_text() == once


def test_an_unknown_block_is_an_error(with_sizes):
    with pytest.raises(InvalidDataError, match="a block 'weather', which is not known"):
        filled("<!-- begin weather -->\n<!-- end weather -->", with_sizes, {})


def rebuilt(fits, experiment="cart", depth=1):
    """Accuracies by data set and method from the table of fits alone: of the best validation accuracy, over seeds."""
    part = fits[(fits["experiment"] == experiment) & (fits["depth"] == depth)]
    ordered = part.sort_values(["validation_accuracy", "trees", "value"], ascending=[False, True, True], kind="stable")
    chosen = ordered.drop_duplicates(["dataset", "method", "seed"])
    return chosen.groupby(["dataset", "method"])[["test_accuracy", "trees"]].mean()


def assert_is_in_the_files(block, fits, depth):
    head, *rows = cells_of(block)
    expected = rebuilt(fits, depth=depth)
    titles = {short(name): name for name in PUBLISHED}
    n_compared = 0
    for dataset, *cells in rows:
        for title, cell in zip(head[1:], cells, strict=True):
            if cell:
                ours = cell.split("<br>")[0].replace("*", "").replace("\u00a0", " ")
                row = expected.loc[(dataset, titles[title])]
                shown = [float(part) for part in ours.split(" / ")]
                exact = [row["test_accuracy"], row["trees"]]
                assert np.all(np.abs(np.subtract(shown, exact)) <= HALF_OF_THE_LAST_DIGIT), (
                    dataset,
                    title,
                    shown,
                    exact,
                )
                n_compared += 1
    assert n_compared >= 8


def test_a_table_is_what_the_fits_say(with_sizes):
    assert_is_in_the_files(BLOCKS["accuracy by data set"](with_sizes), with_sizes.fits, 1)


def test_the_page_of_the_docs_is_made_from_the_kept_files():
    kept, page = read_results(DOCS / "results"), (DOCS / "results.md").read_text(encoding="utf-8")
    blocks = {match["name"]: match["text"] for match in BLOCK.finditer(page)}
    for name, make in BLOCKS.items():
        assert blocks[name] == make(kept), f"dualboost study report docs/results -o docs/results.md ({name})"
    for depth, block in re.findall(r"Depth (\d+):\n(.*?)(?=\nDepth|\Z)", blocks["accuracy by data set"], re.DOTALL):
        assert_is_in_the_files(block, kept.fits, int(depth))
