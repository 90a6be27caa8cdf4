"""``device="cuda"``: the same code on arrays of a device; without a GPU, on stand-ins that are as strict as CuPy's."""

import sys
from types import ModuleType

import numpy as np
import pandas as pd
import pytest

from dualboost import (
    DualBoostClassifier,
    DualBoostClassifierCV,
    DualBoostRegressor,
    SolverOptions,
    XGBoostLearner,
    load_model,
)
from dualboost.datasets import make_ringnorm
from dualboost.errors import (
    InvalidDataError,
    InvalidParameterError,
    MissingDependencyError,
    UnsupportedFormulationError,
)
from dualboost.estimators import modes as devices
from dualboost.formulations import NUMBER_LOSSES
from dualboost.matrix.rows import device_named, in_memory

from ..conftest import ALL_FORMULATIONS
from ..guest_device import FUNCTIONS, UFUNCS, GuestArray, GuestDevice
from ..thoroughness import SHAPES, every

SIDES = ("cq", "spatial")
FEW = [name for name in SHAPES if name not in SIDES]
OVER_ROWS = [name for name in ALL_FORMULATIONS if name not in SIDES]
OF_ONE_SCORE = list(NUMBER_LOSSES)
OTHER_CUTS = 0.05
"""How far objectives may be apart on a GPU, where XGBoost has other cuts of the same rows (docs/scale.md)."""


def has_gpu():
    try:
        device_named("cuda")
    except (MissingDependencyError, InvalidParameterError):
        return False
    return True


@pytest.fixture(
    params=["guest", pytest.param("gpu", marks=pytest.mark.skipif(not has_gpu(), reason="needs CuPy and a GPU"))]
)
def guest(request, monkeypatch):
    """The stand-in; and the GPU itself where there is one."""
    if request.param == "gpu":
        return device_named("cuda")
    device = GuestDevice()
    monkeypatch.setattr(devices, "device_named", lambda name: device if name == "cuda" else device_named(name))
    return device


@pytest.fixture(scope="module")
def rows():
    return make_ringnorm(400, random_state=0)


@pytest.fixture(scope="module")
def table(rows):
    """Numbers with gaps, and categories."""
    rng = np.random.default_rng(0)
    X = rows[0][:, :4].copy()
    X[rng.random(X.shape) < 0.1] = np.nan
    frame = pd.DataFrame(X).add_prefix("x")
    frame["kind"] = pd.Categorical(rng.choice(list("abcdef"), len(X)))
    frame["kind"] = frame["kind"].where(rng.random(len(X)) > 0.1)
    return frame, rows[1]


def assert_same(kind, X, y, *names, **options):
    """The model of the stand-in is that of memory, to the last digits of its sums; that of a GPU is as good."""
    options = {"learner": "xgboost", "max_trees": 5} | options
    here, there = (kind(*names, device=device, **options).fit(X, y) for device in ("cpu", "cuda"))
    assert_same_objective(here, there)
    if on_a_gpu():
        return there
    assert [str(tree) for tree in there.estimators_] == [str(tree) for tree in here.estimators_]
    assert np.array_equal(there.predict(X), here.predict(X))
    np.testing.assert_allclose(there.duals_, here.duals_, rtol=1e-6, atol=1e-9 * np.abs(here.duals_).max())
    assert isinstance(there.duals_, np.ndarray)
    return there


def on_a_gpu():
    return not isinstance(devices.device_named("cuda"), GuestDevice)


def assert_same_objective(here, there):
    assert there.objective_ == pytest.approx(here.objective_, rel=OTHER_CUTS if on_a_gpu() else 1e-9, abs=1e-12)
    assert there.gap_ <= here.tol


@pytest.mark.parametrize("formulation", every(OVER_ROWS, few=FEW))
def test_every_formulation(guest, rows, formulation):
    assert_same(DualBoostClassifier, *rows, formulation, calibration="training")


@pytest.mark.parametrize("loss", every(OF_ONE_SCORE, few=("squared", "quantile")))
@pytest.mark.parametrize("optimize", ["leaves", "weights"])
def test_numbers(guest, rows, loss, optimize):
    X, _ = rows
    y = np.exp(X[:, 0] / 3) + X[:, 1] ** 2
    options = {"max_depth": 2, "optimize": optimize, "max_trees": 4}
    here, there = (DualBoostRegressor(loss, learner="xgboost", device=d, **options).fit(X, y) for d in ("cpu", "cuda"))
    assert_same_objective(here, there)
    if not on_a_gpu():
        np.testing.assert_allclose(there.predict(X), here.predict(X), rtol=1e-6)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"formulation": "nm", "max_depth": 3},
        {"formulation": "cg", "learner": XGBoostLearner(voting="confidence"), "max_depth": 2},
        {"formulation": "lp", "optimize": "leaves", "max_depth": 2},
        {"formulation": "md", "solver": SolverOptions(reoptimize="every")},
        {"formulation": "nm", "validation_fraction": 0.2, "n_iter_no_change": 2, "random_state": 0},
        {"validation_fraction": 0.2, "scoring": "neg_log_loss", "random_state": 0},
        {"class_weight": "balanced", "min_samples_leaf": 20, "max_features": 0.5, "subsample": 0.6},
        {"monotonic_cst": {"x0": 1, "x3": -1}},
        {"formulation": "lp", "optimize": "leaves", "max_depth": 2, "monotonic_cst": {"x0": 1}},
        {"formulation": "nm", "monotonic_cst": {"x0": 1}},
    ],
    ids=lambda options: "-".join(map(str, options)) or "default",
)
def test_gaps_categories_and_options(guest, table, options):
    assert_same(DualBoostClassifier, *table, **options)


