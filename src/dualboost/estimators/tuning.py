"""The fit of an estimator that chooses its C on held-out rows."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
from sklearn.model_selection import check_cv
from sklearn.utils import check_random_state

from .._typing import Integers, Vector
from ..algebra.threads import one_blas_thread
from ..arguments import require_choice, require_fraction, require_integer
from ..data.splitting import hold_out
from ..deadlines import share_of_time
from ..errors import InvalidParameterError
from ..formulations import Formulation
from ..loop.held_out import HeldOut
from ..loop.leaf_path import follow_leaf_path, sizes_below
from ..loop.leaf_wiring import LeafWiring
from ..loop.logs import log_choice
from ..loop.path import ON_PATH, PathPoint, follow_path
from ..loop.progress import ProgressBar
from ..models.fitted import Tuning
from ..tasks.scoring import Scoring, require_for_task
from .attributes import TunedAttributes
from .boosting import Boosting
from .parameters import check_common
from .reading import TrainingSet

COMPARING = 0.5
"""The share of the time for comparing values of C; the rest is for the fit at the value chosen."""


class Split(NamedTuple):
    """Rows to score on, and the multiplicities of all rows in training."""

    scored: Callable[[], HeldOut]
    """Copies the rows, so that only the rows of one fold are copied at a time."""
    training: Vector


def _held_out(data: TrainingSet, held: Integers, scoring: Scoring) -> HeldOut:
    return HeldOut(data.features[held], data.targets[held], data.weights[held], scoring, data.numbers[held])


class TunedBoosting(TunedAttributes, Boosting):
    """``fit`` that compares values of C first, and fits the best on all rows."""

    Cs: Any
    cv: Any
    select: str

    def _choose_formulation(self, data: TrainingSet) -> tuple[Formulation, Tuning]:
        tuning = self._tune(data)
        log_choice(tuning.C, len(tuning.Cs), float(np.nanmax(tuning.path["score"])))
        return self._made_formulation(tuning.C), tuning

    def _tune(self, data: TrainingSet) -> Tuning:
        n_rows = self._n_rows(data)
        values = self._values(n_rows)
        splits = self._splits(data)
        with ProgressBar(len(splits) * len(values) * self._n_sizes(), self.verbose > 0, "value of C") as bar:
            folds = []
            with share_of_time(COMPARING):
                for k, split in enumerate(splits):
                    with share_of_time(1.0 / (len(splits) - k)):
                        folds.append(self._path(data, split, values, len(splits) == 1, bar))
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
        chosen = int(min(np.flatnonzero(allowed), key=lambda k: (trees[k], -known[k], from_default[k])))
        path = {"C": Cs, "score": mean, "standard_error": error, "n_trees": trees}
        most = self._sizes()[chosen // len(values)] if len(Cs) > len(values) else None
        return Tuning(float(Cs[chosen]), Cs, scores, path, most)

    def _path(
        self, data: TrainingSet, split: Split, values: Vector, with_errors: bool, bar: ProgressBar
    ) -> list[PathPoint]:
        """The scores of every value of C on the rows to score, after training on the others.

        The values are meant for all rows; on fewer rows a C that counts rows means the same at another value.
        """
        formulation = self._untuned()
        ratio = float(split.training.sum() / data.weights.sum())
        values = formulation.carried(values, ratio)

        def note(point: PathPoint) -> None:
            C = float(formulation.carried(np.array(point.C), 1.0 / ratio))
            bar.advance(C=f"{C:.3g}", score=f"{point.score:.4g}", trees=point.n_trees)

        rows = self._rows(data, split.training)
        wiring = self._wire(data, rows, formulation, ON_PATH)
        tested = split.scored()
        with one_blas_thread():
            if isinstance(wiring, LeafWiring):
                return follow_leaf_path(wiring, values, tested, self._sizes(), with_errors, note)
            return follow_path(wiring, values, tested, self._size(wiring.formulation).trees, with_errors, note)

    def _sizes(self) -> list[int]:
        """The numbers of trees that are compared where leaves are corrected."""
        most = self._size(self._untuned()).trees
        return sizes_below(most) if self.select == "sparsest" else [most]

    def _n_sizes(self) -> int:
        """How many numbers of trees each value of C is compared at."""
        return len(self._sizes()) if self._corrected(self._untuned()) == "leaves" else 1

    def _n_rows(self, data: TrainingSet) -> float:
        """The number of rows that a grid of C is made for: their count where the scale of weights means nothing."""
        if not self._untuned().is_scale_free:
            return float(data.weights.sum())
        rows = self._rows(data, data.weights)
        return self._untuned().size_of(data.task.rows(rows.targets, rows.counts, rows_each=rows.rows_each))

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
        splits, scoring = [], require_for_task(self._scoring(), data.task)
        for held in self._folds(data):
            training = data.weights.copy()
            training[held] = 0.0
            splits.append(Split(partial(_held_out, data, held, scoring), training))
        return splits

    def _folds(self, data: TrainingSet) -> list[Integers]:
        """The rows to score on in each fold, without the rows of weight zero."""
        strata, weights = data.task.groups(data.targets), data.weights
        if self.cv is None:
            return [hold_out(strata, weights, self.validation_fraction, check_random_state(self.random_state))]
        # An int divides the rows with a positive weight; the indices of a splitter refer to all rows.
        rows = np.flatnonzero(weights > 0) if isinstance(self.cv, Integral) else np.arange(len(weights))
        targets = data.targets[rows]
        try:
            splitter = check_cv(self.cv, targets, classifier=strata is not None)
            folds = [rows[held] for _, held in splitter.split(np.zeros((len(rows), 1)), targets)]
        except ValueError as error:
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
        check_common(self)
        self._untuned()
        require_fraction("validation_fraction", self.validation_fraction, or_none=False)
        require_choice("select", self.select, ["best", "sparsest"])

    def _require_rows_to_score(self, has_evaluation_set: bool) -> None:
        if has_evaluation_set and self.cv is not None:
            raise InvalidParameterError(
                f"cv={self.cv!r} makes folds, but eval_set is given too: leave one of them out."
            )
