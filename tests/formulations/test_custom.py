"""Losses that users define: they are solved, certified, copied and refused as ours are."""

import pickle

import numpy as np
import pytest
from scipy.special import expit
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

from dualboost import DualBoostClassifier, DualBoostRegressor
from dualboost.errors import InvalidParameterError, UnsupportedFormulationError, UnsupportedModelError
from dualboost.formulations import HuberLoss, LogisticBoost, MarginLoss, PoissonLoss, SquaredLoss
from dualboost.formulations.regression import NumberLoss
from dualboost.matrix.rows import Rows

from .custom_losses import Exponential, LogCosh, OwnLogistic, OwnSquared, SmoothHinge

SMALL = {"max_depth": 2, "max_trees": 8}


class QuickSquared(SquaredLoss):
    """The squared loss, with trees searched for as under every other loss."""

    effort = NumberLoss.effort


@pytest.fixture(scope="module")
def numbers():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 5))
    return X, 3.0 * X[:, 0] + X[:, 1] ** 2 + rng.normal(size=300)


@pytest.fixture(scope="module")
def classes(numbers):
    X, y = numbers
    return X, np.where(y > 1.0, "yes", "no")


@pytest.fixture
def data(request, numbers, classes):
    return {DualBoostClassifier: classes, DualBoostRegressor: numbers}[request.getfixturevalue("estimator")]


CLASSIFIER, REGRESSOR = DualBoostClassifier, DualBoostRegressor
COPIES = [(CLASSIFIER, LogisticBoost, OwnLogistic), (REGRESSOR, QuickSquared, OwnSquared)]
CUSTOM = [(CLASSIFIER, SmoothHinge), (CLASSIFIER, Exponential), (REGRESSOR, LogCosh)]


@pytest.mark.parametrize("optimize", ["leaves", "weights"])
@pytest.mark.parametrize(("estimator", "ours", "own"), COPIES)
def test_a_copy_of_our_loss_gives_our_model(estimator, ours, own, optimize, data):
    expected, found = (estimator(kind(), optimize=optimize, **SMALL).fit(*data) for kind in (ours, own))
    assert found.gap_ <= found.tol
    assert found.objective_ == pytest.approx(expected.objective_, rel=1e-6)
    assert found.n_trees_ == expected.n_trees_
    for tree, other in zip(found.estimators_, expected.estimators_, strict=True):
        np.testing.assert_allclose(tree.vote(data[0]), other.vote(data[0]), rtol=1e-5, atol=1e-7)
    if estimator is CLASSIFIER:
        np.testing.assert_allclose(found.predict_proba(data[0]), expected.predict_proba(data[0]), atol=1e-6)


@pytest.mark.parametrize("optimize", ["leaves", "weights"])
@pytest.mark.parametrize(("estimator", "own"), CUSTOM)
def test_other_losses_are_solved_to_the_tolerance(estimator, own, optimize, data):
    model = estimator(own(), optimize=optimize, **SMALL).fit(*data)
    assert model.gap_ <= model.tol
    assert model.score(*data) > 0.7
    again = pickle.loads(pickle.dumps(model))
    assert again.formulation_ == model.formulation_
    np.testing.assert_array_equal(again.predict(data[0]), model.predict(data[0]))


def test_the_certificate_agrees_with_cvxpy(classes):
    """A smoothed hinge is the least, over t >= 0, of a hinge loss of m + t and t^2/(2 width)."""
    cp = pytest.importorskip("cvxpy")
    X, y = classes
    model = DualBoostClassifier(SmoothHinge(width=0.5), C=8.0, optimize="weights", tol=1e-9, **SMALL).fit(X, y)
    signs = np.where(y == model.classes_[1], 1.0, -1.0)
    outputs = np.column_stack([tree.vote(X) for tree in model.estimators_])
    w, b, t = cp.Variable(outputs.shape[1], nonneg=True), cp.Variable(), cp.Variable(len(y), nonneg=True)
    losses = cp.pos(1.0 - cp.multiply(signs, outputs @ w + b) - t) + cp.square(t)  # 1/(2 width) is one
    problem = cp.Problem(cp.Minimize(0.5 * cp.sum_squares(w) + 8.0 / len(y) * cp.sum(losses)))
    assert problem.solve(solver=cp.CLARABEL) == pytest.approx(model.objective_, rel=1e-6)


