"""The bar appears on a terminal, shows the figures, and is optional."""

import io
import sys

import pytest

from dualboost.boosting.history import Iteration
from dualboost.boosting.observers import ProgressBar
from dualboost.errors import MissingDependencyWarning

ITERATION = Iteration(1, 12.5, 1e-9, 0.0, 0.0, 0.9, 0.8, 1, 0.0, 0.0)


class Terminal(io.StringIO):
    def isatty(self):
        return True


def shown(monkeypatch, stream, enabled):
    monkeypatch.setattr(sys, "stderr", stream)
    with ProgressBar(1, enabled) as bar:
        bar(ITERATION)
    return stream.getvalue()


def test_figures_on_a_terminal(monkeypatch):
    text = shown(monkeypatch, Terminal(), enabled=True)
    for figure in ("objective=12.5", "gap=1e-09", "accuracy=0.900", "validation=0.800", "1/1"):
        assert figure in text


def test_nothing_when_piped_or_switched_off(monkeypatch):
    assert shown(monkeypatch, io.StringIO(), enabled=True) == ""
    assert shown(monkeypatch, Terminal(), enabled=False) == ""


def test_without_tqdm_the_fit_goes_on(monkeypatch):
    monkeypatch.setitem(sys.modules, "tqdm", None)
    with pytest.warns(MissingDependencyWarning, match="pip install 'tqdm"):
        assert shown(monkeypatch, Terminal(), enabled=True) == ""
