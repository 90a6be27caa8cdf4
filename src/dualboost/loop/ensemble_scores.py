"""The scores that weights give to rows, and how good they are."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .._typing import Matrix, Vector
from ..algebra.rows import Rows
from ..masters import MasterSolution
from ..tasks.scoring import ScoredRows
from .held_out import HeldOut
from .wiring import Wiring


@dataclass(frozen=True, eq=False)
class EnsembleScores:
    """Scores over the columns held, of training rows and of rows that are held out."""

    wiring: Wiring

    def intercept(self, solution: MasterSolution) -> float:
        """The multiplier of the free intercept, which comes last among those of the equations.

        Where no tree has a weight and all targets are zero, the intercept is zero: under a tube other numbers are
        optimal too, but they are not y.
        """
        rows, targets = self.wiring.rows, self.wiring.targets
        if not self.wiring.has_intercept or not (solution.w.any() or rows.any(targets != 0)):
            return 0.0
        return float(solution.rho[-1])

    def of_margins(self, margins: Vector, w: Vector, intercept: float) -> Vector:
        """The scores of the training rows, given their margins under the weights w."""
        own = margins[: self.wiring.columns.n_data]
        return self._finished(self.wiring.operator.scores(own), w, intercept, self.wiring.rows)

    def judged(self, held_out: HeldOut, w: Vector, intercept: float) -> float:
        """How good the weights w are on held-out rows."""
        return held_out.scoring.score(self.of_held_out(held_out, w, intercept))

    def of_held_out(self, held_out: HeldOut, w: Vector, intercept: float) -> ScoredRows:
        """The held-out rows with their scores under the weights w.

        Probabilities, where a scorer asks for them and scores are no log-odds, are those of the curve that fits the
        training rows.
        """
        task, rows, columns = self.wiring.task, self.wiring.rows, self.wiring.columns

        def probabilities(scores: Vector) -> Matrix:
            if self.wiring.formulation.has_final_scores:
                return task.probabilities(scores, task.identity_calibration())
            known = self.of_margins(columns.margins(np.pad(w, (0, columns.n_columns - len(w)))), w, intercept)
            counts = rows.counts * rows.rows_in_unit
            curve = task.calibrate(*map(rows.host, (known, self.wiring.targets, counts)))
            return task.probabilities(scores, curve)

        scores = self._finished(held_out.scores(w), w, intercept, held_out.rows)
        return ScoredRows(task, scores, held_out.targets, held_out.rows, probabilities)

    def _finished(self, scores: Vector, w: Vector, intercept: float, rows: Rows) -> Vector:
        """The scores with the intercept, or divided by the sum of the weights; those of the empty ensemble if zero."""
        if not self.wiring.has_normalised_scores:
            return scores + intercept
        if not rows.any(scores != 0):
            return np.full_like(scores, self.wiring.task.baseline(self.wiring.targets, self.wiring.rows))
        return scores / w.sum()
