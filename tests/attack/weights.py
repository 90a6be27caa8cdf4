"""The same model from weights in another unit, and from rows that are all there several times.

A power of two scales numbers without rounding. Then all must agree, and so it must with that many copies of all rows,
where the optimum is a vertex or unique. Others may have several optimal ensembles, of which a solver in another unit
may end near another one. A factor that is no power of two changes last digits, and with them which of several equally
good splits is taken; it is tried without twins. In both cases probabilities are compared where the ensembles are the
same: these depend on the scores and on the weights alone.
"""

from dataclasses import replace

import numpy as np

from dualboost.errors import DualBoostError
from dualboost.formulations import FORMULATIONS

from .case import NAMES
from .drawing import random_case
from .sane import answers_of, require

SPLIT = ("validation_fraction", "n_iter_no_change", "cv", "interval_calibration", "subsample")
"""Options by which copies of a row are divided, so that they are not what one row is."""
SETTLED = ("logistic", "lp", "nm", "lp-nu", "hard")
"""The formulations whose optimum is a vertex, or that have a ridge for every leaf; so do the losses for numbers."""
CLOSE = {"rtol": 1e-6, "atol": 1e-6}


def draw_weighed(seed):
    """A fit by our own solvers, whose C means the same in every unit, and what its weights are multiplied by."""
    rng = np.random.default_rng(seed)
    case = random_case(rng, 80)
    while "highs" in case.options.get("solver", "") or "clarabel" in case.options.get("solver", ""):
        case = random_case(rng, 80)  # others have tolerances in units of their own
    is_exact = rng.random() < 0.6
    factor = 2.0 ** rng.integers(-10, 14) if is_exact else 10.0 ** rng.uniform(-3, 4)
    options = _scale_free(case.options)
    if not is_exact and case.estimator.startswith("DualBoostClassifier"):
        options |= {"calibration": '"training"'}
    more = {"factor": float(factor), "is_exact": bool(is_exact), "copies": int(rng.choice([1, 2, 4]))}
    return replace(case, options=options, more=more)


def _scale_free(options):
    """The options with a C that does not count rows."""
    source = options.get("formulation", "'logistic'")
    named = FORMULATIONS.get(source.strip("'"))
    if (eval(source, dict(NAMES)) if named is None else named()).is_scale_free:
        return dict(options)
    made = source if named is None else f"{named.__name__}()"
    free = made.removesuffix(")") + ("" if made.endswith("()") else ", ") + "scale_free=True)"
    return {key: value for key, value in options.items() if key not in ("C", "epsilon")} | {"formulation": free}


def fitted(case):
    np.random.seed(0)  # noqa: NPY002 - a fit without random_state divides rows by this generator
    try:
        return case.fit()
    except DualBoostError:
        return None


def require_same_in_other_units(case):
    """Whether a pair was compared; None where the case is refused."""
    model = fitted(case)
    if model is None:
        return None
    found, is_exact = False, case.more["is_exact"]
    factor, copies = case.more["factor"], case.more["copies"]
    for other in (_weighed(case, factor), _repeated(case, copies) if copies > 1 else None):
        same = None if other is None else fitted(other)
        if same is not None:
            found |= _agree(model, same, case, (is_exact or other.n_rows > case.n_rows) and _is_settled(model))
    return found


def _is_settled(model):
    formulation = getattr(model.fitted_, "formulation", None)
    is_of_leaves = not model.fitted_.ensemble.is_normalised and model.optimize != "weights"
    return is_of_leaves or (formulation is not None and formulation.name in SETTLED)


def _weighed(case, factor):
    return replace(case, weights=(factor * case.counts()).tolist())


def _repeated(case, copies):
    """All rows so often; None where copies are not what one row is, as where a category must have some rows."""
    if case.has_text or case.estimator.endswith("CV") or any(name in case.options for name in SPLIT):
        return None
    return case.of_rows(np.tile(np.arange(case.n_rows), copies).tolist())


def _agree(model, other, case, is_exact):
    X = case.X()
    one, two = (each.fitted_.scores(each._features(X)) for each in (model, other))
    if not is_exact:
        if not np.allclose(one, two, rtol=1e-9, atol=1e-9 * np.abs(one).max(initial=0.0)):
            return False
        # which class leads, where two do but for last digits, decides a probability: so both get the same scores
        other = other.with_fitted(replace(other.fitted_, ensemble=model.fitted_.ensemble))
    wanted, found = answers_of(model, X), answers_of(other, X)
    for method, answer in wanted.items():
        if answer.dtype.kind in "fc":
            size = np.abs(answer).max(initial=0.0)
            close = np.allclose(found[method], answer, rtol=CLOSE["rtol"], atol=CLOSE["atol"] * size)
            require(close, method, "depends on the unit of the weights, or on copies of all rows")
    return True
