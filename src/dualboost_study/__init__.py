"""The published evaluation, rerun on one machine: data, preparation, protocol, runner and results."""

from .protocol import Cell, Preset, load_preset
from .results import read_results
from .runner import run_study

__all__ = ["Cell", "Preset", "load_preset", "read_results", "run_study"]
