"""What pages show below a Python block is what the block prints, but for the last digits of numbers."""

import re

import pytest

BLOCK = re.compile(
    r"^(?P<mark><!-- not run: [^\n]+ -->\n)?```python\n(?P<code>.*?)^```$"
    r"(?:\n\n```(?:sql)?\n(?P<shown>.*?)^```$)?",
    re.DOTALL | re.MULTILINE,
)
NUMBER = re.compile(r"-?\d+\.?\d*(?:e[+-]?\d+)?")
MARK = "---- what a page shows ----"


def blocks(text):
    return list(BLOCK.finditer(text))


def script(text):
    """The blocks of a page that are run, with marks around what is printed by those whose output is shown."""
    mark = f"print({MARK!r})\n"
    run = [block for block in blocks(text) if not block["mark"]]
    return "\n".join(mark + block["code"] + mark if block["shown"] else block["code"] for block in run)


def assert_printed(texts, output):
    """That scripts of these pages, one after another, printed what the pages show."""
    shown = [block["shown"] for text in texts for block in blocks(text) if block["shown"]]
    printed = [part.removeprefix("\n") for part in output.split(MARK)[1::2]]
    assert len(printed) == len(shown)
    for expected, found in zip(shown, printed, strict=True):
        assert _words(found) == _words(expected)
        assert _numbers(found) == pytest.approx(_numbers(expected), rel=0.01, abs=1e-6), found


def _words(text):
    return NUMBER.sub("#", text).split()


def _numbers(text):
    return [float(number) for number in NUMBER.findall(text)]
