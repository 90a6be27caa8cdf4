"""The estimator for targets that are numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from sklearn.base import BaseEstimator, RegressorMixin

from .._typing import Integers, Vector
from ..errors import InvalidParameterError
from ..formulations import make_number_loss
from ..formulations.base import Formulation
from ..formulations.regression import NumberLoss
from ..inspection import InspectionMixin
from ..models.fitted import FittedModel
from ..solvers import SolverOptions
from ..targets import REGRESSION, TargetReader
from ..targets.scoring import Scoring, make_scoring
from .base import Boosting
from .calibrating import CalibratedPinballScorer, rows_aside, widening_of
from .prediction import NumberPredictionMixin
from .reading import TrainingSet


class DualBoostRegressor(Boosting, InspectionMixin, NumberPredictionMixin, RegressorMixin, BaseEstimator):
    """A small, accurate tree ensemble for numbers, by totally corrective boosting.

    Trees are grown one after the other, and after every tree the values of all leaves of all trees are re-optimised.
    More trees are grown than ``max_trees``, the trees with the least effect are removed, and each tree that remains is
    grown anew against all others; under the squared loss stumps are exchanged for better ones instead. The result has
    a duality gap, computed from its values and duals.

    Targets are standardised inside: y -> a y + b makes the predictions a F + b.

    Parameters
    ----------
    loss : str or loss object, default="squared"
        What is optimised: "squared", "huber", "absolute", "quantile", "epsilon_insensitive" or "poisson". Options are
        given by an object: ``HuberLoss(delta=1.0)`` and ``EpsilonInsensitiveLoss(epsilon=0.1)``, in units of y read
        off its deciles,
        and ``QuantileLoss(quantiles=0.9)``. "poisson" is for counts and rates, and predicts means by their logarithm.
    C : float, default=None
        The price of the mean loss, above 0: a larger one follows y more closely. None is the number of rows divided
        by 20.
    quantiles : list of floats, default=None
        With loss="quantile": two or more increasing levels inside (0, 1), such as [0.05, 0.5, 0.95]. One set of trees
        has a value for each level in every leaf; all are optimised together, and on no training row does a quantile
        exceed the next one. ``predict_quantiles`` and ``predict_interval`` give them, ``predict`` the median.
    interval_calibration : {None, "conformal"}, default=None
        With ``quantiles``: "conformal" sets a quarter of the rows aside and moves the ends of ``predict_interval`` such
        that it covers as many new rows as the levels promise, on average over rows like the training rows.
    optimize : {"leaves", "weights"}, default=None
        What is re-optimised after every new tree: the values of all leaves with a ridge, or one weight for each tree,
        whose sum is paid for. None is "leaves", if the learners are trees.
    learner, max_depth, max_trees, tol, solver, categorical_features : as for ``DualBoostClassifier``
    max_leaf_nodes, min_samples_leaf, max_features, subsample : as for ``DualBoostClassifier``
    monotonic_cst, interaction_cst : as for ``DualBoostClassifier``
        By default trees of depth 5, 50 of them.
    validation_fraction, n_iter_no_change, scoring : as for ``DualBoostClassifier``
        Without a ``scoring``, held-out rows are judged by the loss itself: the mean squared error for "squared", the
        mean absolute error for "huber" and "absolute", the pinball loss, the Poisson deviance. With
        ``interval_calibration`` it is the pinball loss of intervals that are made to cover their share of the rows held
        out.
    warm_start, time_limit, n_jobs, device, random_state, verbose, callbacks : as for ``DualBoostClassifier``

    Attributes
    ----------
    n_features_in_, feature_names_in_, estimators_, weights_, n_trees_, n_leaves_, n_generated_, n_iter_, objective_,
    gap_, bound_, certified_, duals_, stop_reason_, history_, feature_importances_, fitted_ :
        as for ``DualBoostClassifier``; ``history_["train_score"]`` is R^2 on the training rows. Votes, weights,
        ``intercept_`` and objective refer to the standardised y. With ``quantiles``, ``duals_`` has a column for
        each level, and one for the order of each level and the next.
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
        quantiles: Sequence[float] | None = None,
        interval_calibration: str | None = None,
        optimize: str | None = None,
        learner: Any = "cart",
        max_depth: int | None = None,
        max_trees: int | None = None,
        max_leaf_nodes: int | None = None,
        min_samples_leaf: int | float = 1,
        max_features: int | float | str | None = None,
        subsample: float | None = None,
        monotonic_cst: Any = None,
        interaction_cst: Any = None,
        tol: float = 1e-6,
        solver: SolverOptions | None = None,
        categorical_features: Any = "from_dtype",
        validation_fraction: float | None = None,
        n_iter_no_change: int | None = None,
        scoring: Any = None,
        warm_start: bool = False,
        time_limit: float | None = None,
        n_jobs: int | None = None,
        device: str = "cpu",
        random_state: Any = None,
        verbose: int = 0,
        callbacks: Any = None,
    ) -> None:
        self.loss = loss
        self.C = C
        self.quantiles = quantiles
        self.interval_calibration = interval_calibration
        self.optimize = optimize
        self.learner = learner
        self.max_depth = max_depth
        self.max_trees = max_trees
        self.max_leaf_nodes = max_leaf_nodes
        self.min_samples_leaf = min_samples_leaf
        self.max_features = max_features
        self.subsample = subsample
        self.monotonic_cst = monotonic_cst
        self.interaction_cst = interaction_cst
        self.tol = tol
        self.solver = solver
        self.categorical_features = categorical_features
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.scoring = scoring
        self.warm_start = warm_start
        self.time_limit = time_limit
        self.n_jobs = n_jobs
        self.device = device
        self.random_state = random_state
        self.verbose = verbose
        self.callbacks = callbacks

    def _target_readers(self) -> Sequence[TargetReader]:
        loss = self._loss(self.C)
        return [REGRESSION[loss.link].of_loss(loss)]

    def _loss(self, C: float | None) -> NumberLoss:
        return make_number_loss(self.loss, C, self.quantiles)

    def _made_formulation(self, C: float | None = None) -> Formulation:
        return self._loss(self.C if C is None else C)

    def _scoring(self) -> Scoring:
        if self.scoring is not None:
            return make_scoring(self.scoring)
        own = self._loss(None).scorer
        return make_scoring(own if self.interval_calibration is None else CalibratedPinballScorer(own.levels))

    def _fitted_to(self, training_set: TrainingSet) -> FittedModel:
        fitted = super()._fitted_to(training_set)
        if self.interval_calibration is None:
            return fitted
        return replace(fitted, calibration=widening_of(fitted, training_set))

    def _rows_aside(self, weights: Vector) -> Integers | None:
        return None if self.interval_calibration is None else rows_aside(weights, self.random_state)

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if self.interval_calibration is None:
            return
        if self._loss(None).link != "quantiles":
            raise InvalidParameterError(
                f"interval_calibration={self.interval_calibration!r} is for intervals: pass loss='quantile' and "
                "quantiles=[0.05, 0.5, 0.95]."
            )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        return tags
