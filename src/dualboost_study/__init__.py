"""The published evaluation, rerun on one machine: data, preparation, protocol, runner and results."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .protocol import Cell, Preset, load_preset
    from .results import read_results
    from .runner import run_study

__all__ = ["Cell", "Preset", "load_preset", "read_results", "run_study"]
_MODULES = {
    "Cell": "protocol",
    "Preset": "protocol",
    "load_preset": "protocol",
    "read_results": "results",
    "run_study": "runner",
}
"""Names are imported when they are first used, so that the help of ``dualboost`` imports no library."""


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f".{_MODULES[name]}", __name__), name)
