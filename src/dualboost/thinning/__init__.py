"""Thinning: removes most trees of a fitted model and keeps its accuracy and its type."""

from .adapters import ADAPTERS, adapter_for
from .base import Adapter
from .result import Summary, ThinResult
from .thin import thin
from .tree_model import ThinnedTreesClassifier

__all__ = ["ADAPTERS", "Adapter", "Summary", "ThinResult", "ThinnedTreesClassifier", "adapter_for", "thin"]
