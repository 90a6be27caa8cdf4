"""The function ``thin``, which makes a fitted model smaller."""

from __future__ import annotations

import json
from dataclasses import replace
from numbers import Real
from typing import Any

import numpy as np

from ..arguments import require_choice, require_fraction, require_integer, require_seed
from ..data.tables import truths_of
from ..deadlines import time_limit
from ..errors import InvalidParameterError, UnsupportedModelError
from ..formulations import Formulation, make_formulation
from ..matrix.rows import one_blas_thread
from ..targets.scoring import Scoring, make_scoring
from .adapters import adapter_for
from .base import Adapter
from .refitting import REFIT, Refitting
from .result import Chosen, ThinResult, make_result, warn_not_refitted, warn_of_lost_classes, warn_of_unread_weights
from .reweighting import METHODS, Thinning
from .rows import MOST_LEAVES_OF_MEMBER, ModelRows
from .tree_model import ThinnedTreesClassifier
from .trials import make_trials, read_rows, read_validation

PARAMETERS = ("monotonic_cst", "monotone_constraints")
"""What scikit-learn and dualboost, and XGBoost, LightGBM and CatBoost, call the constraint."""
NO_ORDER = set("(), 0[]")
"""The characters of a text without constraints."""


def is_ordered(model: Any) -> bool:
    """Whether the model was fitted with a monotone constraint, according to its parameters."""
    return any(_constrains(value) for parameters in _parameters(model) for value in map(parameters.get, PARAMETERS))


def _parameters(model: Any) -> list[dict[str, Any]]:
    """The parameters of an estimator or booster; LightGBM and XGBoost store them differently."""
    if hasattr(model, "get_params"):
        return [model.get_params(deep=False)]
    if hasattr(model, "save_config"):
        learner = json.loads(model.save_config())["learner"]
        return [learner["gradient_booster"].get("tree_train_param", {})]
    held = getattr(model, "params", None)
    return [held] if isinstance(held, dict) else []


def _constrains(value: Any) -> bool:
    if isinstance(value, str):
        return not NO_ORDER.issuperset(value)
    if isinstance(value, dict):
        return any(map(_constrains, value.values()))
    return value is not None and bool(np.any(np.asarray(value) != 0))


BY_CLASS = " (weights of classes)"
"""The weighting of a score by the weights of classes that the model was trained with."""
INSTEAD = "imitate"
"""The method for models whose leaves cannot be refitted."""
AUTO = "auto"
"""The ``validation_fraction`` that finds rows by itself."""


