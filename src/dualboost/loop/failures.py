"""What users are told where trees can no longer be grown."""

from __future__ import annotations

from ..errors import GrowerWarning, GrowingError
from ..telling import warn_user


def warn_of_grower(failure: GrowingError, n_iterations: int) -> None:
    warn_user(
        f"{failure}. The ensemble of {n_iterations} iterations is returned, and a further tree might improve it: "
        "another max_depth, or learner='optimal', grows trees in another way.",
        GrowerWarning,
    )
