"""The judges: true of results like the paper's, false of their opposite, silent without data."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from dualboost_study.observations import OBSERVATIONS
from dualboost_study.observations.base import splits_told
from dualboost_study.protocol import PUBLISHED

from .conftest import synthetic

PAPERS = range(1, 19)
"""The paper's observations; the nineteenth question is tested in ``test_equal_size``."""
MARGINS = (11, 12)
"""The synthetic margins are the same for every method."""
PARETO = 13
"""In the synthetic results one method dominates the others."""


def test_there_are_eighteen_and_a_question():
    assert sorted(OBSERVATIONS) == [*PAPERS, 19]


@pytest.mark.parametrize("number", [n for n in PAPERS if n not in (*MARGINS, PARETO)])
def test_holds_for_results_like_the_papers(number, papers):
    verdict = OBSERVATIONS[number].judge(papers)
    assert verdict.holds is True, (verdict.sentence, verdict.figures)
    assert verdict.word == "holds"
    assert np.isfinite(list(verdict.figures.values())).all()


@pytest.mark.parametrize("number", [n for n in PAPERS if n not in (*MARGINS, PARETO, 3, 6)])
def test_does_not_hold_for_the_opposite(number, opposite):
    verdict = OBSERVATIONS[number].judge(opposite)
    assert verdict.holds is False, (verdict.sentence, verdict.figures)


@pytest.mark.parametrize("number", OBSERVATIONS)
def test_little_data_is_no_verdict(number):
    few = synthetic(lambda *cell: 0.8, lambda *cell: 10, depths=(2,), values=1)
    few = type(few)(few.fits[few.fits["method"] == "nm"], few.iterations, few.margins, few.weights)
    verdict = OBSERVATIONS[number].judge(few)
    assert verdict.holds is None
    assert verdict.word == "not enough data"


@pytest.mark.parametrize("number", [8, 9, 17])
def test_stages_that_are_no_optima_are_not_judged(number, papers):
    assert OBSERVATIONS[number].judge(replace(papers, stages_are_optimal=False)).holds is None


def test_the_pareto_front(papers):
    methods = list(PUBLISHED)
    traded = synthetic(lambda e, d, m, v: 0.7 + 0.02 * methods.index(m), lambda e, d, m, v: 10 + methods.index(m))
    assert OBSERVATIONS[PARETO].judge(traded).holds is True
    assert OBSERVATIONS[PARETO].judge(papers).holds is False


@pytest.mark.parametrize("number", MARGINS)
def test_margins_that_explain_everything(number, papers):
    """Margins in proportion to the accuracy: the observations then fail."""
    merged = papers.margins.merge(papers.fits, on=list(papers.fits.columns[:6]))
    explained = papers.margins.assign(margin=merged["margin"] * merged["test_accuracy"] ** 3)
    verdict = OBSERVATIONS[number].judge(type(papers)(papers.fits, papers.iterations, explained, papers.weights))
    assert verdict.holds is False


def without(results, **cell):
    """The results without the fits that have these values."""
    parts = {}
    for name in ("fits", "iterations", "margins"):
        table = getattr(results, name)
        is_out = np.logical_and.reduce([table[column] == value for column, value in cell.items()])
        parts[name] = table[~is_out]
    return replace(results, **parts)


@pytest.mark.parametrize("number", [15, 16, 17, 18])
def test_variants_are_compared_on_the_splits_that_both_have(number):
    """A variant that is left out on an easy data set is not behind for that."""

    def accuracy(experiment, depth, method, value):
        return 0.7

    experiments = ("cart", "confidence", "optimal", "reweight")
    results = synthetic(accuracy, trees=lambda e, *cell: 50 if e == "reweight" else 100, experiments=experiments)
    easy = results.fits["dataset"] == "banana"
    results.fits.loc[easy, "test_accuracy"] += 0.25
    results.iterations.loc[results.iterations["dataset"] == "banana", "accuracy"] += 0.25
    for experiment in experiments[1:]:
        results = without(results, experiment=experiment, dataset="banana")
    verdict = OBSERVATIONS[number].judge(results)
    assert verdict.holds is True, verdict.figures
    differences = [value for name, value in verdict.figures.items() if "-" in name or "difference" in name]
    np.testing.assert_allclose(differences, 0.0, atol=1e-12)


def test_a_verdict_says_what_it_rests_on(papers):
    assert OBSERVATIONS[2].data(papers) == "cart at depth 1, 3, 5 and 10, 6 data sets and 1 seed"
    assert OBSERVATIONS[16].data(papers).count("at depth") == 2
    assert OBSERVATIONS[19].data(papers) == ""


def test_seeds_are_told_as_each_data_set_has_them():
    fits = pd.DataFrame({"dataset": ["one", "one", "two"], "seed": [0, 1, 0]})
    assert splits_told(fits) == ("2 data sets", "1 to 2 seeds")
    assert splits_told(fits[fits["seed"] == 0]) == ("2 data sets", "1 seed")
