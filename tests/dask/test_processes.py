"""Worker processes: four of them find the trees of one machine, and a lost one ends a fit with an error."""

import os
import signal
import threading
import time

import dask.array as da
import numpy as np
import pytest
from dask.delayed import delayed
from distributed import Client
from sklearn.datasets import make_regression

from dualboost import DualBoostClassifier, DualBoostRegressor
from dualboost.dask import DaskDualBoostClassifier, DaskDualBoostRegressor
from dualboost.datasets import make_ringnorm
from dualboost.errors import UnfittedModelError, WorkerError

from ..thoroughness import only_thorough
from ..workers.running import three_classes
from .conftest import cluster

PAPER = ("lp", "nm", "cg", "md", "qrlp", "erlp")
CLASSES = (DaskDualBoostClassifier, DualBoostClassifier)
NUMBERS = (DaskDualBoostRegressor, DualBoostRegressor)
FITS = {
    **{f"two classes, {name}": (CLASSES, make_ringnorm, {"formulation": name}) for name in ("logistic", *PAPER)},
    **{f"several classes, {name}": (CLASSES, three_classes, {"formulation": name}) for name in ("logistic", *PAPER)},
    **{
        f"numbers, {loss}": (NUMBERS, lambda n, random_state: make_regression(n, 6, noise=5.0), {"loss": loss})
        for loss in ("squared", "absolute")
    },
}


@pytest.fixture(scope="module")
def four():
    with cluster(4) as workers, Client(workers) as client:
        yield client


def spread_over_all(client, values):
    """An array of which every worker holds a part, of another size than the others."""
    workers = list(client.nthreads())
    parts = np.split(values, [50, 150, 300])
    held = [client.scatter(part, workers=[worker]) for part, worker in zip(parts, workers, strict=True)]
    blocks = [da.from_delayed(delayed(one), part.shape, part.dtype) for one, part in zip(held, parts, strict=True)]
    return da.concatenate(blocks)


@only_thorough  # four processes take half a minute to begin; the quick mode has two, and four threads
@pytest.mark.parametrize("name", FITS)
def test_four_processes(name, four):
    (Spread, Alone), make, options = FITS[name]
    X, y = make(600, random_state=1)
    options = options | {"max_trees": 6, "max_depth": 2}
    model = Spread(client=four, **options).fit(*(spread_over_all(four, values) for values in (X, y)))
    alone = Alone(learner="xgboost", **options).fit(X, y)
    assert sorted(model.n_rows_) == [50, 100, 150, 300]
    assert model.objective_ == pytest.approx(alone.objective_, rel=1e-8)
    assert model.gap_ <= 1e-6
    for one, other in zip(model.estimators_, alone.estimators_, strict=True):
        np.testing.assert_array_equal(one.feature, other.feature)
        np.testing.assert_array_equal(one.threshold, other.threshold)


OPTIONS = {"max_depth": 4, "max_trees": 12}


def kill_once(client, is_time):
    """Kill one of the workers as soon as it is time."""
    victim = max(client.run(os.getpid).values())

    def wait():
        while not is_time():
            time.sleep(0.01)
        os.kill(victim, signal.SIGKILL)

    threading.Thread(target=wait, daemon=True).start()


@only_thorough
def test_a_killed_worker_and_the_fit_after_it(tmp_path):
    X, y = make_ringnorm(6000, random_state=0)
    spread = da.from_array(X, chunks=(1000, 20)), da.from_array(y, chunks=1000)
    model = DaskDualBoostClassifier(**OPTIONS)
    with cluster() as workers, Client(workers) as client:
        kill_once(client, (tmp_path / "trees.json").exists)
        with pytest.raises(WorkerError, match="lost"):
            model.fit(*spread, checkpoint=tmp_path)
        with pytest.raises(UnfittedModelError):
            model.to_local()
        assert (tmp_path / "trees.json").exists()
        client.wait_for_workers(2)
        model.fit(*spread, checkpoint=tmp_path)
    assert not (tmp_path / "trees.json").exists()
    alone = DualBoostClassifier(learner="xgboost", **OPTIONS).fit(X, y)
    assert model.objective_ == pytest.approx(alone.objective_, rel=1e-8)
