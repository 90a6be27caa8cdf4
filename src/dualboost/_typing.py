"""The array types that the interfaces between packages use."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]
Matrix = NDArray[np.float64]
Scores = NDArray[np.float64]
"""One number for each row, or a row of one for each class."""
Integers = NDArray[np.intp]
Features = Any
"""A dense float64 array or a scipy CSC matrix of encoded features."""