def thin(
    model: Any,
    X: Any,
    y: Any,
    *,
    sample_weight: Any = None,
    formulation: str | Formulation | None = None,
    C: float | None = None,
    tolerance: float = 0.0,
    validation_fraction: float | str | None = "auto",
    max_trees: int | None = None,
    random_state: Any = None,
    method: str | None = None,
    validation_data: tuple[Any, ...] | None = None,
    epsilon: float | None = None,
    scoring: Any = None,
    verbose: int = 0,
) -> ThinResult:
    """Drop most of a model's trees, keep its accuracy or R², and get the same kind of model back as a ``ThinResult``.

    The trees that are missed least go, and the values of all leaves of the others are optimised together. How many
    may go is judged on rows that the model has not seen: pass ``validation_data``, or let models like it be trained
    on a part of X and judged on the rest.

    Parameters
    ----------
    model : fitted classifier or regressor, or list of classifiers of two classes
        A model of scikit-learn (boosting, forests, bagging), XGBoost, LightGBM, CatBoost or dualboost; not changed.
        With more than two classes: XGBoost, LightGBM, CatBoost, dualboost, scikit-learn's forests, bagging
        and gradient boosting. Where every class has trees of its own, whole rounds of these are kept or dropped.
        Regressors predict means or medians: leaves are refitted by the squared loss, or Poisson's where the model
        predicts by a logarithm, and leaves of medians are fitted to the model's predictions only.
    X, y, sample_weight : the rows to thin on, their classes or numbers, and multiplicities (default: 1)
    tolerance : float, default=0.0
        The loss of validation accuracy (of a regressor R²: 0.01 is one point), or of the score that ``scoring`` names,
        that is allowed; the smallest ensemble that meets it is taken. Where the model was trained with weights of
        classes, such as ``scale_pos_weight``, these weigh the rows of the score: the plain accuracy may fall by more.
    validation_data : tuple (X, y) or (X, y, sample_weight), default=None
        Rows to compare ensembles on.
    validation_fraction : "auto", float or None, default="auto"
        Without ``validation_data``: "auto" trains models like the given one on folds of X (at most 30,000 rows) and
        compares on the rows left out; where that is not possible, it holds out a fifth of X. A number holds out that
        share of X. None compares on the rows used for fitting.
    max_trees : int, default=None
        The largest number of trees of all classes together; if no such ensemble is within ``tolerance``, the
        best is taken, with a warning.
    method : {"refit", "imitate", "reweight"}, default=None
        "refit" gives all leaves new values, for y or for the predictions of the model itself. "imitate" gives trees new
        weights, which imitate the model's decisions. "reweight" is the paper's experiment: votes as columns for the
        labels y. The last two take two classes. None is "refit" where leaves can be refitted and no formulation, C or
        epsilon is given, and otherwise "imitate".
    formulation, C, epsilon : what weights are optimised by, as for ``DualBoostClassifier``; the default is "lp"
        C=None compares ensembles along a path of C, and refits the one taken on all rows. A number solves once.
    scoring : str, scorer or None, default=None
        What ensembles are compared by: a name of ``sklearn.metrics.get_scorer_names()`` or a scorer made by
        ``sklearn.metrics.make_scorer``; None is the accuracy, or R² of a regressor. A metric without the parameter
        ``sample_weight`` is not weighted, neither by rows nor by classes.
    random_state, verbose : which rows are held out; 1 shows a progress bar on a terminal
    """
    judge = make_scoring(scoring)
    adapter = adapter_for(model)
    judge = _judge(judge, scoring, adapter)
    _check(tolerance, validation_fraction, max_trees, random_state, verbose, judge)
    name = _method_for(method, is_about_weights=not (formulation is None and C is None and epsilon is None))
    programme = make_formulation(formulation or "lp", C, epsilon)
    if programme.has_sides:
        raise InvalidParameterError(
            f"formulation={programme.name!r} needs more than the outputs of a model's members: choose another one, "
            "such as 'lp'."
        )
    if name != REFIT and not adapter.link.takes_weights:
        raise _needs_two_classes(adapter, {"method": method, "formulation": formulation, "C": C, "epsilon": epsilon})
    _require_a_round(max_trees, adapter)
    _warn_of_unread_weights(adapter, is_aimed=judge.scorer is not None or sample_weight is not None)
    rows, validation = read_rows(adapter, X, y, sample_weight), read_validation(adapter, validation_data)
    if name == REFIT and (obstacle := _obstacle(adapter, model, rows)):
        if not adapter.link.takes_weights:
            raise UnsupportedModelError(f"model {type(model).__name__} cannot be thinned: {obstacle}.")
        if method is not None:
            warn_not_refitted(obstacle)
        name = INSTEAD
    others = validation_fraction if validation is None else validation
    weighs_classes = judge.takes_weights and (validation or rows).has_class_weights
    if weighs_classes:
        judge = replace(judge, weighting=BY_CLASS)
    limits = (tolerance, max_trees, verbose > 0, judge)
    selection: Chosen
    with one_blas_thread(), time_limit(None):  # a fit that is under way may have a limit of its own
        if name == REFIT:
            tried = make_trials(adapter, rows, others, random_state, (X, y, sample_weight))
            selection = Refitting(adapter, rows, tried, *limits).choose()
        else:
            thinning = Thinning(adapter, METHODS[name], programme, rows, validation, *limits)
            if programme.C is not None:
                selection = thinning.at_given_C()
            else:
                selection = thinning.along_path(make_trials(adapter, rows, others, random_state))
    if weighs_classes:
        selection = selection._replace(judged_on=f"{selection.judged_on}, with the model's weights of classes")
    result = make_result(adapter, model, (X, y), selection, rows, judge)
    if isinstance(result.model, ThinnedTreesClassifier):  # the library's own models keep the types of the columns
        result.model.truths = truths_of(X)
    warn_of_lost_classes(result)
    return result


