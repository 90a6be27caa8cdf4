"""The estimator for targets that are numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sklearn.base import BaseEstimator, RegressorMixin

from ..formulations.base import Formulation
from ..formulations.numbers import NumberLoss, make_number_loss
from ..inspection import InspectionMixin
from ..masters import SolverOptions
from ..tasks import REGRESSION, Task
from ..tasks.scoring import Scoring, make_scoring
from .boosting import Boosting
from .number_prediction import NumberPredictionMixin


class DualBoostRegressor(Boosting, InspectionMixin, NumberPredictionMixin, RegressorMixin, BaseEstimator):
    """A small, accurate tree ensemble for numbers, by totally corrective boosting.

    Trees are grown one after the other, and after every tree the values of all leaves of all trees are re-optimised.
    Half as many trees again are grown as asked for, those that are missed least are eliminated, and each tree that
    remains is grown once more against all others. The result has a duality gap, computed from its values and duals.

    Targets are standardised inside: y -> a y + b makes the predictions a F + b.

    Parameters
    ----------
    loss : str or loss object, default="squared"
        What is optimised: "squared", "huber", "absolute", "quantile", "epsilon_insensitive" or "poisson". Options are
        given by an object: ``HuberLoss(delta=1.0)`` and ``TubeLoss(epsilon=0.1)``, in deviations of y, and
        ``QuantileLoss(quantile=0.9)``. "poisson" is for counts and rates, and predicts means by their logarithm.
    C : float, default=None
        The price of the mean loss, above 0: a larger one follows y more closely. None is the number of distinct rows
        divided by 20.
    corrects : {"leaves", "trees"}, default=None
        What is re-optimised after every new tree: the values of all leaves with a ridge, or one weight for each tree,
        whose sum is paid for. None is "leaves", if the learners are trees.
    learner, max_depth, max_trees, tol, solver : as for ``DualBoostClassifier``
        By default trees of depth 5, 50 of them.
    validation_fraction, n_iter_no_change, scoring : as for ``DualBoostClassifier``
        Without a ``scoring``, held-out rows are judged by the loss itself: the mean squared error for "squared", the
        mean absolute error for "huber" and "absolute", the pinball loss, the Poisson deviance.
    time_limit, n_jobs, random_state, verbose, callbacks : as for ``DualBoostClassifier``

    Attributes
    ----------
    n_features_in_, feature_names_in_, estimators_, weights_, n_trees_, n_leaves_, n_generated_, n_iter_, objective_,
    gap_, bound_, certified_, duals_, stop_reason_, history_, feature_importances_, fitted_ :
        as for ``DualBoostClassifier``; ``history_["train_accuracy"]`` is R^2 on the training rows. Votes, weights,
        ``intercept_`` and objective are those of the standardised y.
    formulation_ : the loss with the value of C that was used

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from dualboost import DualBoostRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> reg = DualBoostRegressor(max_depth=2, max_trees=10).fit(X, y)
    >>> bool(reg.gap_ <= 1e-6), reg.n_trees_
    (True, 10)
    """

    calibration = "training"

    def __init__(
        self,
        loss: str | NumberLoss = "squared",
        C: float | None = None,
        *,
        corrects: str | None = None,
        learner: Any = "cart",
        max_depth: int | None = None,
        max_trees: int | None = None,
        tol: float = 1e-6,
        solver: SolverOptions | None = None,
        validation_fraction: float | None = None,
        n_iter_no_change: int | None = None,
        scoring: Any = None,
        time_limit: float | None = None,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
        callbacks: Any = None,
    ) -> None:
        self.loss = loss
        self.C = C
        self.corrects = corrects
        self.learner = learner
        self.max_depth = max_depth
        self.max_trees = max_trees
        self.tol = tol
        self.solver = solver
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.scoring = scoring
        self.time_limit = time_limit
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.callbacks = callbacks

    def _tasks(self) -> Sequence[type[Task]]:
        return [REGRESSION[make_number_loss(self.loss, self.C).link]]

    def _made_formulation(self, C: float | None = None) -> Formulation:
        return make_number_loss(self.loss, self.C if C is None else C)

    def _scoring(self) -> Scoring:
        return make_scoring(make_number_loss(self.loss, None).scorer if self.scoring is None else self.scoring)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        return tags
