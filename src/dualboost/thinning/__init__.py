"""Thinning: removes most trees of a fitted model and keeps its accuracy and its type."""

from .adapters import ADAPTERS, CLASS_ADAPTERS, NUMBER_ADAPTERS, adapter_for
from .base import Adapter, TwoClassAdapter
from .result import Summary, ThinResult
from .thin import thin
from .tree_model import ThinnedTreesClassifier

__all__ = [
    "ADAPTERS",
    "CLASS_ADAPTERS",
    "NUMBER_ADAPTERS",
    "Adapter",
    "Summary",
    "ThinResult",
    "ThinnedTreesClassifier",
    "TwoClassAdapter",
    "adapter_for",
    "thin",
]
