from functools import partial

import numpy as np
import pandas as pd
import pytest

from dualboost.datasets import make_twonorm

from ..command_line import dualboost, started


@pytest.fixture
def run(tmp_path):
    """Runs a command in a folder of its own."""
    return partial(dualboost, cwd=tmp_path)


@pytest.fixture
def start(tmp_path):
    """Starts a process that runs a command in a folder of its own."""
    return partial(started, cwd=tmp_path)


@pytest.fixture
def tables(tmp_path):
    """``train.csv`` and ``test.csv`` with numbers, gaps, a category and labels in words."""
    X, y = make_twonorm(400, random_state=0)
    frame = pd.DataFrame(X[:, :4], columns=list("abcd"))
    frame["a"] = frame["a"].where(np.arange(400) % 9 > 0)
    frame["side"] = np.where(X[:, 4] > 0, "right", "left")
    frame["label"] = np.where(y > 0, "yes", "no")
    frame[:300].to_csv(tmp_path / "train.csv", index=False)
    frame[300:].to_csv(tmp_path / "test.csv", index=False)
    return tmp_path
