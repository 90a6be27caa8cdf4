"""The kinds of attack: how a case is drawn from a seed, and how it is judged."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from dualboost.errors import DualBoostError

from ..export.running import TARGETS
from .answers import require_same_elsewhere
from .busy import draw_busy, require_timely_and_same
from .case import Case
from .cells import require_cell_named, require_cell_named_in_prediction
from .damage import damaged_file, damaged_table, read_damaged_file, read_damaged_table
from .drawing import random_case
from .faults import FAULTS, require_whole_after
from .machine import run_machine
from .names import draw_names, require_names_shown
from .number_proofs import require_dual_proof
from .optima import InexactReference, NoReference, require_true_gap
from .partitions import fit_over_partitions
from .sane import require, require_sane
from .thinning import check_thinned
from .weights import draw_weighed, require_same_in_other_units


class Outcome(NamedTuple):
    """Whether a case was refused by an error of ours, whether an oracle judged it, and how long reading took."""

    refused: bool = False
    judged: bool = True
    seconds: float = 0.0
    size: int | None = None
    """The bytes that were read, where that is what takes long."""


@dataclass(frozen=True)
class Attack:
    """``check`` raises what is wrong with a drawn case."""

    draw: Callable[[int], Any]
    check: Callable[[Any], Outcome]
    code: Callable[[Any, str], str]


def _fitted(case):
    try:
        return case.fit()
    except DualBoostError:
        return None


def check_optimum(case):
    model = _fitted(case)
    if model is None:
        return Outcome(refused=True)
    require_sane(model, case)
    try:
        require_true_gap(model, case)
    except NoReference:
        return Outcome(judged=False)
    except InexactReference as disagrees:
        is_proven = require_dual_proof(model, case)
        require(is_proven or disagrees.is_within_accuracy, disagrees)
        return Outcome(judged=is_proven)
    return Outcome()


def check_proof(case):
    model = _fitted(case)
    if model is None:
        return Outcome(refused=True)
    require_sane(model, case)
    plain = (
        not {"validation_fraction", "n_iter_no_change", "interval_calibration", "class_weight"} & case.options.keys()
    )
    if not plain or case.estimator.endswith("CV"):
        return Outcome(judged=False)
    try:
        return Outcome(judged=require_dual_proof(model, case))
    except NoReference:
        return Outcome(judged=False)


def check_answers(case):
    model = _fitted(case)
    if model is None:
        return Outcome(refused=True)
    require_sane(model, case)
    require_same_elsewhere(model, case, case.more["target"])
    return Outcome()


def check_names(case):
    model = _fitted(case)
    if model is None:
        return Outcome(refused=True)
    require_names_shown(model, case)
    return Outcome()


def check_faults(case):
    other = Case(**case.more["other"], options=case.options, estimator=case.estimator)
    model = _fitted(case)
    return Outcome(refused=model is None or require_whole_after(case, model, other))


def check_weights(case):
    compared = require_same_in_other_units(case)
    return Outcome(refused=compared is None, judged=bool(compared))


def _rng(seed):
    return np.random.default_rng(seed)


def draw_for_proof(seed):
    """Mostly fits of which all duals are published."""
    rng = _rng(seed)
    return random_case(rng, plain=rng.random() < 0.3, is_whole=rng.random() < 0.8)


def draw_with_target(seed):
    rng = _rng(seed)
    targets = [*TARGETS, "LightGBM"]
    return replace(random_case(rng, 60), more={"target": targets[rng.integers(len(targets))]})


def draw_faulty(seed):
    """A case, another table of the same task to fit anew, and a fault; without text, which has other columns."""
    rng = _rng(seed)
    case = random_case(rng, 60)
    other = random_case(_rng(seed + 2**40), 60)
    while (other.estimator, isinstance(other.y[0], float)) != (case.estimator, isinstance(case.y[0], float)):
        other = random_case(rng, 60)
    parts = {"columns": other.columns, "y": other.y, "weights": other.weights}
    more = {"fault": FAULTS[rng.integers(len(FAULTS))], "when": float(rng.random()), "other": parts}
    return replace(case, more=more)


def _code_of_case(case, name):
    return case.code(name)


def _code_of_seed(seed, name):
    return f"from tests.attack.attacks import ATTACKS\nATTACKS[{name!r}].check({seed!r})"


def _code_of_bytes(made):
    """The code, and as a comment the damaged bytes."""
    return lambda seed, name: f"{_code_of_seed(seed, name)}  # {made(seed)[:2000]!r}"


def _seed(seed):
    return seed


def _damage(read):
    def check(seed):
        refused, seconds, size = read(seed)
        return Outcome(refused, True, seconds, size)

    return check


def check_cell(seed):
    require_cell_named_in_prediction(seed)
    return Outcome(refused=require_cell_named(seed))


def check_machine(seed):
    run_machine(seed)
    return Outcome()


def check_busy(case):
    return Outcome(refused=require_timely_and_same(case))


ATTACKS = {
    "optimum": Attack(lambda seed: random_case(_rng(seed), 30, plain=True), check_optimum, _code_of_case),
    "proof": Attack(draw_for_proof, check_proof, _code_of_case),
    "answers": Attack(draw_with_target, check_answers, _code_of_case),
    "names": Attack(lambda seed: draw_names(_rng(seed), [*TARGETS, "LightGBM"]), check_names, _code_of_case),
    "faults": Attack(draw_faulty, check_faults, _code_of_case),
    "busy": Attack(draw_busy, check_busy, _code_of_case),
    "weights": Attack(draw_weighed, check_weights, _code_of_case),
    "files": Attack(_seed, _damage(read_damaged_file), _code_of_bytes(damaged_file)),
    "tables": Attack(_seed, _damage(read_damaged_table), _code_of_bytes(damaged_table)),
    "thin": Attack(_seed, lambda seed: Outcome(refused=check_thinned(seed)), _code_of_seed),
    "cells": Attack(_seed, check_cell, _code_of_seed),
    "partitions": Attack(_seed, lambda seed: Outcome(fit_over_partitions(seed)), _code_of_seed),
    "machine": Attack(_seed, check_machine, _code_of_seed),
}
