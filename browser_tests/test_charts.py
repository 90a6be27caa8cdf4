"""The charts: ticks that mean something, steps where values jump, and no series without an entry or behind another."""

import re

from selenium.webdriver.common.by import By

WHOLE_NUMBERS = ("scatter", "anytime", "weights", "sensitivity", "reweighting", "significance")
STEPS = ("anytime", "margins", "value-margins")


def texts(browser, selector):
    return [element.text for element in browser.find_elements(By.CSS_SELECTOR, selector)]


def test_trees_and_iterations_are_whole_numbers(wide, tiny):
    for browser in (wide, tiny):
        for section in WHOLE_NUMBERS:
            ticks = texts(browser, f"#{section} .x.tick")
            assert all(re.fullmatch(r"\d+", tick) for tick in ticks), (section, ticks)
    assert texts(tiny, "#weights .x.tick") == ["1"], "one tree"


def test_ticks_of_depth_are_the_depths(wide, tiny):
    figure = "#time figure:first-child .x.tick"
    assert texts(wide, figure) == ["1", "2"]
    assert texts(tiny, figure) == ["2"]


def test_seconds_are_seconds(wide):
    labels = texts(wide, "#time .label")
    assert "seconds for a fit" in labels
    assert not any("log" in label for label in labels)
    ticks = [float(tick) for tick in texts(wide, "#time figure:first-child .y.tick")]
    assert len(ticks) >= 2
    assert min(ticks) > 0
    assert all(re.match(r"[13]", f"{tick:e}") or re.match(r"[125]", f"{tick:e}") for tick in ticks), "a scale of powers"


def test_values_that_jump_are_drawn_as_steps(wide):
    for section in STEPS:
        paths = wide.find_elements(By.CSS_SELECTOR, f"#{section} path.line")
        assert paths, section
        for path in paths:
            assert re.fullmatch(r"M[^LHV]+(H[^LHV]+V[^LHV]+)*", path.get_attribute("d")), section
    front = wide.find_elements(By.CSS_SELECTOR, "#sensitivity path.line")
    assert len(front) == 1
    assert "L" not in front[0].get_attribute("d")


def test_the_legend_names_what_is_drawn(wide, tiny):
    """Every method that is drawn has one entry in the legend of its section, and no entry is without a method."""
    for browser in (wide, tiny):
        for section in browser.find_elements(By.CSS_SELECTOR, "main > section"):
            legends = section.find_elements(By.CSS_SELECTOR, ".legend")
            if not legends:
                continue
            entries = [button.get_attribute("data-of") for button in legends[0].find_elements(By.TAG_NAME, "button")]
            drawn = {
                group.get_attribute("data-method") for group in section.find_elements(By.CSS_SELECTOR, "[data-method]")
            }
            assert len(entries) == len(set(entries))
            assert set(entries) == drawn, section.get_attribute("id")
            assert all(button.text for button in legends[0].find_elements(By.TAG_NAME, "button"))


def test_a_line_below_others_can_be_seen(wide):
    """Each line is thinner than the one below it, so that lines at one place do not cover each other."""
    for figure in wide.find_elements(By.CSS_SELECTOR, "#anytime figure, #margins figure"):
        widths = [
            float(path.get_attribute("stroke-width")) for path in figure.find_elements(By.CSS_SELECTOR, "path.line")
        ]
        assert widths == sorted(widths, reverse=True)
        assert len(set(widths)) == len(widths)


def test_marks_at_one_place_tell_of_all_methods_there(wide):
    """QRLP-Boost and ERLP-Boost begin with the same tree, so that their curves begin at one point."""
    starts = wide.execute_script(
        "return [...document.querySelectorAll('#anytime [data-method]')]"
        ".map(group => [group.dataset.method, group.querySelector('.mark').ariaLabel])"
    )
    told = dict(starts)
    assert "ERLP-Boost" in told["qrlp"]
    assert "QRLP-Boost" in told["erlp"]


def test_ranks_are_a_diagram(wide, ranked):
    """Of five data sets; three are too few, which the page says."""
    assert "at least five data sets" in wide.find_element(By.ID, "significance").text
    section = ranked.find_element(By.ID, "significance")
    names = [name.text for name in section.find_elements(By.CSS_SELECTOR, ".name")]
    assert sorted(name.split()[0] for name in names) == ["AdaBoost", "NM-Boost", "XGBoost"]
    ranks = [float(name.split()[1]) for name in names]
    assert ranks == sorted(ranks)
    assert sum(ranks) == 6.0
    assert "critical difference" in section.text
