"""Applies scorers of scikit-learn to held-out scores.

A scorer expects a fitted estimator and features. It gets a stand-in that looks scores up by the positions of the rows.
"""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.metrics import get_scorer, log_loss, make_scorer

from .._typing import Integers, Matrix, Vector
from ..deadlines import time_is_up
from ..errors import InvalidParameterError
from ..matrix.rows import Rows
from .base import Target
from .classes import TIE
from .quantiles import QuantileTarget

EXAMPLES = ("accuracy", "balanced_accuracy", "f1", "neg_brier_score", "neg_log_loss", "roc_auc")
"""The scorers that messages name; scikit-learn has more."""
FOR_NUMBERS = "'r2' or 'neg_mean_absolute_error'"
"""The scorers that messages name for numbers."""
FOR_SEVERAL = {
    "roc_auc_score": "roc_auc_ovr",
    "f1_score": "f1_macro",
    "jaccard_score": "jaccard_macro",
    "precision_score": "precision_macro",
    "recall_score": "recall_macro",
}
"""For metrics of two classes, the scorer for any number of classes."""
N_GROUPS = 20
"""The number of groups of the jackknife."""


class ScorerFailed(InvalidParameterError):
    """The scorer raised an error, or its score is not a number."""


@dataclass(frozen=True, eq=False)
class ScoredRows:
    """Rows with their targets, multiplicities and the scores of an ensemble."""

    target: Target
    scores: Vector
    targets: Vector
    rows: Rows
    probabilities: Callable[[Vector], Matrix]
    """From scores to class probabilities; only some scorers need it."""


class _StandIn(BaseEstimator):
    """A fitted estimator whose features are the positions of rows."""

    def __init__(self, known: ScoredRows) -> None:
        self.known = known
        self.classes_ = known.target.classes

    def __sklearn_is_fitted__(self) -> bool:
        return True


class StandIn(ClassifierMixin, _StandIn):
    """A classifier with known scores."""

    @cached_property
    def _scores(self) -> Vector:
        return np.where(np.abs(self.known.scores) < TIE, 0.0, self.known.scores)  # the sign may be a rounding error

    def decision_function(self, X: Any) -> Vector:
        return self._scores[np.asarray(X)[:, 0]]

    def predict(self, X: Any) -> NDArray[Any]:
        return self.known.target.decode(self.decision_function(X))

    def predict_proba(self, X: Any) -> Matrix:
        return self._probabilities[np.asarray(X)[:, 0]]

    @cached_property
    def _probabilities(self) -> Matrix:
        return self.known.probabilities(self._scores)


class NumberStandIn(RegressorMixin, _StandIn):
    """A regressor with known scores."""

    def predict(self, X: Any) -> NDArray[Any]:
        return self.known.target.for_metrics().decode(self.known.scores[np.asarray(X)[:, 0]])

    def predict_quantiles(self, X: Any) -> Matrix:
        assert isinstance(self.known.target, QuantileTarget), "the scorer is for quantiles"
        return self.known.target.quantiles(self.known.scores[np.asarray(X)[:, 0]])


def stand_in_for(known: ScoredRows) -> StandIn | NumberStandIn:
    return StandIn(known) if known.target.has_classes else NumberStandIn(known)


@dataclass(frozen=True, eq=False)
class Scoring:
    """A score of rows; larger is better."""

    name: str = "accuracy"
    scorer: Callable[..., Any] | None = None
    """scikit-learn's scorer; None is the accuracy."""

    weighting: str = ""
    """What its rows are weighted by, for messages; empty if that goes without saying."""

    @property
    def label(self) -> str:
        """The name of the score with the weighting."""
        return self.name + self.weighting

    @property
    def takes_weights(self) -> bool:
        """Whether the weights of rows change the score."""
        return self.scorer is None or _takes("sample_weight", self.scorer)

    def score(self, known: ScoredRows) -> float:
        if self.scorer is None:
            return known.target.quality(known.scores, known.targets, known.rows)
        return self._scored(known, stand_in_for(known), np.arange(len(known.scores)))

    def standard_error(self, known: ScoredRows) -> float:
        """The binomial error of the accuracy, or the jackknife error of another score; nan if time is up.

        The jackknife leaves out one group of rows at a time. Each group has an equal share of every class.
        """
        if self.scorer is None:
            share = self.score(known)
            return float(np.sqrt(share * (1.0 - share) / max(known.rows.n_observed, 1.0)))
        stand_in, group = stand_in_for(known), _groups(known)
        found = []
        for k in range(N_GROUPS):
            if time_is_up():
                return np.nan
            try:
                found.append(self._scored(known, stand_in, np.flatnonzero(group != k)))
            except ScorerFailed:  # too few rows of a class are left for this scorer
                continue
        return float(np.std(found) * np.sqrt(len(found) - 1)) if found else 0.0

    def _scored(self, known: ScoredRows, stand_in: StandIn | NumberStandIn, rows: Integers) -> float:
        assert self.scorer is not None
        counts = known.rows.counts[rows]
        weights = {"sample_weight": counts} if (counts != 1).any() and self.takes_weights else {}
        y = known.target.for_metrics().labels(known.targets[rows])
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # a metric that is undefined here is nan, which is refused
                score = float(_for_classes(self.scorer, stand_in.classes_)(stand_in, rows[:, None], y, **weights))
        except Exception as error:  # scorers are anybody's code
            reason = _reason(self.scorer, stand_in.classes_, y) or f"cannot score the rows: {error}"
            raise ScorerFailed(f"scoring={self.name!r} {reason}") from error
        if not np.isfinite(score):
            reason = _reason(self.scorer, stand_in.classes_, y) or f"gives {score}; it must be a finite number."
            raise ScorerFailed(f"scoring={self.name!r} {reason}")
        return score


