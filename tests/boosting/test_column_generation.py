"""The loop, with collaborators small enough to see through."""

import numpy as np
import pytest

from dualboost.boosting.column_generation import ColumnGeneration
from dualboost.boosting.context import make_fit_context
from dualboost.boosting.history import HeldOut
from dualboost.formulations import FORMULATIONS
from dualboost.learners import Pool
from dualboost.learners.base import PricedColumn
from dualboost.solvers import FallbackSolver, Precision, SolverOptions
from dualboost.solvers.interior_point import InteriorPointSolver
from dualboost.targets.classes import BinaryTarget

from ..conftest import columns_of, dense, stump_columns
from ..thoroughness import how_many


class FixedVotes:
    """A learner that knows its votes by row number."""

    def __init__(self, votes):
        self.votes = votes

    def vote(self, X):
        return self.votes[X]


class BestOfPool:
    """An exact pricer over a finite pool of columns."""

    is_exact = True

    def __init__(self, pool):
        self.n_learners = float(len(pool))
        self.pool = pool

    def price(self, residual, feature_multiplier):
        best = self.pool[np.argmax(self.pool @ residual)]
        return PricedColumn(FixedVotes(best), best, is_proven=True)


def votes_of(source):
    """One row a learner."""
    return dense(source).T * source.labels


def pool_of(parts, rotate=False):
    return Pool([BestOfPool(part) for part in parts], rotate)


def loop(name, C=None, max_trees=200, divide=lambda votes: pool_of([votes]), **options):
    source = stump_columns(n_rows=80, n_columns=60)
    columns = columns_of(source.labels, source.counts)
    solver, pool = SolverOptions(method="ipm", reoptimize="every"), divide(votes_of(source))
    task = BinaryTarget(np.array([0, 1]))
    fit_context = make_fit_context(task, source.labels, FORMULATIONS[name](C=C), columns, solver, Precision(1e-6), pool)
    return source, fit_context.formulation, ColumnGeneration(fit_context, max_trees, **options)


@pytest.mark.parametrize("name", ["lp", "md", "qrlp", "erlp"])
def test_an_exact_pricer_reaches_the_optimum_over_the_whole_pool(name):
    source, formulation, generation = loop(name, C=0.3 if name == "lp" else None)
    trace = generation.run()
    programme = formulation.programme(source.rows, source.n_columns)
    whole = FallbackSolver([InteriorPointSolver], 1e-6).solve(source, programme)
    assert trace.stop_reason == "certified"
    assert trace.certified
    assert trace.result.objective == pytest.approx(formulation.objective_sign * whole.primal, rel=2e-6)
    assert trace.result.bound == pytest.approx(trace.result.objective, rel=2e-6, abs=1e-9)
    assert len(trace.learners) < source.n_columns


@pytest.mark.parametrize("name", ["lp", "cg", "md", "qrlp", "erlp"])
def test_bounds_hold_at_every_iteration(name):
    source, formulation, generation = loop(name, C=0.3 if name == "lp" else None, max_trees=30)
    trace = generation.run()
    programme = formulation.programme(source.rows, source.n_columns)
    optimum = FallbackSolver([InteriorPointSolver], 1e-6).solve(source, programme).primal
    bounds = np.array([formulation.objective_sign * row.bound for row in trace.iterations])
    assert np.isfinite(bounds[:-1]).all()
    assert (bounds[np.isfinite(bounds)] <= optimum + 1e-6 * abs(optimum)).all()


def test_several_columns_enter_at_once():
    _, _, generation = loop(
        "lp", C=0.3, max_trees=10, divide=lambda votes: pool_of(np.array_split(votes, 3)), most_entering=None
    )
    trace = generation.run()
    assert [row.n_generated for row in trace.iterations][:3] == [3, 6, 9]
    assert len(trace.learners) == trace.n_recorded == 10
    assert len(trace.final_weights()) == 10


