"""The two ways to choose new weights for a model's members."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .._typing import Vector
from .base import Adapter
from .rows import MemberRows


@dataclass(frozen=True)
class Method:
    """What the programme is asked to reproduce, and which ensemble of its path is taken.

    ``thin`` imitates: its labels are the model's own decisions, which a few members reproduce better than labels with
    noise; a member's column is its contribution to the model, so that the members that matter cost least; the intercept
    is free; ensembles that grow member by member under the densest C are tried beside the optima for every C; the
    smallest one within the tolerance is taken.

    ``reweight`` is the paper's experiment: every member is a column of votes at most one in size, the labels are y,
    nothing else has a weight, and the ensemble of the best score is taken.
    """

    name: str
    imitates: bool

    def targets(self, rows: MemberRows) -> Vector:
        """The targets of the programme; those of y too where the model decides for one class alone."""
        decisions = np.where(rows.full_scores > 0, 1.0, -1.0)
        return decisions if self.imitates and decisions.min() < decisions.max() else rows.labels

    def goals(self, adapter: Adapter, rows: MemberRows) -> Vector:
        """The probabilities that the ensemble's own are fitted to."""
        if self.imitates:
            return adapter.link.probability(rows.full_scores)
        return np.where(rows.labels > 0, 1.0, 0.0)

    def scales(self, adapter: Adapter, rows: MemberRows) -> Vector:
        """The factor of each member's outputs in its column; zero for a member that takes no part."""
        largest = np.abs(rows.outputs).max(axis=1).astype(float)
        if self.imitates:
            contributions = np.abs(adapter.weights) * largest
            return adapter.weights / max(float(contributions.max(initial=0.0)), np.finfo(float).tiny)
        return np.divide(1.0, largest, out=np.zeros_like(largest), where=largest > 0)

    @property
    def has_intercept(self) -> bool:
        return self.imitates

    @property
    def grows(self) -> bool:
        return self.imitates

    @property
    def takes_smallest(self) -> bool:
        return self.imitates


METHODS = {method.name: method for method in (Method("thin", imitates=True), Method("reweight", imitates=False))}