@pytest.mark.parametrize("own", [OwnLogistic, SmoothHinge, Exponential, OwnSquared, LogCosh])
def test_the_term_is_the_conjugate_of_the_loss(own):
    """No dual in the box beats the response, and slope and curvature are derivatives of the term."""
    rows = Rows(np.array([1.0, 2.0, 1.0, 3.0]), values=np.array([-1.0, 0.2, 0.7, 2.0]))
    programme = own(C=3.0).resolve(7.0).programme(rows, 1)
    margins = np.array([-1.3, -0.2, 0.4, 1.1])
    losses = programme.term.loss(margins, programme.lower, programme.upper)
    low, high = np.maximum(programme.lower, -5.0), np.minimum(programme.upper, 5.0)
    for part in np.linspace(0.0, 1.0, 41):
        u = low + part * (high - low)
        assert (losses >= -u * margins - programme.term.value(u) - 1e-9).all()
    u, step = low + 0.4 * (high - low), 1e-6
    term = programme.term
    np.testing.assert_allclose(term.slope(u), (term.value(u + step) - term.value(u - step)) / (2 * step), rtol=1e-5)
    np.testing.assert_allclose(term.curvature(u), (term.slope(u + step) - term.slope(u - step)) / (2 * step), rtol=1e-4)


def test_parameters_can_be_cloned_and_searched(classes):
    loss = clone(SmoothHinge(width=0.5))
    assert loss == SmoothHinge(width=0.5) != SmoothHinge()
    search = GridSearchCV(DualBoostClassifier(loss, **SMALL), {"formulation__width": [0.3, 1.0]}, cv=2).fit(*classes)
    assert search.best_estimator_.formulation_.width == search.best_params_["formulation__width"]


def test_a_model_file_holds_our_losses_only(classes, tmp_path):
    model = DualBoostClassifier(OwnLogistic(), **SMALL).fit(*classes)
    with pytest.raises(UnsupportedModelError, match=r"OwnLogistic.* is not one of dualboost's; .*pickle the model"):
        model.save(tmp_path / "model.json")


def altered(**methods):
    """The copy of the logistic loss with other methods."""
    return type("Altered", (OwnLogistic,), methods)()


@pytest.mark.parametrize(
    ("methods", "message"),
    [
        ({"derivative": lambda self, m: expit(-m)}, r"derivative\(.*\) is .*, but a finite difference of value"),
        ({"curvature": lambda self, m: 2.0 * expit(m) * expit(-m)}, r"curvature\(.*a finite difference of derivative"),
        ({"conjugate": lambda self, s: s**2}, r"conjugate\(.*\) is .*, but slope\*x - value\(x\) is"),
        ({"conjugate": lambda self, s: np.log(s)}, r"conjugate\(.*\) is nan, which is not finite"),
        ({"slopes": (-0.5, 0.0)}, r"slopes=\(-0.5, 0.0\) do not contain derivative\("),
        ({"slopes": (-3.0, 0.0)}, r"derivative\(-1e\+06\) is -1, but slopes=\(-3.0, 0.0\) promise -3"),
        ({"slopes": (0.0, -1.0)}, r"must increase"),
        ({"slopes": 1.0}, r"slopes must be two numbers"),
        ({"value": lambda self, m: float(np.sum(m))}, r"value returns an array of shape \(\)"),
        ({"value": lambda self, m: 1.0 if m > 0 else 0.0}, r"value fails on an array"),
    ],
)
def test_methods_that_do_not_fit_each_other_are_refused(methods, message, classes):
    with pytest.raises(InvalidParameterError, match="formulation=Altered.*: .*" + message):
        DualBoostClassifier(altered(**methods), **SMALL).fit(*classes)


def test_a_concave_loss_is_refused(classes):
    concave = altered(
        value=lambda self, m: -np.logaddexp(0.0, m),
        derivative=lambda self, m: -expit(m),
        curvature=lambda self, m: -expit(m) * expit(-m),
    )
    with pytest.raises(InvalidParameterError, match="a convex loss has none below 0"):
        DualBoostClassifier(concave, **SMALL).fit(*classes)


def test_a_constructor_is_refused_and_a_missing_method_is_named():
    with pytest.raises(InvalidParameterError, match="Own defines __init__: annotate its parameters"):
        type("Own", (MarginLoss,), {"__init__": lambda self: None})
    with pytest.raises(TypeError, match="conjugate"):
        type("Own", (MarginLoss,), {})()


@pytest.mark.parametrize("loss", [HuberLoss(), PoissonLoss(C=2.0), LogCosh()])
def test_a_loss_for_numbers_is_refused_by_classifiers(loss, classes):
    with pytest.raises(InvalidParameterError, match=r"is a loss for numbers: pass it as DualBoostRegressor\(loss="):
        DualBoostClassifier(loss).fit(*classes)


def test_a_loss_of_the_margin_is_refused_where_it_has_no_meaning(numbers):
    X, y = numbers
    with pytest.raises(InvalidParameterError, match=r"loss=.* is not known"):
        DualBoostRegressor(SmoothHinge()).fit(X, y)
    with pytest.raises(UnsupportedFormulationError, match="Only binary classification"):
        DualBoostClassifier(SmoothHinge()).fit(X, np.digitize(y, [0.0, 2.0]))
