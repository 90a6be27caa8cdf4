"""Where a function that rises, perhaps by jumps, passes zero."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.optimize import brentq

FIRST_STEP = 1e-9
"""The first step from where the root is looked for, as a share of the scale; each step is four times the last one."""
MOST_STEPS = 40
PRECISION = 4.0 * float(np.finfo(float).eps)


def root_of_rising(function: Callable[[float], float], near: float, scale: float) -> float:
    """The root, to the last digits of the scale; ``near`` where there is none within reach."""
    value, step = function(near), FIRST_STEP * max(scale, abs(near))
    if value == 0 or not np.isfinite(value):
        return near
    direction = -1.0 if value > 0 else 1.0
    last, point = near, near
    for _ in range(MOST_STEPS):
        last, point = point, point + direction * step
        if function(point) * direction >= 0:
            return float(brentq(function, last, point, xtol=PRECISION * scale, rtol=PRECISION, disp=False))
        step *= 4.0
    return near
