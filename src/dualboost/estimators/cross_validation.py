"""The estimators that choose C on held-out rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
from sklearn.model_selection import check_cv
from sklearn.utils import check_random_state

from .._typing import Integers, Vector
from ..arguments import require_integer
from ..boosting.history import HeldOut
from ..boosting.leaf_context import LeafFitContext
from ..boosting.observers import ProgressBar, log_choice
from ..boosting.paths import ON_PATH, PathPoint, follow_path, not_compared, sizes_below
from ..data.merging import hold_out
from ..deadlines import Pace, share_of_time, time_is_up
from ..errors import InvalidParameterError
from ..formulations import Formulation
from ..formulations.regression import NumberLoss
from ..matrix.rows import one_blas_thread
from ..models.fitted import Tuning
from ..solvers import SolverOptions
from ..targets.scoring import require_for_task
from .attributes import TunedAttributes
from .base import Boosting
from .classifier import DualBoostClassifier
from .diagnostics import warn_if_comparison_cut_short
from .reading import TrainingSet
from .regressor import DualBoostRegressor

COMPARING = 0.5
"""The share of the time for comparing values of C; the rest is for the fit at the value chosen."""


class Split(NamedTuple):
    """Rows to score on, and the multiplicities of all rows in training."""

    scored: Callable[[], HeldOut]
    """Copies the rows, so that only the rows of one fold are copied at a time."""
    training: Vector


class TunedBoosting(TunedAttributes, Boosting):
    """``fit`` that compares values of C first, and fits the best on all rows."""

    Cs: Any
    cv: Any
    select: str

    def _choose_formulation(self, data: TrainingSet) -> tuple[Formulation, Tuning]:
        tuning = self._tune(data)
        log_choice(tuning.C, len(tuning.Cs), float(np.fmax.reduce(tuning.path["score"])))
        return self._made_formulation(tuning.C), tuning

    def _tune(self, data: TrainingSet) -> Tuning:
        n_rows = self._n_rows(data)
        values = self._values(n_rows)
        splits = self._splits(data)
        with ProgressBar(len(splits) * len(values) * self._n_sizes(), self.verbose > 0, "value of C") as bar:
            folds = self._compared(data, splits, values, bar)
        n_compared = warn_if_comparison_cut_short(folds, len(splits), self.time_limit)
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
        Cs = np.tile(values, len(mean) // len(values))
        from_default = np.abs(np.log(Cs / self._untuned().default_C(n_rows)))  # decides between equals
        position = int(min(np.flatnonzero(allowed), key=lambda k: (trees[k], -known[k], from_default[k])))
        path = {"C": Cs, "score": mean, "standard_error": error, "n_trees": trees}
        if n_compared <= 1 < len(values):
            return Tuning(self._usual_C(values, n_rows), Cs, scores, path, None)
        most = self._sizes()[position // len(values)] if len(Cs) > len(values) else None
        return Tuning(float(Cs[position]), Cs, scores, path, most)

    def _compared(
        self, data: TrainingSet, splits: Sequence[Split], values: Vector, bar: ProgressBar
    ) -> list[list[PathPoint]]:
        """The paths of the folds that there is time for; only the paths with the most values, one at least."""
        folds, pace = [], Pace(data.workers)
        with share_of_time(COMPARING):
            for k, split in enumerate(splits):
                if not pace.allows_another:
                    break
                with pace.step(), share_of_time(1.0 / (len(splits) - k)):
                    folds.append(self._path(data, split, values, len(splits) == 1, bar))
        if not folds:
            return [not_compared(np.tile(values, self._n_sizes()))]
        n_compared = [sum(point.is_compared for point in fold) for fold in folds]
        complete = [fold for fold, n in zip(folds, n_compared, strict=True) if n == max(n_compared)]
        return complete if max(n_compared) else complete[:1]

    def _usual_C(self, values: Vector, n_rows: float) -> float:
        """The default C; if the user listed values, the value nearest to it."""
        default = self._untuned().default_C(n_rows)
        if isinstance(self.Cs, Integral):
            return default
        return float(values[np.argmin(np.abs(np.log(values / default)))])

    def _path(
        self, data: TrainingSet, split: Split, values: Vector, with_errors: bool, bar: ProgressBar
    ) -> list[PathPoint]:
        """The scores of every value of C on the rows to score, after training on the others.

        The values are for all rows. If C counts rows, they are converted to fewer rows.
        """
        formulation = self._untuned()
        ratio = float(split.training.sum() / data.weights.sum())
        values = formulation.carried(values, ratio)

        def note(point: PathPoint) -> None:
            C = float(formulation.carried(np.array(point.C), 1.0 / ratio))
            bar.advance(C=f"{C:.3g}", score=f"{point.score:.4g}", trees=point.n_trees)

        rows = self._rows(data, split.training)
        if time_is_up(data.workers):  # merging has taken it all, and the grower would encode the rows next
            return not_compared(np.tile(values, self._n_sizes()))
        fit_context = self._make_fit_context(data, rows, formulation, ON_PATH)
        tested = split.scored()
        with one_blas_thread():
            corrects_leaves = isinstance(fit_context, LeafFitContext)
            sizes = self._sizes() if corrects_leaves else [self._size(fit_context.formulation).trees]
            return follow_path(fit_context, values, tested, sizes, with_errors, note)

    def _sizes(self) -> list[int]:
        most = self._size(self._untuned()).trees
        return sizes_below(most) if self.select == "sparsest" else [most]

    def _n_sizes(self) -> int:
        return len(self._sizes()) if self._optimized(self._untuned()) == "leaves" else 1

    def _n_rows(self, data: TrainingSet) -> float:
        """The number of rows that a grid of C is made for: their count where the scale of weights means nothing."""
        if not self._untuned().is_scale_free:
            return float(data.weights.sum())
        rows = self._rows(data, data.weights)
        return self._untuned().size_of(data.target.rows(rows.targets, rows.counts, rows_each=rows.rows_each))

    def _values(self, n_samples: float) -> Vector:
        if isinstance(self.Cs, Integral):
            grid = np.unique(self._untuned().C_grid(n_samples, require_integer("Cs", self.Cs, least=1)))
            _, most = self._untuned().C_bounds(n_samples)
            return grid[grid <= most] if (grid <= most).any() else np.array([self._untuned().default_C(n_samples)])
        try:
            values = np.unique(np.asarray(self.Cs, dtype=float))
        except (TypeError, ValueError) as error:
            raise InvalidParameterError(f"Cs={self.Cs!r} must be a number of values, or the values.") from error
        if np.ndim(self.Cs) == 0 or not len(values):
            raise InvalidParameterError(f"Cs={self.Cs!r} must be a whole number of values, or a list of one or more.")
        for C in values:
            self._made_formulation(float(C)).resolve(n_samples)
        return values

    def _splits(self, data: TrainingSet) -> list[Split]:
        """The rows to score on, and the multiplicities of those to train on, once or for each fold."""
        if data.evaluation is not None:
            evaluation = data.evaluation
            return [Split(lambda: evaluation, data.weights)]
        splits, scoring = [], require_for_task(self._scoring(), data.target)
        for held in self._folds(data):
            training = data.weights.copy()
            training[held] = 0.0
            splits.append(Split(partial(data.held_out, held, scoring), training))
        return splits

    def _folds(self, data: TrainingSet) -> list[Integers]:
        """The rows to score on in each fold, without the rows of weight zero."""
        strata, weights = data.target.groups(data.targets), data.weights
        if self.cv is None:
            return [hold_out(strata, weights, self.validation_fraction, check_random_state(self.random_state))]
        # An int divides the rows with a positive weight; the indices of a splitter refer to all rows.
        rows = np.flatnonzero(weights > 0) if isinstance(self.cv, Integral) else np.arange(len(weights))
        targets = data.targets[rows]
        try:
            splitter = check_cv(self.cv, targets, classifier=strata is not None)
            folds = [rows[held] for _, held in splitter.split(np.zeros((len(rows), 1)), targets)]
        except (ValueError, TypeError, IndexError) as error:
            raise InvalidParameterError(f"cv={self.cv!r} cannot divide {len(rows)} rows: {error}") from error
        return [held for held in (fold[weights[fold] > 0] for fold in folds) if len(held)]

    def _untuned(self) -> Formulation:
        formulation = self._made_formulation()
        if formulation.C is not None:
            raise InvalidParameterError(
                f"{formulation!r} has a C, which is to be chosen from Cs: leave it at None, or use "
                f"{type(self).__name__.removesuffix('CV')}."
            )
        return formulation

    def _patience(self) -> None:
        return None

    def _hold_out(self, data: TrainingSet) -> tuple[None, Vector]:
        return None, data.weights

    def _check_parameters(self) -> None:
        super()._check_parameters()
        self._untuned()

    def _require_rows_to_score(self, has_evaluation_set: bool) -> None:
        if has_evaluation_set and self.cv is not None:
            raise InvalidParameterError(
                f"cv={self.cv!r} makes folds, but eval_set is given too: leave one of them out."
            )


class DualBoostClassifierCV(TunedBoosting, DualBoostClassifier):
    """``DualBoostClassifier`` with C chosen on held-out rows, then fitted on all rows.

    All values of C share one growing set of trees, so that comparing ten values takes as long as three to four fits.
    The path therefore compares ensembles over shared trees, not ten separate fits. It has the attributes of
    ``DualBoostClassifier`` as well.

    Parameters
    ----------
    formulation, optimize, epsilon, learner, max_depth, max_trees, tol, solver : as for ``DualBoostClassifier``
    max_leaf_nodes, min_samples_leaf, max_features, subsample : as for ``DualBoostClassifier``
    monotonic_cst, interaction_cst : as for ``DualBoostClassifier``
    categorical_features, calibration, class_weight : as for ``DualBoostClassifier``
    n_jobs, device, random_state, verbose : as for ``DualBoostClassifier``
    time_limit : as for ``DualBoostClassifier``; half of it is for comparing the values, which are then solved roughly
    callbacks : as for ``DualBoostClassifier``; called in the final fit only
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
        ``sklearn.metrics.make_scorer``; None is the accuracy. Probabilities, for scorers such as "neg_log_loss",
        come from the curve that fits the training rows.

    Attributes
    ----------
    C_ : float, the value chosen
    Cs_ : ndarray of the values compared
    scores_ : ndarray of shape (n_folds, n_values), scores on held-out rows
    path_ : dict of arrays "C", "score", "standard_error" and "n_trees"
        Score and trees for each C; nan where no solver can solve it, or ``time_limit`` left no time for it. With at
        most one value compared, ``C_`` is the default. The standard error is that of the mean over folds; for a single
        split it is the binomial error of the accuracy, or the jackknife's of another score, nan if ``time_limit`` left
        no time for it.
    """

    def __init__(
        self,
        formulation: str | Formulation = "logistic",
        Cs: Any = 10,
        *,
        optimize: str | None = None,
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
            optimize=optimize,
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


class DualBoostRegressorCV(TunedBoosting, DualBoostRegressor):
    """``DualBoostRegressor`` with C chosen on held-out rows, then fitted on all rows.

    All values of C share three sets of trees. It has the attributes of ``DualBoostRegressor`` as well.

    Parameters
    ----------
    loss, quantiles, interval_calibration, optimize, learner : as for ``DualBoostRegressor``
    max_depth, max_trees, tol, solver : as for ``DualBoostRegressor``
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
            interval_calibration=interval_calibration,
            optimize=optimize,
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
