"""Learners in the estimator: certificates over whole classes of trees, confidence, pools, any classifier."""

import highspy
import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from dualboost import CartLearner, ClassifierLearner, DualBoostClassifier, OptimalLearner, SolverOptions
from dualboost.errors import InvalidParameterError
from dualboost.formulations import ConvexBoost
from dualboost.learners import PricingContext, TrainingData

from ..conftest import ALL_FORMULATIONS, SMALL_DATASETS, is_priced_by_votes, small_dataset
from ..learners.test_cart import binary_data
from ..thoroughness import every, how_many


def all_stumps(X):
    """The votes of every stump on distinct cuts, of either sign, and the two constants."""
    votes = [np.ones(len(X)), -np.ones(len(X))]
    for column in X.T:
        for cut in np.unique(column)[:-1]:
            votes += [np.where(column <= cut, 1.0, -1.0), np.where(column <= cut, -1.0, 1.0)]
    return np.unique(np.array(votes), axis=0)


def lp_over(A, C):
    """min C*sum(xi) + sum(w), A w + xi >= 1, solved at once by HiGHS."""
    m, n = A.shape
    solver = highspy.Highs()
    solver.setOptionValue("output_flag", False)
    empty = np.empty(0, dtype=np.int32)
    solver.addCols(
        n + m,
        np.r_[np.ones(n), np.full(m, C)],
        np.zeros(n + m),
        np.full(n + m, highspy.kHighsInf),
        0,
        empty,
        empty,
        np.empty(0),
    )
    for i in range(m):
        solver.addRow(1.0, highspy.kHighsInf, n + 1, np.r_[np.arange(n), n + i].astype(np.int32), np.r_[A[i], 1.0])
    solver.run()
    return solver.getInfo().objective_function_value


@pytest.mark.parametrize("name", every(SMALL_DATASETS, few=("breast_cancer", "integers")))
def test_certified_is_optimal_over_all_stumps(name):
    X, y = small_dataset(name, n=120)
    clf = DualBoostClassifier("lp", C=0.3, learner="optimal", calibration="training", max_trees=500).fit(X, y)
    assert clf.stop_reason_ == "certified"
    assert clf.certified_
    signs = np.where(y == clf.classes_[1], 1.0, -1.0)
    assert clf.objective_ == pytest.approx(lp_over((all_stumps(X) * signs).T, 0.3), rel=1e-6)
    assert clf.bound_ == pytest.approx(clf.objective_, rel=2e-6)
    assert np.isfinite(clf.history_["bound"]).all()


@pytest.mark.parametrize("formulation_name", every(ALL_FORMULATIONS, few=("lp", "md", "nm", "spatial")))
def test_bounds_are_valid_and_absent_without_a_proof(formulation_name):
    X, y = binary_data(300)
    options = {"learner": "optimal", "calibration": "training", "max_depth": 1}
    early = DualBoostClassifier(formulation_name, max_trees=5, **options).fit(X, y)
    late = DualBoostClassifier(formulation_name, max_trees=300, **options).fit(X, y)
    sign = early.formulation_.objective_sign
    # Where leaves are corrected, or a column is more than its votes, the largest edge proves nothing.
    if early.formulation_.optimize == "leaves" or not is_priced_by_votes(early):
        assert early.bound_ is None
        return
    assert sign * early.bound_ <= sign * early.objective_
    if formulation_name != "nm":  # whose programme changes with the number of columns
        assert sign * early.bound_ <= sign * late.objective_ + 1e-6 * abs(late.objective_)
    for learner in (CartLearner(), OptimalLearner(voting="confidence")):
        heuristic = DualBoostClassifier(formulation_name, calibration="training", max_trees=5, learner=learner).fit(
            X, y
        )
        assert heuristic.bound_ is None
        assert heuristic.certified_ is None


def test_optimal_edges_are_at_least_those_of_cart():
    """Under the sample weights of every iteration of a fit."""
    X, y = binary_data(how_many(300, 1000))
    X = np.asfortranarray(X)
    cart = CartLearner(max_depth=3).pricer(TrainingData(X, []), PricingContext())
    weights = [np.ones(len(y))]
    for t in range(1, 6):
        options = {"calibration": "training", "solver": SolverOptions(reoptimize="every")}
        clf = DualBoostClassifier("lp", learner="optimal", max_depth=3, max_trees=t, **options).fit(X, y)
        assert clf.history_["edge"][-1] >= (weights[-1] * y) @ cart.price(weights[-1] * y, None).votes - 1e-9
        weights.append(clf.duals_)


@pytest.mark.parametrize("learner", [DecisionTreeClassifier(max_depth=2), LogisticRegression(), GaussianNB()], ids=str)
@pytest.mark.parametrize("voting", ["hard", "confidence"])
def test_any_classifier(learner, voting):
    X, y = small_dataset("twonorm", n=300)
    clf = DualBoostClassifier(
        "md", learner=ClassifierLearner(learner, voting), calibration="training", max_trees=8
    ).fit(X, y)
    again = clone(clf).fit(X, y)
    assert clf.gap_ <= 1e-6
    assert clf.score(X, y) > 0.85
    np.testing.assert_array_equal(clf.weights_, again.weights_)
    scores = clf.votes(X) @ clf.weights_ / clf.weights_.sum()
    np.testing.assert_allclose(clf.decision_function(X), scores, atol=1e-9)


