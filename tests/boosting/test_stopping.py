"""Stopping rules, fed with iterations."""

from dataclasses import replace

import pytest

from dualboost.boosting.history import Iteration
from dualboost.boosting.observers import NoImprovement

ITERATION = Iteration(1, 0.0, 0.0, 0.0, 0.0, 0.9, 0.5, 1, 0.0, 0.0)


@pytest.mark.parametrize(
    ("accuracies", "stops_at"), [([0.5, 0.6, 0.6, 0.6], 3), ([0.5, 0.4, 0.5], 2), ([0.5, 0.6, 0.7, 0.8], None)]
)
def test_no_improvement(accuracies, stops_at):
    rule = NoImprovement(patience=2)
    records = [replace(ITERATION, iteration=k, validation_score=a) for k, a in enumerate(accuracies, start=1)]
    reasons = [rule.reason(record) for record in records for _ in range(2)][1::2]  # to be asked twice changes nothing
    found = reasons.index("no_improvement") if "no_improvement" in reasons else None
    assert found == stops_at
