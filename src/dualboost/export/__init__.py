"""Exports of fitted ensembles, one file for each language or format, and the table of formats by file ending."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from .c import to_c
from .lightgbm import to_lightgbm
from .onnx import to_onnx
from .sql import to_sql

__all__ = ["to_c", "to_lightgbm", "to_onnx", "to_sql"]


class Format(NamedTuple):
    """The content of a file, given a model and options."""

    content: Callable[..., bytes]
    options: tuple[str, ...] = ()


FORMATS = {
    ".c": Format(lambda model, **options: to_c(model, **options).encode(), ("name",)),
    ".sql": Format(
        lambda model, **options: f"{to_sql(model, **options)}\n".encode(), ("probability_of", "quantile", "end")
    ),
    ".onnx": Format(lambda model: bytes(to_onnx(model).SerializeToString())),
    ".txt": Format(lambda model: str(to_lightgbm(model).model_to_string()).encode()),
}
"""By the ending of a file's name; ".txt" is the text of a LightGBM model."""
