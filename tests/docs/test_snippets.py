"""What the pages show works: every Python block runs, and prints what stands below it; every link leads somewhere."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import dualboost
from dualboost.formulations import FORMULATIONS

from ..thoroughness import every, together
from . import shown

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
CONTRIBUTING = ROOT / "CONTRIBUTING.md"

FENCE = re.compile(r"^```.*?^```$", re.DOTALL | re.MULTILINE)
LINK = re.compile(r"\]\((?P<target>[^)\s]+)\)")
HEADING = re.compile(r"^#+ (?P<text>.+)$", re.MULTILINE)

NOT_RUN = {"scale.md": 3}
"""How many blocks of which page are marked as not to be run: a new one is a decision, not an accident."""

ONE_AFTER_ANOTHER = """
import os, runpy, sys
for script in sys.argv[1:]:
    os.mkdir(folder := script + ".folder")
    os.chdir(folder)
    runpy.run_path(script, run_name="__main__")
"""
"""Each script in a namespace and a folder of its own."""


def blocks(page):
    return shown.blocks(page.read_text(encoding="utf-8"))


def name(page):
    return page.relative_to(ROOT).as_posix()


RUN = [page for page in PAGES if blocks(page)]
FEW = [page for page in RUN if page.name == "README.md"]
"""Those of the first page, ``getting_started.md``, are run by ``test_session.py``."""


@pytest.mark.parametrize("pages", together(every(RUN, FEW), name))
def test_the_blocks_of_a_page_run_in_order(pages, tmp_path):
    scripts = [tmp_path / f"{page.stem}.py" for page in pages]
    for page, script in zip(pages, scripts, strict=True):
        script.write_text(shown.script(page.read_text(encoding="utf-8")), encoding="utf-8")
    run = subprocess.run(
        [sys.executable, "-W", "error::UserWarning:dualboost", "-c", ONE_AFTER_ANOTHER, *map(str, scripts)],
        cwd=tmp_path,
        env=os.environ | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MPLBACKEND": "Agg"},
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0, run.stderr
    shown.assert_printed([page.read_text(encoding="utf-8") for page in pages], run.stdout)


def test_the_blocks_left_out_are_the_known_ones():
    marked = {page.name: sum(bool(block["mark"]) for block in blocks(page)) for page in PAGES}
    assert {page: count for page, count in marked.items() if count} == NOT_RUN
    marks = sum(page.read_text(encoding="utf-8").count("<!-- not run: ") for page in PAGES)
    assert marks == sum(NOT_RUN.values()), "a mark must stand directly above its block"


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_no_python_block_escapes(page):
    """A fence in another place or with another spelling would not be run, and nobody would notice."""
    fences = re.findall(
        r"^ *```+ *(?:python|py|python3|\{code-block\} python)\b", page.read_text(encoding="utf-8"), re.M
    )
    assert len(fences) == len(blocks(page))


def anchors(page):
    """The anchors of a page's headings, as web sites and MyST make them."""
    texts = (heading["text"].lower() for heading in HEADING.finditer(FENCE.sub("", page.read_text(encoding="utf-8"))))
    return {re.sub(r"[^\w\- ]", "", text).strip().replace(" ", "-") for text in texts}


@pytest.mark.parametrize("page", [*PAGES, CONTRIBUTING, ROOT / "CHANGELOG.md"], ids=name)
def test_links_between_files_exist(page):
    for link in LINK.finditer(FENCE.sub("", page.read_text(encoding="utf-8"))):
        path, _, anchor = link["target"].partition("#")
        if "://" in path:
            continue
        target = page.parent / path if path else page
        assert target.is_file(), f"{name(page)} links to {path}, which is not there"
        if anchor:
            assert anchor in anchors(target), f"{name(page)} links to {link['target']}: no such heading"


def test_every_page_is_in_a_table_of_contents():
    listed = set()
    for page in (ROOT / "docs").glob("*.md"):
        for tree in re.findall(r"^```\{toctree\}\n(.*?)^```$", page.read_text(encoding="utf-8"), re.S | re.M):
            lines = (line for line in tree.splitlines() if line.strip() and not line.startswith(":"))
            listed |= {re.sub(r".*<(.*)>", r"\1", line) for line in lines}
    assert {page.stem for page in (ROOT / "docs").glob("*.md")} - {"index"} <= listed


def test_every_public_name_is_in_the_reference():
    page = (ROOT / "docs" / "api.md").read_text(encoding="utf-8").split()
    public = [home_of(name) for name in dualboost.__all__ if name != "__version__"]
    public += [f"dualboost.formulations.{name}" for name in dualboost.formulations.__all__]
    public += [f"dualboost.plots.{name}" for name in dualboost.plots.__all__]
    assert [name for name in public if name not in page] == []


def home_of(name):
    """Where the reference documents a public name."""
    return f"dualboost.formulations.{name}" if hasattr(dualboost.formulations, name) else f"dualboost.{name}"


def test_the_mathematics_of_every_formulation_is_shown():
    page = (ROOT / "docs" / "family.md").read_text(encoding="utf-8").split()
    missing = [name for name, one in FORMULATIONS.items() if f"dualboost.formulations.{one.__name__}" not in page]
    assert missing == []
