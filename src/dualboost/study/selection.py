"""The paper's selection of features: the set with the best validation accuracy in a random forest's ranking."""

from __future__ import annotations

import numpy as np
from sklearn.ensemble import RandomForestClassifier

from .._typing import Integers, Matrix, Vector

N_TREES = 100
STEPS = 20


def select_features(
    X: Matrix,
    y: Vector,
    X_validation: Matrix,
    y_validation: Vector,
    seed: int,
    n_steps: int = STEPS,
    of_paper: int | None = None,
) -> Integers:
    """The smallest set of features with the best validation accuracy, in the order of the columns.

    Features are ranked by their impurity importance in a random forest. The ``n_steps`` sets that are compared are the
    first features of that ranking. If the number of features that the paper has is known, it is that many.
    """
    forest = RandomForestClassifier(N_TREES, random_state=seed)
    ranking = np.argsort(-forest.fit(X, y).feature_importances_, kind="stable")
    if of_paper is not None:
        return np.sort(ranking[:of_paper])
    sizes = np.unique(np.ceil(np.linspace(1, X.shape[1], min(n_steps, X.shape[1]))).astype(int))
    best, best_score = ranking, -np.inf
    for size in sizes:
        chosen = ranking[:size]
        fitted = RandomForestClassifier(N_TREES, random_state=seed).fit(X[:, chosen], y)
        score = fitted.score(X_validation[:, chosen], y_validation)
        if score > best_score:
            best, best_score = chosen, score
    return np.sort(best)
