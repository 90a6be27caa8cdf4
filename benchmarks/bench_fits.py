"""Timing of fits and predictions, every method on the same number of threads."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from bench_data import LARGEST, NUMERIC, DataSet, binary_set, numeric_set
from lightgbm import LGBMClassifier
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.ensemble import AdaBoostClassifier
from sklearn.tree import DecisionTreeClassifier
from threadpoolctl import threadpool_limits
from tqdm import tqdm
from xgboost import XGBClassifier

from dualboost import DualBoostClassifier, DualBoostClassifierCV, SolverOptions
from dualboost.formulations import STUDIED

N_TREES = 100
LIGHTGBM, XGBOOST, ADABOOST, COLBOOST = "LightGBM", "XGBoost", "AdaBoost", "colboost"
SINGLE, SEARCH = "DualBoostClassifier", "DualBoostClassifierCV"
MOST_ROWS_ADABOOST = 100_000
MOST_ROWS_REFERENCE = 700
LINEAR = ("nm", "lp")
N_ROWS_TO_PREDICT = 100_000
N_ROWS_BEFORE_PREDICTING = 10_000

threadpool_limits(1)

Models = dict[str, Any]


@dataclass(frozen=True)
class Cell:
    """The median time of one method on one data set; what follows the repeats is None for other libraries."""

    kind: str
    group: str
    dataset: str
    rows: int
    features: int
    depth: int
    threads: int
    method: str
    seconds: float
    repeats: int
    generated: int | None
    trees: int | None
    gap: float | None
    stop_reason: str | None


@dataclass(frozen=True)
class Target:
    """Models to be timed side by side on one data set."""

    data: DataSet
    depth: int
    models: Models
    kind: str = "fit"
    threads: int = 1


def ours(formulations: Iterable[str], depth: int, threads: int = 1) -> Models:
    options = {"max_depth": depth, "max_trees": N_TREES, "n_jobs": threads}
    return {name: DualBoostClassifier(name, **options) for name in formulations}


def lightgbm(depth: int, threads: int = 1) -> LGBMClassifier:
    return LGBMClassifier(n_estimators=N_TREES, max_depth=depth, num_leaves=2**depth, n_jobs=threads, verbose=-1)


def libraries(depth: int, n_rows: int, threads: int = 1) -> Models:
    """The others; AdaBoost, which sorts every feature for every tree, takes many minutes on the largest sets."""
    models = {
        LIGHTGBM: lightgbm(depth, threads),
        XGBOOST: XGBClassifier(n_estimators=N_TREES, max_depth=depth, tree_method="hist", n_jobs=threads),
        ADABOOST: AdaBoostClassifier(DecisionTreeClassifier(max_depth=depth), n_estimators=N_TREES),
    }
    return {name: model for name, model in models.items() if name != ADABOOST or n_rows <= MOST_ROWS_ADABOOST}


def reference_masters() -> dict[str, Sequence[str]]:
    """Each master that solves to the end after every tree, and the formulations it can solve."""
    solvers = {"ipm": tuple(STUDIED), "highs": LINEAR, "clarabel": tuple(STUDIED)}
    return {name: able for name, able in solvers.items() if name != "clarabel" or find_spec("clarabel")}


def references(depth: int, n_rows: int) -> Models:
    """Our formulations by the reference masters, named ``formulation/master``; small data sets only."""
    return {
        f"{name}/{solver}": DualBoostClassifier(
            name, max_depth=depth, max_trees=N_TREES, n_jobs=1, solver=SolverOptions(solver, reoptimize="every")
        )
        for solver, able in reference_masters().items()
        for name in able
        if n_rows <= MOST_ROWS_REFERENCE
    }


def search_task(data: DataSet, formulations: Iterable[str]) -> Target:
    """The search over ten values of C, and one fit with the value that it chooses."""
    options = {"max_trees": N_TREES, "n_jobs": 1}
    models: Models = {}
    for name in formulations:
        search = DualBoostClassifierCV(name, Cs=10, random_state=0, **options)
        chosen = clone(search).fit(data.X, data.y).C_
        models[f"{SINGLE} {name}"] = DualBoostClassifier(name, C=chosen, **options)
        models[f"{SEARCH} {name}"] = search
    return Target(data, 1, models, kind="search")


def colboost_task() -> Target | None:
    """The paper's own library and ours, both NM-Boost with its default C; None if it is not installed."""
    try:
        from colboost.ensemble import EnsembleClassifier
    except ImportError:
        return None
    X, y = make_classification(n_samples=900, n_features=20, random_state=0)
    models = {
        "nm": DualBoostClassifier("nm", C=0.01, max_trees=50, n_jobs=1),
        COLBOOST: EnsembleClassifier(solver="nm_boost", max_iter=50),
    }
    return Target(DataSet("900x20", NUMERIC, X, 2 * y - 1), 1, models, kind="colboost")


