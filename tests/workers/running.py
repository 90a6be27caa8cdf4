"""Workers for tests: threads of this process that XGBoost's collective connects, each with a part of the rows."""

import threading

import numpy as np
from sklearn.datasets import make_classification
from xgboost.tracker import RabitTracker

from dualboost.errors import WorkerError
from dualboost.workers.xgboost import connected


def on_workers(size, work):
    """What ``work(communicator)`` returns on each worker, by rank."""
    tracker = RabitTracker(n_workers=size, host_ip="127.0.0.1")
    tracker.start()
    arguments, results, errors = tracker.worker_args(), [None] * size, []

    def run(number):
        try:
            with connected(**arguments, dmlc_task_id=f"{number:04d}", dmlc_timeout=20) as workers:
                results[workers.rank] = work(workers)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=run, args=(number,)) for number in range(size)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise min(errors, key=lambda error: isinstance(error, WorkerError))
    tracker.wait_for()
    return results


def three_classes(n, random_state=0):
    """Rows of three classes that overlap."""
    return make_classification(n, 8, n_informative=5, n_classes=3, random_state=random_state)


def parts_of(n_rows, size, seed=0):
    """The positions of the rows of each worker, of unequal number and in no order."""
    rng = np.random.default_rng(seed)
    ends = np.sort(rng.choice(np.arange(1, n_rows), size - 1, replace=False))
    return np.split(rng.permutation(n_rows), ends)


def fitted_by(size, estimator, X, y, weights=None, parts=None):
    """The models that workers find, and the traffic of each."""
    parts = parts_of(len(y), size) if parts is None else parts

    def work(workers):
        own = parts[workers.rank]
        model = estimator.fit_part(X[own], y[own], None if weights is None else weights[own], workers)
        return model, workers.traffic

    return on_workers(size, work)