def test_C_is_tuned_alike(guest, rows):
    tuned = assert_same(DualBoostClassifierCV, *rows, cv=2, Cs=3, max_depth=2)
    assert tuned.C_ in tuned.Cs_


@pytest.mark.parametrize("formulation", ["logistic", "cg"])
def test_a_fit_goes_on_from_the_one_before(guest, rows, formulation):
    models = []
    for device in ("cpu", "cuda"):
        model = DualBoostClassifier(formulation, learner="xgboost", max_trees=3, warm_start=True, device=device)
        models.append(model.fit(*rows).set_params(max_trees=5).fit(*rows))
    assert_same_objective(*models)


def test_arrays_of_a_device_are_taken(guest, rows):
    X, y = rows
    weights = np.random.default_rng(0).integers(1, 3, len(y)).astype(float)
    model = DualBoostClassifier(learner="xgboost", max_trees=3)
    expected = model.fit(X, y, weights).predict(X)
    given = model.fit(guest.put(X), guest.put(y), guest.put(weights)).predict(guest.put(X))
    assert np.array_equal(given, expected)
    assert in_memory(X) is X
    there = tuple(map(guest.put, (X, y, weights)))
    assert model.score(*there) == model.score(X, y, weights)
    assert len(model.fit(X, y, eval_set=there).history_["validation_score"])
    regressor = DualBoostRegressor(max_trees=2).fit(X, X[:, 0])
    assert regressor.score(there[0], guest.put(X[:, 0])) == regressor.score(X, X[:, 0])


def test_arrays_of_other_libraries_are_refused(rows):
    class Tensor:
        __cuda_array_interface__ = None

    with pytest.raises(InvalidDataError, match="A Tensor on a GPU cannot be read: pass an array of CuPy"):
        DualBoostClassifier().fit(rows[0], Tensor())


def test_a_model_is_loaded_where_its_device_is_not(guest, rows, tmp_path, monkeypatch):
    model = DualBoostClassifier(learner="xgboost", max_trees=2, device="cuda").fit(*rows)
    model.save(tmp_path / "model.json")
    monkeypatch.setattr(devices, "device_named", device_named)
    loaded = load_model(tmp_path / "model.json")
    assert loaded.device == "cuda"
    assert np.array_equal(loaded.predict(rows[0]), model.predict(rows[0]))


def test_other_devices_are_refused(rows):
    with pytest.raises(InvalidParameterError, match=r"device='tpu'.*'cpu'.*'cuda'"):
        DualBoostClassifier(device="tpu").fit(*rows)


def test_without_CuPy_it_is_said_what_to_install(rows, monkeypatch):
    monkeypatch.setitem(sys.modules, "cupy", None)
    with pytest.raises(MissingDependencyError, match=r"device='cuda' needs CuPy: pip install 'cupy-cuda12x.ctk"):
        DualBoostClassifier(device="cuda", learner="xgboost").fit(*rows)


def test_without_a_GPU_it_is_said_what_to_do(rows, monkeypatch):
    """CuPy as it is imported on a machine without a GPU, where it fails when it is first asked for an array."""

    def fail(size):
        raise RuntimeError("cudaErrorInsufficientDriver:\n too old")

    cupy = ModuleType("cupy")
    cupy.ones = fail
    monkeypatch.setitem(sys.modules, "cupy", cupy)
    message = r"device='cuda' needs a GPU.*cudaErrorInsufficientDriver: too old. Use device='cpu'"
    with pytest.raises(InvalidParameterError, match=message):
        DualBoostClassifier(device="cuda", learner="xgboost").fit(*rows)


def test_learners_that_grow_in_memory_are_refused(guest, rows):
    with pytest.raises(InvalidParameterError, match=r"learner='cart' grows trees in memory.*use 'xgboost'"):
        DualBoostClassifier(device="cuda").fit(*rows)


def test_several_scores_and_side_rows_are_refused(guest, rows):
    X, y = rows
    with pytest.raises(InvalidParameterError, match=r"device='cuda' is for one score a row.* y has 3 scores"):
        DualBoostClassifier(device="cuda", learner="xgboost").fit(X, np.arange(len(y)) % 3)
    with pytest.raises(UnsupportedFormulationError, match="'cq' and 'spatial'"):
        DualBoostClassifier("cq", device="cuda", learner="xgboost").fit(X, y)


def test_the_stand_in_mixes_no_arrays():
    there, here = GuestDevice().put(np.ones(3)), np.ones(3)
    for mixed in (
        lambda: there + here,
        lambda: here + there,
        lambda: np.where(there > 0, here, 0.0),
        lambda: there[here],
    ):
        with pytest.raises((AssertionError, TypeError)):
            mixed()
    with pytest.raises(TypeError):
        np.asarray(there)
    assert isinstance(there.sum(), GuestArray)


def test_the_stand_in_knows_no_more_than_CuPy():
    cupy = pytest.importorskip("cupy", reason="CuPy is not installed; it says which functions it has")
    assert [one.__name__ for one in FUNCTIONS if not hasattr(cupy, one.__name__)] == []
    assert [name for name in UFUNCS if not hasattr(cupy, name)] == []
