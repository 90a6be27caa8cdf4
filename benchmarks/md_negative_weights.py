"""MD-Boost's negative sample weights: flip the label (our default) or clip at zero (as the authors' code does)?

    python benchmarks/md_negative_weights.py [FOLDER]

FOLDER holds ``<name>.csv.gz`` files with a ``target`` column; without one, artificial data sets are used.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.model_selection import train_test_split

from dualboost import DualBoostClassifier
from dualboost.datasets import make_ringnorm, make_twonorm, make_waveform
from dualboost.formulations import MDBoost

MOST_ROWS = 6000


def datasets(folder: str | None):
    if folder is None:
        for make in (make_ringnorm, make_twonorm, make_waveform):
            yield make.__name__.removeprefix("make_"), *make(random_state=0)
        return
    for path in sorted(Path(folder).glob("*.csv.gz")):
        frame = pd.read_csv(path)
        frame = frame.sample(min(len(frame), MOST_ROWS), random_state=0)
        y = frame.pop("target").to_numpy()
        text = [name for name in frame if frame[name].dtype.kind not in "biuf"]
        frame = frame.drop(columns=[name for name in text if frame[name].nunique() > 100])
        yield path.name.removesuffix(".csv.gz"), frame.astype({n: "category" for n in text if n in frame}), y


def main(folder: str | None = None) -> None:
    print("test accuracy and trees used, flip / clip")
    differences = []
    for name, X, y in datasets(folder):
        split = train_test_split(X, y, test_size=0.3, random_state=0, stratify=y)
        for depth in (1, 3):
            for C in (3.0, 10.0, 30.0):
                models = {
                    way: DualBoostClassifier(MDBoost(C, way), max_depth=depth).fit(split[0], split[2])
                    for way in ("flip", "clip")
                }
                scores = {way: model.score(split[1], split[3]) for way, model in models.items()}
                trees = {way: model.n_trees_ for way, model in models.items()}
                differences.append((depth, C, scores["flip"] - scores["clip"], trees["flip"] - trees["clip"]))
                print(f"{name:20} depth {depth} C {C:4.0f}   {scores['flip']:.3f} / {scores['clip']:.3f}   "
                      f"{trees['flip']:3d} / {trees['clip']:3d}", flush=True)  # fmt: skip
    table = pd.DataFrame(differences, columns=["depth", "C", "accuracy", "trees"])
    print("\nflip minus clip, mean over data sets")
    print(table.groupby(["depth", "C"]).mean().round(4).to_string())
    print(table[["accuracy", "trees"]].mean().round(4).to_string(), f"\nwins {np.sum(table.accuracy > 0)}, losses",
          np.sum(table.accuracy < 0))  # fmt: skip


if __name__ == "__main__":
    main(*sys.argv[1:2])
