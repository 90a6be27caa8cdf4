"""Who finds new columns: the pricers, and the registry that a new one joins by one line."""

from __future__ import annotations

from collections.abc import Callable

from .base import Learner, PricedColumn, Pricer
from .cart import CartPricer

PRICERS: dict[str, Callable[..., Pricer]] = {
    "cart": CartPricer,
}

__all__ = ["PRICERS", "CartPricer", "Learner", "PricedColumn", "Pricer"]
