"""The estimator that tunes C: its choice, its attributes, and what it shares with the plain one."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import StratifiedKFold
from sklearn.utils.estimator_checks import parametrize_with_checks

from dualboost import DualBoostClassifier, DualBoostClassifierCV, SolverOptions
from dualboost.datasets import make_twonorm
from dualboost.errors import InvalidParameterError, UnsupportedFormulationError
from dualboost.formulations import FORMULATIONS
from dualboost.solvers import SOLVERS, ActiveRows
from dualboost.solvers.references import HighsSolver

from ..conftest import has_no_C
from ..thoroughness import how_many


@pytest.fixture(scope="module")
def twonorm():
    return make_twonorm(500, random_state=0)


@pytest.mark.filterwarnings("default::dualboost.errors.DegenerateEnsembleWarning")
@parametrize_with_checks([DualBoostClassifierCV(Cs=2, max_trees=how_many(3, 5))])
def test_scikit_learn_compatible(estimator, check):
    check(estimator)


def test_the_result_is_a_plain_fit_with_the_chosen_C(formulation_shape, twonorm):
    X, y = twonorm
    options = {"max_trees": 10, "calibration": "training", "random_state": 0}
    tuned = DualBoostClassifierCV(formulation_shape, Cs=3, **options).fit(X, y)
    plain = DualBoostClassifier(formulation_shape, C=tuned.C_, **options).fit(X, y)
    np.testing.assert_array_equal(tuned.weights_, plain.weights_)
    np.testing.assert_array_equal(tuned.decision_function(X), plain.decision_function(X))
    assert tuned.gap_ <= 1e-6


def test_the_grid_is_the_formulations_own(formulation_shape, twonorm):
    X, y = twonorm
    tuned = DualBoostClassifierCV(formulation_shape, Cs=5, max_trees=8, calibration="training", random_state=0)
    tuned.fit(X, y)
    np.testing.assert_allclose(tuned.Cs_, np.unique(FORMULATIONS[formulation_shape]().C_grid(len(y), 5)))
    assert tuned.scores_.shape == (1, len(tuned.Cs_))
    assert tuned.C_ in tuned.Cs_
    assert {len(values) for values in tuned.path_.values()} == {len(tuned.Cs_)}
    if not has_no_C(formulation_shape):
        assert tuned.path_["score"].max() > 0.8


def test_best_takes_the_best_score_and_the_fewest_trees_among_equals(twonorm):
    tuned = DualBoostClassifierCV("lp", Cs=[0.02, 0.05, 0.1, 0.3], max_trees=20, random_state=0).fit(*twonorm)
    path = tuned.path_
    chosen = list(path["C"]).index(tuned.C_)
    assert path["score"][chosen] == path["score"].max()
    equals = path["score"] == path["score"].max()
    assert path["n_trees"][chosen] == path["n_trees"][equals].min()


def test_sparsest_takes_the_fewest_trees_within_one_standard_error(twonorm):
    tuned = DualBoostClassifierCV("nm", Cs=6, cv=3, select="sparsest", max_trees=20).fit(*twonorm)
    path = tuned.path_
    best = int(np.argmax(path["score"]))
    allowed = path["score"] >= path["score"][best] - path["standard_error"][best]
    chosen = list(path["C"]).index(tuned.C_)
    assert allowed[chosen]
    assert path["n_trees"][chosen] == path["n_trees"][allowed].min()
    assert tuned.scores_.shape == (3, 6)


def test_a_splitter_decides_the_folds(twonorm):
    folds = StratifiedKFold(4, shuffle=True, random_state=1)
    tuned = DualBoostClassifierCV("cg", Cs=3, cv=folds, max_trees=10).fit(*twonorm)
    assert tuned.scores_.shape == (4, 3)


def test_rows_without_weight_take_no_part_in_the_folds(twonorm):
    X, y = twonorm
    weights = np.r_[np.ones(150), np.zeros(350)]
    tuned = DualBoostClassifierCV("cg", Cs=3, cv=3, max_trees=10).fit(X, y, sample_weight=weights)
    alone = DualBoostClassifierCV("cg", Cs=3, cv=3, max_trees=10).fit(X[:150], y[:150])
    np.testing.assert_array_equal(tuned.scores_, alone.scores_)


def test_weights_that_add_up_to_one_leave_an_admissible_grid(twonorm):
    X, y = twonorm
    tuned = DualBoostClassifierCV("qrlp", max_trees=10, random_state=0).fit(X, y, sample_weight=np.full(500, 1 / 500))
    assert tuned.gap_ <= 1e-6


def test_a_value_that_no_solver_bears_is_not_chosen(twonorm):
    tuned = DualBoostClassifierCV("nm", Cs=[0.1, 1e30], max_trees=10, random_state=0).fit(*twonorm)
    assert tuned.C_ == 0.1


@pytest.fixture
def highs_calls(monkeypatch):
    """The numbers of rows and of columns of each call of HiGHS."""
    calls = []

    class CountingHighs(HighsSolver):
        def solve(self, columns, programme, tolerance, strategy):
            calls.append((columns.n_rows, columns.n_columns))
            return super().solve(columns, programme, tolerance, strategy)

    monkeypatch.setitem(SOLVERS, "highs", CountingHighs)
    return calls


def test_the_solver_of_the_options_tunes_too(twonorm, highs_calls):
    """After every tree of the path, over the rows of the fold; then after every tree of the fit, over all rows."""
    X, y = twonorm
    solver = SolverOptions(method="highs", reoptimize="every")
    tuned = DualBoostClassifierCV("lp", Cs=[0.02, 0.1], cv=4, max_trees=15, solver=solver, calibration="training").fit(
        X, y
    )
    on_folds = [call for call in highs_calls if call[0] < len(y)]
    assert {n_rows for n_rows, _ in on_folds} == {375}
    for n_columns in range(1, 15):
        assert on_folds.count((375, n_columns)) >= 4, n_columns
    assert [call for call in highs_calls if call[0] == len(y)][: tuned.n_iter_] == [
        (len(y), t) for t in range(1, tuned.n_iter_ + 1)
    ]
    assert (tuned.path_["score"] > 0.8).all()


def test_without_a_solver_in_the_options_no_reference_tunes(twonorm, highs_calls):
    DualBoostClassifierCV("lp", Cs=[0.02, 0.1], max_trees=15, random_state=0).fit(*twonorm)
    assert highs_calls == []


@pytest.mark.parametrize("formulation", ["lp", "cg"])
def test_few_rows_take_part_in_tuning_too(formulation, twonorm, monkeypatch):
    X, y = twonorm
    seen, hold = [], ActiveRows._hold

    def noted(self, reduction, columns):
        hold(self, reduction, columns)
        seen.append((columns.n_rows, len(reduction.starts)))

    monkeypatch.setattr(ActiveRows, "_hold", noted)
    tuned = DualBoostClassifierCV(
        formulation,
        Cs=[0.02, 0.1, 0.3],
        max_trees=15,
        solver=SolverOptions(active_rows=60),
        calibration="training",
        random_state=0,
    ).fit(X, y)
    assert {n_rows for n_rows, _ in seen} == {400, 500}
    assert {n for n_rows, n in seen if n_rows == 400} >= {60}
    assert tuned.gap_ <= 1e-6
    assert (tuned.path_["score"] > 0.8).all()


def test_rows_are_left_out_in_tuning_only_where_they_may_be(twonorm):
    with pytest.raises(UnsupportedFormulationError, match="active_rows=60"):
        DualBoostClassifierCV("nm", Cs=3, solver=SolverOptions(active_rows=60)).fit(*twonorm)


def test_same_seed_same_choice(twonorm):
    tuned = DualBoostClassifierCV(Cs=3, max_trees=6, random_state=5)
    first = tuned.fit(*twonorm).scores_
    np.testing.assert_array_equal(clone(tuned).fit(*twonorm).scores_, first)


@pytest.mark.parametrize(
    ("parameters", "named"),
    [
        ({"Cs": 0}, "Cs=0"),
        ({"Cs": "many"}, "Cs='many'"),
        ({"Cs": []}, r"Cs=\[\]"),
        ({"Cs": 2.5}, r"Cs=2\.5"),
        ({"Cs": True}, "Cs=True"),
        ({"Cs": None}, "Cs=None"),
        ({"Cs": [-1.0]}, r"C=-1\.0"),
        ({"select": "smallest"}, "select='smallest'"),
        ({"validation_fraction": None}, "validation_fraction=None"),
    ],
)
def test_bad_parameters_are_named(parameters, named, twonorm):
    with pytest.raises(InvalidParameterError, match=named):
        DualBoostClassifierCV(**parameters).fit(*twonorm)
