"""The page of results: what stands in its tables is in the files that it is made from."""

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from dualboost.errors import InvalidDataError
from dualboost_study import read_results, run_study
from dualboost_study.markdown import BLOCK, BLOCKS, filled, write_page
from dualboost_study.protocol import PUBLISHED
from dualboost_study.tables import short

from .conftest import SMALL

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
def results(tmp_path_factory):
    folder = tmp_path_factory.mktemp("results")
    run_study(WITH_SIZES, folder)
    return read_results(folder)


def cells_of(text):
    """The rows of a Markdown table, each as a list of cells."""
    lines = [line for line in text.splitlines() if line.startswith("| ") and not line.startswith("| ---")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def test_a_page_with_its_pictures(results, tmp_path):
    path = write_page(results, tmp_path / "page" / "results.md")
    text = path.read_text()
    assert text.count("<!-- begin") == text.count("<!-- end") == len(BLOCK.findall(text))
    assert {match["name"] for match in BLOCK.finditer(text)} >= set(BLOCKS)
    assert f"- {len(results.fits)} fits: 4 methods on 2 data sets" in text
    for picture in re.findall(r"!\[[^]]*\]\(([^)]+)\)", text):
        assert (path.parent / picture).read_bytes().startswith(b"\x89PNG"), picture
    assert "(results_times.png)" in text
    assert "(results_ranks.png)" not in text, "two data sets are too few for ranks"


def test_only_the_blocks_are_written(results, tmp_path):
    """A page that is filled again stays as it is, and what is around its blocks is never touched."""
    path = tmp_path / "mine.md"
    path.write_text("# Mine\n\n<!-- begin opening -->\noutdated\n<!-- end opening -->\n\nby hand\n")
    once = write_page(results, path).read_text()
    assert once.startswith("# Mine\n\n<!-- begin opening -->\n- ")
    assert once.endswith("<!-- end opening -->\n\nby hand\n")
    assert "outdated" not in once
    assert write_page(results, path).read_text() == once


def test_an_unknown_block_is_told(results):
    with pytest.raises(InvalidDataError, match="a block 'weather', which is not known"):
        filled("<!-- begin weather -->\n<!-- end weather -->", results, {})


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
                told = [float(part) for part in ours.split(" / ")]
                exact = [row["test_accuracy"], row["trees"]]
                assert np.all(np.abs(np.subtract(told, exact)) <= HALF_OF_THE_LAST_DIGIT), (dataset, title, told, exact)
                n_compared += 1
    assert n_compared >= 8


def test_a_table_is_what_the_fits_say(results):
    assert_is_in_the_files(BLOCKS["accuracy by data set"](results), results.fits, 1)


def test_the_page_of_the_docs_is_made_from_the_kept_files():
    kept, page = read_results(DOCS / "results"), (DOCS / "results.md").read_text(encoding="utf-8")
    blocks = {match["name"]: match["text"] for match in BLOCK.finditer(page)}
    for name, make in BLOCKS.items():
        assert blocks[name] == make(kept), f"dualboost study report docs/results -o docs/results.md ({name})"
    for depth, block in re.findall(r"Depth (\d+):\n(.*?)(?=\nDepth|\Z)", blocks["accuracy by data set"], re.DOTALL):
        assert_is_in_the_files(block, kept.fits, int(depth))
