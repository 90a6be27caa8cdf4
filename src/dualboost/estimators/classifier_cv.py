"""The estimator that chooses its C on held-out rows."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np
from sklearn.model_selection import check_cv
from sklearn.utils import check_random_state

from .._typing import Integers, Vector
from ..algebra.rows import Rows
from ..algebra.threads import one_blas_thread
from ..arguments import require_choice, require_fraction, require_integer
from ..data.splitting import hold_out
from ..errors import InvalidParameterError
from ..formulations import Formulation, make_formulation
from ..loop.held_out import HeldOut
from ..loop.leaf_path import follow_leaf_path, sizes_below
from ..loop.leaf_wiring import LeafWiring
from ..loop.logs import log_choice
from ..loop.path import ON_PATH, PathPoint, follow_path
from ..masters import SolverOptions
from ..models.fitted import Tuning
from ..tasks.scoring import make_scoring
from .attributes import TunedAttributes
from .classifier import DualBoostClassifier
from .parameters import check_common
from .reading import TrainingSet

SMALLEST_TRAINING_SHARE = 0.5
"""Values of the grid that are too large for this fraction of the rows are left out, since folds have fewer rows."""


class DualBoostClassifierCV(TunedAttributes, DualBoostClassifier):
    """``DualBoostClassifier`` with C chosen on held-out rows, then fitted on all rows.

    All values of C share one growing set of trees, so that comparing ten values takes as long as three to four fits.
    The path therefore compares ensembles over shared trees, not ten separate fits. It has the attributes of
    ``DualBoostClassifier`` as well.

    Parameters
    ----------
    formulation, epsilon, learner, max_depth, max_trees, tol, solver : as for ``DualBoostClassifier``
    calibration, class_weight, n_jobs, random_state, verbose : as for ``DualBoostClassifier``
    time_limit, callbacks : as for ``DualBoostClassifier``; those of the final fit
    Cs : int or array of floats, default=10
        The number of values from the formulation's own grid (``formulation.C_grid``), or the values. The grid depends
        on the number of rows, taken as the sum of ``sample_weight``: give values if yours are not multiplicities.
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
        for a single split it is the binomial error of the accuracy, or the jackknife's of another score.
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
        tol: float = 1e-6,
        solver: SolverOptions | None = None,
        class_weight: Any = None,
        cv: Any = None,
        validation_fraction: float = 0.2,
        select: str = "best",
        scoring: Any = None,
        calibration: str = "cross_fit",
        time_limit: float | None = None,
        n_jobs: int | None = None,
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
            tol=tol,
            solver=solver,
            class_weight=class_weight,
            scoring=scoring,
            calibration=calibration,
            time_limit=time_limit,
            n_jobs=n_jobs,
            random_state=random_state,
            verbose=verbose,
            callbacks=callbacks,
        )
        del self.n_iter_no_change  # no parameter here, and scikit-learn sets whatever has that name
        self.Cs = Cs
        self.cv = cv
        self.validation_fraction: float = validation_fraction
        self.select = select

    def _choose_formulation(self, data: TrainingSet) -> tuple[Formulation, Tuning]:
        tuning = self._tune(data)
        log_choice(tuning.C, len(tuning.Cs), float(np.nanmax(tuning.path["score"])))
        return make_formulation(self.formulation, tuning.C, self.epsilon), tuning

    def _tune(self, data: TrainingSet) -> Tuning:
        n_rows = self._n_rows(data)
        values = self._values(n_rows)
        held_out = self._folds(data)
        folds = [self._path(data, held, values, with_errors=len(held_out) == 1) for held in held_out]
        scores = np.array([[point.score for point in fold] for fold in folds])
        trees = np.array([[point.n_trees for point in fold] for fold in folds]).mean(axis=0)
        mean = scores.mean(axis=0)
        if len(folds) > 1:
            error = scores.std(axis=0, ddof=1) / np.sqrt(len(folds))
        else:
            error = np.array([point.standard_error for point in folds[0]])
        known = np.nan_to_num(mean, nan=-np.inf)  # a value that no solver can solve is worse than all others
        best = int(np.argmax(known))
        allowed = known >= known[best] - (np.nan_to_num(error[best]) if self.select == "sparsest" else 0.0)
        Cs = np.array([point.C for point in folds[0]])
        from_default = np.abs(np.log(Cs / self._untuned().default_C(n_rows)))  # decides between equals
        chosen = int(min(np.flatnonzero(allowed), key=lambda k: (trees[k], -known[k], from_default[k])))
        path = {"C": Cs, "score": mean, "standard_error": error, "n_trees": trees}
        most = self._sizes()[chosen // len(values)] if len(Cs) > len(values) else None
        return Tuning(float(Cs[chosen]), Cs, scores, path, most)

    def _path(self, data: TrainingSet, held: Integers, values: Vector, with_errors: bool) -> list[PathPoint]:
        """The scores of every value of C on the rows held out, after training on the other rows."""
        training = data.weights.copy()
        training[held] = 0.0
        rows = self._rows(data, training)
        wiring = self._wire(data, rows, self._untuned(), ON_PATH)
        scoring = make_scoring(self.scoring)
        tested = HeldOut(data.features[held], data.targets[held], data.weights[held], scoring)
        with one_blas_thread():
            if isinstance(wiring, LeafWiring):
                return follow_leaf_path(wiring, values, tested, self._sizes(), with_errors)
            return follow_path(wiring, values, tested, self._size(wiring.formulation).trees, with_errors)

    def _sizes(self) -> list[int]:
        """The numbers of trees that are compared where leaves are corrected."""
        most = self._size(self._untuned()).trees
        return sizes_below(most) if self.select == "sparsest" else [most]

    def _n_rows(self, data: TrainingSet) -> float:
        """The number of rows that a grid of C is made for: distinct ones where the scale of weights means nothing."""
        if not self._untuned().is_scale_free:
            return float(data.weights.sum())
        rows = self._rows(data, data.weights)
        return self._untuned().size_of(Rows(rows.counts, data.task.groups(rows.targets)))

    def _values(self, n_samples: float) -> Vector:
        if isinstance(self.Cs, Integral):
            grid = np.unique(self._untuned().C_grid(n_samples, require_integer("Cs", self.Cs, least=1)))
            _, most = self._untuned().C_bounds(SMALLEST_TRAINING_SHARE * n_samples)
            return grid[grid <= most] if (grid <= most).any() else np.array([self._untuned().default_C(n_samples)])
        try:
            values = np.unique(np.asarray(self.Cs, dtype=float))
        except (TypeError, ValueError) as error:
            raise InvalidParameterError(f"Cs={self.Cs!r} must be a number of values, or the values.") from error
        if np.ndim(self.Cs) == 0 or not len(values):
            raise InvalidParameterError(f"Cs={self.Cs!r} must be a whole number of values, or a list of the values.")
        for C in values:
            make_formulation(self.formulation, float(C), self.epsilon).resolve(n_samples)
        return values

    def _folds(self, data: TrainingSet) -> list[Integers]:
        """The rows to score on in each fold, without the rows of weight zero."""
        strata, weights = data.task.groups(data.targets), data.weights
        if self.cv is None:
            return [hold_out(strata, weights, self.validation_fraction, check_random_state(self.random_state))]
        # An int divides the rows with a positive weight; the indices of a splitter refer to all rows.
        rows = np.flatnonzero(weights > 0) if isinstance(self.cv, Integral) else np.arange(len(weights))
        targets = data.targets[rows]
        splitter = check_cv(self.cv, targets, classifier=strata is not None)
        folds = [rows[held] for _, held in splitter.split(np.zeros((len(rows), 1)), targets)]
        return [held for held in (fold[weights[fold] > 0] for fold in folds) if len(held)]

    def _untuned(self) -> Formulation:
        formulation = make_formulation(self.formulation, None, self.epsilon)
        if formulation.C is not None:
            raise InvalidParameterError(
                f"formulation={formulation!r} has a C, which is to be chosen from Cs: leave it at None, or use "
                "DualBoostClassifier."
            )
        return formulation

    def _patience(self) -> None:
        return None

    def _hold_out(self, data: TrainingSet) -> tuple[None, Vector]:
        return None, data.weights

    def _check_parameters(self) -> None:
        check_common(self)
        self._untuned()
        require_fraction("validation_fraction", self.validation_fraction, or_none=False)
        require_choice("select", self.select, ["best", "sparsest"])
