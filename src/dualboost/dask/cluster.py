"""Runs a fit on the workers of a Dask cluster that hold the rows."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from threading import Thread
from typing import Any, NamedTuple
from urllib.parse import urlsplit
from uuid import uuid4

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from .._typing import Vector
from ..arguments import how_to_install
from ..data.columns import Source, column_of_array
from ..data.features import (
    PLAIN_NUMBERS,
    Contents,
    contents_of,
    contents_of_table,
    require_same_columns,
    whole_of,
)
from ..data.tables import Table, categorical_positions
from ..errors import DualBoostWarning, InvalidDataError, MissingDependencyError, WorkerError
from ..estimators.parameters import as_part_of_weights
from ..estimators.reading import require_one_target
from ..matrix.rows import in_memory
from ..models.fitted import FittedModel
from ..workers import Traffic
from ..workers.xgboost import connected

# Partitions are compared before any of them is read: X, y and weights must have the same rows, and each column must
# be the same in all of them. Partitions are counted from 0, as ``X.partitions[0]`` does.

ARRAY, TABLE, SPARSE = "an array", "a table", "a sparse matrix"


class Part(NamedTuple):
    """The rows of a partition, as pandas' DataFrame and Series, or as arrays."""

    number: int
    X: Any
    y: Any
    weights: Any = None


class Rows(NamedTuple):
    """The rows of one partition or of several: a pandas DataFrame, an array or a sparse matrix, and plain arrays."""

    X: Any
    y: NDArray[Any]
    weights: Vector | None

    @property
    def n_counted(self) -> int:
        """The number of rows with a weight."""
        return len(self.y) if self.weights is None else int(np.count_nonzero(self.weights > 0))


class Description(NamedTuple):
    """A partition with rows, described for the client."""

    number: int
    n_counted: int = 0
    kind: str = ARRAY
    names: tuple[Any, ...] = ()
    columns: tuple[Contents, ...] = ()
    y: Contents = PLAIN_NUMBERS
    wrong: str = ""
    """Why the partition cannot be used, whatever the others are."""


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
    return [delayed(Part)(number, *column) for number, column in enumerate(zip(*columns, strict=True))]


def is_collection(X: Any) -> bool:
    """Whether it is one of Dask's DataFrames, Series or Arrays."""
    return hasattr(X, "dask") and hasattr(X, "to_delayed") and isinstance(getattr(X, "ndim", None), int)


def is_array(X: Any) -> bool:
    return is_collection(X) and hasattr(X, "chunks")


def _delayed(name: str, values: Any) -> list[Any]:
    if not is_collection(values):
        raise InvalidDataError(
            f"{name} is of type {type(values).__name__}; pass a Dask DataFrame, Series or Array, or fit the ordinary "
            "estimator on one machine."
        )
    if values.ndim > 2 or (name == "X" and values.ndim < 2):
        needs = "rows and columns" if name == "X" else "one dimension"
        raise InvalidDataError(f"{name} has {values.ndim} dimensions; pass a collection with {needs}.")
    if is_array(values) and values.ndim > 1:
        values = values.rechunk({1: -1})  # a part has all features of its rows
    # An optimised graph may read small columns of several files as one partition, and large ones one by one.
    return list(np.ravel(values.to_delayed(optimize_graph=False)))


def described(estimator: Any, parts: Sequence[Part]) -> list[Description]:
    """The partitions of a worker that have rows, described for the client."""
    found = []
    for part in parts:
        try:
            rows = _rows_of(estimator, part)
            found += [] if rows is None else [_description(part.number, rows)]
        except InvalidDataError as error:
            found.append(Description(part.number, wrong=str(error)))
    return found


