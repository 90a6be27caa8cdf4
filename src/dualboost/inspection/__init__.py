"""Shows what a fitted ensemble consists of, and explains its decisions."""

from .mixin import Explanation, InspectionMixin

__all__ = ["Explanation", "InspectionMixin"]