def test_confidence_in_every_formulation(formulation_name):
    X, y = small_dataset("twonorm")
    learner = CartLearner(voting="confidence")
    clf = DualBoostClassifier(formulation_name, max_depth=2, learner=learner, max_trees=15, calibration="training")
    clf.fit(X, y)
    votes = clf.votes(X)
    assert clf.gap_ <= 1e-6
    assert ((np.abs(votes) < 1) & (np.abs(votes) > 0)).any()
    scores = votes @ clf.fitted_.ensemble.scales() + clf.intercept_
    np.testing.assert_allclose(clf.decision_function(X), scores, atol=1e-7)


def test_confident_votes_do_not_end_nm_at_its_first_tree():
    """No balance reaches the offset 1/T = 1 of a single column, so its duals alone bring nothing new."""
    X, y = small_dataset("ringnorm", n=400)
    clf = DualBoostClassifier("nm", max_depth=3, learner=CartLearner(voting="confidence")).fit(X, y)
    assert clf.n_trees_ > 3
    assert clf.score(X, y) > 0.9


def test_a_pipeline_is_a_learner():
    X, y = small_dataset("twonorm", n=300)
    pipeline = make_pipeline(StandardScaler(), LogisticRegression())
    clf = DualBoostClassifier("lp", learner=pipeline, calibration="training", max_trees=5).fit(X, y)
    assert clf.score(X, y) > 0.9


@pytest.mark.filterwarnings("ignore::dualboost.errors.SolverWarning")  # on a slow machine there is no time to solve
def test_no_tree_is_grown_after_the_time_is_over():
    X, y = binary_data(1500)
    learner = OptimalLearner(tree_time_limit=0.3)
    clf = DualBoostClassifier("lp", learner=learner, max_depth=6, time_limit=0.1).fit(X, y)
    assert clf.stop_reason_ == "time_limit"
    assert clf.n_generated_ == 1
    assert clf.bound_ is None


@pytest.mark.parametrize("schedule", ["all", "rotate"])
@pytest.mark.parametrize("columns", [1, 2, "all"])
def test_a_pool_of_depths(schedule, columns):
    X, y = small_dataset("ringnorm", n=300)
    clf = DualBoostClassifier(
        "lp",
        learner=["cart", CartLearner(max_depth=3), LogisticRegression()],
        solver=SolverOptions(schedule=schedule, columns_per_iteration=columns),
        max_trees=12,
    ).fit(X, y)
    assert clf.gap_ <= 1e-6
    assert clf.n_generated_ <= 12
    assert clf.n_iter_ == len(clf.history_["iteration"]) <= clf.n_generated_
    assert len(list(clf.staged_predict(X))) == clf.n_iter_
    if columns != 1 and schedule == "all":
        assert clf.n_iter_ < clf.n_generated_


@pytest.mark.parametrize(
    ("kind", "options", "message"),
    [
        (CartLearner, {"voting": "soft"}, "voting='soft'"),
        (CartLearner, {"criterion": "entropy"}, "criterion='entropy'"),
        (CartLearner, {"max_depth": 0}, "max_depth=0"),
        (CartLearner, {"max_depth": True}, "max_depth=True"),
        (OptimalLearner, {"n_thresholds": 0}, "n_thresholds=0"),
        (OptimalLearner, {"tree_time_limit": 0}, "tree_time_limit=0"),
        (SolverOptions, {"schedule": "some"}, "schedule='some'"),
        (SolverOptions, {"reoptimize": "never"}, "reoptimize='never'"),
        (SolverOptions, {"columns_per_iteration": 0}, "columns_per_iteration=0"),
        (SolverOptions, {"columns_per_iteration": "some"}, "columns_per_iteration='some'"),
        (SolverOptions, {"active_rows": 1}, "active_rows=1"),
    ],
    ids=str,
)
def test_bad_options_are_named(kind, options, message):
    with pytest.raises(InvalidParameterError, match=message):
        kind(**options)
    with pytest.raises(InvalidParameterError, match=message):
        kind().set_params(**options)


def test_options_that_are_spoilt_later_are_named_by_fit():
    X, y = small_dataset("twonorm")
    clf = DualBoostClassifier(learner=CartLearner(), solver=SolverOptions(), formulation=ConvexBoost())
    for value, name in ((clf.learner, "voting"), (clf.solver, "schedule"), (clf.formulation, "loss")):
        before = getattr(value, name)
        setattr(value, name, "odd")
        with pytest.raises(InvalidParameterError, match=f"{name}='odd'"):
            clf.fit(X, y)
        setattr(value, name, before)


def test_without_a_depth_exact_trees_are_those_that_take_little_time():
    X, y = binary_data(200)
    exact = DualBoostClassifier(learner="optimal", max_trees=2).fit(X, y)
    assert max(tree.n_leaves for tree in exact.estimators_) <= 2**2
    assert max(tree.n_leaves for tree in DualBoostClassifier(max_trees=2).fit(X, y).estimators_) > 2**2
