"""The estimator for numbers that chooses its C on held-out rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..formulations.numbers import NumberLoss
from ..masters import SolverOptions
from .regressor import DualBoostRegressor
from .tuning import TunedBoosting


class DualBoostRegressorCV(TunedBoosting, DualBoostRegressor):
    """``DualBoostRegressor`` with C chosen on held-out rows, then fitted on all rows.

    All values of C share three sets of trees. It has the attributes of ``DualBoostRegressor`` as well.

    Parameters
    ----------
    loss, quantiles, calibrate, corrects, learner, max_depth, max_trees, tol, solver : as for ``DualBoostRegressor``
    max_leaf_nodes, min_samples_leaf, max_features, subsample : as for ``DualBoostClassifier``
    monotonic_cst, interaction_cst : as for ``DualBoostClassifier``
    categorical_features, n_jobs, device, random_state, verbose, time_limit, callbacks : as for ``DualBoostRegressor``
    Cs : int or array of floats, default=10
        The number of values from the grid, or the values.
    cv : int or splitter, default=None
        Folds to score each value on; None holds out ``validation_fraction`` of the rows once.
    validation_fraction : float, default=0.2
        The share of rows to score on if ``cv`` is None.
    select : {"best", "sparsest"}, default="best"
        The best mean score, or the fewest trees within one standard error of it.
    scoring : str, scorer or None, default=None
        What the values are compared by: a name of ``sklearn.metrics.get_scorer_names()``; None is the loss
        itself, as for ``DualBoostRegressor``.

    Attributes
    ----------
    C_, Cs_, scores_, path_ : as for ``DualBoostClassifierCV``
    """

    def __init__(
        self,
        loss: str | NumberLoss = "squared",
        Cs: Any = 10,
        *,
        quantiles: Sequence[float] | None = None,
        calibrate: str | None = None,
        corrects: str | None = None,
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
        cv: Any = None,
        validation_fraction: float = 0.2,
        select: str = "best",
        scoring: Any = None,
        time_limit: float | None = None,
        n_jobs: int | None = None,
        device: str = "cpu",
        random_state: Any = None,
        verbose: int = 0,
        callbacks: Any = None,
    ) -> None:
        super().__init__(
            loss=loss,
            quantiles=quantiles,
            calibrate=calibrate,
            corrects=corrects,
            learner=learner,
            max_depth=max_depth,
            max_trees=max_trees,
            max_leaf_nodes=max_leaf_nodes,
            min_samples_leaf=min_samples_leaf,
            max_features=max_features,
            subsample=subsample,
            monotonic_cst=monotonic_cst,
            interaction_cst=interaction_cst,
            tol=tol,
            solver=solver,
            categorical_features=categorical_features,
            scoring=scoring,
            time_limit=time_limit,
            n_jobs=n_jobs,
            device=device,
            random_state=random_state,
            verbose=verbose,
            callbacks=callbacks,
        )
        # These are no parameters here, and scikit-learn sets whatever has the first name.
        del self.n_iter_no_change, self.warm_start
        self.Cs = Cs
        self.cv = cv
        self.validation_fraction: float = validation_fraction
        self.select = select
