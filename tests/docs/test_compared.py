"""Pages claim nothing of ours without a page that shows it, and name only what exists."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
FEATURES = (DOCS / "coming_from.md").read_text(encoding="utf-8").partition("## Features")[2].partition("\n## ")[0]
ROWS = [
    [cell.strip() for cell in line.strip("|").split("|")]
    for line in FEATURES.splitlines()
    if line.startswith("| ") and not line.startswith(("| |", "| **"))
]
PAGES = [DOCS / page for page in ("architecture.md", "certificates.md", "family.md", "formulations.md", "project.md")]
SOURCES = [path.relative_to(ROOT / "src").as_posix() for path in sorted((ROOT / "src").rglob("*.py"))]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0])
def test_what_we_claim_has_a_page(row):
    assert len(row) == 6
    assert row[1].startswith("no") or re.search(r"\]\([\w./#-]*\)", row[1]), row[1]


def test_missing_features_are_listed():
    assert len(ROWS) > 25
    assert sum(row[1].startswith("no") for row in ROWS) >= 3


@pytest.mark.parametrize("page", [*PAGES, ROOT / "CONTRIBUTING.md"], ids=lambda page: page.name)
def test_tests_and_programs_that_are_named_exist(page):
    text = page.read_text(encoding="utf-8")
    named = re.findall(r"`(?:python )?((?:tests|benchmarks|examples|docs/design-notes|\.ci)/[\w./-]+)", text)
    assert named
    assert [path for path in named if not (ROOT / path).exists()] == []


@pytest.mark.parametrize("page", [DOCS / "architecture.md", ROOT / "CONTRIBUTING.md"], ids=lambda page: page.name)
def test_sources_that_are_named_exist(page):
    """A file may be named without its folder where the text has named the folder before."""
    named = set(re.findall(r"`(?:src/)?([\w/]+\.py)`", page.read_text(encoding="utf-8")))
    named = {path for path in named if not path.startswith(("tests/", "docs/"))}
    assert len(named) > 15
    assert [path for path in sorted(named) if not any(f"/{one}".endswith(f"/{path}") for one in SOURCES)] == []


@pytest.mark.parametrize("page", [DOCS / "architecture.md", ROOT / "CONTRIBUTING.md"], ids=lambda page: page.name)
def test_classes_and_registries_that_are_named_exist(page):
    text = "\n".join(
        path.read_text(encoding="utf-8") for folder in ("src", "tests") for path in (ROOT / folder).rglob("*.py")
    )
    named = set(re.findall(r"`([A-Z]\w{2,})`", page.read_text(encoding="utf-8")))
    assert len(named) > 10
    assert [name for name in sorted(named) if not re.search(rf"\b{name}\b", text)] == []


def _defines(path, name):
    defined = rf"(?m)^(?:\w+, )*{name}\b(?:, \w+)*(?:: .+)? = "
    return re.search(defined, path.read_text(encoding="utf-8")) is not None


@pytest.mark.parametrize("page", [DOCS / "architecture.md", ROOT / "CONTRIBUTING.md"], ids=lambda page: page.name)
def test_registries_are_in_the_files_that_are_named(page):
    text = page.read_text(encoding="utf-8")
    found = re.findall(r"((?:`_?[A-Z][A-Z_]+`(?:, | and )?)+)\s+(?:in |of |\()`(?:src/)?([\w/]+\.py)`", text)
    assert len(found) > 5
    files = [*(ROOT / "src").rglob("*.py"), *(ROOT / "tests").rglob("*.py")]
    for names, file in found:
        named = [path for path in files if path.as_posix().endswith(f"/{file}")]
        for name in re.findall(r"\w+", names):
            assert any(_defines(path, name) for path in named), f"{name} is not defined in {file}"
