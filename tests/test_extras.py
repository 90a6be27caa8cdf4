"""What messages tell users to install is what ``pyproject.toml`` asks for."""

import re
from pathlib import Path

import pytest

from dualboost.arguments import REQUIREMENTS, how_to_install

tomllib = pytest.importorskip("tomllib", reason="part of Python 3.11 and later")
ROOT = Path(__file__).parents[1]


def test_requirements_are_those_of_the_package():
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    asked = {requirement.partition(";")[0] for extra in extras.values() for requirement in extra}
    assert set(REQUIREMENTS.values()) <= asked
    assert all(re.match(rf"{name}\W", requirement) for name, requirement in REQUIREMENTS.items())


def test_the_command_works_in_a_shell():
    assert how_to_install("click", "pandas") == "pip install 'click>=8.1' 'pandas>=2.0'"


def test_no_message_names_a_release_that_there_is_not():
    files = [*ROOT.glob("src/**/*.py"), *ROOT.glob("docs/*.md")]
    assert not [path for path in files if "pip install 'dualboost" in path.read_text(encoding="utf-8")]
