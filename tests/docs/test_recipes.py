"""The recipes of CONTRIBUTING.md: a formulation and a task that join the registries from outside the package."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from dualboost import DualBoostClassifier
from dualboost.datasets import make_twonorm
from dualboost.formulations import FORMULATIONS, Formulation, Programme
from dualboost.formulations.terms import LinearTerm
from dualboost.formulations.weight_sets import Simplex
from dualboost.targets import CLASSIFICATION
from dualboost.targets.classes import BinaryOperator, BinaryTarget


@dataclass
class FractionGivenUp(Formulation):
    """``lp-nu`` once more: the worst margin, after a fraction C of the rows is given up."""

    name: ClassVar[str] = "fraction"
    title: ClassVar[str] = "LP-Boost (nu)"
    optimises: ClassVar[str] = "the worst margin, after giving up a fraction of the rows"
    meaning_of_C: ClassVar[str] = "nu, the fraction of rows given up, above 0 and at most 1 (default 0.3)"
    use: ClassVar[str] = "As lp, with a C that means the same on data of any size."
    objective_sign: ClassVar[int] = -1
    sparser_with_larger_C: ClassVar[bool] = True

    def programme(self, rows, n_columns):
        lower = rows.full(0.0)
        upper = rows.counts / (self.C_value * rows.n_samples)
        return Programme(rows, lower, upper, LinearTerm(0.0, lower), Simplex(), total=1.0)

    def C_bounds(self, n_samples):
        return 0.0, 1.0

    def default_C(self, n_samples):
        return 0.3

    def C_grid(self, n_samples, k=10):
        return np.geomspace(0.01, 0.5, k)


@dataclass(frozen=True, eq=False)
class SwappedClasses(BinaryTarget):
    """Two classes, of which a positive score means the first: the mirror image of ``BinaryTarget``."""

    name = "two classes, swapped"

    def operator(self, targets):
        return BinaryOperator(-targets)

    def baseline(self, targets, rows):
        return -super().baseline(targets, rows)

    def quality(self, scores, targets, rows):
        return super().quality(-scores, targets, rows)

    def calibrate(self, scores, targets, counts):
        return super().calibrate(-scores, targets, counts)

    def calibrate_by_twins(self, training, unseen):
        swapped = [scored._replace(scores=-scored.scores) for scored in (training, unseen)]
        return super().calibrate_by_twins(*swapped)

    def probabilities(self, scores, calibration):
        return super().probabilities(-scores, calibration)

    def decode(self, scores):
        return super().decode(-scores)

    def margins(self, scores, targets):
        return super().margins(-scores, targets)


def test_a_formulation_of_ones_own_is_the_one_in_the_package():
    X, y = make_twonorm(200, random_state=0)
    clf, ours = DualBoostClassifier(FractionGivenUp()).fit(X, y), DualBoostClassifier("lp-nu").fit(X, y)
    assert clf.gap_ <= clf.tol
    assert clf.score(X, y) > 0.8
    assert clf.objective_ == ours.objective_
    np.testing.assert_array_equal(clf.decision_function(X), ours.decision_function(X))
    for attribute in ("title", "optimises", "meaning_of_C", "use", "objective_sign", "sparser_with_larger_C"):
        assert getattr(FractionGivenUp, attribute) == getattr(FORMULATIONS["lp-nu"], attribute)
    assert FractionGivenUp().C_bounds(50.0) == ours.formulation_.C_bounds(50.0)
    np.testing.assert_array_equal(FractionGivenUp().C_grid(50.0), ours.formulation_.C_grid(50.0))


def test_a_task_of_ones_own_gives_mirror_images():
    X, y = make_twonorm(500, random_state=0)
    usual = DualBoostClassifier("lp").fit(X, y)
    CLASSIFICATION.insert(0, SwappedClasses)  # the line by which a task joins; the first that takes y reads it
    try:
        swapped = DualBoostClassifier("lp").fit(X, y)
    finally:
        CLASSIFICATION.remove(SwappedClasses)
    np.testing.assert_array_equal(swapped.predict(X), usual.predict(X))
    np.testing.assert_allclose(swapped.decision_function(X), -usual.decision_function(X), atol=1e-9)
    np.testing.assert_allclose(swapped.duals_, usual.duals_, atol=1e-9)