def require_for_task(scoring: Scoring, target: Target) -> Scoring:
    """The scoring; an error if it is the accuracy and there are no classes."""
    if scoring.scorer is None and not target.has_classes:
        raise InvalidParameterError(f"scoring='accuracy' needs classes, and y has numbers: use {FOR_NUMBERS}.")
    return scoring


def make_scoring(value: Any, name: str = "scoring") -> Scoring:
    """The argument ``scoring``, or one of another name: None, a name of scikit-learn's, or a scorer."""
    if value is None or (isinstance(value, str) and value == "accuracy"):
        return Scoring()
    if callable(value):
        return Scoring(scoring_name(value), value)
    try:
        return Scoring(value, get_scorer(value))
    except (ValueError, TypeError) as error:
        raise InvalidParameterError(
            f"{name}={value!r} is not known; choose a name such as {', '.join(map(repr, EXAMPLES))}, for numbers "
            f"{FOR_NUMBERS}, a scorer made by sklearn.metrics.make_scorer, or None for the default. "
            "sklearn.metrics.get_scorer_names() lists all names."
        ) from error


SPELLED: dict[str | None, str] = {"r2": "R²"}
"""Names of scores with another spelling in text."""


def scoring_name(value: Any) -> str:
    """The name of the score in messages and pictures."""
    if value is None or isinstance(value, str):
        return SPELLED.get(value, value) or "accuracy"
    function, sign = getattr(value, "_score_func", value), getattr(value, "_sign", 1)
    return ("" if sign > 0 else "neg_") + str(getattr(function, "__name__", "score"))


def _for_classes(scorer: Callable[..., Any], classes: Any) -> Callable[..., Any]:
    """The scorer; the log loss gets the classes as an argument, since rows may lack some of them."""
    own = getattr(scorer, "_kwargs", {})
    if getattr(scorer, "_score_func", None) is not log_loss or "labels" in own:
        return scorer
    found: Callable[..., Any] = make_scorer(
        log_loss, greater_is_better=False, response_method="predict_proba", labels=classes, **own
    )
    return found


def _reason(scorer: Callable[..., Any], classes: Any, y: NDArray[Any]) -> str | None:
    """Why the scorer failed and what to do, for failures with an unclear message of scikit-learn; else None."""
    function = getattr(getattr(scorer, "_score_func", None), "__name__", "")
    own = getattr(scorer, "_kwargs", {})
    if classes is None and getattr(scorer, "_response_method", "predict") != "predict":
        return f"needs classes, and y has numbers: use a score such as {FOR_NUMBERS}."
    if _lacks_positive_class(scorer, classes):
        return _positive_class(scorer, function, classes.tolist())
    if classes is None or function not in FOR_SEVERAL:
        return None
    is_for_two = own.get("multi_class", "raise") == "raise" and own.get("average", "binary") == "binary"
    if len(classes) > 2 and is_for_two:
        return f"is for two classes, and y has {len(classes)}: use {FOR_SEVERAL[function]!r}."
    absent = np.setdiff1d(classes, y)
    if function == "roc_auc_score" and len(absent):
        return (
            f"needs rows of every class, and none of the {len(y)} rows that it is to score is of class "
            f"{absent.tolist()[0]!r}: hold out more rows, or take a score that does without, such as 'neg_log_loss'."
        )
    return None


def _lacks_positive_class(scorer: Callable[..., Any], classes: Any) -> bool:
    label = getattr(scorer, "_kwargs", {}).get("pos_label", 1)
    return classes is not None and len(classes) == 2 and _takes("pos_label", scorer) and label not in classes.tolist()


def _positive_class(scorer: Callable[..., Any], function: str, classes: list[Any]) -> str:
    response = getattr(scorer, "_response_method", "predict")
    options = {"pos_label": classes[1]}
    options |= {} if response == "predict" else {"response_method": response}
    options |= {} if getattr(scorer, "_sign", 1) > 0 else {"greater_is_better": False}
    written = ", ".join(f"{name}={value!r}" for name, value in options.items())
    return (
        f"needs a positive class, {classes[0]!r} or {classes[1]!r}: pass "
        f"make_scorer({function}, {written}) of sklearn.metrics, or a score that is about both, such as "
        f"{FOR_SEVERAL.get(function, 'neg_log_loss')!r}."
    )


def _takes(name: str, scorer: Callable[..., Any]) -> bool:
    try:
        return name in inspect.signature(getattr(scorer, "_score_func", scorer)).parameters
    except (TypeError, ValueError):  # a function without a signature
        return False


def _groups(known: ScoredRows) -> Integers:
    """The group of each row, in turn within each class."""
    classes = known.target.groups(known.targets)
    order = np.arange(len(known.targets)) if classes is None else np.argsort(classes, kind="stable")
    group = np.empty(len(order), dtype=np.intp)
    group[order] = np.arange(len(order)) % N_GROUPS
    return group
