"""The function ``thin``, which makes a fitted model smaller."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from numbers import Real
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from .._typing import Integers, Vector
from ..algebra.threads import one_blas_thread
from ..arguments import require_choice, require_fraction, require_integer, require_seed
from ..data.splitting import hold_out
from ..errors import DegenerateEnsembleWarning, InvalidParameterError, SolverWarning, ThinningWarning
from ..formulations import Formulation, make_formulation
from ..loop.progress import ProgressBar
from ..masters import MasterFailed
from .adapters import adapter_for
from .member_master import EXACT
from .methods import METHODS
from .reading import read_rows, read_validation
from .result import ThinResult, make_result
from .rows import MemberRows
from .search import ROUNDING, Point, Search, take

N_VALUES = 10
"""The number of values of C on the path."""
BY_HEART = 0.999
"""A model with at least this accuracy is assumed to know the rows by heart."""
LIGHT = 0.1
"""If the mean of ``sample_weight`` is below this, it is probably not meant as multiplicities."""
DENSE = 0.5
"""The path ends at an optimum with more than this fraction of the members: growing ensembles are as good but cheap."""
BEYOND = 0.2
"""After an ensemble is good enough, it grows by this fraction more, to show how the accuracy goes on."""


def thin(
    model: Any,
    X: Any,
    y: Any,
    sample_weight: Any = None,
    formulation: str | Formulation = "lp",
    C: float | None = None,
    tolerance: float = 0.0,
    validation_fraction: float | None = 0.2,
    max_trees: int | None = None,
    random_state: Any = None,
    *,
    method: str = "thin",
    validation_data: tuple[Any, ...] | None = None,
    epsilon: float | None = None,
    verbose: int = 0,
) -> ThinResult:
    """Drop most of a model's trees, keep its accuracy, and get the same kind of model back.

    The weights of all trees are optimised together, by one of the formulations with a free intercept; most weights
    become zero. The rows may be those that the model was trained on, but whether a smaller model is as good shows only
    on rows that the model has not seen: pass some as ``validation_data``.

    Parameters
    ----------
    model : a fitted classifier of two classes
        scikit-learn's ``AdaBoostClassifier``, ``RandomForestClassifier``, ``ExtraTreesClassifier``,
        ``BaggingClassifier``, ``GradientBoostingClassifier`` and ``HistGradientBoostingClassifier``; XGBoost's,
        LightGBM's and CatBoost's classifiers, and the boosters of the first two (labels 0 and 1); a list of fitted
        classifiers, which vote with their probabilities; ``DualBoostClassifier``. The model is not changed.
    X, y : the rows to thin on, as for the model's own ``predict``, and their classes
    sample_weight : array, default=None
        Multiplicities: a row with 2 counts as the row twice.
    formulation : {"lp", "nm", "qrlp", "cg", "erlp", "md"} or Formulation, default="lp"
        What is optimised.
    C : float, default=None
        The formulation's hyperparameter. None solves a path over the formulation's grid, from the sparsest end; the
        smallest ensemble whose validation accuracy is within ``tolerance`` of the model's is taken and refitted on all
        rows. Each set of trees is tried with the weights of its own C and with those of the densest C over the same
        trees. A number solves once, on all rows.
    tolerance : float, default=0.0
        The loss of validation accuracy that is allowed: 0.005 is half a point.
    validation_fraction : float, default=0.2
        The share of rows held out to compare ensembles on; None compares them on the rows that they are fitted to. Not
        used if ``C`` or ``validation_data`` is given.
    max_trees : int, default=None
        The largest number of trees; if no ensemble of at most this size is within ``tolerance``, the best one is taken,
        with a warning.
    random_state : int, RandomState instance or None, default=None
        Decides which rows are held out.
    method : {"thin", "reweight"}, default="thin"
        "thin" imitates the model's decisions; y only serves to measure accuracies. "reweight" is the paper's
        experiment: the members' votes are columns for the labels y, without an intercept, and the ensemble of the path
        with the best validation accuracy is taken; ``tolerance`` is not used.
    validation_data : tuple (X, y) or (X, y, sample_weight), default=None
        Rows to compare ensembles on; all rows of X are then used for fitting.
    epsilon : float, default=None
        The constant of "erlp" and "qrlp"; None means 0.01. Other formulations have none, and a formulation object has
        its own.
    verbose : int, default=0
        1 shows a progress bar on a terminal.

    Returns
    -------
    ThinResult
        ``model``, ``kept``, ``weights``, ``intercept``, ``path``, ``gap``, ``summary()``, ``plot()``.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.ensemble import AdaBoostClassifier
    >>> from dualboost import thin
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = AdaBoostClassifier(n_estimators=50, random_state=0).fit(X, y)
    >>> result = thin(model, X, y, tolerance=0.01, random_state=0)
    >>> type(result.model).__name__, len(result.kept) < 50
    ('AdaBoostClassifier', True)
    """
    _check(tolerance, validation_fraction, max_trees, random_state, verbose)
    way = METHODS[require_choice("method", method, sorted(METHODS))]
    programme = make_formulation(formulation, C, epsilon)
    if programme.has_sides:
        raise InvalidParameterError(
            f"formulation={programme.name!r} asks for more than the outputs of a model's members: choose another one, "
            "such as 'lp'."
        )
    adapter = adapter_for(model)
    rows = read_rows(adapter, X, y, sample_weight)
    validation = read_validation(adapter, validation_data)

    def search(on: MemberRows, compared_on: MemberRows | None, members: Integers | None = None) -> Search:
        return Search(adapter, way, on, compared_on, programme, max_trees, members)

    taken: Point | None
    final: Point | None
    with one_blas_thread():
        if programme.C is not None:
            training, compared = rows, validation
            solved = _solved_once(search(rows, validation), programme.resolve(float(rows.counts.sum())).strength)
            points, taken, final = [solved], solved, solved
        else:
            if validation is None:
                _warn_by_heart(rows)
            training, compared = _split(rows, validation, validation_fraction, random_state)
            enough = (compared or training).full_accuracy - tolerance if way.takes_smallest else np.inf
            values = _sparsest_first(programme, float(training.counts.sum()))
            points = _path(search(training, compared), values, enough, way.grows, verbose > 0)
            taken = take(points, enough)
            if taken is None and max_trees is not None and points:
                taken = take(points, np.inf)
                _warn(f"No ensemble of {max_trees} trees has the accuracy asked for, {enough:.4f}; the best is kept.")
            final = None if taken is None else _refitted(search(rows, validation, taken.members), taken, enough)
            if taken is None:
                _warn_unchanged(points, enough, tolerance, rows, adapter.n_members)
            elif validation is not None and final is not None:  # the path is to show the ensemble that is returned
                points = [final if point is taken else point for point in points]
                taken = final
    return make_result(adapter, model, (X, y), points, taken, final, rows, compared or training)


def _check(tolerance: Any, validation_fraction: Any, max_trees: Any, random_state: Any, verbose: Any) -> None:
    is_number = isinstance(tolerance, Real) and not isinstance(tolerance, (bool, np.bool_))
    if not is_number or not 0 <= float(tolerance) < 1:
        raise InvalidParameterError(
            f"tolerance={tolerance!r} must be a loss of accuracy of at least 0 and below 1; 0.005 is half a point."
        )
    if validation_fraction is not None:
        require_fraction("validation_fraction", validation_fraction)
    if max_trees is not None:
        require_integer("max_trees", max_trees, least=1)
    require_seed(random_state)
    require_integer("verbose", int(verbose) if isinstance(verbose, bool) else verbose, least=0)


def _split(
    rows: MemberRows, validation: MemberRows | None, fraction: float | None, random_state: Any
) -> tuple[MemberRows, MemberRows | None]:
    """The rows to fit to, and the rows to compare ensembles on; None if these are the same."""
    if validation is not None or fraction is None:
        return rows, validation
    held = hold_out(rows.labels, rows.counts, fraction, check_random_state(random_state))
    is_held = np.zeros(len(rows.labels), dtype=bool)
    is_held[held] = True
    return rows.part(~is_held), rows.part(is_held)


def _sparsest_first(formulation: Formulation, n_samples: float) -> Vector:
    values = np.unique(formulation.C_grid(n_samples, N_VALUES))
    return values[::-1] if formulation.sparser_with_larger_C else values


def _path(search: Search, values: Vector, enough: float, grows: bool, shows_progress: bool) -> list[Point]:
    """The ensembles to choose from, in order of size."""
    points: list[Point] = []
    with ProgressBar(None, enabled=shows_progress, unit="ensemble") as progress:
        if grows:
            points += _grown(search, float(values[-1]), enough, progress)
        found = take(points, enough)
        most = np.inf
        if grows:
            most = min(DENSE * len(search.members), np.inf if found is None else len(found.members))
        points += _along(search, values, most, progress)
    return sorted(points, key=lambda point: len(point.members))


def _grown(search: Search, C: float, enough: float, progress: ProgressBar) -> Iterator[Point]:
    """Growing ensembles, until a little after the first one with a score of at least ``enough``."""
    last = np.inf
    for point in search.grown(C):
        yield point
        progress.advance(trees=len(point.members), accuracy=point.score)
        last = min(last, (1.0 + BEYOND) * len(point.members) + 1 if point.score >= enough else np.inf)
        if len(point.members) > last:
            return


def _along(search: Search, values: Vector, most: float, progress: ProgressBar) -> Iterator[Point]:
    """The optimum for every C, the sparsest first, until one has more than ``most`` members."""
    for point in search.along(values):
        yield point
        progress.advance(C=point.C, trees=len(point.members), accuracy=point.score)
        if len(point.members) > most:
            return


def _solved_once(search: Search, C: float) -> Point:
    try:
        point = search.at(C)
    except MasterFailed as failure:
        raise InvalidParameterError(
            f"No solver can solve C={C!r} on these rows ({failure}). Choose another value."
        ) from None
    if not point.weights.any():
        smallest = search.smallest_useful_C()
        hint = "" if smallest is None else f" The smallest C that uses a tree is about {smallest:.3g}."
        warnings.warn(
            f"With C={C:.3g} no tree gets a weight, so the model returned predicts one class only.{hint}",
            DegenerateEnsembleWarning,
            stacklevel=3,
        )
    return point


def _refitted(search: Search, chosen: Point, enough: float) -> Point:
    """The same trees with weights optimised on all rows, or with the weights of the path if those are better."""
    try:
        refitted = search.over(np.arange(search.columns.n_columns), chosen.C, EXACT)
        is_worse = refitted.validation_score < min(enough, chosen.validation_score) - ROUNDING
        return refitted if len(refitted.members) and not is_worse else chosen
    except MasterFailed as failure:
        warnings.warn(
            f"No solver reached a gap of {EXACT.precision.tolerance:g} on all rows; the weights have one of "
            f"{chosen.solution.gap:.1e} on the rows of the path ({failure}).",
            SolverWarning,
            stacklevel=3,
        )
        return chosen


def _warn_unchanged(points: list[Point], enough: float, tolerance: float, rows: MemberRows, n_members: int) -> None:
    closest = take(points, np.inf)
    hint = ""
    if closest is not None and len(closest.members) < n_members:
        needed = np.ceil(1e4 * (tolerance + enough - closest.score)) / 1e4
        trees = "1 tree" if len(closest.members) == 1 else f"{len(closest.members)} trees"
        hint = f" The closest has {trees} and an accuracy of {closest.score:.4f}; tolerance={needed:g} takes it."
    if rows.full_accuracy >= BY_HEART:
        hint += " The model knows the rows of X by heart: rows that it has not seen, as X and y, may do better."
    if rows.counts.sum() < LIGHT * len(rows.counts):
        hint += (
            f" The sample weights add up to {rows.counts.sum():.3g}: as repetitions, they should have a mean of one."
        )
    _warn(f"No smaller ensemble reaches the accuracy asked for, {enough:.4f}: the model is returned as it was.{hint}")


def _warn_by_heart(rows: MemberRows) -> None:
    if rows.full_accuracy >= BY_HEART:
        _warn(
            f"The model is right on {rows.full_accuracy:.1%} of the rows of X, as on rows that it knows by heart. They "
            "do not show how many trees it needs: pass rows that it has not seen as validation_data."
        )


def _warn(message: str) -> None:
    warnings.warn(message, ThinningWarning, stacklevel=4)
