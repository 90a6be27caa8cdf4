"""Train the six formulations and three familiar libraries on data that needs no network; print a table, draw a picture.

Run as ``make demo``. Every model gets at most 100 stumps; nothing is tuned.
"""

from __future__ import annotations

import sys
import time
import warnings
from dataclasses import dataclass
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from lightgbm import LGBMClassifier
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import AdaBoostClassifier
from sklearn.model_selection import train_test_split
from sklearn.tree import DecisionTreeClassifier
from tqdm import tqdm
from xgboost import XGBClassifier

from dualboost import DualBoostClassifier
from dualboost.datasets import make_ringnorm, make_twonorm, make_waveform
from dualboost.formulations import FORMULATIONS, STUDIED

N_TREES = 100
PICTURE = Path("out/demo.png")


@dataclass(frozen=True)
class Result:
    dataset: str
    method: str
    accuracy: float
    trees: int
    seconds: float


def datasets() -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Features and labels in {0, 1}."""
    made = {
        "breast cancer": load_breast_cancer(return_X_y=True),
        "ringnorm": make_ringnorm(random_state=0),
        "twonorm": make_twonorm(random_state=0),
        "waveform": make_waveform(random_state=0),
    }
    return {name: (X, (y > 0).astype(int)) for name, (X, y) in made.items()}


def models() -> dict[str, object]:
    ours = {FORMULATIONS[name].title: DualBoostClassifier(name, max_depth=1, max_trees=N_TREES) for name in STUDIED}
    stump = DecisionTreeClassifier(max_depth=1)
    return ours | {
        "AdaBoost": AdaBoostClassifier(stump, n_estimators=N_TREES, random_state=0),
        "XGBoost": XGBClassifier(n_estimators=N_TREES, max_depth=1, n_jobs=1, random_state=0),
        "LightGBM": LGBMClassifier(
            n_estimators=N_TREES, max_depth=1, num_leaves=2, n_jobs=1, verbose=-1, random_state=0
        ),
    }


def compare() -> list[Result]:
    results = []
    jobs = [(data, method) for data in datasets() for method in models()]
    with tqdm(jobs, unit="fit", disable=None) as bar:
        for name, method in bar:
            bar.set_postfix_str(f"{name}, {method}")
            X, y = datasets()[name]
            X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.4, random_state=0, stratify=y)
            model = models()[method]
            started = time.perf_counter()
            model.fit(X_train, y_train)
            seconds = time.perf_counter() - started
            trees = model.n_trees_ if isinstance(model, DualBoostClassifier) else N_TREES
            results.append(Result(name, method, float(np.mean(model.predict(X_test) == y_test)), trees, seconds))
    return results


def print_table(results: list[Result]) -> None:
    """One row a method; for each data set its test accuracy, trees used and seconds."""
    names = list(dict.fromkeys(result.dataset for result in results))
    methods = list(dict.fromkeys(result.method for result in results))
    cells = {(result.dataset, result.method): result for result in results}
    print("test accuracy / trees used / seconds to fit, stumps, at most", N_TREES)
    print(f"{'':12}" + "".join(f"{name:>24}" for name in [*names, "mean"]))
    for method in methods:
        row = [cells[name, method] for name in names]
        mean = Result(
            "mean", method, *(float(np.mean([getattr(r, k) for r in row])) for k in ("accuracy", "trees", "seconds"))
        )
        figures = [f"{r.accuracy:.3f} {r.trees:6.0f} {r.seconds:8.2f} s" for r in [*row, mean]]
        print(f"{method:12}" + "".join(f"{figure:>24}" for figure in figures))


def draw(results: list[Result]) -> None:
    """Accuracy against trees used: up and to the left is better."""
    names = list(dict.fromkeys(result.dataset for result in results))
    methods = list(dict.fromkeys(result.method for result in results))
    ours = {FORMULATIONS[name].title for name in STUDIED}
    colours = dict(zip(methods, plt.colormaps["tab10"].colors, strict=False))
    figure, axes = plt.subplots(1, len(names), figsize=(4.0 * len(names), 4.2), layout="constrained")
    for ax, name in zip(axes, names, strict=True):
        for result in (r for r in results if r.dataset == name):
            marker, size = ("o", 70) if result.method in ours else ("X", 80)
            ax.scatter(result.trees, result.accuracy, s=size, marker=marker, color=colours[result.method],
                       edgecolor="white", linewidth=0.8, label=result.method, zorder=3)  # fmt: skip
        ax.set(title=name, xlabel="trees used", xlim=(0, N_TREES + 5))
        ax.grid(alpha=0.3)
    axes[0].set_ylabel("test accuracy")
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=len(methods), frameon=False)
    figure.suptitle("Totally corrective boosting (circles) uses fewer of its 100 stumps than the others (crosses)")
    PICTURE.parent.mkdir(exist_ok=True)
    figure.savefig(PICTURE, dpi=130)


def main() -> int:
    warnings.filterwarnings("ignore", message="X does not have valid feature names", category=UserWarning)
    results = compare()
    print_table(results)
    draw(results)
    print(f"picture: {PICTURE}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
