"""The pages that are looked at: of a run with everything, and of a run with next to nothing."""

import shutil
from dataclasses import replace

import pandas as pd
import pytest
from selenium import webdriver
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service

from dualboost.datasets import make_twonorm
from dualboost_study import Preset, read_results, run_study
from dualboost_study.report import write_report

WHOLE = Preset(
    experiments=("cart", "confidence", "optimal", "reweight", "equal_size"),
    datasets=("ringnorm", "twonorm", "waveform"),
    depths=(1, 2),
    seeds=2,
    values=3,
    iterations=6,
    most_rows=150,
)
TINY = Preset(datasets=("twonorm",), methods=("nm",), depths=(2,), seeds=1, values=2, iterations=1, most_rows=100)
"""One tree, one depth, one method, and none of the heuristics."""
FLAGS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
)


RANKED = Preset(methods=("nm", "adaboost", "xgboost"), depths=(1,), seeds=1, values=2, iterations=4)
"""Of as many data sets as ranks need."""


def _page(preset, folder, data=None):
    run_study(preset, folder, data, n_jobs=2)
    return write_report(read_results(folder), folder / "report.html")


@pytest.fixture(scope="session")
def page(tmp_path_factory):
    return _page(WHOLE, tmp_path_factory.mktemp("study"))


@pytest.fixture(scope="session")
def tiny_page(tmp_path_factory):
    return _page(TINY, tmp_path_factory.mktemp("tiny"))


@pytest.fixture(scope="session")
def ranked_page(tmp_path_factory):
    data = tmp_path_factory.mktemp("data")
    for seed in range(5):
        X, y = make_twonorm(120, random_state=seed)
        frame = pd.DataFrame(X[:, : 3 + seed]).add_prefix("x").assign(target=y)
        frame.to_csv(data / f"twonorm_{seed}.csv.gz", index=False)
    preset = replace(RANKED, datasets=tuple(f"twonorm_{seed}" for seed in range(5)))
    return _page(preset, tmp_path_factory.mktemp("ranked"), data)


def opened(page, width):
    options = Options()
    options.binary_location = shutil.which("chromium")
    for argument in (*FLAGS, f"--window-size={width},900"):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    browser = webdriver.Chrome(service=Service(shutil.which("chromedriver")), options=options)
    browser.get(page.as_uri())
    return browser


@pytest.fixture(params=[1200, 500])
def browser(request, page):
    browser = opened(page, request.param)
    yield browser
    browser.quit()


@pytest.fixture(scope="module")
def wide(page):
    """One window for the tests that only look."""
    browser = opened(page, 1200)
    yield browser
    browser.quit()


@pytest.fixture(scope="module")
def tiny(tiny_page):
    browser = opened(tiny_page, 1200)
    yield browser
    browser.quit()


@pytest.fixture(scope="module")
def ranked(ranked_page):
    browser = opened(ranked_page, 1200)
    yield browser
    browser.quit()
