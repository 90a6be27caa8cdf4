"""The two methods to choose new weights for a model's members."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .._typing import Vector
from .base import Adapter
from .rows import MemberRows


@dataclass(frozen=True)
class Method:
    """What the programme fits, and which ensemble of the path is taken.

    ``thin`` imitates the model: its labels are the model's own decisions, which a few members reproduce better than
    noisy labels. The column of a member is its contribution to the model, so that the members that matter most need the
    smallest weights. The intercept is free. Beside the optimum for every C, it tries ensembles that grow member by
    member at the C that uses the most members. The smallest ensemble within the tolerance is taken.

    ``reweight`` is the paper's experiment: every member is a column of votes of at most one in size, the labels are y,
    there is no intercept, and the ensemble with the best score is taken.
    """

    name: str
    imitates: bool

    def targets(self, rows: MemberRows) -> Vector:
        """The targets of the programme: the model's decisions, or y if the model always decides for one class."""
        decisions = np.where(rows.full_scores > rows.cut, 1.0, -1.0)
        return decisions if self.imitates and decisions.min() < decisions.max() else rows.labels

    def goals(self, adapter: Adapter, rows: MemberRows) -> Vector:
        """The probabilities that those of the ensemble are fitted to."""
        if self.imitates:
            return adapter.link.expected(rows.full_scores)
        return np.where(rows.labels > 0, 1.0, 0.0)

    def scales(self, adapter: Adapter, rows: MemberRows) -> Vector:
        """The factor of each member's outputs in its column; zero leaves the member out."""
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
