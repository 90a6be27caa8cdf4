"""Prints what commands report: text for people, or JSON for scripts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click
import numpy as np

from ..errors import InvalidParameterError
from ..escaping import printable
from ..model_file.writing import model_text
from .fitting import STANDARD

OF_CLASSES = ("true_", "predicted_")
"""Figures whose name ends with that of a class."""


def echo(text: str = "", nl: bool = True, err: bool = False) -> None:
    """Print text in which names from tables and files stand: it may break lines, and controls nothing else."""
    click.echo(printable(text, kept="\n"), nl=nl, err=err)


def require_place(out: Path, *inputs: Path) -> None:
    """Raise an error, before any work is done, if ``out`` cannot be written or would replace an input."""
    if out == STANDARD:
        return
    if out.resolve() in [path.resolve() for path in inputs]:
        raise InvalidParameterError(f"--out {out} is an input; choose another file.")
    if out.is_dir():
        raise InvalidParameterError(f"--out {out} is a folder; name a file.")
    if not out.resolve().parent.is_dir():
        raise InvalidParameterError(f"--out {out}: there is no folder {out.parent}.")


def write_model(model: Any, out: Path) -> None:
    """Write a model of ours to its file, or to standard output."""
    if out == STANDARD:
        echo(model_text(model), nl=False)
    else:
        model.save(out)


def report(figures: dict[str, Any], as_json: bool, to_stderr: bool = False) -> None:
    """Print one figure on each line, or one JSON object with the same names."""
    if as_json:
        echo(as_json_text(figures), err=to_stderr)
        return
    lines = [(printable(_spelled(name)), printable(_readable(value))) for name, value in figures.items()]
    width = max(len(name) for name, _ in lines) + 2
    for name, value in lines:
        echo(f"{name:{width}}{value}", err=to_stderr)


def _spelled(name: str) -> str:
    """The name with spaces; that of a class stays as it is."""
    return name.replace("_", " ", 1 if name.startswith(OF_CLASSES) else -1)


def as_json_text(value: Any) -> str:
    """JSON, with null for numbers that are not finite."""
    return json.dumps(_plain(value), allow_nan=False)


def _readable(value: Any) -> str:
    if isinstance(value, (float, np.floating)):
        return f"{value:.4g}"
    if isinstance(value, dict):
        return ", ".join(f"{_of_class(name)}: {_readable(part)}" for name, part in value.items())
    if isinstance(value, np.ndarray) and value.ndim:
        return ", ".join(map(_readable, value))
    return str(value)


def _of_class(name: str) -> str:
    return _spelled(name) if name.startswith(OF_CLASSES) else name


def _plain(value: Any) -> Any:
    if isinstance(value, (np.generic, np.ndarray)):
        value = value.tolist()
    if isinstance(value, dict):
        return {name: _plain(part) for name, part in value.items()}
    if isinstance(value, list):
        return [_plain(part) for part in value]
    return None if isinstance(value, float) and not np.isfinite(value) else value
