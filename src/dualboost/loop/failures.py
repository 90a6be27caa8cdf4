"""What users are told where trees can no longer be grown."""

from __future__ import annotations

import warnings

from ..errors import GrowerWarning, GrowingError

FITTED_BY_USER = 7
"""The ``stacklevel`` that makes a warning point to the user's call of ``fit``."""


def warn_of_grower(failure: GrowingError, n_iterations: int) -> None:
    warnings.warn(
        f"{failure}. The ensemble of {n_iterations} iterations is returned, and a further tree might improve it: "
        "another max_depth, or learner='optimal', grows trees in another way.",
        GrowerWarning,
        stacklevel=FITTED_BY_USER,
    )