def time_fits(tasks: Sequence[Target], repeats: int) -> list[Cell]:
    """The methods of a task take turns, so that a disturbance of the machine hits all alike."""
    _warm_up()
    with tqdm(total=repeats * sum(len(task.models) for task in tasks), unit="fit", disable=None) as bar:
        return [cell for task in tasks for cell in _time_task(task, repeats, bar)]


def _time_task(task: Target, repeats: int, bar: tqdm) -> list[Cell]:
    fitted: Models = {}
    seconds: dict[str, list[float]] = {method: [] for method in task.models}
    for _ in range(repeats):
        for method, model in task.models.items():
            bar.set_postfix_str(f"{task.data.name}, depth {task.depth}, {method}")
            fitted[method] = clone(model)
            seconds[method].append(clock(fitted[method].fit, task.data.X, task.data.y))
            bar.update()
    return [make_cell(task, name, seconds[name], fitted[name]) for name in task.models]


def _warm_up() -> None:
    """The first call of each library pays for loading it."""
    data = binary_set(n_rows=200)
    for model in (ours(STUDIED, 1) | libraries(1, data.n_rows)).values():
        model.fit(data.X, data.y).predict(data.X)


def clock(function: Any, *arguments: Any) -> float:
    started = time.perf_counter()
    function(*arguments)
    return time.perf_counter() - started


def make_cell(task: Target, method: str, seconds: Sequence[float], model: Any) -> Cell:
    """A cell with the median of the seconds."""
    gap = getattr(model, "gap_", None)
    return Cell(
        kind=task.kind,
        group=task.data.group,
        dataset=task.data.name,
        rows=task.data.n_rows,
        features=task.data.X.shape[1],
        depth=task.depth,
        threads=task.threads,
        method=method,
        seconds=float(np.median(seconds)),
        repeats=len(seconds),
        generated=getattr(model, "n_generated_", None),
        trees=getattr(model, "n_trees_", None),
        gap=None if gap is None else float(gap),
        stop_reason=getattr(model, "stop_reason_", None),
    )


def time_predictions(formulations: Iterable[str], depths: Iterable[int], repeats: int) -> list[Cell]:
    """Predicting many rows with models of 100 trees; ours skip those of weight zero."""
    training = binary_set(N_ROWS_BEFORE_PREDICTING)
    data = binary_set(N_ROWS_TO_PREDICT, seed=1)
    cells = []
    for depth in depths:
        task = Target(data, depth, ours(formulations, depth) | {LIGHTGBM: lightgbm(depth)}, kind="predict")
        fitted = {name: model.fit(training.X, training.y) for name, model in task.models.items()}
        rounds = [{name: clock(model.predict, data.X) for name, model in fitted.items()} for _ in range(repeats)]
        cells += [make_cell(task, name, [one[name] for one in rounds], model) for name, model in fitted.items()]
    return cells


@dataclass(frozen=True)
class Memory:
    """Gigabytes that a process held before the fit, its data included, and at its peak."""

    before: float
    peak: float


def measure_memory() -> Memory:
    """The largest nm fit in a process of its own. Its peak begins at that of this one: call before loading data."""
    command = [sys.executable, str(Path(__file__).with_name("bench.py")), "--memory-probe"]
    return Memory(**json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout))


def memory_probe() -> str:
    data = numeric_set(LARGEST)
    before = _resident_gigabytes()
    DualBoostClassifier("nm", max_trees=N_TREES, n_jobs=1).fit(data.X, data.y)
    return json.dumps({"before": before, "peak": _peak_gigabytes()})


def _resident_gigabytes() -> float:
    """The memory held now; where Linux does not tell, the most held so far."""
    statm = Path("/proc/self/statm")
    if not statm.exists():
        return _peak_gigabytes()
    return int(statm.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e9


def _peak_gigabytes() -> float:
    import resource  # not on Windows

    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 1e9
