"""What a fitted ensemble is made of, and why it decides as it does."""

from .explain import Explanation
from .mixin import InspectionMixin

__all__ = ["Explanation", "InspectionMixin"]
