"""Runs a fit on the workers of a Dask cluster that hold the rows."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from threading import Thread
from typing import Any, NamedTuple
from urllib.parse import urlsplit
from uuid import uuid4

import numpy as np

from ..arguments import how_to_install
from ..errors import DualBoostWarning, InvalidDataError, MissingDependencyError, WorkerError
from ..models.fitted import FittedModel
from ..workers import Traffic
from ..workers.xgboost import connected


class Part(NamedTuple):
    """Some rows, as pandas' DataFrame and Series, or as arrays."""

    X: Any
    y: Any
    weights: Any = None

    @property
    def n_counted(self) -> int:
        """The number of rows with a weight."""
        return len(self.y) if self.weights is None else int(np.count_nonzero(np.asarray(self.weights) > 0))


def require_distributed() -> Any:
    try:
        import distributed
    except ImportError as error:
        raise MissingDependencyError(f"dualboost.dask needs Dask: {how_to_install('dask', 'distributed')}.") from error
    return distributed


def delayed_parts(X: Any, y: Any, sample_weight: Any) -> list[Any]:
    """A ``Part`` for each partition, computed where its rows are."""
    from dask.delayed import delayed

    columns = [_delayed("X", X), _delayed("y", y)]
    if sample_weight is not None:
        columns.append(_delayed("sample_weight", sample_weight))
    sizes = [len(column) for column in columns]
    if len(set(sizes)) > 1:
        raise InvalidDataError(
            f"X, y and sample_weight have {', '.join(map(str, sizes))} partitions; they must be divided alike: take y "
            "from the same DataFrame as X, or rechunk the arrays."
        )
    return [delayed(Part)(*column) for column in zip(*columns, strict=True)]


def is_collection(X: Any) -> bool:
    """Whether it is one of Dask's DataFrames, Series or Arrays."""
    return hasattr(X, "dask") and hasattr(X, "to_delayed")


def is_array(X: Any) -> bool:
    return is_collection(X) and hasattr(X, "chunks")


def _delayed(name: str, values: Any) -> list[Any]:
    if not is_collection(values):
        raise InvalidDataError(
            f"{name} is of type {type(values).__name__}; pass a Dask DataFrame, Series or Array, or fit the ordinary "
            "estimator on one machine."
        )
    if is_array(values) and values.ndim > 1:
        values = values.rechunk({1: -1})  # a part has all features of its rows
    # An optimised graph may read small columns of several files as one partition, and large ones one by one.
    return list(np.ravel(values.to_delayed(optimize_graph=False)))


def joined_parts(parts: list[Part]) -> Part:
    """The rows of several partitions; empty ones, whose columns may have lost their types, are left out."""
    filled = [part for part in parts if len(part.y)]
    columns = [[values for values in column if values is not None] for column in zip(*filled, strict=True)]
    return Part(*(_joined(column) if column else None for column in columns))


def _joined(pieces: list[Any]) -> Any:
    if len(pieces) == 1:
        return pieces[0]
    if isinstance(pieces[0], np.ndarray):
        return np.concatenate(pieces)
    import pandas as pd

    if all(isinstance(getattr(piece, "dtype", None), pd.CategoricalDtype) for piece in pieces):
        return pd.concat([piece.astype(object) for piece in pieces])
    return pd.concat(pieces)


LONGEST_WAIT = 600
"""Seconds after which a worker no longer waits for the others, whose part of a tree or a sum may take its time."""


class Found(NamedTuple):
    """What a worker hands back: the first one the model and its warnings, the others what they have sent."""

    traffic: Traffic
    n_rows: int
    model: FittedModel | None = None
    warnings: tuple[tuple[str, type[DualBoostWarning]], ...] = ()


def n_counted(parts: list[Part]) -> int:
    """The number of rows with a weight that a worker has."""
    return sum(part.n_counted for part in parts)


def fit_on_worker(estimator: Any, parts: list[Part], arguments: dict[str, Any], place: int, options: Any) -> Found:
    """The part of one worker in a fit; ``arguments`` tell where the others are found."""
    from distributed import get_worker

    part = joined_parts(parts)
    if estimator.n_jobs is None:
        estimator = estimator.set_params(n_jobs=get_worker().state.nthreads)
    known = {"dmlc_task_id": f"dualboost-{place:06d}", "dmlc_timeout": LONGEST_WAIT}
    with connected(**arguments, **known) as workers, warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", DualBoostWarning)
        model = estimator.fit_part(part.X, part.y, part.weights, workers, **options)
    if workers.rank > 0:
        return Found(workers.traffic, len(part.y))
    told = {(str(one.message), one.category) for one in caught if issubclass(one.category, DualBoostWarning)}
    return Found(workers.traffic, len(part.y), model, tuple(sorted(told, key=str)))


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
    held = _counted(client, distributed, _by_worker(client, parts))
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


def _counted(client: Any, distributed: Any, held: dict[str, list[Any]]) -> dict[str, list[Any]]:
    """The same without workers that have no rows to train on."""
    counts = _on_workers(client, distributed, n_counted, {worker: (parts,) for worker, parts in held.items()})
    return {worker: parts for worker, parts in held.items() if counts[worker]}


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
