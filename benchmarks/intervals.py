"""How wide intervals of 90 % are that hold what they promise: ours against LightGBM's and XGBoost's quantile models.

    python benchmarks/intervals.py --data FOLDER [--names a,b] [--depths 3] [--sizes 20,40] [--splits 5]
        [--methods ours3,lightgbm] [--rows 4000] [--jobs 2] [--out out/intervals] [--report-only]

FOLDER (or the environment variable DUALBOOST_DATA) holds ``<name>.csv.gz`` files with a number in a column ``target``,
or the last. Ours has the quantiles 0.05 and 0.95, and with "ours3" the median, in one ensemble; a rival has half of the
trees for each end, or with "lightgbm_mean" all for the mean, and intervals of one width. Every method chooses among six
candidates by the pinball loss on the same three folds, and is calibrated with the same quarter of the training rows.
Results are appended to OUT/results.jsonl as they come, and a run that was stopped goes on where it was; one thread a
process.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from equal_trees import MOST_ROWS, N_SPLITS, RESULTS, Unit, end_line, numbers, read_records, words
from equal_trees_data import make_split, names_by_size
from intervals_methods import METHODS
from intervals_report import write_report
from joblib import Parallel, delayed
from threadpoolctl import threadpool_limits
from tqdm import tqdm

Record = dict[str, Any]


def compute(folder: Path, unit: Unit, sizes: list[int]) -> list[Record]:
    """One record a number of trees."""
    warnings.filterwarnings("ignore")
    with threadpool_limits(1):
        split = make_split(folder, unit.data, unit.split, unit.rows)
        outcomes = METHODS[unit.method](split, unit.depth, sizes)
    return [
        unit._asdict()
        | {"size": size, "n_train": len(split.y), "n_test": len(split.y_test)}
        | outcome.figures(split.y_test)
        | {field: getattr(outcome, field) for field in ("n_trees", "n_leaves", "candidate", "rank", "seconds")}
        for size, outcome in zip(sizes, outcomes, strict=True)
    ]


def to_do(arguments: argparse.Namespace, records: list[Record]) -> Iterator[tuple[Unit, list[int]]]:
    """The units with the sizes that are not there yet: all data sets of a split before the next, small ones first."""
    done = {(*(record[field] for field in Unit._fields), record["size"]) for record in records}
    names = names_by_size(arguments.data, arguments.names, arguments.rows)
    for split in range(arguments.splits):
        for name in names:
            for depth in arguments.depths:
                for method in arguments.methods:
                    unit = Unit(name, split, depth, method, arguments.rows)
                    sizes = [size for size in arguments.sizes if (*unit, size) not in done]
                    if sizes:
                        yield unit, sizes


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
            bar.update()


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("--data", type=Path, default=os.environ.get("DUALBOOST_DATA"), metavar="FOLDER", help="<name>.csv.gz files")
    add("--names", type=words, help="data sets (all)")
    add("--depths", type=numbers, default=[3], help="of the trees (3)")
    add("--sizes", type=numbers, default=[20, 40], help="trees of all quantiles together (20,40)")
    add("--splits", type=int, default=N_SPLITS, help="splits, seeded 0, 1, ... (5)")
    add("--methods", type=words, default=list(METHODS), help=f"of {', '.join(METHODS)}")
    add("--rows", type=int, default=MOST_ROWS, help="training rows at most (4000)")
    add("--jobs", type=int, default=1, help="processes, one thread each (1)")
    add("--out", type=Path, default=Path("out/intervals"), help="folder of the results, tables and picture")
    add("--report-only", action="store_true", help="tables and picture of the results that are there")
    arguments = parser.parse_args()
    if set(arguments.methods) - set(METHODS):
        parser.error(f"--methods {','.join(arguments.methods)}: choose among {', '.join(METHODS)}")
    if not arguments.report_only and (arguments.data is None or not Path(arguments.data).is_dir()):
        parser.error(f"--data {arguments.data}: no such folder")
    return arguments


def main() -> int:
    arguments = parse_arguments()
    os.environ.setdefault("OMP_NUM_THREADS", "1")  # for the processes to come; this one is limited in compute()
    arguments.out.mkdir(parents=True, exist_ok=True)
    path = arguments.out / RESULTS
    if not arguments.report_only:
        run(arguments, path)
    records = read_records(path, arguments.rows)
    if arguments.report_only:
        records = [record for record in records if record["method"] in arguments.methods]
    written = write_report(records, arguments.out)
    for one in written:
        print(f"written: {one}")
    return 0 if written else 1


if __name__ == "__main__":
    sys.exit(main())
