"""How accurate are 5, 10, 20 and 40 trees? Ours, XGBoost's and LightGBM's, tuned alike, on data that needs no network.

Run as ``make demo``. Trees have a depth of 2. Every method chooses among six candidates by log loss on the same three
folds: the others' learning rates, our C. ``benchmarks/equal_trees.py`` has sixteen data sets and more sizes.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from lightgbm import LGBMClassifier
from sklearn.datasets import load_breast_cancer
from sklearn.metrics import log_loss
from sklearn.model_selection import GridSearchCV, StratifiedKFold, train_test_split
from tqdm import tqdm
from xgboost import XGBClassifier

from dualboost import DualBoostClassifierCV
from dualboost.datasets import make_ringnorm, make_twonorm, make_waveform

DEPTH, SIZES = 2, (5, 10, 20, 40)
RATES = (0.05, 0.1, 0.2, 0.35, 0.6, 1.0)
TRAINING_ROWS = 2000
SCORING = "neg_log_loss"
PICTURE = Path("out/demo.png")
STYLES = {
    "dualboost": {"color": "#d1345b", "linewidth": 2.4, "marker": "o", "zorder": 3},
    "XGBoost": {"color": "#5b7083", "linewidth": 1.4, "marker": "s"},
    "LightGBM": {"color": "#7fa88b", "linewidth": 1.4, "marker": "^", "linestyle": "--"},
}

Table = dict[tuple[str, str, int], tuple[float, float]]
"""Accuracy and log loss on rows not seen, by data set, method and number of trees."""


def datasets() -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Features and labels in {0, 1}."""
    made = {
        "breast cancer": load_breast_cancer(return_X_y=True),
        "ringnorm": make_ringnorm(10_000, random_state=0),
        "twonorm": make_twonorm(10_000, random_state=0),
        "waveform": make_waveform(10_000, random_state=0),
    }
    return {name: (X, (y > 0).astype(int)) for name, (X, y) in made.items()}


def tuned(estimator: object, folds: StratifiedKFold) -> GridSearchCV:
    return GridSearchCV(estimator, {"learning_rate": RATES}, cv=folds, scoring=SCORING)


METHODS: dict[str, Callable[[int, StratifiedKFold], object]] = {
    "dualboost": lambda n, folds: DualBoostClassifierCV(
        max_depth=DEPTH, max_trees=n, Cs=len(RATES), cv=folds, scoring=SCORING
    ),
    "XGBoost": lambda n, folds: tuned(XGBClassifier(n_estimators=n, max_depth=DEPTH, n_jobs=1), folds),
    "LightGBM": lambda n, folds: tuned(
        LGBMClassifier(n_estimators=n, max_depth=DEPTH, num_leaves=2**DEPTH, n_jobs=1, verbose=-1), folds
    ),
}


def compare() -> Table:
    found: Table = {}
    jobs = [(data, size, method) for data in datasets() for size in SIZES for method in METHODS]
    folds = StratifiedKFold(3, shuffle=True, random_state=0)
    with tqdm(jobs, unit="fit", disable=None) as bar:
        for name, size, method in bar:
            bar.set_postfix_str(f"{name}, {method}")
            X, y = datasets()[name]
            share = min(0.6, TRAINING_ROWS / len(y))
            X_train, X_test, y_train, y_test = train_test_split(X, y, train_size=share, random_state=0, stratify=y)
            model = METHODS[method](size, folds).fit(X_train, y_train)
            p = model.predict_proba(X_test)[:, 1]
            found[name, method, size] = float(np.mean((p > 0.5) == y_test)), float(log_loss(y_test, p))
    return found


def print_table(found: Table) -> None:
    """One row a data set and method; for each number of trees the accuracy and the log loss on rows not seen."""
    print(f"trees of depth {DEPTH}, tuned alike: accuracy / log loss on rows not seen")
    print(f"{'':16}{'':11}" + "".join(f"{f'{size} trees':>17}" for size in SIZES))
    for name in [*datasets(), "mean"]:
        for method in METHODS:
            cells = [mean(found, method, size) if name == "mean" else found[name, method, size] for size in SIZES]
            print(f"{name:16}{method:11}" + "".join(f"{a:>9.3f} / {loss:.3f}" for a, loss in cells))


def mean(found: Table, method: str, size: int) -> tuple[float, float]:
    rows = np.array([found[name, method, size] for name in datasets()])
    return float(rows[:, 0].mean()), float(rows[:, 1].mean())


def draw(found: Table) -> None:
    """Accuracy against trees, one panel a data set: up and to the left is better."""
    names = list(datasets())
    figure, axes = plt.subplots(1, len(names), figsize=(3.6 * len(names), 3.8), layout="constrained")
    for ax, name in zip(axes, names, strict=True):
        for method, style in STYLES.items():
            ax.plot(SIZES, [100 * found[name, method, size][0] for size in SIZES], label=method, **style)
        ax.set(title=name, xlabel="trees", xscale="log")
        ax.set_xticks(SIZES, [str(size) for size in SIZES])
        ax.minorticks_off()
        ax.grid(alpha=0.3)
        ax.spines[["top", "right"]].set_visible(False)
    axes[0].set_ylabel("accuracy on rows not seen, %")
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=len(STYLES), frameon=False)
    figure.suptitle(f"The same number of trees of depth {DEPTH}, tuned alike")
    PICTURE.parent.mkdir(exist_ok=True)
    figure.savefig(PICTURE, dpi=130)


def main() -> int:
    warnings.filterwarnings("ignore", message="X does not have valid feature names", category=UserWarning)
    found = compare()
    print_table(found)
    draw(found)
    print(f"picture: {PICTURE}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
