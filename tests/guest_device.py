"""A device for tests on machines without a GPU: arrays that are as strict as those of CuPy.

They refuse to become arrays of NumPy, and to take part in an operation with one; they know only functions that CuPy
has; sums are arrays without a dimension; and boolean masks take numbers only. So code that runs on them keeps arrays of
a device and of memory apart, as it must on a GPU.
"""

from types import SimpleNamespace

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

FUNCTIONS = {
    *(np.abs, np.append, np.array_equal, np.bincount, np.broadcast_to, np.clip, np.column_stack, np.concatenate),
    *(np.copy, np.count_nonzero, np.dot, np.empty_like, np.flatnonzero, np.full_like, np.mean, np.ndim, np.ones_like),
    *(
        np.partition,
        np.ptp,
        np.searchsorted,
        np.sort,
        np.sum,
        np.tile,
        np.unique,
        np.vdot,
        np.vstack,
        np.where,
        np.zeros_like,
    ),
}
"""Those that CuPy 14 has, with the arguments that are used here."""
UFUNCS = {
    *("absolute", "add", "bitwise_and", "bitwise_or", "divide", "equal", "exp", "expm1", "greater", "greater_equal"),
    *("invert", "isfinite", "isnan", "less", "less_equal", "log", "log1p", "logical_not", "matmul", "maximum"),
    *("minimum", "multiply", "negative", "not_equal", "power", "rint", "sign", "sqrt", "square", "subtract"),
}


class GuestArray(NDArrayOperatorsMixin):
    """An array on the device."""

    __cuda_array_interface__ = None

    def __init__(self, values):
        self.values = np.asarray(values)

    def __array__(self, *arguments, **options):
        raise TypeError("an array of the device is not to be made one of NumPy in passing")

    def __array_ufunc__(self, ufunc, method, *inputs, out=None, **options):
        assert ufunc.__name__ in UFUNCS, f"{ufunc.__name__} is not among the functions that CuPy is known to have"
        assert method == "__call__", f"{ufunc.__name__}.{method} is not for the device"
        if out is not None:
            options["out"] = tuple(map(unwrapped, out))
        found = ufunc(*map(unwrapped, inputs), **options)
        return out[0] if out is not None else GuestArray(found)

    def __array_function__(self, function, types, arguments, options):
        assert function in FUNCTIONS, f"{function.__name__} is not among the functions that CuPy is known to have"
        found = function(*map(unwrapped, arguments), **{name: unwrapped(value) for name, value in options.items()})
        if function in (np.array_equal, np.ndim):
            return found
        return tuple(map(GuestArray, found)) if isinstance(found, tuple) else GuestArray(found)

    def __getitem__(self, index):
        return GuestArray(self.values[as_index(index)])

    def __setitem__(self, index, value):
        own, value = as_index(index), unwrapped(value)
        is_mask = isinstance(own, np.ndarray) and own.dtype == bool
        assert not is_mask or np.ndim(value) == 0, "a mask takes a number"
        self.values[own] = value

    def __len__(self):
        return len(self.values)

    def __iter__(self):
        return (GuestArray(one) for one in self.values)

    def __float__(self):
        return float(self.values)

    def __int__(self):
        return int(self.values)

    def __bool__(self):
        return bool(self.values)

    def get(self):
        return self.values.copy()

    def astype(self, dtype, copy=True):
        return GuestArray(self.values.astype(dtype, copy=copy))

    def copy(self):
        return GuestArray(self.values.copy())

    def take(self, indices, axis=None):
        return GuestArray(self.values.take(unwrapped(indices), axis=axis))

    def reshape(self, *shape):
        return GuestArray(self.values.reshape(*shape))

    def sum(self, axis=None):
        return GuestArray(self.values.sum(axis=axis))

    def min(self, axis=None):
        return GuestArray(self.values.min(axis=axis))

    def max(self, axis=None):
        return GuestArray(self.values.max(axis=axis))

    def any(self):
        return GuestArray(self.values.any())

    def all(self):
        return GuestArray(self.values.all())

    shape = property(lambda self: self.values.shape)
    dtype = property(lambda self: self.values.dtype)
    ndim = property(lambda self: self.values.ndim)
    size = property(lambda self: self.values.size)
    T = property(lambda self: GuestArray(self.values.T))


def unwrapped(value):
    """What NumPy computes with: arrays of the device, and numbers."""
    if isinstance(value, GuestArray):
        return value.values
    if isinstance(value, (list, tuple)):
        return type(value)(map(unwrapped, value))
    assert not (isinstance(value, np.ndarray) and value.ndim), "an array of memory among those of the device"
    return value


def as_index(index):
    """Slices, numbers and arrays of the device; of memory none."""
    return tuple(map(unwrapped, index)) if isinstance(index, tuple) else unwrapped(index)


def _making(name):
    make = getattr(np, name)
    return lambda *given, **options: GuestArray(make(*given, **options))


class GuestDevice:
    """The device; XGBoost, which has no such device, is handed copies."""

    name = "cuda"
    of_xgboost = "cpu"
    is_memory = False
    xp = SimpleNamespace(**{name: _making(name) for name in ("empty", "zeros", "full", "ones", "arange")})

    def put(self, values):
        return values if isinstance(values, GuestArray) else GuestArray(np.array(values))

    def host(self, values):
        return values.get() if isinstance(values, GuestArray) else values

    shared = host
