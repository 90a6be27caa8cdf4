"""Bytes of exported models at equal accuracy: ours against those of XGBoost and LightGBM.

    python benchmarks/exports.py --data FOLDER [--sets adult compas waveform] [--splits 3] [--out out/exports.csv]

FOLDER holds ``<name>.csv.gz`` files with a ``target`` column. Ours has 20 trees of depth 3, its C tuned on three folds
of the training rows (70 %, at most 10,000). A rival has trees of the same depth and the learning rate with the least
log loss on the same folds, and as few trees as reach the mean accuracy of ours on the other rows; the most tried is
400. Bytes are means over the splits.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import onnxmltools
import pandas as pd
from equal_trees_data import Split, make_split
from equal_trees_methods import CLASSIFIER, RATES, LightGBM, Rival, XGBoost, by_class, log_loss
from onnxmltools.convert.common.data_types import FloatTensorType
from tqdm import tqdm

from dualboost.export.files import FORMATS

DEPTH, OUR_TREES, MOST_ROWS = 3, 20, 10_000
SIZES = (*range(2, 60, 2), *range(60, 201, 10), *range(225, 401, 25))
"""The numbers of a rival's trees that are tried."""
RIVALS: dict[str, type[Rival]] = {"XGBoost": XGBoost, "LightGBM": LightGBM}


def accuracy(split: Split, probabilities: np.ndarray) -> float:
    return float(np.mean(by_class(probabilities).argmax(axis=1) == split.y_test))


def our_bytes(model: Any) -> dict[str, int]:
    """Of each file, and of the object that gcc makes of C: its code and constants."""
    found = {output_transform: len(one.content(model)) for output_transform, one in FORMATS.items()}
    with tempfile.TemporaryDirectory() as folder:
        source, compiled = Path(folder, "model.c"), Path(folder, "model.o")
        source.write_bytes(FORMATS[".c"].content(model))
        subprocess.run(["gcc", "-std=c99", "-Os", "-c", source, "-o", compiled], check=True)
        sections = subprocess.run(["size", compiled], check=True, capture_output=True, text=True).stdout
    text, data, *_ = sections.splitlines()[1].split()
    return found | {"compiled": int(text) + int(data)}


def rival_bytes(rival: Rival, n_trees: int, n_features: int) -> dict[str, int]:
    """Of the library's own files, and of the ONNX model that onnxmltools makes, in single precision."""
    inputs = [("X", FloatTensorType([None, n_features]))]
    model = rival._model
    if isinstance(rival, XGBoost):
        model = model[:n_trees]
        own = {f".{form}": len(model.save_raw(form)) for form in ("json", "ubj")}
        converted = onnxmltools.convert_xgboost(model, initial_types=inputs, target_opset=15)
    else:
        text = model.model_to_string(num_iteration=n_trees)
        own, model = {".txt": len(text)}, type(model)(model_str=text)
        converted = onnxmltools.convert_lightgbm(model, initial_types=inputs, target_opset=15)
    return own | {".onnx": len(converted.SerializeToString())}


def staged(rival: type[Rival], split: Split) -> tuple[list[Rival], np.ndarray, np.ndarray]:
    """A long fit for each rate, the rate chosen for each number of trees, and its accuracy on the other rows."""
    losses = np.zeros((len(RATES), len(SIZES)))
    for train, held_out in split.folds:
        rows = rival(split.X[train], split.y[train], 2)
        for i, rate in enumerate(RATES):
            rows.fit(DEPTH, rate, max(SIZES))
            losses[i] += [log_loss(split.y[held_out], p) for p in rows.staged(split.X[held_out], SIZES)]
    models = []
    for rate in RATES:
        models.append(rival(split.X, split.y, 2))
        models[-1].fit(DEPTH, rate, max(SIZES))
    chosen = losses.argmin(axis=0)
    reached = [
        accuracy(split, models[best].staged(split.X_test, [size])[0]) for best, size in zip(chosen, SIZES, strict=True)
    ]
    return models, chosen, np.array(reached)


def compare(folder: Path, name: str, n_splits: int) -> pd.DataFrame:
    """A row for each library."""
    splits = [make_split(folder, name, seed, MOST_ROWS) for seed in range(n_splits)]
    ours = [CLASSIFIER.model(DEPTH, OUR_TREES, split.folds, split.seed).fit(split.X, split.y) for split in splits]
    goal = float(
        np.mean([accuracy(split, m.predict_proba(split.X_test)) for m, split in zip(ours, splits, strict=True)])
    )
    sizes = pd.DataFrame([our_bytes(model) for model in ours]).mean().round()
    rows = [{"data": name, "model": "dualboost", "accuracy": goal, "trees": OUR_TREES, **sizes}]
    for label, rival in RIVALS.items():
        found = [staged(rival, split) for split in splits]
        means = np.mean([reached for _, _, reached in found], axis=0)
        place = int(np.argmax(means >= goal)) if (means >= goal).any() else len(SIZES) - 1
        sizes = (
            pd.DataFrame(
                [rival_bytes(models[chosen[place]], SIZES[place], splits[0].X.shape[1]) for models, chosen, _ in found]
            )
            .mean()
            .round()
        )
        rows.append({"data": name, "model": label, "accuracy": means[place], "trees": SIZES[place], **sizes})
    return pd.DataFrame(rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=os.environ.get("DUALBOOST_DATA"))
    parser.add_argument("--sets", nargs="+", default=["adult", "compas", "waveform"])
    parser.add_argument("--splits", type=int, default=3)
    parser.add_argument("--out", type=Path, default=Path("out/exports.csv"))
    given = parser.parse_args()
    if given.data is None:
        parser.error("--data: name the folder with the data sets")
    table = pd.concat([compare(given.data, name, given.splits) for name in tqdm(given.sets, disable=None)])
    given.out.parent.mkdir(parents=True, exist_ok=True)
    table.to_csv(given.out, index=False)
    shown = table.assign(accuracy=(100 * table["accuracy"]).round(2))
    print(shown.to_string(index=False, na_rep="", float_format=lambda value: f"{value:,.10g}"))


if __name__ == "__main__":
    main()
