"""The estimator as it comes, against LightGBM and XGBoost as they come (100 trees each): accuracy, log loss, leaves.

    python benchmarks/defaults.py --data FOLDER [--splits 5] [--rows 4000] [--names a,b]

FOLDER (or the environment variable DUALBOOST_DATA) holds ``<name>.csv.gz`` files with a column ``target`` of two
classes. Splits are those of ``equal_trees.py``. Our default size and C were chosen on other data sets.
"""

from __future__ import annotations

import argparse
import os
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from equal_trees_data import PAPER, SUFFIX, make_split
from equal_trees_methods import log_loss
from lightgbm import LGBMClassifier
from sklearn.metrics import roc_auc_score
from threadpoolctl import threadpool_limits
from tqdm import tqdm
from xgboost import XGBClassifier

from dualboost import DualBoostClassifier

MODELS: dict[str, Callable[[], Any]] = {
    "dualboost": DualBoostClassifier,
    "LightGBM": lambda: LGBMClassifier(n_jobs=1, verbose=-1),
    "XGBoost": lambda: XGBClassifier(n_jobs=1),
}


def n_leaves(model: Any) -> int:
    if isinstance(model, DualBoostClassifier):
        return model.n_leaves_
    if isinstance(model, LGBMClassifier):
        return sum(tree["num_leaves"] for tree in model.booster_.dump_model()["tree_info"])
    return sum(text.count("leaf=") for text in model.get_booster().get_dump())


def measure(folder: Path, name: str, seed: int, rows: int, method: str) -> dict[str, Any]:
    split = make_split(folder, name, seed, rows)
    model = MODELS[method]().fit(split.X, split.y)
    p = model.predict_proba(split.X_test)[:, 1]
    return {
        "data": name,
        "method": method,
        "accuracy": float(np.mean((p > 0.5) == split.y_test)),
        "log loss": log_loss(split.y_test, p),
        "AUC": roc_auc_score(split.y_test, p),
        "leaves": n_leaves(model),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=os.environ.get("DUALBOOST_DATA"), required=False)
    parser.add_argument("--names", default=None)
    parser.add_argument("--splits", type=int, default=5)
    parser.add_argument("--rows", type=int, default=4000)
    options = parser.parse_args()
    if options.data is None:
        parser.error("--data FOLDER is needed, or the environment variable DUALBOOST_DATA")
    warnings.filterwarnings("ignore")
    names = (
        options.names.split(",") if options.names else [n for n in PAPER if (options.data / f"{n}{SUFFIX}").exists()]
    )
    jobs = [(name, seed, method) for name in names for seed in range(options.splits) for method in MODELS]
    with threadpool_limits(1):
        found = [measure(options.data, *job[:2], options.rows, job[2]) for job in tqdm(jobs, disable=None)]
    table = pd.DataFrame(found)
    print(table.pivot_table(index="data", columns="method", values=["accuracy", "log loss"]).round(4).to_string())
    print(table.groupby("method")[["accuracy", "log loss", "AUC", "leaves"]].mean().round(4).to_string())


if __name__ == "__main__":
    main()
