"""A fit that is interrupted, or refused, leaves the old model whole or the new one whole, whatever kind it is of."""

import numpy as np
import pytest

from ..interrupts import KINDS, Refitted, at_event, state, whats_wrong
from ..thoroughness import how_many

pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # interrupts of __del__


@pytest.fixture(scope="module", params=KINDS)
def refitted(request):
    return Refitted(request.param)


def test_models_that_were_not_interrupted_are_whole(refitted):
    assert whats_wrong(refitted.new_model, refitted.new_X, refitted.new_y) == ""


def test_an_interrupt_at_any_point(refitted):
    """At random calls and returns, and at the first and the last ones, where data are read and the model is set."""
    rng, n_events = np.random.default_rng(0), refitted.n_events()
    points = [*range(1, 30, 7), *range(n_events - 20, n_events, 5)]
    points += rng.integers(30, n_events, how_many(10, 200)).tolist()
    found = {number: refitted.interrupted(at_event(number)) for number in points}
    assert {number: what for number, what in found.items() if what not in ("old", "new")} == {}
    assert {"old", "new"} == set(found.values())


def test_a_refused_refit_on_other_columns(refitted):
    X = refitted.new_X.copy()
    X[3, 1] = np.inf
    with pytest.raises(ValueError, match="infinity"):
        refitted.model.fit(X, refitted.new_y)
    with pytest.raises(ValueError, match="weight"):
        refitted.model.fit(refitted.new_X, refitted.new_y, sample_weight=np.zeros(len(X)))
    assert all(map(np.array_equal, state(refitted.model, refitted.old_X), refitted.old_state))
