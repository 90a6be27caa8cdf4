"""Fits over the workers of a Dask cluster: ``DaskDualBoostClassifier`` and ``DaskDualBoostRegressor``."""

from __future__ import annotations

from .estimators import DaskDualBoostClassifier as DaskDualBoostClassifier
from .estimators import DaskDualBoostRegressor as DaskDualBoostRegressor

__all__ = ["DaskDualBoostClassifier", "DaskDualBoostRegressor"]
