"""The estimator that chooses its C on held-out rows."""

from __future__ import annotations

from typing import Any

from ..formulations import Formulation
from ..masters import SolverOptions
from .classifier import DualBoostClassifier
from .tuning import TunedBoosting


class DualBoostClassifierCV(TunedBoosting, DualBoostClassifier):
    """``DualBoostClassifier`` with C chosen on held-out rows, then fitted on all rows.

    All values of C share one growing set of trees, so that comparing ten values takes as long as three to four fits.
    The path therefore compares ensembles over shared trees, not ten separate fits. It has the attributes of
    ``DualBoostClassifier`` as well.

    Parameters
    ----------
    formulation, epsilon, learner, max_depth, max_trees, tol, solver : as for ``DualBoostClassifier``
    max_leaf_nodes, min_samples_leaf, max_features, subsample : as for ``DualBoostClassifier``
    monotonic_cst, interaction_cst : as for ``DualBoostClassifier``
    categorical_features, calibration, class_weight : as for ``DualBoostClassifier``
    n_jobs, device, random_state, verbose : as for ``DualBoostClassifier``
    time_limit : as for ``DualBoostClassifier``; half of it is for comparing the values, which are then solved roughly
    callbacks : as for ``DualBoostClassifier``; those of the final fit
    Cs : int or array of floats, default=10
        The number of values from the formulation's own grid (``formulation.C_grid``), or the values. They are meant for
        all rows: where the paper's C counts rows ("lp", "cg", "qrlp", "erlp", "convex", "spatial"), a fold, which has
        fewer, is given the C that means the same there. The grid of these depends on the sum of ``sample_weight``: give
        values, or an object such as ``LPBoost(scale_free=True)``, if yours are not multiplicities.
    cv : int or splitter, default=None
        Folds to score each value on, as scikit-learn makes them (an int does not use ``random_state``); None holds out
        ``validation_fraction`` of the rows once, chosen by ``random_state``.
    validation_fraction : float, default=0.2
        The share of rows to score on if ``cv`` is None.
    select : {"best", "sparsest"}, default="best"
        "best" takes the value with the best mean score, and among equal scores the one with fewer trees. "sparsest"
        takes the value with the fewest trees among those within one standard error of the best; where leaves are
        corrected, it also tries fewer trees than ``max_trees``, and the final fit has as many as were chosen.
    scoring : str, scorer or None, default=None
        What the values are compared by: a name of ``sklearn.metrics.get_scorer_names()`` or a scorer made by
        ``sklearn.metrics.make_scorer``; None is the accuracy. Probabilities, for scorers such as "neg_log_loss", are
        those of the curve that fits the training rows.

    Attributes
    ----------
    C_ : float, the value chosen
    Cs_ : ndarray of the values compared
    scores_ : ndarray of shape (n_folds, n_values), scores on held-out rows
    path_ : dict of arrays "C", "score", "standard_error" and "n_trees"
        Score and trees for each C; nan where no solver can solve it. The standard error is that of the mean over folds;
        for a single split it is the binomial error of the accuracy, or the jackknife's of another score, nan if
        ``time_limit`` left no time for it.
    """

    def __init__(
        self,
        formulation: str | Formulation = "logistic",
        Cs: Any = 10,
        *,
        corrects: str | None = None,
        epsilon: float | None = None,
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
        class_weight: Any = None,
        cv: Any = None,
        validation_fraction: float = 0.2,
        select: str = "best",
        scoring: Any = None,
        calibration: str = "cross_fit",
        time_limit: float | None = None,
        n_jobs: int | None = None,
        device: str = "cpu",
        random_state: Any = None,
        verbose: int = 0,
        callbacks: Any = None,
    ) -> None:
        super().__init__(
            formulation=formulation,
            corrects=corrects,
            epsilon=epsilon,
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
            class_weight=class_weight,
            scoring=scoring,
            calibration=calibration,
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
