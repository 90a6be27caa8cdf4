"""Builds graphs of ONNX: a step returns the name of its result, by which further steps refer to it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import MissingDependencyError, UnsupportedModelError
from ..extras import how_to_install
from .reading import require_text

OPSET, ML_OPSET, IR_VERSION = 18, 5, 10
"""The versions of operators; trees in double precision came with this ``ML_OPSET``."""
ML_DOMAIN = "ai.onnx.ml"
TYPES = {"f": "DOUBLE", "i": "INT64", "b": "BOOL", "O": "STRING", "U": "STRING"}
"""The types of ONNX, by the kind of NumPy's."""
INT64, DOUBLE = 7, 11
"""The numbers of ONNX for these types."""


def onnx_package() -> Any:
    try:
        import onnx
    except ImportError as error:
        raise MissingDependencyError(f"to_onnx needs the package onnx: {how_to_install('onnx')}.") from error
    return onnx


class Graph:
    """Steps, constants, inputs and outputs.

    All of these share one space of names: constants and results begin with ``_own``, as none of ``inputs`` does.
    """

    def __init__(self, inputs: Sequence[str] = ()) -> None:
        self._own = "_"
        while any(name.startswith(self._own) for name in inputs):
            self._own += "_"
        self._onnx = onnx_package()
        self._nodes: list[Any] = []
        self._constants: list[Any] = []
        self._inputs: list[Any] = []
        self._outputs: list[Any] = []

    def tensor(self, values: NDArray[Any], name: str = "") -> Any:
        if values.dtype.kind == "O":
            for text in values.ravel():
                require_text(text, "class or category", "ONNX")
        return self._onnx.numpy_helper.from_array(values, name)

    def constant(self, values: Any) -> str:
        """Numbers as doubles; whole numbers, truth values and text as they are."""
        array = np.asarray(values)
        wanted = {"i": np.int64, "f": np.float64, "U": object}.get(array.dtype.kind, array.dtype)
        self._constants.append(self.tensor(array.astype(wanted), f"{self._own}c{len(self._constants)}"))
        return str(self._constants[-1].name)

    def step(self, operator: str, *inputs: str, domain: str = "", **attributes: Any) -> str:
        return self.steps(operator, 1, *inputs, domain=domain, **attributes)[0]

    def steps(self, operator: str, n_results: int, *inputs: str, domain: str = "", **attributes: Any) -> list[str]:
        """A step with several results."""
        results = [f"{self._own}r{len(self._nodes)}_{k}" for k in range(n_results)]
        self._nodes.append(self._onnx.helper.make_node(operator, inputs, results, domain=domain, **attributes))
        return results

    def input(self, name: str, kind: str, width: int) -> str:
        """A matrix with a row for each row of the data."""
        if not name:
            raise UnsupportedModelError(
                "A column has the empty name, which ONNX does not have: rename it, and fit again."
            )
        require_text(name, "column", "ONNX")
        self._inputs.append(self._info(name, kind, ["rows", width]))
        return name

    def output(self, name: str, result: str, kind: str, *widths: int) -> None:
        if any(one.name == name for one in self._inputs):
            raise UnsupportedModelError(
                f"The column {name!r} has the name of an output of the model in ONNX: rename it, and fit again."
            )
        self._nodes.append(self._onnx.helper.make_node("Identity", [result], [name]))
        self._outputs.append(self._info(name, kind, ["rows", *widths]))

    def _info(self, name: str, kind: str, shape: list[str | int]) -> Any:
        element = getattr(self._onnx.TensorProto, TYPES[kind])
        return self._onnx.helper.make_tensor_value_info(name, element, shape)

    def model(self, producer: str, version: str) -> Any:
        make = self._onnx.helper
        graph = make.make_graph(self._nodes, producer, self._inputs, self._outputs, self._constants)
        versions = [make.make_opsetid("", OPSET), make.make_opsetid(ML_DOMAIN, ML_OPSET)]
        return make.make_model(
            graph, opset_imports=versions, ir_version=IR_VERSION, producer_name=producer, producer_version=version
        )
