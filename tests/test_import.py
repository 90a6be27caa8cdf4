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


@pytest.mark.parametrize("room", every(["datasets", "errors", "formulations", "plots"], few=["plots"]))
def test_rooms_of_the_interface_need_no_import_of_their_own(room):
    assert run(f"import dualboost; print(dualboost.{room}.__name__)").strip() == f"dualboost.{room}"


def test_a_wrong_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = dualboost.nothing


def test_everything_by_star():
    assert run("from dualboost import *; print(DualBoostClassifier().formulation)").strip() == "logistic"


def test_every_package_can_be_imported_first():
    """No import in a circle, whichever package is the first."""
    code = """
import importlib, pkgutil, sys, dualboost
for name in [one.name for one in pkgutil.iter_modules(dualboost.__path__) if one.name not in ("dask", "__main__")]:
    for loaded in [loaded for loaded in sys.modules if loaded.partition(".")[0] == "dualboost"]:
        del sys.modules[loaded]
    importlib.import_module(f"dualboost.{name}")
"""
    assert run(code) == ""
