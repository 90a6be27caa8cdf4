"""Model files of every kind, each with rows and what the model answered for them when it was saved."""

import json
from pathlib import Path

import numpy as np
import pandas as pd

FOLDER = Path(__file__).parent
"""The files of version 1."""
NEWEST = FOLDER / "version_2"
FROZEN = FOLDER / "frozen.json.gz"
"""What users see, as ``python -m tests.golden`` compares it; no model."""


def model_paths(folder=None):
    """The models of one version, or of all."""
    found = FOLDER.rglob("*.json*") if folder is None else folder.glob("*.json*")
    return sorted(path for path in found if ".expected." not in path.name and path != FROZEN)


def label(path):
    return str(path.relative_to(FOLDER))


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
