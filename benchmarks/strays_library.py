"""``qrlp`` by the loop of the paper's authors' library (colboost 0.1.5), which differs from what its text states.

- A fit ends when the edge of the new tree is at most the multiplier of sum_i u_i = 1. In a linear programme without
  caps that is the largest edge held, which the text names; with u_i <= 1/C it is larger, by the sum of the multipliers
  of the caps times 1/C.
- The library solves the programme of the text with epsilon = 0.99, and takes the weights of that solution. Then it
  expands the entropy around the duals found, in place of the uniform distribution, and solves once more
  (``n_solves=2``): the second duals are what the next tree is grown with. Its tolerance of 0.99 on objectives that
  differ by less allows no third.
- By default (``stops_by_accuracy``), a fit ends too when the mean training accuracy of five iterations is no better
  than that of the five before.
"""

from __future__ import annotations

import numpy as np
from sklearn.tree import DecisionTreeClassifier

from dualboost.formulations import QRLPBoost
from dualboost.formulations.programme import Programme
from dualboost.formulations.terms import QuadraticTerm
from dualboost.formulations.weight_sets import Simplex
from dualboost.matrix.columns import Columns
from dualboost.matrix.rows import Rows
from dualboost.solvers import Precision, Solution, make_fallback_solver

MOST_TREES = 100
AT_ONCE = 5
"""How many iterations a mean of training accuracies is over."""
LEAST_GAIN = 1e-4
LEAST_SHARE = 1e-6
"""Duals below this multiple of the uniform one count as so large, as an interior-point solver never returns zero."""
PRECISION = Precision(1e-6)


class LibraryLoop:
    """A fit with hard votes of scikit-learn's trees, which break ties at random."""

    def __init__(
        self, C: float, max_depth: int, epsilon: float, n_solves: int = 1, stops_by_accuracy: bool = False
    ) -> None:
        self.formulation, self.max_depth = QRLPBoost(C, epsilon=epsilon), max_depth
        self.n_solves, self.stops_by_accuracy = n_solves, stops_by_accuracy

    def fit(self, X: np.ndarray, y: np.ndarray) -> LibraryLoop:
        labels, rows = np.where(y > 0, 1.0, -1.0), Rows(np.ones(len(y)))
        columns = Columns(rows)
        solvers = [
            make_fallback_solver("auto", self.formulation.programme(rows, 1), "qrlp", PRECISION) for _ in range(2)
        ]
        self.trees, self.weights = [], np.zeros(0)
        u, multiplier, accuracies = np.full(len(y), 1.0 / len(y)), 0.0, []
        while len(self.trees) < MOST_TREES:
            tree = DecisionTreeClassifier(max_depth=self.max_depth).fit(X, labels, sample_weight=u)
            column = labels * tree.predict(X)
            if column @ u <= multiplier:
                break
            columns.append(column, tree)
            self.trees.append(tree)
            solution = solvers[0].solve(columns, self.formulation.programme(rows, columns.n_columns))
            self.weights = solution.w
            accuracies.append(np.mean(solution.margins > 0))
            if self.n_solves == 2:
                solution = solvers[1].solve(columns, self._around(solution, rows))
            u, multiplier = np.maximum(solution.u, 0.0), float(solution.rho[0])
            if self.stops_by_accuracy and _has_stalled(accuracies):
                break
        return self

    def _around(self, solution: Solution, rows: Rows) -> Programme:
        """The programme with the entropy expanded around these duals."""
        n_rows = rows.n_data
        around = np.maximum(solution.u, LEAST_SHARE / n_rows)
        eta = self.formulation.eta(n_rows)
        term = QuadraticTerm(np.log(around) / eta, 1.0 / (eta * around), np.zeros(n_rows))
        return Programme(rows, rows.full(0.0), rows.full(1.0 / self.formulation.C), term, Simplex(), total=1.0)

    @property
    def n_trees_(self) -> int:
        return int(np.count_nonzero(self.weights > 1e-6))

    def predict(self, X: np.ndarray) -> np.ndarray:
        scores = sum((w * tree.predict(X) for w, tree in zip(self.weights, self.trees, strict=True)), np.zeros(len(X)))
        return np.where(scores >= 0, 1, -1)


def _has_stalled(accuracies: list[float]) -> bool:
    if len(accuracies) < 2 * AT_ONCE:
        return False
    before, last = accuracies[-2 * AT_ONCE : -AT_ONCE], accuracies[-AT_ONCE:]
    return bool(np.mean(last) - np.mean(before) < LEAST_GAIN)
