"""What is common to the formulations whose fit ends within epsilon of the optimum."""

from __future__ import annotations

from dataclasses import dataclass

from .base import Formulation, require_epsilon


@dataclass
class WithinEpsilon(Formulation):
    """A mixin for a formulation: its fit ends once a guide proves that the optimum is within ``epsilon``."""

    epsilon: float = 0.01

    def __post_init__(self) -> None:
        require_epsilon(self.epsilon)

    @property
    def guarantee(self) -> float:
        return self.epsilon
