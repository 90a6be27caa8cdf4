"""Damaged files: a model that predicts sensibly, or one error of ours, soon and in little memory."""

import random
import resource
import sys
import time
import warnings

import numpy as np
import pytest
from sklearn.base import is_regressor

from dualboost import load_model
from dualboost.errors import ModelFormatError
from dualboost.loading import read_model
from dualboost.model_file.checks import decode, read_file
from dualboost.model_file.writing import model_text
from dualboost.thinning import ThinnedTreesClassifier

from ..golden import FOLDER, model_paths
from ..thoroughness import how_many
from .mutations import Mutator

N_FILES, N_SHARES = how_many(2_000, 20_000), how_many(2, 8)
N_ON_DISK = how_many(100, 400)
MOST_SECONDS, MOST_BYTES = 1.0, 2**30
UNIT = 1 if sys.platform == "darwin" else 1024
"""What ``getrusage`` counts memory in."""


@pytest.fixture(scope="module")
def mutators():
    return [Mutator(read_file(path)) for path in model_paths()]


def require_sensible(model, rng):
    """Whatever was loaded answers with numbers in range and its own classes."""
    n = model.n_features_in_
    X = rng.normal(size=(6, n)) if n < 1000 else np.zeros((1, n))
    X[:, :8] = np.where(rng.random(X[:, :8].shape) < 0.2, np.nan, np.round(2.0 * X[:, :8]))
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "X does not have valid feature names")
        predicted = model.predict(X)
        if is_regressor(model):
            assert np.isfinite(predicted).all()
            if model.fitted_.target.n_outputs > 1:
                assert (np.diff(model.predict_quantiles(X)) >= 0).all()
                assert (np.diff(model.predict_interval(X)) >= 0).all()
            return
        margins, probabilities = model.decision_function(X), model.predict_proba(X)
    assert np.isfinite(margins).all()
    is_normalised = not isinstance(model, ThinnedTreesClassifier) and model.fitted_.ensemble.is_normalised
    assert not is_normalised or (np.abs(margins) <= 1.0).all()
    assert ((probabilities >= 0.0) & (probabilities <= 1.0)).all()
    assert probabilities.shape == (len(X), len(model.classes_))
    np.testing.assert_allclose(probabilities.sum(axis=1), 1.0)
    assert set(predicted.tolist()) <= set(model.classes_.tolist())


def load(read, damaged):
    """The model, or None for an error of ours; and the seconds of this process that it took."""
    started = time.process_time()
    try:
        return read(damaged), time.process_time() - started
    except ModelFormatError:
        return None, time.process_time() - started


def read_damaged(mutators, seed, n_files):
    """The share of damaged files that are loaded, all of them sensible, and the seconds of the slowest file."""
    random_choices, numbers = random.Random(seed), np.random.default_rng(seed)
    n_loaded, slowest = 0, 0.0
    for number in range(n_files):
        damaged = random_choices.choice(mutators).mutated(random_choices)
        model, seconds = load(lambda data: read_model(decode(data)), damaged)
        slowest = max(slowest, seconds)
        if model is not None:
            n_loaded += 1
            require_sensible(model, numbers)
            if number % 10 == 0:
                text = model_text(model)
                assert model_text(read_model(text)) == text
    return n_loaded / n_files, slowest


@pytest.mark.parametrize("share", range(N_SHARES))
def test_damaged_files(share, mutators):
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    loaded, slowest = read_damaged(mutators, share, N_FILES // N_SHARES)
    assert slowest < MOST_SECONDS
    assert 0.05 < loaded < 0.6
    assert (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * UNIT < MOST_BYTES


OF_NUMBERS = ("numbers.json", "huber.json", "counts.json", "tuned_numbers.json", "quantiles.json")


@pytest.mark.parametrize("names", [("classes.json", "tuned_classes.json"), OF_NUMBERS], ids=["classes", "numbers"])
def test_damaged_files_of_several_classes_and_of_numbers(names):
    mutators = [Mutator(read_file(FOLDER / name)) for name in names]
    loaded, slowest = read_damaged(mutators, N_SHARES + 1, N_FILES // 2)
    assert slowest < MOST_SECONDS
    assert 0.05 < loaded < 0.6


def test_damaged_files_on_disk(mutators, tmp_path):
    random_choices, numbers = random.Random(N_SHARES), np.random.default_rng(N_SHARES)
    path = tmp_path / "model.json"
    n_loaded = 0
    for _ in range(N_ON_DISK):
        path.write_bytes(random_choices.choice(mutators).mutated(random_choices))
        model, seconds = load(load_model, path)
        assert seconds < MOST_SECONDS
        if model is not None:
            n_loaded += 1
            require_sensible(model, numbers)
    assert 0 < n_loaded < N_ON_DISK
