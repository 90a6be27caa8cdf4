"""The function ``thin``, which makes a fitted model smaller."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np

from ..algebra.threads import one_blas_thread
from ..arguments import require_choice, require_fraction, require_integer, require_seed
from ..errors import InvalidParameterError
from ..formulations import Formulation, make_formulation
from ..tasks.scoring import make_scoring
from .adapters import adapter_for
from .choosing import Thinning
from .methods import METHODS
from .reading import read_rows, read_validation
from .result import ThinResult, make_result


def thin(
    model: Any,
    X: Any,
    y: Any,
    *,
    sample_weight: Any = None,
    formulation: str | Formulation = "lp",
    C: float | None = None,
    tolerance: float = 0.0,
    validation_fraction: float | None = 0.2,
    max_trees: int | None = None,
    random_state: Any = None,
    method: str = "thin",
    validation_data: tuple[Any, ...] | None = None,
    epsilon: float | None = None,
    scoring: Any = None,
    verbose: int = 0,
) -> ThinResult:
    """Drop most of a model's trees, keep its accuracy, and get the same kind of model back as a ``ThinResult``.

    The weights of all trees are optimised together; most become zero. X and y may be the rows that the model was
    trained on, but only rows that it has not seen show whether a smaller model is as good: pass ``validation_data``.

    Parameters
    ----------
    model : fitted classifier of two classes, or list of them
        A model of scikit-learn (boosting, forests, bagging), XGBoost, LightGBM, CatBoost or dualboost; not changed.
    X, y, sample_weight : the rows to thin on, their classes and multiplicities (default: 1)
    formulation, C, epsilon : what is optimised, as for ``DualBoostClassifier``
        C=None compares ensembles along a path of C, and refits the one taken on all rows. A number solves once.
    tolerance : float, default=0.0
        The loss of validation accuracy, or of the score that ``scoring`` names, that is allowed; the smallest ensemble
        that meets it is taken.
    validation_fraction : float, default=0.2
        The share of rows held out to compare ensembles on; None compares them on the rows used for fitting.
    validation_data : tuple (X, y) or (X, y, sample_weight), default=None
        Other rows to compare ensembles on; all rows of X are then used for fitting.
    max_trees : int, default=None
        The largest number of trees; if no such ensemble is within ``tolerance``, the best is taken, with a warning.
    method : {"thin", "reweight"}, default="thin"
        "thin" imitates the model's decisions. "reweight" is the paper's experiment: votes as columns for the labels y.
    scoring : str, scorer or None, default=None
        What ensembles are compared by: a name of ``sklearn.metrics.get_scorer_names()`` or a scorer made by
        ``sklearn.metrics.make_scorer``; None is the accuracy.
    random_state, verbose : which rows are held out; 1 shows a progress bar on a terminal
    """
    judge = make_scoring(scoring)
    _check(tolerance, validation_fraction, max_trees, random_state, verbose, is_share=judge.scorer is None)
    way = METHODS[require_choice("method", method, sorted(METHODS))]
    programme = _admitted(make_formulation(formulation, C, epsilon))
    adapter = adapter_for(model)
    rows, validation = read_rows(adapter, X, y, sample_weight), read_validation(adapter, validation_data)
    shows = verbose > 0
    task = Thinning(adapter, way, programme, rows, validation, tolerance, max_trees, shows, judge)
    with one_blas_thread():
        is_given = programme.C is not None
        chosen = task.at_given_C() if is_given else task.along_path(validation_fraction, random_state)
    return make_result(adapter, model, (X, y), chosen, rows, judge.name)


def _admitted(formulation: Formulation) -> Formulation:
    if formulation.has_sides:
        raise InvalidParameterError(
            f"formulation={formulation.name!r} asks for more than the outputs of a model's members: choose another "
            "one, such as 'lp'."
        )
    return formulation


def _check(
    tolerance: Any, validation_fraction: Any, max_trees: Any, random_state: Any, verbose: Any, is_share: bool
) -> None:
    is_number = isinstance(tolerance, Real) and not isinstance(tolerance, (bool, np.bool_))
    if not is_number or not 0 <= float(tolerance) < (1 if is_share else np.inf):
        what = "accuracy of at least 0 and below 1; 0.005 is half a point" if is_share else "score of at least 0"
        raise InvalidParameterError(f"tolerance={tolerance!r} must be a loss of {what}.")
    if validation_fraction is not None:
        require_fraction("validation_fraction", validation_fraction)
    if max_trees is not None:
        require_integer("max_trees", max_trees, least=1)
    require_seed(random_state)
    require_integer("verbose", int(verbose) if isinstance(verbose, bool) else verbose, least=0)
