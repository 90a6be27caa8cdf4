"""The errors and warnings of dualboost.

Errors also derive from the built-in type that scikit-learn users expect (``ValueError`` for bad input,
``ImportError`` for a missing extra), so existing ``except`` clauses keep working.
"""

from sklearn.exceptions import NotFittedError

from .escaping import printable


class DualBoostError(Exception):
    """Base class of every error raised by dualboost."""

    def __str__(self) -> str:
        return printable(super().__str__(), kept="\n")


class InvalidParameterError(DualBoostError, ValueError):
    """A constructor argument is out of its range, or two arguments contradict each other."""


class InvalidDataError(DualBoostError, ValueError):
    """The training or prediction data cannot be used as given."""


class UnsupportedFormulationError(DualBoostError, ValueError):
    """The solver cannot solve the formulation, or the formulation does not fit the data or the learner."""


class MissingDependencyError(DualBoostError, ImportError):
    """An optional dependency is needed and not installed."""


class UnsupportedModelError(DualBoostError, ValueError):
    """A model cannot be thinned, exported, saved or staged, because of its type or because of what it contains."""


class ModelFormatError(DualBoostError, ValueError):
    """A file is not a model file of dualboost, or is damaged."""


class GrowingError(DualBoostError, RuntimeError):
    """LightGBM or XGBoost failed to grow a tree; a fit that has trees already ends with these, and a warning."""


class WorkerError(DualBoostError, RuntimeError):
    """A worker of a fit over many workers was lost, or failed; nothing is fitted."""


class UnfittedModelError(DualBoostError, NotFittedError):
    """A model has to be fitted first."""


class DualBoostWarning(UserWarning):
    """Base class of every warning issued by dualboost."""

    def __str__(self) -> str:
        return printable(super().__str__(), kept="\n")


class DegenerateEnsembleWarning(DualBoostWarning):
    """The optimal ensemble is empty, has a tree with the same vote for all rows, is worse than the class balance on its
    training rows, or does not reach what C requires."""


class TiedEnsembleWarning(DegenerateEnsembleWarning):
    """The fitted ensemble has a score of zero for most training rows."""


class ConstantPredictionWarning(DegenerateEnsembleWarning):
    """The fitted classifier predicts one class for every training row, or for nearly every one."""


class SolverWarning(DualBoostWarning):
    """No solver reached the requested accuracy; the best feasible ensemble is returned."""


class GrowerWarning(DualBoostWarning):
    """LightGBM failed to grow a further tree; the best ensemble so far is returned."""


class ThinningWarning(DualBoostWarning):
    """No smaller ensemble is good enough, so that the model is returned unchanged, or the best of a given size; or
    weights of classes that the model was trained with cannot be read."""


class ModelFileWarning(DualBoostWarning):
    """An argument of the constructor cannot be written to a model file."""


class InterruptedFitWarning(DualBoostWarning):
    """``fit`` was interrupted; the best ensemble so far is returned."""


class DataWarning(DualBoostWarning):
    """The data can be used, but are probably not what the user meant."""


class MissingDependencyWarning(DualBoostWarning):
    """An optional feature is off because its dependency is not installed."""
