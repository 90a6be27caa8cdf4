"""Where vectors that are as long as the rows live: in memory, or on a GPU.

NumPy's functions work on arrays of either kind, since CuPy's arrays say themselves what to do (``__array_function__``).
CuPy refuses an array of each kind in one operation, so arrays go from one place to the other only where ``put`` and
``host`` say so. Numbers, and arrays that are not as long as the rows, are in memory.
"""

from __future__ import annotations

from types import ModuleType
from typing import Any, Protocol

import numpy as np

from ..errors import InvalidParameterError, MissingDependencyError
from ..extras import how_to_install


class Device(Protocol):
    """A place for arrays."""

    name: str
    """As users name it, and XGBoost too."""
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


class Memory:
    """The memory of the machine: NumPy's arrays."""

    name: str = "cpu"
    is_memory: bool = True
    xp: Any = np

    def put(self, values: Any) -> Any:
        return values

    host = shared = put


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
        n_devices = cupy.cuda.runtime.getDeviceCount()
    except cupy.cuda.runtime.CUDARuntimeError as error:
        raise InvalidParameterError(
            f"device='cuda' needs a GPU, and CUDA answers: {error}. Use device='cpu'."
        ) from error
    if not n_devices:
        raise InvalidParameterError("device='cuda' needs a GPU, and this machine has none: use device='cpu'.")
    return Cuda(cupy)


def in_memory(values: Any) -> Any:
    """What a user passed: arrays of CuPy, or of another library on a GPU, as NumPy's; all else as it is."""
    return values.get() if hasattr(values, "__cuda_array_interface__") and hasattr(values, "get") else values
