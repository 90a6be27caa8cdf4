"""Only ``matrix`` reduces vectors as long as the rows: vectors that record their reductions find other code that does.

Fits run on arrays that record the file that sums, sorts or multiplies them with one another. Work on one block of rows,
which ``Rows`` passes to a function, is work on plain arrays.
"""

import sys
from pathlib import Path

import numpy as np
import pytest

import dualboost
from dualboost import CartLearner, DualBoostClassifier, DualBoostClassifierCV, OptimalLearner, SolverOptions
from dualboost.formulations import ConvexBoost
from dualboost.matrix.rows import Rows

from ..conftest import small_dataset
from ..thoroughness import every

PACKAGE = Path(dualboost.__file__).parent
WATCHED = ("solvers", "formulations", "boosting")
REDUCTIONS = {"reduce", "accumulate", "reduceat"}
FUNCTIONS = {
    *(np.sum, np.min, np.max, np.mean, np.median, np.any, np.all, np.prod, np.cumsum, np.quantile, np.count_nonzero),
    *(np.dot, np.vdot, np.inner, np.einsum, np.partition, np.sort, np.argsort, np.unique, np.bincount, np.argmax),
    *(np.argmin, np.linalg.norm),
}


def watched_file():
    """The file of ours that is being run, if it is on a watched floor."""
    frame = sys._getframe(2)
    while frame is not None:
        path = Path(frame.f_code.co_filename)
        if PACKAGE in path.parents:
            place = path.relative_to(PACKAGE)
            return f"{place}:{frame.f_lineno}" if place.parts[0] in WATCHED else None
        frame = frame.f_back
    return None


def plain(value):
    if isinstance(value, RowVector):
        return value.view(np.ndarray)
    if isinstance(value, (tuple, list)):
        return type(value)(map(plain, value))
    return value


class RowVector(np.ndarray):
    """An array that reports whoever reduces it; slices that begin with a number are blocks, and plain."""

    def _report(self, what):
        place = watched_file()
        assert place is None, f"{place} calls {what} on a vector as long as the rows"

    def _as_rows(self, result):
        return result.view(RowVector) if self._is_as_long(result) else result

    def _is_as_long(self, result):
        return isinstance(result, np.ndarray) and result.ndim > 0 and result.shape[-1] == self.shape[-1]

    def __array_ufunc__(self, ufunc, method, *inputs, out=None, **options):
        vector = next(one for one in (*inputs, *(out or ())) if isinstance(one, RowVector))
        if out is not None:
            options["out"] = plain(out)
        result = getattr(ufunc, method)(*map(plain, inputs), **options)
        if method in REDUCTIONS or (ufunc is np.matmul and not vector._is_as_long(result)):
            vector._report(f"{ufunc.__name__}.{method}")
        return out[0] if out is not None else vector._as_rows(result)

    def __array_function__(self, function, types, arguments, options):
        if function in FUNCTIONS:
            self._report(function.__name__)
        result = function(*map(plain, arguments), **{name: plain(value) for name, value in options.items()})
        return self._as_rows(result)

    def __getitem__(self, key):
        found = super().__getitem__(key)
        last = key[-1] if isinstance(key, tuple) else key
        return plain(found) if isinstance(last, slice) and last.start is not None else found

    def argmax(self, *arguments, **options):
        self._report("argmax")
        return self.view(np.ndarray).argmax(*arguments, **options)

    def sort(self, *arguments, **options):
        self._report("sort")
        return self.view(np.ndarray).sort(*arguments, **options)


class WatchedRows(Rows):
    """Rows whose vectors tell."""

    def __init__(self, counts, *arguments, **options):
        super().__init__(np.asarray(counts).view(RowVector), *arguments, **options)

    def full(self, value):
        return super().full(value).view(RowVector)

    def empty(self):
        return super().empty().view(RowVector)


@pytest.fixture
def watched(monkeypatch):
    for module in ("targets.base", "boosting.history", "thinning.rows", "solvers.reduced_rows"):
        monkeypatch.setattr(f"dualboost.{module}.Rows", WatchedRows)


def test_a_vector_records_where_it_is_summed(monkeypatch):
    """The watch itself: what is run in the name of a watched file is found, in a block it is not."""
    vector = np.ones(5).view(RowVector)
    code = compile("total = vector.sum()", str(PACKAGE / "solvers" / "somewhere.py"), "exec")
    with pytest.raises(AssertionError, match=r"somewhere.py:1 calls add.reduce"):
        exec(code, {"vector": vector})
    exec(compile("total = vector[0:3].sum()", str(PACKAGE / "solvers" / "somewhere.py"), "exec"), {"vector": vector})
    assert isinstance(2.0 * vector + 1.0, RowVector)
    assert isinstance(np.where(vector > 0, vector, 0.0), RowVector)


@pytest.mark.usefixtures("watched")
@pytest.mark.parametrize("reoptimize", every(["as_needed", "every"], few=["as_needed"]))
def test_fits(formulation_name, reoptimize):
    X, y = small_dataset("twonorm")
    solver = SolverOptions(reoptimize=reoptimize)
    clf = DualBoostClassifier(formulation_name, max_trees=12, solver=solver, validation_fraction=0.2, random_state=0)
    assert clf.fit(X, y).gap_ <= 1e-6


@pytest.mark.usefixtures("watched")
@pytest.mark.parametrize("formulation", ["logistic", "lp", ConvexBoost(loss="huber")], ids=["logistic", "lp", "huber"])
def test_fits_of_leaves(formulation):
    """Growing, elimination, regrowing and the optimum, with a score that needs probabilities."""
    X, y = small_dataset("twonorm")
    options = {"validation_fraction": 0.2, "scoring": "neg_log_loss", "random_state": 0}
    clf = DualBoostClassifier(formulation, optimize="leaves", max_depth=2, max_trees=4, **options)
    assert clf.fit(X, y).gap_ <= 1e-6


@pytest.mark.usefixtures("watched")
@pytest.mark.parametrize("learner", [CartLearner(criterion="edge"), OptimalLearner(max_depth=2)])
@pytest.mark.parametrize("formulation", ["nm", "cg"])
def test_fits_with_bounds_over_all_trees(formulation, learner):
    X, y = small_dataset("integers")
    assert DualBoostClassifier(formulation, learner=learner, max_trees=40).fit(X, y).bound_ is not None


@pytest.mark.usefixtures("watched")
@pytest.mark.parametrize("solver", [{"method": "highs"}, {"method": "clarabel"}, {"active_rows": 40}], ids=str)
def test_fits_by_other_solvers(solver):
    X, y = small_dataset("ringnorm")
    clf = DualBoostClassifier("lp", C=0.2, max_trees=12, solver=SolverOptions(**solver)).fit(X, y)
    assert clf.gap_ <= 1e-6


@pytest.mark.usefixtures("watched")
def test_paths_of_C(formulation_shape):
    X, y = small_dataset("twonorm")
    cv = DualBoostClassifierCV(formulation_shape, Cs=3, max_trees=8, random_state=0).fit(X, y)
    assert len(cv.Cs_) == len(cv.path_["score"])


@pytest.mark.usefixtures("watched")
def test_thinning():
    X, y = small_dataset("integers")
    model = DualBoostClassifier("cg", max_trees=30).fit(X, y)
    assert len(dualboost.thin(model, X, y, tolerance=0.1, random_state=0).kept) < len(model.weights_)
