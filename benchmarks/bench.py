"""Time every formulation against LightGBM, XGBoost and AdaBoost: one table, ratios first, all in one run.

    python benchmarks/bench.py [--data FOLDER] [--quick] [--numbers] [--repeats N] [--out out/bench]

FOLDER (or the environment variable DUALBOOST_DATA) holds ``<name>.csv.gz`` files with a last column ``target`` of two
classes; without it the generated data sets remain. 100 trees for every method; one thread, and on the binary set two as
well, the same for every method of a row. Numbers have a table of their own, with 40 trees of depth 3.
"""

from __future__ import annotations

import argparse
import os
import sys
import warnings
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from bench_data import (
    BINARY,
    LARGEST,
    NUMERIC,
    NUMERIC_ROWS,
    NUMERIC_ROWS_QUICK,
    DataSet,
    binary_set,
    folder_sets,
    numeric_set,
)
from bench_fits import (
    ADABOOST,
    COLBOOST,
    LIGHTGBM,
    MOST_ROWS_ADABOOST,
    MOST_ROWS_REFERENCE,
    N_TREES,
    SEARCH,
    SINGLE,
    XGBOOST,
    Cell,
    Memory,
    Target,
    colboost_task,
    libraries,
    lightgbm,
    measure_memory,
    memory_probe,
    ours,
    reference_masters,
    references,
    search_task,
    time_fits,
    time_predictions,
)
from bench_numbers import MOST_TIMES, NUMBERS, SQUARED, number_lines, number_tasks
from bench_plot import draw_growth, log_slope

import dualboost
from dualboost.formulations import STUDIED

LIBRARIES = (LIGHTGBM, XGBOOST, ADABOOST)
QUICK_FORMULATIONS = ("nm", "lp", "cg")
THREADS = (1, 2)
CELLS, PICTURE = "fits.csv", "time_against_rows.png"
FULL_ONLY = "full mode only"


@dataclass(frozen=True)
class Check:
    """A figure beside its bar, or the reason why there is none."""

    label: str
    value: float | None
    bar: float
    unit: str = ""
    absent: str = FULL_ONLY

    def __str__(self) -> str:
        figure = self.absent if self.value is None else f"{self.value:.3g}{self.unit}"
        verdict = "" if self.value is None else "ok" if self.value <= self.bar else "missed"
        return f"{self.label:64}{figure:>14}   bar {self.bar:g}{self.unit}".ljust(95) + verdict


def make_tasks(folder: Path | None, quick: bool) -> list[Target]:
    """Every data set with the models that are timed on it."""
    small = list(folder_sets(folder, quick)) if folder else []
    binary = binary_set()
    numeric = [numeric_set(n_rows) for n_rows in (NUMERIC_ROWS_QUICK if quick else NUMERIC_ROWS)]
    names = QUICK_FORMULATIONS if quick else tuple(STUDIED)
    tasks = [
        Target(data, 1, ours(STUDIED, 1) | libraries(1, data.n_rows) | references(1, data.n_rows)) for data in small
    ]
    tasks += [
        Target(binary, depth, ours(STUDIED, depth, threads) | libraries(depth, binary.n_rows, threads), threads=threads)
        for depth in ((1,) if quick else (1, 5))
        for threads in THREADS
    ]
    tasks += [Target(data, 1, ours(names, 1) | _rivals_for_growth(data, quick)) for data in numeric]
    tasks += number_tasks(quick, THREADS)
    return [*tasks, search_task(binary, names[:1] if quick else names), *filter(None, [colboost_task()])]


def _rivals_for_growth(data: DataSet, quick: bool) -> dict[str, object]:
    return {LIGHTGBM: lightgbm(1)} if quick else libraries(1, data.n_rows)


def run(folder: Path | None, quick: bool, repeats: int) -> pd.DataFrame:
    """Every fit and prediction."""
    cells = time_fits(make_tasks(folder, quick), repeats)
    cells += time_predictions(QUICK_FORMULATIONS if quick else STUDIED, (1, 5), repeats)
    return with_ratios(cells)


def with_ratios(cells: list[Cell]) -> pd.DataFrame:
    """One row a cell, with its ratio to LightGBM's time where that was measured."""
    table = pd.DataFrame([asdict(cell) for cell in cells])
    keys = ["kind", "dataset", "depth", "threads"]
    baseline = table[table.method == LIGHTGBM].set_index(keys).seconds
    table["ratio"] = table.seconds / baseline.reindex(pd.MultiIndex.from_frame(table[keys])).to_numpy()
    return table


