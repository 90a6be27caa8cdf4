"""Runs a fit on the workers that hold the rows, and watches over it: a worker that is lost ends it with an error."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from threading import Thread
from typing import Any
from urllib.parse import urlsplit
from uuid import uuid4

from ..errors import InvalidDataError, WorkerError
from .part import Found, fit_on_worker
from .partitions import delayed_parts, described, require_alike, require_distributed

PATIENCE = 1.0
"""Seconds between two looks at which workers are there."""
GRACE = 5.0
"""Seconds that workers have to report an error of their own once another one was lost."""
BOOTSTRAP = 300
"""Seconds within which all workers must have begun."""
WHAT_TO_DO = "Fit again; with checkpoint=FOLDER a fit goes on from the trees of the one before."
TRACKERS: dict[str, Any] = {}
"""In the scheduler's process: who tells the workers of a fit where the others are, by the name of the fit."""


def fit_on_cluster(estimator: Any, X: Any, y: Any, sample_weight: Any, client: Any, options: Any) -> list[Found]:
    """What the workers hand back, the one with the model first."""
    distributed = require_distributed()
    client = _client(client, distributed)
    parts = client.compute(delayed_parts(X, y, sample_weight))
    distributed.wait(parts)
    held = _counted(estimator, client, distributed, _by_worker(client, parts))
    if not held:
        raise InvalidDataError("No row has a positive sample_weight to train on, or all partitions are empty.")
    places = sorted(held)
    # Two fits at once on the same workers would wait for each other's tasks.
    with distributed.MultiLock(names=places, client=client), _tracker(client, len(places)) as arguments:
        told = {worker: (estimator, held[worker], arguments, place, options) for place, worker in enumerate(places)}
        found = _on_workers(client, distributed, fit_on_worker, told)
    return sorted(found.values(), key=lambda one: one.model is None)


def _on_workers(client: Any, distributed: Any, work: Any, told: dict[str, tuple[Any, ...]]) -> dict[str, Any]:
    """What ``work`` returns on each worker, which is told its arguments; an error if one of them is lost meanwhile."""
    futures = {
        worker: client.submit(work, *arguments, workers=[worker], pure=False, retries=0)
        for worker, arguments in told.items()
    }
    try:
        return _watched(client, distributed, futures)
    finally:
        client.cancel(list(futures.values()), force=True)


def _client(client: Any, distributed: Any) -> Any:
    if client is not None:
        return client
    try:
        return distributed.get_client()
    except ValueError as error:
        raise InvalidDataError(
            "No cluster is known: make a client first, as in client = distributed.Client('tcp://scheduler:8786'), or "
            "distributed.Client() for workers on this machine."
        ) from error


def _by_worker(client: Any, parts: list[Any]) -> dict[str, list[Any]]:
    """The parts that each worker is to train on: those that it holds."""
    for part in parts:
        if part.status == "error":
            part.result()
    who_has = client.who_has(parts)
    held: dict[str, list[Any]] = {}
    for part in parts:
        workers = sorted(who_has[part.key])
        if not workers:
            raise WorkerError("A worker that held rows was lost before the fit began; nothing is fitted.")
        held.setdefault(workers[0], []).append(part)
    return held


def _counted(estimator: Any, client: Any, distributed: Any, held: dict[str, list[Any]]) -> dict[str, list[Any]]:
    """The same without workers that have no rows to train on, once all partitions are found to be alike."""
    told = {worker: (estimator, parts) for worker, parts in held.items()}
    found = _on_workers(client, distributed, described, told)
    require_alike(estimator, sorted((one for some in found.values() for one in some), key=lambda one: one.number))
    return {worker: parts for worker, parts in held.items() if sum(one.n_counted for one in found[worker])}


@contextmanager
def _tracker(client: Any, n_workers: int) -> Iterator[dict[str, Any]]:
    """What workers need to find each other: a tracker next to the scheduler, on its address."""
    address = client.scheduler_info()["address"]
    host, name = urlsplit(address).hostname or "127.0.0.1", uuid4().hex
    host = host if address.startswith(("tcp", "tls", "ucx")) else "127.0.0.1"
    arguments = client.run_on_scheduler(_start_tracker, name, host, n_workers)
    try:
        yield arguments
    finally:
        client.run_on_scheduler(_end_tracker, name)


def _start_tracker(name: str, host: str, n_workers: int) -> dict[str, Any]:
    from xgboost.tracker import RabitTracker

    tracker = TRACKERS[name] = RabitTracker(n_workers=n_workers, host_ip=host, sortby="task", timeout=BOOTSTRAP)
    tracker.start()
    return dict(tracker.worker_args())


def _end_tracker(name: str) -> None:
    """Forget the tracker, in a thread: after a fit that failed it may take its time to end."""
    Thread(target=_free, args=(TRACKERS.pop(name),), daemon=True).start()


def _free(tracker: Any) -> None:
    with suppress(Exception):  # it reports the workers that were lost, of which the client tells
        tracker.free()


def _watched(client: Any, distributed: Any, futures: dict[str, Any]) -> dict[str, Any]:
    """The results of all workers, or the error of the one that failed first by itself."""
    waited = 0.0
    while any(not future.done() for future in futures.values()):
        failed = [future for future in futures.values() if future.status in ("error", "cancelled", "lost")]
        lost = sorted(set(futures) - set(client.nthreads()))
        if lost and (failed or waited >= GRACE):
            raise WorkerError(f"{_named(lost)} lost during the fit; nothing is fitted. {WHAT_TO_DO}")
        if failed and (waited >= GRACE or not all(isinstance(one.exception(), WorkerError) for one in failed)):
            break
        waited += PATIENCE if failed or lost else 0.0
        try:
            distributed.wait(list(futures.values()), timeout=PATIENCE)
        except TimeoutError:
            continue
    errors = [future.exception() for future in futures.values() if future.status == "error"]
    if errors:
        lost = sorted(set(futures) - set(client.nthreads()))
        raise min((_plain(error, lost) for error in errors), key=lambda error: isinstance(error, WorkerError))
    return {worker: future.result() for worker, future in futures.items()}


def _plain(error: BaseException, lost: list[str]) -> BaseException:
    """The error of a worker, in words for the user where another worker is the reason."""
    if not isinstance(error, WorkerError):
        return error
    who = _named(lost) if lost else "A worker was"
    return WorkerError(f"{who} lost or could not be reached; nothing is fitted. {WHAT_TO_DO} ({_first_line(error)})")


def _named(workers: list[str]) -> str:
    return f"Worker {workers[0]} was" if len(workers) == 1 else f"Workers {', '.join(workers)} were"


def _first_line(error: BaseException) -> str:
    return str(error).splitlines()[0] if str(error) else type(error).__name__
