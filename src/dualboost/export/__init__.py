"""Writes fitted ensembles in the formats and languages of others; one file for each."""

from .c import to_c
from .lightgbm import to_lightgbm
from .onnx import to_onnx
from .sql import to_sql

__all__ = ["to_c", "to_lightgbm", "to_onnx", "to_sql"]
