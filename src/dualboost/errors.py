"""Everything dualboost raises or warns about, in one place.

Errors also derive from the built-in type that scikit-learn users expect (``ValueError`` for bad input,
``ImportError`` for a missing extra), so existing ``except`` clauses keep working.
"""

from sklearn.exceptions import NotFittedError


class DualBoostError(Exception):
    """Base class of every error raised by dualboost."""


class InvalidParameterError(DualBoostError, ValueError):
    """A constructor argument is out of its range, or two arguments contradict each other."""


class InvalidDataError(DualBoostError, ValueError):
    """The training or prediction data cannot be used as given."""


class UnsupportedFormulationError(DualBoostError, ValueError):
    """The requested master cannot solve the requested formulation."""


class MissingDependencyError(DualBoostError, ImportError):
    """An optional dependency is needed for what was asked and is not installed."""


class UnsupportedModelError(DualBoostError, ValueError):
    """A model that cannot be thinned, exported, saved or staged: of an unknown kind, or without what that needs."""


class ModelFormatError(DualBoostError, ValueError):
    """A file that is not a model of dualboost, or a damaged one."""


class UnfittedModelError(DualBoostError, NotFittedError):
    """A model that has to be fitted first."""


class DualBoostWarning(UserWarning):
    """Base class of every warning issued by dualboost."""


class DegenerateEnsembleWarning(DualBoostWarning):
    """The optimal ensemble is empty, and the majority class is predicted; or it falls short of what C asks for."""


class TiedEnsembleWarning(DegenerateEnsembleWarning):
    """The fitted ensemble has a score of zero for most training rows."""


class SolverWarning(DualBoostWarning):
    """No solver reached the requested accuracy; the best feasible ensemble is returned."""


class ThinningWarning(DualBoostWarning):
    """No smaller ensemble is good enough; the model is returned as it was."""


class ModelFileWarning(DualBoostWarning):
    """An argument of the constructor cannot be written to a model file."""


class InterruptedFitWarning(DualBoostWarning):
    """``fit`` was interrupted; the best ensemble so far is returned."""


class DataWarning(DualBoostWarning):
    """The data can be used, but are likely not what was meant."""


class MissingDependencyWarning(DualBoostWarning):
    """A convenience is off because its optional dependency is not installed."""
