"""A little of the attack, in every run of the tests: each kind finds nothing, and would find something."""

import subprocess
import sys
from dataclasses import replace

import pytest

from ..thoroughness import how_many
from . import jobs, worker
from .attacks import ATTACKS
from .case import Case
from .jobs import Silence, Table, code_of
from .machine import run_machine
from .minimising import minimised
from .number_proofs import require_dual_proof
from .optima import require_true_gap
from .sane import Insane, require, require_sane
from .worker import Told, failure_of, judged

N_CASES = {"busy": how_many(4, 20), "files": how_many(20, 200), "tables": how_many(20, 200), "machine": 0}
ROWS = {"x0": [0.1, 0.5, 0.9, 1.3, 1.7, 2.1, 2.5, 2.9], "x1": [3.0, 1.0, 3.0, 1.0, 2.0, 2.0, 1.0, 3.0]}
LABELS = [0, 1, 0, 0, 1, 1, 0, 1]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", [name for name in ATTACKS if name != "machine"])
def test_some_cases_of_each_kind(name):
    found = [judged(name, seed) for seed in range(N_CASES.get(name, how_many(4, 40)))]
    assert [told for told in found if told.failure] == []
    assert any(told.outcome.judged and not told.outcome.refused for told in found)


@pytest.mark.filterwarnings("ignore")
def test_a_short_life_of_an_estimator():
    run_machine(0, n_examples=how_many(3, 30), n_steps=how_many(8, 20))


def case(**options):
    chosen = {"formulation": "'lp'", "C": "0.5", "max_trees": "4", "calibration": '"training"'} | options
    return Case("DualBoostClassifier", chosen, ROWS, LABELS, [1.0, 2.0, 1.0, 1.0, 1.0, 3.0, 1.0, 1.0])


@pytest.mark.parametrize("figures", [{"objective": 2.0}, {"objective": 3.5, "gap": 1e-6}])
@pytest.mark.parametrize("oracle", [require_true_gap, require_dual_proof])
def test_oracles_find_a_false_objective(oracle, figures):
    model = case().fit()
    oracle(model, case())
    wrong = replace(model.fitted_, figures=replace(model.fitted_.figures, **figures))
    with pytest.raises(Insane, match=r"optimal|the weights give"):
        oracle(model.with_fitted(wrong), case())


@pytest.mark.parametrize("formulation", ["nm", "lp", "cg", "md", "convex", "lp-nu", "hard"])
def test_several_classes_have_a_proof_too(formulation):
    columns = {"x0": ["one", "two"] * 4, "x1": ROWS["x1"]}
    options = {"formulation": repr(formulation), "learner": 'CartLearner(voting="confidence")', "max_trees": "3"}
    classes = Case(
        "DualBoostClassifier", options, columns, [0, 2, 1, 3, 0, 2, 2, 1], [5234.3, 5169.7, 6078.4, 775.0] * 2
    )
    model = classes.fit()
    assert require_dual_proof(model, classes)
    wrong = replace(model.fitted_, figures=replace(model.fitted_.figures, objective=1.01 * model.objective_ + 1.0))
    with pytest.raises(Insane, match="the weights give"):
        require_dual_proof(model.with_fitted(wrong), classes)


def test_oracles_find_weights_of_another_model():
    model = case().fit()
    require_sane(model, case())
    ensemble = replace(model.fitted_.ensemble, weights=model.weights_[:-1])
    with pytest.raises((Insane, ValueError)):
        require_sane(model.with_fitted(replace(model.fitted_, ensemble=ensemble)), case())


class FailsWithOddRows:
    """Fails where a row has a 3 in its second column, whatever else is there."""

    def check(self, one):
        require(3.0 not in one.columns.get("x1", []), "there is a three")


def test_a_failure_is_made_smaller_and_told_as_code():
    attack = FailsWithOddRows()
    _, failure = failure_of(attack, case())
    smallest = minimised(attack, case(), failure)
    assert "there is a three" in failure
    assert (smallest.columns, smallest.options, smallest.weights) == ({"x1": [3.0]}, {}, None)
    again = {}
    exec(smallest.code("proof").replace("ATTACKS['proof'].check", "again = "), again)
    assert again["again"] == smallest


def test_seeds_draw_the_same_case_again():
    for name in ("optimum", "proof", "answers", "faults"):
        assert ATTACKS[name].draw(3).code(name) == ATTACKS[name].draw(3).code(name)


def test_a_case_that_computes_for_ever_is_stopped_though_an_exception_is_lost(monkeypatch):
    class Endless:
        def check(self, one):
            class Loses:
                def __del__(self):
                    while True:
                        pass

            Loses()
            while True:
                pass

    monkeypatch.setattr(worker, "MOST_SECONDS", 0.2)
    monkeypatch.setattr(worker, "AGAIN", 0.1)
    monkeypatch.setattr(sys, "unraisablehook", lambda _: None)
    assert failure_of(Endless(), case()) == (None, "hangs: more than 0.2 s")


def test_silence_is_measured_by_the_time_of_the_process(monkeypatch):
    sleeping = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    busy = subprocess.Popen([sys.executable, "-c", "while True: pass"])
    try:
        silences = [Silence(process.pid) for process in (sleeping, busy)]
        assert not any(silence.is_too_long() for silence in silences)
        monkeypatch.setattr(jobs, "BUSY_SECONDS", 0.2)
        while not silences[1].is_too_long():
            assert not silences[0].is_too_long()
        monkeypatch.setattr(jobs, "IDLE_SECONDS", 0.1)
        while not silences[0].is_too_long():
            pass
    finally:
        for process in (sleeping, busy):
            process.kill()
            process.communicate()


def test_a_process_that_dies_tells_the_case(capsys):
    told = Told("files", 3)._replace(failure="hangs", code=code_of("files", 3))
    Table().note(told)
    assert "ATTACKS['files'].check(3)" in capsys.readouterr().out


def test_failures_are_counted_and_printed(capsys):
    table = Table()
    table.note(Told("proof", 7, failure="broken", code="the case", smallest="a smaller one"))
    assert table.n_failures == 1
    printed = capsys.readouterr().out
    assert all(words in printed for words in ("--kinds proof --seed 7: broken", "the case", "a smaller one"))
    assert "proof             1        0        0        1" in table.text()
