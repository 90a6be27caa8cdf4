"""How accurate a few trees are: ours against XGBoost, LightGBM and scikit-learn, by the number and depth of trees.

    python benchmarks/equal_trees.py --data FOLDER [--names a,b] [--depths 1,2] [--sizes 5,10] [--splits 5]
        [--methods ours,xgboost] [--rows 4000] [--jobs 2] [--out out/equal_trees] [--report-only]

FOLDER (or the environment variable DUALBOOST_DATA) holds ``<name>.csv.gz`` files with a class in a column ``target``,
or the last, or a number: see ``equal_trees_data.is_amount``. Of more than two classes the rivals grow one tree for each
class a round, so that their sizes are rounds, and results are compared by the trees and leaves that come of them. Every
method chooses among six candidates by log loss, for numbers the mean squared error, on the same three folds of the
training rows. Results are appended to OUT/results.jsonl as they come, and a run that was stopped goes on where it was;
one thread a process.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from equal_trees_data import SUFFIX, make_split, names_by_size
from equal_trees_methods import METHODS
from equal_trees_report import write_report
from equal_trees_tasks import ALL_METHODS, Target, task_of
from joblib import Parallel, delayed
from threadpoolctl import threadpool_limits
from tqdm import tqdm

N_SPLITS, MOST_ROWS = 5, 4_000
RESULTS = "results.jsonl"

Record = dict[str, Any]


class Unit(NamedTuple):
    """What is computed at once: a method on a split at one depth, for every number of trees or rounds."""

    data: str
    split: int
    depth: int
    method: str
    rows: int


def compute(folder: Path, unit: Unit, sizes: list[int]) -> list[Record]:
    """One record a number of trees or rounds."""
    warnings.filterwarnings("ignore")
    with threadpool_limits(1):
        split, task = make_split(folder, unit.data, unit.split, unit.rows), task_of(folder, unit.data)
        outcomes = task.methods[unit.method](split, unit.depth, sizes)
    return [
        unit._asdict()
        | {"size": size, "n_classes": split.n_classes}
        | task.figures(split, outcome.answers)
        | {field: getattr(outcome, field) for field in ("n_trees", "n_leaves", "candidate", "seconds")}
        for size, outcome in zip(sizes, outcomes, strict=True)
    ]


def read_records(path: Path, rows: int) -> list[Record]:
    """The records with at most so many training rows; a last line cut short by a stop is left out."""
    lines = path.read_text().splitlines(keepends=True) if path.exists() else []
    records = [json.loads(line) for line in lines if line.endswith("\n") and line.strip()]
    return [record for record in records if record["rows"] == rows]


def to_do(arguments: argparse.Namespace, records: list[Record]) -> Iterator[tuple[Unit, list[int]]]:
    """The units in order, each with the sizes that are not there yet; small data sets first."""
    done = {(*(record[field] for field in Unit._fields), record["size"]) for record in records}
    for name in names_by_size(arguments.data, arguments.names, arguments.rows):
        task = checked_task(arguments, name)
        for split in range(arguments.splits):
            for depth in arguments.depths or task.depths:
                for method in arguments.methods or METHODS:
                    unit = Unit(name, split, depth, method, arguments.rows)
                    sizes = [size for size in arguments.sizes or task.sizes(method) if (*unit, size) not in done]
                    if sizes:
                        yield unit, sizes


def checked_task(arguments: argparse.Namespace, name: str) -> Target:
    """A method that does not take the data set is refused before anything is run."""
    task = task_of(arguments.data, name)
    refused = sorted(set(arguments.methods or []) - set(task.methods))
    if refused:
        sys.exit(f"--methods {','.join(refused)}: not for {task.title}, which {name} has; leave one of them out")
    return task


def run(arguments: argparse.Namespace, path: Path) -> None:
    """Compute what is missing; only this process writes, whole units at a time."""
    units = list(to_do(arguments, read_records(path, arguments.rows)))
    parallel = Parallel(n_jobs=arguments.jobs, return_as="generator_unordered")
    results = parallel(delayed(compute)(arguments.data, unit, sizes) for unit, sizes in units)
    with path.open("a+") as file, tqdm(total=len(units), unit="fit", disable=None) as bar:
        end_line(file)
        for records in results:
            file.write("".join(json.dumps(record) + "\n" for record in records))
            file.flush()
            bar.set_postfix_str("{data}, depth {depth}, {method}".format(**records[0]), refresh=False)
            bar.update()


def end_line(file: Any) -> None:
    """Drop a last line that a stop cut short."""
    file.seek(0)
    text = file.read()
    if text and not text.endswith("\n"):
        file.seek(0)
        file.truncate()
        file.write(text[: text.rfind("\n") + 1])


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("--data", type=Path, default=os.environ.get("DUALBOOST_DATA"), metavar="FOLDER", help="<name>.csv.gz files")
    add("--names", type=words, help="data sets (those of the paper that are there, or all)")
    add("--depths", type=numbers, help="several classes 3,4,5; else 1,2,3,5")
    add("--sizes", type=numbers, help="5,10,20,40,100 trees or rounds; numbers also 30; several classes ours 10,20,40")
    add("--splits", type=int, default=N_SPLITS, help="splits, seeded 0, 1, ... (5)")
    add("--methods", type=words, help=f"of {', '.join(ALL_METHODS)}")
    add("--rows", type=int, default=MOST_ROWS, help="training rows at most (4000)")
    add("--jobs", type=int, default=1, help="processes, one thread each (1)")
    add("--out", type=Path, default=Path("out/equal_trees"), help="folder of the results, tables and pictures")
    add("--report-only", action="store_true", help="tables and pictures of the results that are there")
    arguments = parser.parse_args()
    check(parser, arguments)
    return arguments


def check(parser: argparse.ArgumentParser, arguments: argparse.Namespace) -> None:
    unknown = set(arguments.methods or []) - set(ALL_METHODS)
    if unknown:
        parser.error(f"--methods: {', '.join(sorted(unknown))} not known or not installed")
    if min(arguments.splits, arguments.rows, arguments.jobs, *(arguments.depths or []), *(arguments.sizes or [])) < 1:
        parser.error("numbers must be at least 1")
    if arguments.report_only:
        return
    if arguments.data is None or not Path(arguments.data).is_dir():
        parser.error(f"--data {arguments.data}: no such folder")
    arguments.data = Path(arguments.data)
    missing = [name for name in arguments.names or ["*"] if not any(arguments.data.glob(f"{name}{SUFFIX}"))]
    if missing:
        parser.error(f"--data {arguments.data}: no file {', '.join(name + SUFFIX for name in missing)}")


def words(text: str) -> list[str]:
    return text.split(",")


def numbers(text: str) -> list[int]:
    return sorted({int(word) for word in text.split(",")})


def main() -> int:
    arguments = parse_arguments()
    os.environ.setdefault("OMP_NUM_THREADS", "1")  # for the processes to come; this one is limited in compute()
    arguments.out.mkdir(parents=True, exist_ok=True)
    path = arguments.out / RESULTS
    if not arguments.report_only:
        run(arguments, path)
    return report(arguments, read_records(path, arguments.rows))


def report(arguments: argparse.Namespace, records: list[Record]) -> int:
    """Of all methods that are there; after ``--report-only`` of those named."""
    if arguments.report_only and arguments.methods:
        records = [record for record in records if record["method"] in arguments.methods]
    written = write_report(records, arguments.out) if records else []
    for path in written:
        print(f"written: {path}")
    if not written:
        print(f"{arguments.out}: no results that every method has with --rows {arguments.rows}")
    return 0 if written else 1


if __name__ == "__main__":
    sys.exit(main())
