"""dualboost: small, accurate tree ensembles by totally corrective boosting."""

from .classifier import DualBoostClassifier
from .classifier_cv import DualBoostClassifierCV
from .export import to_lightgbm
from .formulations import CGBoost, ERLPBoost, Formulation, LPBoost, MDBoost, NMBoost, QRLPBoost
from .model_file.reading import load_model
from .thinning import thin

__version__ = "0.1.0"

__all__ = [
    "CGBoost",
    "DualBoostClassifier",
    "DualBoostClassifierCV",
    "ERLPBoost",
    "Formulation",
    "LPBoost",
    "MDBoost",
    "NMBoost",
    "QRLPBoost",
    "__version__",
    "load_model",
    "thin",
    "to_lightgbm",
]