def _warn_of_unread_weights(adapter: Adapter, is_aimed: bool) -> None:
    """``is_aimed`` if the call itself names a score or weights."""
    found, has_classes = adapter.class_weights, adapter.target.has_classes
    given = next((own for own in found.given if own is not None), None)
    reason = found.unread or (f"y has numbers, and they are {given!r}" if given and not has_classes else "")
    if reason and not is_aimed:
        warn_of_unread_weights(reason, has_classes)


def _require_a_round(max_trees: int | None, adapter: Adapter) -> None:
    if max_trees is not None and max_trees < adapter.trees_per_member:
        raise InvalidParameterError(
            f"max_trees={max_trees!r} is less than one round of this model, which has {adapter.trees_per_member} "
            "trees, one for each class; rounds are kept or dropped whole."
        )


def _method_for(method: str | None, is_about_weights: bool) -> str:
    if method is None:
        return INSTEAD if is_about_weights else REFIT
    name = require_choice("method", method, sorted([REFIT, *METHODS]))
    if name == REFIT and is_about_weights:
        raise InvalidParameterError(
            "method='refit' takes no formulation, C or epsilon: leaves are refitted with a ridge, and its C is chosen. "
            "Leave them out, or pass method='imitate' for a model of two classes."
        )
    return name


def _needs_two_classes(adapter: Adapter, given: dict[str, Any]) -> InvalidParameterError:
    name, value = next((name, value) for name, value in given.items() if value is not None)
    this = f"has a score for each of {len(adapter.classes)}" if adapter.target.has_classes else "predicts numbers"
    return InvalidParameterError(
        f"{name}={value!r} is for new weights, which models of two classes can have; this one {this}. Leave it out, "
        "or pass method='refit' alone."
    )


def _obstacle(adapter: Adapter, model: Any, rows: ModelRows) -> str:
    if not adapter.refits:
        return "the members of the model are not all trees"
    if is_ordered(model):
        return "it has a monotone constraint, which new values of leaves would not keep"
    if rows.labels.min() == rows.labels.max():
        return "y holds one class only" if adapter.target.has_classes else "y is the same number in all rows"
    if not len(rows.refittable.members):
        most_leaves = int(adapter.n_leaves.max())
        if most_leaves <= 1:
            return "no tree has a split, so that every row gets the same answer"
        return (
            "no tree separates rows of X"
            if most_leaves <= MOST_LEAVES_OF_MEMBER
            else f"a tree has more than {MOST_LEAVES_OF_MEMBER} different leaves"
        )
    return ""


def _judge(judge: Scoring, scoring: Any, adapter: Adapter) -> Scoring:
    """The score that compares ensembles; by default the usual score of the target."""
    if judge.scorer is not None:
        return judge
    if scoring is not None and not adapter.target.has_classes:
        raise InvalidParameterError(
            f"scoring={scoring!r} is for classes, and the model predicts numbers: leave it out for "
            f"{adapter.target.quality_name}, or pass a name such as 'neg_mean_absolute_error'."
        )
    return replace(judge, name=adapter.target.quality_name)


def _check(
    tolerance: Any, validation_fraction: Any, max_trees: Any, random_state: Any, verbose: Any, judge: Scoring
) -> None:
    is_number, is_share = isinstance(tolerance, Real) and not isinstance(tolerance, (bool, np.bool_)), not judge.scorer
    if not is_number or not 0 <= float(tolerance) < (1 if is_share else np.inf):
        what = f"{judge.name} of at least 0 and below 1; 0.005 is half a point" if is_share else "score of at least 0"
        raise InvalidParameterError(f"tolerance={tolerance!r} must be a loss of {what}.")
    if isinstance(validation_fraction, str):
        require_choice("validation_fraction", validation_fraction, [AUTO])
    elif validation_fraction is not None:
        require_fraction("validation_fraction", validation_fraction)
    if max_trees is not None:
        require_integer("max_trees", max_trees, least=1)
    require_seed(random_state)
    require_integer("verbose", int(verbose) if isinstance(verbose, bool) else verbose, least=0)
