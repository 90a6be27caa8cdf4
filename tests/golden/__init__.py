"""Model files of every kind, each with rows and the predictions for them when it was saved."""

import json
from pathlib import Path

import numpy as np
import pandas as pd

FOLDER = Path(__file__).parent / "models"
FROZEN = Path(__file__).parent / "frozen.json.gz"
"""What users see, as ``python -m tests.golden`` compares it; no model."""


def model_paths():
    return sorted(path for path in FOLDER.glob("*.json*") if ".expected." not in path.name)


def label(path):
    return path.name


def expected(path):
    """The rows as the model was given them, and its answers."""
    name = path.name.split(".")[0]
    answers = json.loads((path.parent / f"{name}.expected.json").read_text())
    return as_rows(answers.pop("rows"), answers.pop("columns"), answers.pop("categorical")), answers


def as_rows(rows, columns, categorical):
    if columns is None:
        return np.array(rows, dtype=float)
    frame = pd.DataFrame(rows, columns=columns)
    kinds = {name: "category" if name in categorical else float for name in columns}
    return frame.astype(kinds)
