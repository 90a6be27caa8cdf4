"""The report in a real browser: ``make test-browser`` (needs Debian's chromium and chromium-driver)."""

from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import Select

SECTIONS = 15
"""The summary, the observations, and the thirteen that follow the choices."""


def column(browser, k):
    cells = browser.find_elements(By.CSS_SELECTOR, f"#tables tbody td:nth-child({k})")
    return [cell.text for cell in cells]


def accuracies(browser, k):
    """Our figures; the paper's stand below them."""
    return [float(text.split(" / ")[0].rstrip("*")) for text in column(browser, k)]


def test_it_opens_without_an_error_and_every_section_is_filled(browser):
    assert browser.get_log("browser") == []
    sections = browser.find_elements(By.TAG_NAME, "section")
    assert len(sections) == SECTIONS
    for section in sections:
        assert section.find_elements(By.CSS_SELECTOR, "table td, .mark, li, p + p"), section.get_attribute("id")
    text = browser.find_element(By.TAG_NAME, "body").text
    assert "NaN" not in text
    assert "undefined" not in text


def test_nothing_is_wider_than_the_window(browser):
    assert browser.execute_script("return document.documentElement.scrollWidth <= window.innerWidth")


def test_tables_sort(browser):
    assert column(browser, 1) == ["ringnorm", "twonorm", "waveform"]
    button = browser.find_elements(By.CSS_SELECTOR, "#tables th button")[1]
    button.send_keys(Keys.ENTER)
    falling = accuracies(browser, 2)
    assert falling == sorted(falling, reverse=True)
    button.send_keys(Keys.ENTER)
    assert accuracies(browser, 2) == sorted(falling)


def test_the_papers_figures_stand_below_ours(browser):
    """Of twonorm with stumps and NM-Boost."""
    row = column(browser, 1).index("twonorm")
    assert column(browser, 2)[row].splitlines()[1] == "0.961 / 60"


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


def test_a_method_is_hidden_and_shown_again(browser):
    drawn = "#scatter [data-method='nm']"
    assert browser.find_element(By.CSS_SELECTOR, drawn).is_displayed()
    button = browser.find_element(By.CSS_SELECTOR, "#scatter .legend button[data-of='nm']")
    button.send_keys(Keys.ENTER)
    assert button.get_attribute("aria-pressed") == "false"
    assert not browser.find_element(By.CSS_SELECTOR, drawn).is_displayed()
    Select(browser.find_element(By.ID, "depth")).select_by_value("2")
    assert not browser.find_element(By.CSS_SELECTOR, drawn).is_displayed(), "another choice keeps it hidden"
    browser.find_element(By.CSS_SELECTOR, "#scatter .legend button[data-of='nm']").send_keys(Keys.ENTER)
    assert browser.find_element(By.CSS_SELECTOR, drawn).is_displayed()
