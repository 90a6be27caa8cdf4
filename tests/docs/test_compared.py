"""The table of features claims nothing of ours without a page that shows it."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
ROWS = [
    [cell.strip() for cell in line.strip("|").split("|")]
    for line in (ROOT / "docs" / "compared.md").read_text(encoding="utf-8").splitlines()
    if line.startswith("| ") and not line.startswith(("| |", "| **"))
]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0])
def test_what_we_claim_has_a_page(row):
    assert len(row) == 6
    assert row[1].startswith("no") or re.search(r"\]\([\w./#-]*\)", row[1]), row[1]


def test_what_we_lack_is_told():
    assert len(ROWS) > 25
    assert sum(row[1].startswith("no") for row in ROWS) >= 4


@pytest.mark.parametrize("page", ["compared.md", "formulations.md", "project.md"])
def test_tests_and_programs_that_are_named_are_there(page):
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    named = re.findall(r"`((?:tests|benchmarks|\.ci)/[\w./]+)`", text)
    assert named
    assert [path for path in named if not (ROOT / path).exists()] == []
