"""What members say of rows."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Outputs = NDArray[np.float32]
"""One contiguous row for each member, one column for each row of the data."""
