"""dualboost: small, accurate tree ensembles by totally corrective boosting."""

from .classifier import DualBoostClassifier
from .formulations import CGBoost, ERLPBoost, Formulation, LPBoost, MDBoost, NMBoost, QRLPBoost

__version__ = "0.1.0"

__all__ = [
    "CGBoost",
    "DualBoostClassifier",
    "ERLPBoost",
    "Formulation",
    "LPBoost",
    "MDBoost",
    "NMBoost",
    "QRLPBoost",
    "__version__",
]
