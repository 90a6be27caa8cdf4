"""The metadata, extras and public names of the package."""

import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import dualboost
from dualboost.arguments import REQUIREMENTS, how_to_install

from .thoroughness import every

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


def run(code):
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout


def test_the_package_alone_imports_no_library():
    heavy = run("import sys, dualboost; print({'numpy', 'scipy', 'sklearn', 'lightgbm', 'pandas'} & set(sys.modules))")
    assert heavy.strip() == "set()"


@pytest.mark.parametrize("name", dualboost.__all__)
def test_every_public_name_is_there(name):
    assert getattr(dualboost, name) is not None
    assert name in dir(dualboost)


@pytest.mark.parametrize("name", dualboost.formulations.__all__)
def test_formulations_and_losses_have_one_home(name):
    assert getattr(dualboost.formulations, name).__module__.startswith("dualboost.formulations")
    assert not hasattr(dualboost, name)


def test_every_formulation_and_loss_of_the_registries_is_public():
    named = [*dualboost.formulations.FORMULATIONS.values(), *dualboost.formulations.NUMBER_LOSSES.values()]
    assert {one.__name__ for one in named} <= set(dualboost.formulations.__all__)


@pytest.mark.parametrize("room", every(["datasets", "errors", "formulations", "plots"], few=["plots"]))
def test_rooms_of_the_interface_need_no_import_of_their_own(room):
    assert run(f"import dualboost; print(dualboost.{room}.__name__)").strip() == f"dualboost.{room}"


def test_a_wrong_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = dualboost.nothing


def test_everything_by_star():
    assert run("from dualboost import *; print(DualBoostClassifier().formulation)").strip() == "logistic"


def test_requirements_are_those_of_the_package():
    required = {one.partition(";")[0] for extra in PROJECT["optional-dependencies"].values() for one in extra}
    assert set(REQUIREMENTS.values()) <= required
    assert all(re.match(rf"{name}\W", requirement) for name, requirement in REQUIREMENTS.items())


def test_the_command_works_in_a_shell():
    assert how_to_install("click", "pandas") == "pip install 'click>=8.1' 'pandas>=2.0'"


def test_no_message_names_a_release_that_there_is_not():
    files = [*ROOT.glob("src/**/*.py"), *ROOT.glob("docs/*.md")]
    assert not [path for path in files if "pip install 'dualboost" in path.read_text(encoding="utf-8")]
