"""A worker that is killed ends a fit with an error; with a checkpoint the next fit ends at the same optimum."""

import os
import signal
import threading
import time

import dask.array as da
import pytest
from distributed import Client

from dualboost import DualBoostClassifier
from dualboost.dask import DaskDualBoostClassifier
from dualboost.datasets import make_ringnorm
from dualboost.errors import UnfittedModelError, WorkerError

from ..thoroughness import only_thorough
from .conftest import cluster

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
