"""What the package says of itself is the same everywhere, and is there."""

import re
import sys
from importlib import import_module
from pathlib import Path

import pytest

import dualboost

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def test_the_version_is_the_same_everywhere():
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert re.search(r"^## (\S+)", changelog, re.MULTILINE).group(1) == dualboost.__version__
    assert re.search(r"^version: (\S+)$", citation, re.MULTILINE).group(1) == dualboost.__version__
    assert f"v{dualboost.__version__}" in (ROOT / "docs" / "project.md").read_text(encoding="utf-8")


def test_types_are_shipped():
    assert (ROOT / "src" / "dualboost" / "py.typed").is_file()
    assert "Typing :: Typed" in PROJECT["classifiers"]


@pytest.mark.parametrize("place", PROJECT["scripts"].values())
def test_the_program_is_there(place):
    module, _, function = place.partition(":")
    assert callable(getattr(import_module(module), function))


def test_the_metadata_are_complete():
    needed = {"name", "description", "readme", "requires-python", "license", "authors", "keywords", "classifiers"}
    assert needed <= set(PROJECT)
    assert (ROOT / PROJECT["readme"]).is_file()
    assert all((ROOT / name).is_file() for name in PROJECT["license-files"])
    licence = (ROOT / "LICENSE").read_text(encoding="utf-8")
    assert PROJECT["license"] in licence.splitlines()[0]
    assert not [one for one in PROJECT["classifiers"] if one.startswith("License ::")]  # the expression says it
