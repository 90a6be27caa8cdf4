"""The paper's eighteen numbered observations, and a nineteenth question, each a function of the results."""

from . import accuracy, behaviour, equal_size, variants  # noqa: F401  they register their observations
from .base import OBSERVATIONS, Observation, Verdict

__all__ = ["OBSERVATIONS", "Observation", "Verdict"]
