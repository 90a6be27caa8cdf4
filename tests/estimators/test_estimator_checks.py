"""scikit-learn's own checks, for every formulation.

One check is skipped by scikit-learn itself: ``check_array_api_input``, with its reason "SCIPY_ARRAY_API is not set".
"""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from dualboost import DualBoostClassifier
from dualboost.formulations import FORMULATIONS

from ..conftest import ALL_FORMULATIONS, has_no_C
from ..thoroughness import every, how_many


def estimator(name):
    """Stumps, or for the hard margin trees that separate the classes: without that a tie is its best margin.

    Where leaves are corrected, fewer trees than the default, which take less time.
    """
    if FORMULATIONS[name].optimize == "leaves":
        return DualBoostClassifier(name, max_trees=how_many(5, 10))
    return DualBoostClassifier(name, max_depth=5) if has_no_C(name) else DualBoostClassifier(name)


EXPECTED = {
    "lexi": {"check_class_weight_classifiers": "LexiBoost finds the weights of the classes itself"},
    "hard": {
        "check_class_weight_classifiers": "a hard margin is the least one, whatever rows weigh",
        "check_classifiers_train": "a hard margin says nothing where three classes overlap, as in the rounded features",
    },
}
"""The checks that a formulation cannot pass, and why."""


@pytest.mark.filterwarnings("default::dualboost.errors.DegenerateEnsembleWarning")
@parametrize_with_checks(
    [estimator(name) for name in every(ALL_FORMULATIONS, few=("cq", "logistic", "nm"))],
    expected_failed_checks=lambda estimator: EXPECTED.get(estimator.formulation, {}),
)
def test_scikit_learn_compatible(estimator, check):
    check(estimator)