def checks(table: pd.DataFrame, memory: Memory | None) -> Iterator[Check]:
    fits = table[(table.kind == "fit") & table.method.isin(STUDIED)]
    compared = fits[(fits.group != NUMERIC) | (fits.rows == LARGEST)]
    worst = compared.loc[compared.ratio.idxmax()]
    yield Check(f"fit / LightGBM's, geometric mean of {len(compared)} cells", geometric_mean(compared.ratio), 6)
    yield Check(f"fit / LightGBM's, worst cell: {worst.method}, {worst.dataset}, depth {worst.depth}", worst.ratio, 20)
    yield from _ratio_checks(fits[fits.group == BINARY], 6)
    largest = fits[fits.rows == LARGEST]
    yield from _ratio_checks(largest, 10) or [Check(f"{LARGEST:,} rows / LightGBM's", None, 10)]
    yield from number_checks(table)
    yield _memory_check(memory)
    growth = fits[(fits.group == NUMERIC) & (fits.method == "nm")]
    slope = log_slope(growth.rows, growth.seconds)
    yield Check(f"growth of nm's time up to {growth.rows.max():,} rows, slope", slope, 1.1)
    for cell in table[(table.kind == "predict") & table.method.isin(STUDIED)].itertuples():
        label = f"predict / LightGBM's, {cell.rows:,} rows, depth {cell.depth}, {cell.method} ({cell.trees:.0f} trees)"
        yield Check(label, cell.ratio, 1)
    for name, ratio in _search_ratios(table).items():
        yield Check(f"{SEARCH}({name!r}, Cs=10) / one fit with the C it chooses", ratio, 3)
    gaps = table[table.trees.notna()].gap
    yield Check(f"largest gap of {len(gaps)} models", gaps.max(skipna=False), 1e-6)


def number_checks(table: pd.DataFrame) -> list[Check]:
    """Of the largest set: small ones take a fraction of a second, which their number of trees decides."""
    largest = table[(table.kind == NUMBERS) & (table.method == SQUARED) & (table.rows == LARGEST)]
    return _ratio_checks(largest, MOST_TIMES) or [Check(f"{LARGEST:,} rows, numbers / LightGBM's", None, MOST_TIMES)]


def _memory_check(memory: Memory | None) -> Check:
    if memory is None:
        return Check(f"{LARGEST:,} rows, nm, peak memory", None, 4, " GB")
    more = memory.peak - memory.before
    return Check(f"{LARGEST:,} rows, nm, peak memory (the fit itself: {more:.3g} GB)", memory.peak, 4, " GB")


def _ratio_checks(cells: pd.DataFrame, bar: float) -> list[Check]:
    return [
        Check(f"{c.dataset}, depth {c.depth}, threads: {c.threads}, {c.method} / LightGBM's", c.ratio, bar)
        for c in cells.itertuples()
    ]


def _search_ratios(table: pd.DataFrame) -> dict[str, float]:
    seconds = table[table.kind == "search"].set_index("method").seconds
    names = [name for name in STUDIED if f"{SEARCH} {name}" in seconds]
    return {name: float(seconds[f"{SEARCH} {name}"] / seconds[f"{SINGLE} {name}"]) for name in names}


def geometric_mean(ratios: pd.Series) -> float:
    return float(np.exp(np.log(ratios).mean()))


def print_fits(table: pd.DataFrame) -> None:
    """One row a data set, depth and number of threads: ratios to LightGBM's time, and its seconds."""
    fits = table[table.kind == "fit"]
    keys = ["dataset", "depth", "threads", "rows", "features"]
    ratios = fits.pivot(index=keys, columns="method", values="ratio")
    seconds = fits[fits.method == LIGHTGBM].set_index(keys).seconds
    print("\nfit time / LightGBM's")
    header = "".join(f"{name:>8}" for name in STUDIED) + "".join(f"{name:>11}" for name in LIBRARIES)
    print(f"{'':22}{'depth':>6}{'threads':>8}{'rows':>11}{'features':>9}{header}")
    for key in fits[keys].drop_duplicates().itertuples(index=False, name=None):
        dataset, depth, threads, rows, features = key
        figures = "".join(f"{_figure(ratios, key, name):>8}" for name in STUDIED) + f"{seconds[key]:9.3f} s"
        figures += "".join(f"{_figure(ratios, key, name):>11}" for name in LIBRARIES[1:])
        print(f"{dataset:22}{depth:6}{threads:8}{rows:11,}{features:9}{figures}")
    own = fits[fits.method.isin(STUDIED)]
    per_tree = geometric_mean(own.ratio * N_TREES / own.generated)
    print(f"time for each tree generated / LightGBM's, geometric mean: {per_tree:.2f}")
    print(f"'-': not measured (AdaBoost: at most {MOST_ROWS_ADABOOST:,} rows); ours converged before {N_TREES} trees "
          f"in {(own.generated < N_TREES).sum()} of {len(own)} cells")  # fmt: skip


