"""Judges held-out scores by a scorer of scikit-learn's, which expects a fitted classifier and its features.

The loop knows the scores of the held-out rows, and has no classifier yet. So the scorer gets a stand-in for one, which
looks the scores up: its features are the numbers of the rows.
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
"""The same where y has numbers."""
FOR_SEVERAL = {
    "roc_auc_score": "roc_auc_ovr",
    "f1_score": "f1_macro",
    "jaccard_score": "jaccard_macro",
    "precision_score": "precision_macro",
    "recall_score": "recall_macro",
}
"""For functions whose scorers of the same name are for two classes, a name that is for any number."""
N_GROUPS = 20
"""How many groups of rows are left out in turn, to see how much a score depends on the rows."""


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
    """The class probabilities for some scores; asked only by scorers that need them."""


class StandIn(ClassifierMixin, BaseEstimator):
    """A classifier that looks up what an ensemble says of the rows whose numbers are X."""

    def __init__(self, known: ScoredRows) -> None:
        self.known = known
        self.classes_ = known.target.classes
        self._scores = np.where(np.abs(known.scores) < TIE, 0.0, known.scores)  # such a sign may be a rounding error

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def decision_function(self, X: Any) -> Vector:
        return self._scores[np.asarray(X)[:, 0]]

    def predict(self, X: Any) -> NDArray[Any]:
        return self.known.target.decode(self.decision_function(X))

    def predict_proba(self, X: Any) -> Matrix:
        return self._probabilities[np.asarray(X)[:, 0]]

    @cached_property
    def _probabilities(self) -> Matrix:
        return self.known.probabilities(self._scores)


class NumberStandIn(RegressorMixin, BaseEstimator):
    """The same for numbers."""

    classes_ = None

    def __init__(self, known: ScoredRows) -> None:
        self.known = known

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def predict(self, X: Any) -> NDArray[Any]:
        return self.known.target.for_metrics().decode(self.known.scores[np.asarray(X)[:, 0]])

    def predict_quantiles(self, X: Any) -> Matrix:
        assert isinstance(self.known.target, QuantileTarget), "only such tasks have a scorer that asks for quantiles"
        return self.known.target.quantiles(self.known.scores[np.asarray(X)[:, 0]])


def stand_in_for(known: ScoredRows) -> StandIn | NumberStandIn:
    """What a scorer takes for a fitted estimator."""
    return StandIn(known) if known.target.has_classes else NumberStandIn(known)


@dataclass(frozen=True, eq=False)
class Scoring:
    """How good the scores of rows are; larger is better."""

    name: str = "accuracy"
    scorer: Callable[..., Any] | None = None
    """scikit-learn's scorer; None is the task's own quality, which is the accuracy."""

    def score(self, known: ScoredRows) -> float:
        if self.scorer is None:
            return known.target.quality(known.scores, known.targets, known.rows)
        return self._scored(known, stand_in_for(known), np.arange(len(known.scores)))

    def standard_error(self, known: ScoredRows) -> float:
        """How far the score may be off because the rows are a sample.

        For the accuracy it is the binomial error; for others the jackknife's, which leaves out a group of rows at a
        time. Each group has the same share of every class. It is not a number if time is up.
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
        weights = {"sample_weight": counts} if (counts != 1).any() and _takes_weights(self.scorer) else {}
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
    """The scoring, unless it is the accuracy and there are no classes."""
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
"""The names of scores that people spell in another way."""


def scoring_name(value: Any) -> str:
    """What to call the score in messages and pictures."""
    if value is None or isinstance(value, str):
        return SPELLED.get(value, value) or "accuracy"
    function, sign = getattr(value, "_score_func", value), getattr(value, "_sign", 1)
    return ("" if sign > 0 else "neg_") + str(getattr(function, "__name__", "score"))


def _for_classes(scorer: Callable[..., Any], classes: Any) -> Callable[..., Any]:
    """The scorer; the log loss, which takes classes that no row has for a mistake, is told the classes."""
    own = getattr(scorer, "_kwargs", {})
    if getattr(scorer, "_score_func", None) is not log_loss or "labels" in own:
        return scorer
    told: Callable[..., Any] = make_scorer(
        log_loss, greater_is_better=False, response_method="predict_proba", labels=classes, **own
    )
    return told


def _reason(scorer: Callable[..., Any], classes: Any, y: NDArray[Any]) -> str | None:
    """Why the scorer failed, where scikit-learn's own words do not say what to do."""
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
    """Whether the scorer takes one of two classes for the positive one, and neither is the one that it expects."""
    asked = getattr(scorer, "_kwargs", {}).get("pos_label", 1)
    return classes is not None and len(classes) == 2 and _takes("pos_label", scorer) and asked not in classes.tolist()


def _positive_class(scorer: Callable[..., Any], function: str, classes: list[Any]) -> str:
    """What to do about it: the scorer once more, with one of the classes."""
    response = getattr(scorer, "_response_method", "predict")
    options = {"pos_label": classes[1]}
    options |= {} if response == "predict" else {"response_method": response}
    options |= {} if getattr(scorer, "_sign", 1) > 0 else {"greater_is_better": False}
    written = ", ".join(f"{name}={value!r}" for name, value in options.items())
    return (
        f"is about one class of two, and does not know which of {classes[0]!r} and {classes[1]!r}: pass "
        f"make_scorer({function}, {written}) of sklearn.metrics, or a score that is about both, such as "
        f"{FOR_SEVERAL.get(function, 'neg_log_loss')!r}."
    )


def _takes_weights(scorer: Callable[..., Any]) -> bool:
    return _takes("sample_weight", scorer)


def _takes(name: str, scorer: Callable[..., Any]) -> bool:
    """Whether the function behind the scorer has such a parameter."""
    try:
        return name in inspect.signature(getattr(scorer, "_score_func", scorer)).parameters
    except (TypeError, ValueError):  # a function that does not tell its parameters
        return False


def _groups(known: ScoredRows) -> Integers:
    """A group for each row, dealt out in turn within each class."""
    classes = known.target.groups(known.targets)
    order = np.arange(len(known.targets)) if classes is None else np.argsort(classes, kind="stable")
    group = np.empty(len(order), dtype=np.intp)
    group[order] = np.arange(len(order)) % N_GROUPS
    return group
