"""Damaged model files and tables: read to something sensible, or refused by an error of ours in one line."""

import random
import tempfile
import time
import warnings
from functools import cache
from pathlib import Path

import numpy as np

from dualboost import DualBoostClassifier, DualBoostRegressor
from dualboost.commands.tables import features_for, read_training
from dualboost.data.table_files import read_table
from dualboost.errors import DualBoostError, ModelFormatError
from dualboost.loading import read_model
from dualboost.model_file.checks import decode, read_file
from dualboost.model_file.writing import model_text

from ..commands.test_fuzz import mutated, table
from ..golden import model_paths
from ..model_file.mutations import Mutator
from ..model_file.test_fuzz import require_sensible
from .sane import require

LEARNERS = {"classification": DualBoostClassifier, "regression": DualBoostRegressor}
SECONDS_A_MEGABYTE, AT_LEAST = 10.0, 1.0
"""What reading may take of this process's time: in proportion to the size, and for the smallest files."""


@cache
def mutators():
    paths = {path.name: path for path in [*model_paths(), *model_paths()]}
    return [Mutator(read_file(path)) for path in sorted(paths.values())]


def damaged_file(seed):
    chosen = random.Random(seed)
    return chosen.choice(mutators()).mutated(chosen)


def read_damaged_file(seed):
    """Whether the file was refused, and for how many seconds it was read."""
    data, started = damaged_file(seed), time.process_time()
    try:
        model = read_model(decode(data))
    except ModelFormatError as error:
        return _refused(error, data, started)
    seconds = _in_proportion(data, started)
    require_sensible(model, np.random.default_rng(seed))
    if seed % 10 == 0:
        text = model_text(model)
        require(model_text(read_model(text)) == text, "the file is another one when it is written again")
    return False, seconds, len(data)


def _in_proportion(data, started):
    seconds = time.process_time() - started
    most = max(AT_LEAST, SECONDS_A_MEGABYTE * len(data) / 2**20)
    require(seconds <= most, f"{seconds:.2f} s for {len(data)} bytes")
    return seconds


def _refused(error, data, started):
    require("\n" not in str(error), "the message has more than a line")
    return True, _in_proportion(data, started), len(data)


@cache
def reader():
    """A folder to write tables to, and a model that predicts from them."""
    folder = tempfile.TemporaryDirectory()
    path = Path(folder.name, "data.csv")
    path.write_bytes(table(random.Random(0)))
    model = DualBoostClassifier(max_trees=2).fit(*read_training(path, "y")[:2])
    return folder, path, model, [str(name) for name in model.feature_names_in_]


def damaged_table(seed):
    chosen = random.Random(seed)
    return mutated(chosen, table(chosen))


def read_damaged_table(seed):
    """Read to fit and to predict in turn; one in twenty is fitted."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        _, path, model, names = reader()
        data = damaged_table(seed)
        path.write_bytes(data)
        started = time.process_time()
        try:
            if seed % 2:
                predicted = model.predict(features_for(names, read_table(path, ["job"]), path))
                require(set(predicted.tolist()) <= set(model.classes_.tolist()), "predicts no class")
            else:
                features, target, task, _ = read_training(path, "y")
            seconds = _in_proportion(data, started)
            if seed % 20 == 0:
                LEARNERS[task](max_trees=2).fit(features, target)
        except DualBoostError as error:
            return _refused(error, data, time.process_time() if seed % 20 == 0 else started)
    return False, seconds, len(data)