def _rows_of(estimator: Any, part: Part) -> Rows | None:
    """The rows of a partition; None where it has none, so that its columns may have lost their names and types."""
    X, y, weights = (in_memory(values) for values in part[1:])
    sizes = {"X": _n_rows(X), "y": _n_rows(y)} | ({} if weights is None else {"sample_weight": _n_rows(weights)})
    if len(set(sizes.values())) > 1:
        counts = ", ".join(f"{size} rows in {name}" for name, size in sizes.items())
        raise InvalidDataError(
            f"it has {counts}; the rows of all must be the same: take y and sample_weight from the DataFrame that X is "
            "taken from, after all rows are chosen, or give arrays the same chunks."
        )
    if not sizes["X"]:
        return None
    _kind_of(X)  # raises an error for another type
    require_one_target(estimator, y)
    plain = np.asarray(estimator._target_readers()[0].plain(y))
    return Rows(X, plain.ravel(), None if weights is None else as_part_of_weights(np.asarray(weights), sizes["X"]))


def _n_rows(values: Any) -> int:
    shape = getattr(values, "shape", None)
    return len(values) if shape is None else int(shape[0])


def _kind_of(X: Any) -> str:
    if sparse.issparse(X):
        return SPARSE
    if getattr(X, "ndim", None) != 2:
        raise InvalidDataError(f"X is of type {type(X).__name__} there, and must be a table, or an array of rows.")
    return ARRAY if isinstance(X, np.ndarray) else TABLE


def _description(number: int, rows: Rows) -> Description:
    y = contents_of(column_of_array(rows.y, "y", Source()))
    kind = _kind_of(rows.X)
    if kind == SPARSE:
        n_columns = rows.X.shape[1]
        return Description(number, rows.n_counted, kind, tuple(range(n_columns)), (PLAIN_NUMBERS,) * n_columns, y)
    table = Table(rows.X)
    return Description(number, rows.n_counted, kind, tuple(table.names), tuple(contents_of_table(table)), y)


def require_alike(estimator: Any, partitions: Sequence[Description]) -> None:
    """Raise an error that names the first partition which is no part of the same table."""
    for one in partitions:
        if one.wrong:
            raise InvalidDataError(f"Partition {one.number}: {one.wrong}")
    if not partitions:
        return
    first, places = partitions[0], [f"partition {one.number}" for one in partitions]
    for one, place in zip(partitions, places, strict=True):
        if one.kind != first.kind:
            raise InvalidDataError(f"X is {first.kind} in {places[0]} and {one.kind} in {place}.")
    require_same_columns([one.names for one in partitions], places)
    whole_of("y", [one.y for one in partitions], places, is_listed=True)
    chosen = categorical_positions(
        estimator.categorical_features, len(first.names), first.names if first.kind == TABLE else None
    )
    for k, name in enumerate(first.names):
        parts = [one.columns[k] for one in partitions]
        whole_of(Source().column(name), parts, places, is_listed=k in (chosen or ()))


def joined_rows(estimator: Any, parts: Sequence[Part]) -> Rows:
    """The rows of several partitions one after the other, which have been found alike."""
    found = [(part.number, _rows_of(estimator, part)) for part in parts]
    filled = [(number, rows) for number, rows in found if rows is not None]
    X = _joined([rows.X for _, rows in filled])
    source = Source(partitions=tuple((number, len(rows.y)) for number, rows in filled))
    weights = [rows.weights for _, rows in filled if rows.weights is not None]
    return Rows(
        X if sparse.issparse(X) else Table(X, source),
        np.concatenate([rows.y for _, rows in filled]),
        np.concatenate(weights) if weights else None,
    )


def _joined(pieces: list[Any]) -> Any:
    """Arrays or tables as one; each column has the type of the pieces with entries in it."""
    if sparse.issparse(pieces[0]):
        return sparse.vstack(pieces, format="csr")
    if isinstance(pieces[0], np.ndarray):
        type_kinds = {piece.dtype.kind for piece in pieces}
        is_one_type = len(type_kinds) == 1 or type_kinds <= set("biuf")  # NumPy makes text of numbers beside text
        return np.concatenate(pieces if is_one_type else [piece.astype(object) for piece in pieces])
    import pandas as pd

    joined = pd.concat(pieces, ignore_index=True)
    for name in {name for piece in pieces for name in piece.columns[_typed(piece.dtypes)]}:
        if not _typed(joined.dtypes[[name]])[0]:  # pandas makes numbers of categories that are other numbers elsewhere
            columns = [piece[name] for piece in pieces]
            are_categories = all(_typed([column.dtype])[0] or column.isna().all() for column in columns)
            entries = pd.concat([column.astype(object) for column in columns], ignore_index=True)
            joined[name] = entries.astype("category") if are_categories else entries
    return joined


