"""The attributes of a fitted estimator, all read from one ``FittedModel``, which ``fit`` sets at its end."""

from __future__ import annotations

import copy
from typing import Any, TypeVar

from numpy.typing import NDArray

from .._typing import Matrix, Vector
from ..errors import InvalidParameterError
from ..formulations import Formulation
from ..models.fitted import FittedModel, Tuning
from ..trees.tree import Learner

Value = TypeVar("Value")
Estimator = TypeVar("Estimator", bound="FittedAttributes")


class FittedAttributes:
    """Read-only attributes, which do not exist before ``fit``."""

    _fitted: FittedModel

    def __sklearn_is_fitted__(self) -> bool:
        return "_fitted" in vars(self)

    def with_fitted(self: Estimator, fitted: FittedModel) -> Estimator:
        """A copy of this estimator with another fitted model; its parameters are checked."""
        self._check_parameters()
        changed = copy.copy(self)
        changed._fitted = fitted
        return changed

    def set_params(self: Estimator, **params: Any) -> Estimator:
        """Set parameters of the estimator, or of its objects by names such as ``learner__voting``."""
        for name in params:
            of, _, inner = name.partition("__")
            if inner and isinstance(params.get(of, getattr(self, of, None)), str):
                raise InvalidParameterError(
                    f"{name} needs an object: {of} is the name {params.get(of, getattr(self, of))!r}, which stands for "
                    "an object with its defaults. Pass the object itself, for example learner=CartLearner()."
                )
        super().set_params(**params)  # type: ignore[misc]
        return self

    def _check_parameters(self) -> None:
        """Raise ``InvalidParameterError`` for a parameter that is out of its range."""

    def _known(self, value: Value | None, what: str) -> Value:
        if value is None:
            raise AttributeError(f"This {type(self).__name__} has no {what}.")
        return value

    @property
    def fitted_(self) -> FittedModel:
        if not self.__sklearn_is_fitted__():
            raise AttributeError(f"This {type(self).__name__} is not fitted yet; call fit first.")
        return self._fitted

    @property
    def classes_(self) -> NDArray[Any]:
        return self._known(self.fitted_.target.classes, "classes")

    @property
    def n_features_in_(self) -> int:
        return self.fitted_.n_features

    @property
    def feature_names_in_(self) -> NDArray[Any]:
        return self._known(self.fitted_.feature_names, "feature names: X had none")

    @property
    def estimators_(self) -> list[Learner]:
        return list(self.fitted_.ensemble.learners)

    @property
    def weights_(self) -> Vector:
        return self.fitted_.ensemble.weights

    @property
    def intercept_(self) -> float:
        return self.fitted_.ensemble.intercept

    @property
    def n_generated_(self) -> int:
        return self.fitted_.figures.n_generated

    @property
    def n_iter_(self) -> int:
        return self.fitted_.figures.n_iterations

    @property
    def n_trees_(self) -> int:
        return self.fitted_.figures.n_trees

    @property
    def n_leaves_(self) -> int:
        return self.fitted_.ensemble.n_leaves

    @property
    def objective_(self) -> float:
        return self.fitted_.figures.objective

    @property
    def gap_(self) -> float:
        return self.fitted_.figures.gap

    @property
    def bound_(self) -> float | None:
        return self.fitted_.figures.bound

    @property
    def certified_(self) -> bool | None:
        return self.fitted_.figures.certified

    @property
    def stop_reason_(self) -> str:
        return self.fitted_.figures.stop_reason

    @property
    def duals_(self) -> Vector:
        return self._known(self.fitted_.duals, "duals: a model file does not hold them, nor does a fit over workers")

    @property
    def history_(self) -> dict[str, NDArray[Any]]:
        return self.fitted_.history

    @property
    def formulation_(self) -> Formulation:
        return self.fitted_.formulation

    @property
    def feature_importances_(self) -> Vector:
        return self.fitted_.feature_importances


class TunedAttributes(FittedAttributes):
    """The attributes of an estimator that also chose its C."""

    @property
    def _tuning(self) -> Tuning:
        return self._known(self.fitted_.tuning, "tuning")

    @property
    def C_(self) -> float:
        return self._tuning.C

    @property
    def Cs_(self) -> Vector:
        return self._tuning.Cs

    @property
    def scores_(self) -> Matrix:
        return self._tuning.scores

    @property
    def path_(self) -> dict[str, Vector]:
        return self._tuning.path