def _figure(ratios: pd.DataFrame, key: tuple[object, ...], column: str) -> str:
    value = ratios[column].get(key, np.nan) if column in ratios else np.nan
    return "-" if np.isnan(value) else f"{value:.2f}"


def print_numbers(table: pd.DataFrame) -> None:
    for line in number_lines(table):
        print(line)


def print_references(table: pd.DataFrame) -> None:
    """How much longer the reference masters take than a default fit, over the small data sets."""
    fits = table[(table.kind == "fit") & (table.rows <= MOST_ROWS_REFERENCE)]
    if fits.empty:
        return
    seconds = fits.pivot(index="dataset", columns="method", values="seconds")
    print(f"\nevery master solved to the end / a default fit, geometric mean of {len(seconds)} data sets")
    for solver, able in reference_masters().items():
        figures = (f"{name} {geometric_mean(seconds[f'{name}/{solver}'] / seconds[name]):.2f}" for name in able)
        print(f"{solver:10}" + "   ".join(figures))
    if "clarabel" not in reference_masters():
        print("clarabel is not installed")


def print_colboost(table: pd.DataFrame) -> None:
    seconds = table[table.kind == "colboost"].set_index("method").seconds
    if seconds.empty:
        print("\ncolboost, the paper's own library, is not installed")
    else:
        figures = f"{seconds[COLBOOST]:.3f} s / ours {seconds['nm']:.3f} s = {seconds[COLBOOST] / seconds['nm']:.1f}"
        print(f"\ncolboost, NM-Boost, 900x20, 50 iterations: {figures}")


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--data", default=os.environ.get("DUALBOOST_DATA"), metavar="FOLDER", help="<name>.csv.gz files"
    )
    parser.add_argument("--quick", action="store_true", help="smaller and fewer data sets, within two minutes")
    parser.add_argument("--numbers", action="store_true", help="numbers only, five minutes; nothing is written")
    parser.add_argument("--repeats", type=int, metavar="N", help="fits of which the median counts (3; quick: 1)")
    parser.add_argument("--out", type=Path, default=Path("out/bench"), help="folder for fits.csv and the picture")
    parser.add_argument("--memory-probe", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.data and not Path(arguments.data).is_dir():
        parser.error(f"--data {arguments.data}: no such folder")
    if arguments.repeats is not None and arguments.repeats < 1:
        parser.error("--repeats must be at least 1")
    return arguments


def main() -> int:
    arguments = parse_arguments()
    if arguments.memory_probe:
        print(memory_probe())
        return 0
    warnings.filterwarnings("ignore", message="X does not have valid feature names", category=UserWarning)
    repeats = arguments.repeats or (1 if arguments.quick else 3)
    if arguments.numbers:
        print_numbers(with_ratios(time_fits(number_tasks(arguments.quick, THREADS), repeats)))
        return 0
    memory = None if arguments.quick else measure_memory()
    if not arguments.data:
        print("no folder of data sets: generated ones only; give --data FOLDER or set DUALBOOST_DATA")
    table = run(Path(arguments.data) if arguments.data else None, arguments.quick, repeats)
    save(table, arguments.out)
    report(table, memory, repeats)
    print(f"\nwritten: {arguments.out / CELLS}, {arguments.out / PICTURE}")
    return 0


def save(table: pd.DataFrame, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    table.to_csv(folder / CELLS, index=False)
    draw_growth(table[(table.kind == "fit") & (table.group == NUMERIC)], folder / PICTURE)


def report(table: pd.DataFrame, memory: Memory | None, repeats: int) -> None:
    print(f"dualboost {dualboost.__version__}, {N_TREES} trees, repeats: {repeats} (medians)\n")
    for check in checks(table, memory):
        print(check)
    print_fits(table)
    print_numbers(table)
    print_references(table)
    print_colboost(table)


if __name__ == "__main__":
    sys.exit(main())
