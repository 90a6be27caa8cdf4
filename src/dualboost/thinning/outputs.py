"""What members say of rows, and what becomes of it."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from .._typing import Scores

Outputs = NDArray[np.float32]
"""One contiguous row for each member, one column for each row of the data."""
Probability = Callable[[Scores], Scores]
"""From raw scores to P(second class); for several classes to a row of probabilities, for numbers to predictions."""
