"""Shows what a fitted ensemble consists of, and explains its decisions."""

from .explain import Explanation
from .mixin import InspectionMixin

__all__ = ["Explanation", "InspectionMixin"]
