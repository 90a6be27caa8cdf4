"""The first screen of the report: what a reader knows after a minute."""

from selenium.webdriver.common.by import By


def text_of(browser, selector):
    return browser.find_element(By.CSS_SELECTOR, selector).text


def test_the_summary_comes_first_and_says_what_was_run(wide):
    assert wide.find_element(By.TAG_NAME, "section").get_attribute("id") == "summary"
    said = text_of(wide, "#summary")
    assert "9 methods on 3 data sets" in said
    assert "Within 20 trees" in said
    assert "with Gurobi" in said
    assert len(wide.find_elements(By.CSS_SELECTOR, "#summary tbody tr")) == 2, "who leads, at two depths"


def test_every_verdict_has_a_box_that_leads_to_it(wide):
    links = wide.find_elements(By.CSS_SELECTOR, "#summary .chips a")
    judged = wide.find_elements(By.CSS_SELECTOR, "#observations .verdicts > li")
    assert len(links) == len(judged) > 10
    for link, verdict in zip(links, judged, strict=True):
        assert link.get_attribute("href").endswith("#" + verdict.get_attribute("id"))
        assert "Criterion:" in verdict.text
        assert "data set" in verdict.text


def test_what_cannot_be_judged_is_one_line(tiny):
    assert text_of(tiny, "#unjudged") == "These results do not suffice to judge any of them."
    assert text_of(tiny, "body").count("not enough data") == 0
    assert not tiny.find_elements(By.CSS_SELECTOR, "#observations .verdicts")


def test_a_page_of_next_to_nothing(tiny):
    assert tiny.get_log("browser") == []
    text = text_of(tiny, "body")
    assert "undefined" not in text
    assert "NaN" not in text
    assert "1 method on 1 data set" in text