@pytest.mark.parametrize("name", ["lp", "qrlp"])
def test_a_rotating_pool_asks_everyone_before_it_stops(name):
    source, formulation, generation = loop(
        name, C=0.3 if name == "lp" else None, divide=lambda votes: pool_of(np.array_split(votes, 4), rotate=True)
    )
    trace = generation.run()
    whole = FallbackSolver([InteriorPointSolver], 1e-6).solve(
        source, formulation.programme(source.rows, source.n_columns)
    )
    assert trace.stop_reason == "converged"
    assert trace.certified is None
    assert trace.result.objective == pytest.approx(formulation.objective_sign * whole.primal, rel=1e-3)


@pytest.mark.parametrize("name", ["lp", "cg", "md", "qrlp", "erlp"])
def test_objectives_improve_monotonically(name):
    """Not for nm, whose offset 1/T changes the programme with every column."""
    _, formulation, generation = loop(name, max_trees=25)
    objectives = [row.objective * formulation.objective_sign for row in generation.run().iterations]
    assert (np.diff(objectives) <= 1e-6 * np.abs(objectives[:-1]) + 1e-9).all()


def test_no_column_enters_twice(formulation_name):
    _, _, generation = loop(formulation_name, max_trees=how_many(20, 200))
    trace = generation.run()
    assert len({learner.votes.tobytes() for learner in trace.learners}) == len(trace.learners)


def test_observers_and_rules_see_every_iteration():
    seen = []

    class AfterThree:
        def reason(self, iteration):
            return "time_limit" if iteration.iteration == 3 else None

    _, _, generation = loop("cg", observers=[seen.append], stopping=[AfterThree()])
    trace = generation.run()
    assert trace.stop_reason == "time_limit"
    assert [row.iteration for row in seen] == [1, 2, 3]
    assert [len(w) for w in trace.weights] == [1, 2, 3]


def test_rules_are_asked_where_no_column_is_new():
    class Counting:
        times = 0

        def reason(self, iteration):
            self.times += 1

    rule = Counting()
    _, _, generation = loop("mlp", C=0.3, stopping=[rule])
    assert rule.times == 0
    assert len(generation.run().iterations) < rule.times


def test_max_trees():
    _, _, generation = loop("cg", max_trees=4)
    trace = generation.run()
    assert trace.stop_reason == "max_trees"
    assert len(trace.learners) == 4


def test_an_interrupt_before_the_first_ensemble_is_passed_on():
    class Interrupted:
        is_exact, n_learners = False, np.inf

        def price(self, residual, feature_multiplier):
            raise KeyboardInterrupt

    _, _, generation = loop("cg", divide=lambda votes: Pool([Interrupted()]))
    with pytest.raises(KeyboardInterrupt):
        generation.run()


def test_keep_best_keeps_the_first_best_iteration():
    source, _, generation = loop("cg", max_trees=10, keep_best=True)
    generation.held_out = HeldOut(np.arange(40), source.labels[:40], source.counts[:40])
    trace = generation.run()
    accuracies = [row.validation_score for row in trace.iterations]
    assert trace.kept == int(np.argmax(accuracies))
    assert len(trace.final_weights()) == len(trace.learners)
    assert (trace.final_weights()[trace.kept + 1 :] == 0).all()


def test_a_degenerate_dual_offers_other_duals():
    """With one column, nm's offset 1/T equals every right row's margin: any duals of those rows are optimal."""
    source, _, generation = loop("nm", C=0.1)
    generation.columns.append(source.entries(0))
    solution = generation.solver.solve(generation.columns, generation.fit_context.programme())
    other = next(generation._other_duals(solution))
    right = source.entries(0) > 0
    np.testing.assert_allclose(other.u[right], 0.1 * source.counts[right])
    np.testing.assert_allclose(other.u[~right], 1.1 * source.counts[~right])
    assert other.gap <= 1e-6


def test_a_regular_dual_offers_none():
    _, _, generation = loop("cg", max_trees=6)
    generation.run()
    solution = generation.solver.solve(generation.columns, generation.fit_context.programme())
    assert list(generation._other_duals(solution)) == []
