"""What the formulations share whose loop ends within epsilon of the optimum."""

from __future__ import annotations

from dataclasses import dataclass

from .base import Formulation, require_epsilon


@dataclass
class WithinEpsilon(Formulation):
    """Beside the formulation whose programme is solved: a guarantee, which a guide stops at."""

    epsilon: float = 0.01

    def __post_init__(self) -> None:
        require_epsilon(self.epsilon)

    @property
    def guarantee(self) -> float:
        return self.epsilon