def _typed(dtypes: Any) -> list[bool]:
    import pandas as pd

    return [isinstance(dtype, pd.CategoricalDtype) for dtype in dtypes]


LONGEST_WAIT = 600
"""Seconds after which a worker no longer waits for the others, whose part of a tree or a sum may take its time."""


class Found(NamedTuple):
    """The result of a worker: its traffic; of the first worker also the model and its warnings."""

    traffic: Traffic
    n_rows: int
    model: FittedModel | None = None
    warnings: tuple[tuple[str, type[DualBoostWarning]], ...] = ()


def fit_on_worker(estimator: Any, parts: list[Part], arguments: dict[str, Any], place: int, options: Any) -> Found:
    """The part of one worker in a fit; ``arguments`` connect it with the other workers."""
    from distributed import get_worker

    rows = joined_rows(estimator, parts)
    if estimator.n_jobs is None:
        estimator = estimator.set_params(n_jobs=get_worker().state.nthreads)
    known = {"dmlc_task_id": f"dualboost-{place:06d}", "dmlc_timeout": LONGEST_WAIT}
    with connected(**arguments, **known) as workers, warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", DualBoostWarning)
        model = estimator.fit_part(rows.X, rows.y, rows.weights, workers, **options)
    if workers.rank > 0:
        return Found(workers.traffic, len(rows.y))
    messages = {(str(one.message), one.category) for one in caught if issubclass(one.category, DualBoostWarning)}
    return Found(workers.traffic, len(rows.y), model, tuple(sorted(messages, key=str)))


PATIENCE = 1.0
"""Seconds between two looks at which workers are there."""
GRACE = 5.0
"""Seconds that workers have to report an error of their own once another one was lost."""
BOOTSTRAP = 300
"""Seconds within which all workers must have begun."""
WHAT_TO_DO = "Fit again; with checkpoint=FOLDER a fit goes on from the trees of the one before."
TRACKERS: dict[str, Any] = {}
"""In the scheduler's process: the tracker that connects the workers of a fit, by the name of the fit."""


def fit_on_cluster(estimator: Any, X: Any, y: Any, sample_weight: Any, client: Any, options: Any) -> list[Found]:
    """The results of the workers, the one with the model first."""
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
        work = {worker: (estimator, held[worker], arguments, place, options) for place, worker in enumerate(places)}
        found = _on_workers(client, distributed, fit_on_worker, work)
    return sorted(found.values(), key=lambda one: one.model is None)


def _on_workers(client: Any, distributed: Any, function: Any, work: dict[str, tuple[Any, ...]]) -> dict[str, Any]:
    """The results of ``function`` with the arguments of each worker; an error if a worker is lost meanwhile."""
    futures = {
        worker: client.submit(function, *arguments, workers=[worker], pure=False, retries=0)
        for worker, arguments in work.items()
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
    """The parts that each worker trains on, which are the parts in its memory."""
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
    work = {worker: (estimator, parts) for worker, parts in held.items()}
    found = _on_workers(client, distributed, described, work)
    require_alike(estimator, sorted((one for some in found.values() for one in some), key=lambda one: one.number))
    return {worker: parts for worker, parts in held.items() if sum(one.n_counted for one in found[worker])}


@contextmanager
def _tracker(client: Any, n_workers: int) -> Iterator[dict[str, Any]]:
    """The arguments that connect workers, by a tracker next to the scheduler, on its address."""
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
    with suppress(Exception):  # it reports lost workers, which the client reports too
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
