"""How small regressors become by thinning: ``python benchmarks/thinning_numbers.py --data FOLDER --only kin8nm``.

200 trees of LightGBM's and XGBoost's, learning rate and size of the trees tuned by 3-fold cross-validation; 60/20/20
per cent of the rows to train, validate and test, at most 6,000 to train on. At the size that ``thin`` chose on the
validation rows: its model, the first trees of the model, and the library's own model trained anew with so many trees,
tuned likewise. R^2 on the test rows, one thread.
"""

from __future__ import annotations

import argparse
import time
import warnings
from pathlib import Path

import pandas as pd
from bench_data import with_categories
from lightgbm import LGBMRegressor
from sklearn.metrics import r2_score
from sklearn.model_selection import GridSearchCV, train_test_split
from tqdm import tqdm
from xgboost import XGBRegressor

from dualboost import thin
from dualboost.errors import DualBoostWarning

N_TREES, MOST_ROWS = 200, 6_000
RATES = [0.05, 0.1, 0.2, 0.4]
LIBRARIES = {
    "lightgbm": (LGBMRegressor(n_jobs=1, verbose=-1), {"learning_rate": RATES, "num_leaves": [4, 8, 16]}),
    "xgboost": (XGBRegressor(n_jobs=1, enable_categorical=True), {"learning_rate": RATES, "max_depth": [2, 3, 4]}),
}


def tuned(library: str, n_trees: int, X: pd.DataFrame, y: pd.Series):
    model, grid = LIBRARIES[library]
    return GridSearchCV(model.set_params(n_estimators=n_trees), grid, cv=3).fit(X, y).best_estimator_


def first_trees(model, X: pd.DataFrame, n_trees: int):
    is_light = isinstance(model, LGBMRegressor)
    return model.predict(X, num_iteration=n_trees) if is_light else model.predict(X, iteration_range=(0, n_trees))


def measured(path: Path, library: str, tolerances: list[float], seed: int) -> list[dict]:
    frame = pd.read_csv(path)
    y = frame.pop("target")
    X, X_test, y, y_test = train_test_split(with_categories(frame), y, test_size=0.2, random_state=seed)
    X, X_val, y, y_val = train_test_split(X, y, test_size=0.25, random_state=seed)
    X, y = X[:MOST_ROWS], y[:MOST_ROWS]
    model, found = tuned(library, N_TREES, X, y), []
    for tolerance in tolerances:
        started = time.perf_counter()
        result = thin(model, X, y, tolerance=tolerance, validation_data=(X_val, y_val))
        seconds, n_trees = time.perf_counter() - started, len(result.kept)
        answers = {
            "as it was": model.predict(X_test),
            "thinned": result.model.predict(X_test),
            "first trees": first_trees(model, X_test, n_trees),
            "trained anew": tuned(library, n_trees, X, y).predict(X_test),
        }
        scores = {way: r2_score(y_test, found) for way, found in answers.items()}
        asked = {"dataset": path.name.removesuffix(".csv.gz"), "library": library, "tolerance": tolerance}
        found.append(asked | {"way": result.way, "trees": n_trees} | scores | {"seconds": seconds})
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="a folder of <name>.csv.gz files with a column target")
    parser.add_argument("--only", nargs="+", help="the names of data sets")
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--tolerances", type=float, nargs="+", default=[0.0, 0.01], help="R^2 that may be lost")
    arguments = parser.parse_args()
    warnings.filterwarnings("ignore", category=DualBoostWarning)
    names = arguments.only or [path.name.removesuffix(".csv.gz") for path in sorted(arguments.data.glob("*.csv.gz"))]
    asked = [(name, library, seed) for name in names for library in LIBRARIES for seed in range(arguments.seeds)]
    found = []
    for name, library, seed in tqdm(asked, unit="model", disable=None):
        found += measured(arguments.data / f"{name}.csv.gz", library, arguments.tolerances, seed)
    shown = pd.DataFrame(found)
    ways = shown.pop("way").value_counts().to_dict()
    print(shown.groupby(["dataset", "library", "tolerance"], sort=False).mean().round(4).to_string())
    print("ways:", ways)


if __name__ == "__main__":
    main()
