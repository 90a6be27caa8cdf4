"""The report in a real browser: ``make test-browser`` (needs Debian's chromium and chromium-driver)."""

import shutil

import pytest
from selenium import webdriver
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import Select

from dualboost.study import Preset, read_results, run_study
from dualboost.study.report import write_report

PRESET = Preset(
    experiments=("cart", "confidence", "optimal", "reweight"),
    datasets=("ringnorm", "twonorm", "waveform"),
    depths=(1, 2),
    seeds=2,
    values=3,
    iterations=6,
    most_rows=150,
)
FLAGS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
)


@pytest.fixture(scope="session")
def page(tmp_path_factory):
    folder = tmp_path_factory.mktemp("study")
    run_study(PRESET, folder, n_jobs=2)
    return write_report(read_results(folder), folder / "report.html")


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


def column(browser, k):
    cells = browser.find_elements(By.CSS_SELECTOR, f"#tables tbody td:nth-child({k})")
    return [cell.text for cell in cells]


def test_it_opens_without_an_error_and_every_section_is_filled(browser):
    assert browser.get_log("browser") == []
    sections = browser.find_elements(By.TAG_NAME, "section")
    assert len(sections) == 13
    for section in sections:
        assert section.find_elements(By.CSS_SELECTOR, "table td, .mark, li, p + p"), section.get_attribute("id")
    assert "NaN" not in browser.find_element(By.TAG_NAME, "body").text


def test_nothing_is_wider_than_the_window(browser):
    assert browser.execute_script("return document.documentElement.scrollWidth <= window.innerWidth")


def test_tables_sort(browser):
    assert column(browser, 1) == ["ringnorm", "twonorm", "waveform"]
    button = browser.find_elements(By.CSS_SELECTOR, "#tables th button")[1]
    button.send_keys(Keys.ENTER)
    falling = [float(text.split(" / ")[0].rstrip("*")) for text in column(browser, 2)]
    assert falling == sorted(falling, reverse=True)
    button.send_keys(Keys.ENTER)
    assert [float(text.split(" / ")[0].rstrip("*")) for text in column(browser, 2)] == sorted(falling)


def test_the_data_set_filter(browser):
    Select(browser.find_element(By.ID, "dataset")).select_by_value("twonorm")
    assert column(browser, 1) == ["twonorm"]
    assert "twonorm" in browser.find_element(By.CSS_SELECTOR, "#anytime figcaption").text
    Select(browser.find_element(By.ID, "depth")).select_by_value("2")
    assert "depth 2" in browser.find_element(By.CSS_SELECTOR, "#anytime figcaption").text


def test_marks_tell_their_figures_to_the_keyboard(browser):
    mark = browser.find_element(By.CSS_SELECTOR, "#scatter .mark")
    browser.execute_script("arguments[0].focus()", mark)
    tip = browser.find_element(By.ID, "tip")
    assert tip.is_displayed()
    assert "trees" in tip.text
    assert mark.get_attribute("aria-label") == tip.text
