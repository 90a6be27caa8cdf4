"""What the quick mode leaves out has a representative in it."""

import numpy as np
import pytest

from dualboost.formulations import FORMULATIONS

from .conftest import ALL_FORMULATIONS, TRIED_FORMULATIONS, stump_columns
from .thoroughness import MECHANISMS, SHAPES, THOROUGH, every, iterations


def mechanisms(name):
    """The kinds of what a formulation hands to masters, pricers and the loop."""
    columns = stump_columns(n_rows=20, n_columns=3, formulation=name)
    formulation = FORMULATIONS[name]().resolve(columns.counts.sum())
    programme = formulation.programme_over(columns, 3)
    return {
        ("programme", type(programme)),
        ("term", type(programme.term)),
        ("weights", type(programme.weight_set), programme.weight_set.ridge > 0),
        ("total", programme.total is not None),
        ("box", bool(np.isfinite(programme.upper).all())),
        ("columns", formulation.depends_on_columns),
        ("sides", type(columns.sides)),
        ("guide", formulation.dual_strategy),
    }


def test_each_mechanism_has_a_formulation_that_is_tried():
    """One that fails here is new in a way that no other is: its name belongs into MECHANISMS."""
    tried = set().union(*map(mechanisms, MECHANISMS))
    assert {name: mechanisms(name) - tried for name in ALL_FORMULATIONS if not mechanisms(name) <= tried} == {}
    assert set(SHAPES) <= set(MECHANISMS) <= set(TRIED_FORMULATIONS)


def test_everything_is_tried_when_that_is_asked_for():
    assert every("abc", few="b") == list("abc" if THOROUGH else "b")
    assert list(iterations(6)) == ([1, 2, 3, 4, 5, 6] if THOROUGH else [1, 2, 3, 5, 6])
    assert list(iterations(1)) == [1]
    with pytest.raises(AssertionError, match="are not all among"):
        every("abc", few="bd")
