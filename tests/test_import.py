import subprocess
import sys

import pytest

import dualboost

from .thoroughness import every


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
