"""Where vectors that are as long as the rows live: in memory, or on a GPU.

NumPy's functions work on arrays of either kind, since CuPy's arrays say themselves what to do (``__array_function__``).
CuPy refuses an array of each kind in one operation, so arrays go from one place to the other only where ``put`` and
``host`` say so. Numbers, and arrays that are not as long as the rows, are in memory.
"""

from __future__ import annotations

from types import ModuleType
from typing import Any, Protocol

import numpy as np

from ..errors import InvalidDataError, InvalidParameterError, MissingDependencyError
from ..extras import how_to_install


class Device(Protocol):
    """A place for arrays."""

    name: str
    """As users name it."""
    is_memory: bool
    """Whether arrays there are NumPy's."""
    xp: Any
    """The namespace that creates arrays there."""

    def put(self, values: Any) -> Any:
        """An array there, given one of either place."""

    def host(self, values: Any) -> Any:
        """An array or a number in memory, given one of either place."""

    def shared(self, values: Any) -> Any:
        """An array there as other libraries read it."""

    @property
    def of_xgboost(self) -> str:
        """What XGBoost calls it."""


class Memory:
    """The memory of the machine: NumPy's arrays."""

    name: str = "cpu"
    is_memory: bool = True
    xp: Any = np

    def put(self, values: Any) -> Any:
        return values

    host = shared = put

    @property
    def of_xgboost(self) -> str:
        return "cpu"


class Cuda:
    """The GPU that CuPy works on: ``cupy.cuda.Device(1).use()`` chooses another one."""

    name: str = "cuda"
    is_memory: bool = False

    def __init__(self, cupy: ModuleType) -> None:
        self.xp: Any = cupy

    def put(self, values: Any) -> Any:
        return self.xp.asarray(values)

    def host(self, values: Any) -> Any:
        return self.xp.asnumpy(values) if isinstance(values, self.xp.ndarray) else values

    def shared(self, values: Any) -> Any:
        return values

    @property
    def of_xgboost(self) -> str:
        """Which has to be told the GPU that CuPy works on, and takes the first one if it is not."""
        return f"cuda:{self.xp.cuda.Device().id}"


MEMORY = Memory()
DEVICES = [Memory.name, Cuda.name]
"""The names that users may give."""


def device_named(name: str) -> Device:
    """The place of that name; raises an error of ours where it is not to be had."""
    if name == Memory.name:
        return MEMORY
    try:
        import cupy
    except ImportError as error:
        raise MissingDependencyError(f"device='cuda' needs CuPy: {how_to_install('cupy')}.") from error
    try:
        float(cupy.ones(2) @ cupy.ones(2))  # asks for a GPU, its driver and CUDA's libraries
    except Exception as error:  # of CuPy's many kinds
        said = " ".join(str(error).split())
        raise InvalidParameterError(
            f"device='cuda' needs a GPU that CuPy can work on, and it answers: {said}. Use device='cpu'."
        ) from error
    return Cuda(cupy)


def in_memory(values: Any) -> Any:
    """What a user passed: arrays of CuPy, and columns of cuDF, as NumPy's; entries that are masked as missing."""
    if isinstance(values, np.ma.MaskedArray):
        return _without_mask(values)
    if not hasattr(values, "__cuda_array_interface__"):
        return values
    fetch = getattr(values, "to_numpy", None) or getattr(values, "get", None)
    if fetch is None:
        raise InvalidDataError(
            f"A {type(values).__name__} on a GPU cannot be read: pass an array of CuPy, cupy.asarray(values), or one "
            "of NumPy."
        )
    return fetch()


def _without_mask(values: Any) -> Any:
    if not np.ma.is_masked(values):
        return values.data
    is_number = values.dtype.kind in "biuf"
    return values.astype(float if is_number else object).filled(np.nan if is_number else None)
