"""The contract of all adapters: one table of models of every library and task, against the library itself."""

import pickle
import subprocess
import sys
import warnings

import lightgbm
import numpy as np
import pytest
import xgboost
from catboost import CatBoostClassifier
from scipy.special import softmax
from sklearn.metrics import r2_score

from dualboost import thin
from dualboost.targets.scoring import Scoring
from dualboost.thinning import ADAPTERS, ThinnedTreesClassifier, adapter_for
from dualboost.thinning.refitting import Candidates, sizes_below
from dualboost.thinning.trials import Trial, read_rows

from ..thoroughness import every, only_thorough, together
from .models import CASES, FEW, NUMBERS, SEVERAL_CLASSES, TWO_CLASSES

FRESH = """
import pickle, sys
folder = sys.argv[1]
for k, (load, answer) in enumerate(pickle.load(open(f"{folder}/cases", "rb"))):
    names = {"path": f"{folder}/model{k}", "X": pickle.load(open(f"{folder}/X{k}", "rb"))}
    exec(load, names)
    pickle.dump(eval(answer, names), open(f"{folder}/answers{k}", "wb"))
"""


@pytest.fixture(scope="module", params=every(CASES, FEW))
def name(request):
    return request.param


@pytest.fixture(scope="module")
def case(name):
    return CASES[name]


@pytest.fixture(scope="module")
def fitted(case):
    X, y = case.data()
    return case.fit(X, y), X, y


@pytest.fixture(scope="module")
def weighted(fitted):
    """With new weights, where models can have these."""
    if not adapter_for(fitted[0]).link.takes_weights:
        return None
    return thin(*fitted, C=0.02, random_state=0)


@pytest.fixture(scope="module")
def refitted(case, fitted):
    """With new leaves, or the first trees, or new weights where there are no trees."""
    return thin(*fitted, tolerance=0.05, validation_data=case.data(seed=10))


def predicted(model, X):
    """The predictions of the library itself: the probabilities of all classes, or numbers."""
    if isinstance(model, list):
        positive = 0.5 * (1.0 + adapter_for(model).raw_scores(model, X))
    elif isinstance(model, xgboost.Booster):
        rows = xgboost.DMatrix(X, enable_categorical=True)
        raw = model.predict(rows, output_margin=True)
        if raw.ndim > 1:
            return softmax(raw, axis=1)
        positive = model.predict(rows)
    elif hasattr(model, "predict_proba"):
        return model.predict_proba(X)
    else:
        positive = model.predict(X)
    is_regressor = positive.ndim == 1 and not adapter_for(model).target.has_classes
    return positive if is_regressor or positive.ndim > 1 else np.column_stack([1.0 - positive, positive])


def same(found, expected):
    """Probabilities up to single precision; numbers relative to their size."""
    if found.ndim > 1:
        np.testing.assert_allclose(found, expected, atol=1e-6)
    else:
        np.testing.assert_allclose(found, expected, rtol=2e-6)


def promised(adapter, rows, kept, leaves, intercept):
    """The probabilities of all classes, or numbers, by new leaves."""
    return adapter.link.columns(adapter.link.refitted.expected(rows.scores(kept, leaves, intercept)))


def unseen(case, model, seed=7):
    X, y = case.data(n=300, seed=seed)
    return X, read_rows(adapter_for(model), X, y, None)


def test_every_entry_has_a_model_of_each_of_its_tasks():
    handled = {
        (type(adapter_for(case.fit(*case.data()))), table_of_task)
        for table_of_task, cases in enumerate((TWO_CLASSES, SEVERAL_CLASSES, NUMBERS))
        for case in cases.values()
    }
    of_two = {"AdaBoostAdapter", "ClassifiersAdapter"}
    adapters = [entry.load() for entry in ADAPTERS]
    assert handled == {
        (adapter, task) for adapter in adapters for task in range(1 if adapter.__name__ in of_two else 3)
    }


def test_members_add_up_to_the_model(case, fitted):
    """On rows that the model has not seen, with missing values and categories."""
    model = fitted[0]
    X, rows = unseen(case, model)
    adapter = adapter_for(model)
    expected = adapter.expected(rows.full_scores)
    assert len(rows.members) == adapter.n_members
    assert len(rows.leaf_ids) == len(rows.members.values) == adapter.n_members * adapter.trees_per_member
    np.testing.assert_allclose(adapter.raw_scores(model, X), rows.full_scores, atol=1e-5, rtol=2e-6)
    same(predicted(model, X), adapter.link.columns(expected))


def test_raw_scores_are_the_weighted_outputs(case, fitted, weighted):
    if weighted is None:
        return
    X, rows = unseen(case, fitted[0], seed=8)
    adapter = adapter_for(fitted[0])
    assert 0 < len(weighted.kept) < adapter.n_members
    expected = weighted.intercept + weighted.weights @ np.array([rows.outputs(j) for j in weighted.kept])
    np.testing.assert_allclose(adapter.raw_scores(weighted.model, X), expected, atol=1e-5)
    assert np.ptp(expected) > 0


def test_any_weights_and_intercept_can_be_written(case, fitted):
    """Not only those that thinning finds: few members, and an intercept of either sign."""
    X, rows = unseen(case, fitted[0], seed=9)
    adapter = adapter_for(fitted[0])
    kept = np.array([0, adapter.n_members - 1])
    choices = [(adapter.weights[kept] * [0.5, 2.0], adapter.intercept + 0.25)]
    if adapter.link.takes_weights:
        total = getattr(adapter.link, "total", 1.0)
        choices = [(np.array([0.5, 0.5]) * (total - abs(b)), b) for b in (-0.25 * total, 0.125 * total)]
    elif adapter.target.has_classes:  # an average of probabilities must stay one
        point = Candidates(Trial(adapter, rows, rows), Scoring()).truncated(3)
        kept, choices = point.members, [(point.weights, point.intercept)]
    for weights, intercept in choices:
        model = adapter.rebuild(kept, weights, intercept)
        assert type(model) is type(fitted[0]) or not adapter.keeps_type
        expected = rows.weighted_scores(kept, weights, intercept)
        np.testing.assert_allclose(adapter.raw_scores(model, X), expected, atol=1e-5, rtol=2e-6)


def test_any_leaves_and_intercepts_can_be_written(case, fitted):
    """On rows that the leaves were not read from."""
    X, rows = unseen(case, fitted[0], seed=12)
    adapter, rng = adapter_for(fitted[0]), np.random.default_rng(0)
    if not adapter.refits:
        return
    kept = np.array([0, adapter.n_members - 1])
    leaves = [rng.normal(size=adapter.members.values[tree].shape) for tree in adapter.members.trees_of(kept)]
    intercept = (
        adapter.intercept + 0.7 if adapter.link.refitted is adapter.link else rng.normal(size=len(adapter.classes))
    )
    intercept = 0.7 if adapter.link.takes_weights else intercept
    rewritten, expected = adapter.rewrite(kept, leaves, intercept), promised(adapter, rows, kept, leaves, intercept)
    same(predicted(rewritten, X), expected)
    if hasattr(rewritten, "predict_proba"):
        is_clear = np.ptp(expected, axis=1) > 1e-6
        assert (np.ravel(rewritten.predict(X)) == adapter.classes[expected.argmax(axis=1)])[is_clear].all()
    assert np.ptp(expected) > 0


def test_the_model_returned_is_what_was_computed(case, fitted, refitted):
    adapter = adapter_for(fitted[0])
    X, rows = unseen(case, fitted[0])
    assert 0 < len(refitted.kept) < adapter.n_members
    if refitted.leaves is not None:
        expected = promised(adapter, rows, refitted.kept, refitted.leaves, refitted.intercept)
        assert 0 <= refitted.gap <= 1e-6
        same(predicted(refitted.model, X), expected)
    else:
        assert refitted.way in ("truncate", "weights")
        expected = rows.weighted_scores(refitted.kept, refitted.weights, refitted.intercept)
        np.testing.assert_allclose(adapter.raw_scores(refitted.model, X), expected, atol=1e-5, rtol=2e-6)
        if (adapter.target.has_classes and not adapter.link.takes_weights) or not adapter.target.has_classes:
            same(predicted(refitted.model, X), adapter.expected(expected))


def test_the_score_is_kept_to_the_tolerance(case, fitted, refitted):
    X, y = case.data(seed=10)
    adapter = adapter_for(fitted[0])
    scores = []
    for model in (fitted[0], refitted.model):
        found = predicted(model, X)
        is_right = found.ndim > 1 and adapter.classes[found.argmax(axis=1)] == y
        scores.append(np.mean(is_right) if found.ndim > 1 else r2_score(y, found))
    assert scores[1] >= scores[0] - 0.05 - 1e-5
    assert refitted.full_score == pytest.approx(scores[0], abs=1e-5)
    assert refitted.path["validation_score"][refitted.chosen] == pytest.approx(scores[1], abs=1e-5)


def test_the_type_is_kept_where_it_can_be(case, fitted, weighted, refitted):
    adapter = adapter_for(fitted[0])
    if weighted is not None:
        assert type(weighted.model) is case.result
        assert (type(fitted[0]) is case.result) == adapter.keeps_type
    is_ours = isinstance(refitted.model, ThinnedTreesClassifier)
    assert type(refitted.model) in (case.result, type(fitted[0])) or (is_ours and refitted.leaves is not None)
    assert not (is_ours and type(fitted[0]).__module__.startswith(("xgboost", "lightgbm", "catboost", "dualboost")))


def test_classes_and_probabilities_follow_the_raw_scores(case, fitted, weighted):
    if weighted is None or not hasattr(weighted.model, "predict_proba"):
        return
    X, y = case.data(n=300, seed=10)
    adapter = adapter_for(fitted[0])
    raw = adapter.raw_scores(weighted.model, X)
    clear = np.abs(raw) > 1e-6
    probabilities = weighted.model.predict_proba(X)
    assert (probabilities >= -1e-6).all()
    np.testing.assert_allclose(probabilities.sum(axis=1), 1.0, atol=1e-6)
    assert ((probabilities[:, 1] > 0.5) == (raw > 0))[clear].all()
    labels = np.asarray(weighted.model.predict(X)).ravel()
    assert (labels == adapter.classes[(raw > 0).astype(int)])[clear].all()
    assert np.mean(labels == y) > 0.7


def test_trees_and_leaves_are_counted(fitted, weighted, refitted):
    adapter = adapter_for(fitted[0])
    each = adapter.trees_per_member
    for result in (weighted, refitted):
        if result is None:
            continue
        before, after = each * adapter.n_members, each * len(result.kept)
        assert repr(result) == f"ThinResult({type(result.model).__name__}: {after} of {before} trees)"
        np.testing.assert_array_equal(result.path["trees"], each * result.path["members"])
        summary = result.summary()
        assert summary["trees"] == (before, after)
        assert summary["leaves"][1] <= summary["leaves"][0] == adapter.n_leaves.sum()
        assert summary["bytes, saved"][1] > 0
        assert all(seconds > 0 for seconds in summary["seconds to predict"])
        assert ("accuracy" if adapter.target.has_classes else "R²") + ", rows given" in str(summary)
        if isinstance(result.model, lightgbm.Booster):
            assert result.model.num_trees() == after
        if isinstance(result.model, xgboost.Booster):
            assert result.model.num_boosted_rounds() == len(result.kept)


def test_rounds_are_kept_whole(name, fitted):
    of_rounds = ("xgboost", "lightgbm", "gradient boosting", "hist gradient boosting")
    is_round = name.endswith("three") and name.startswith(of_rounds)
    assert adapter_for(fitted[0]).trees_per_member == (3 if is_round else 1)


def test_the_first_members_are_among_the_candidates(fitted, refitted):
    first = refitted.path["members"][refitted.path["way"] == "truncate"]
    np.testing.assert_array_equal(first, sizes_below(adapter_for(fitted[0]).n_members, None)[::-1])
    is_first = (refitted.path["way"] == "truncate") & (refitted.path["validation_score"] >= refitted.full_score - 0.05)
    if is_first.any():
        assert len(refitted.kept) <= refitted.path["members"][is_first].min()


@only_thorough
@pytest.mark.parametrize("names", together(TWO_CLASSES))
def test_round_trip_in_a_fresh_process(names, tmp_path):
    expected, cases = [], [CASES[name] for name in names]
    for k, case in enumerate(cases):
        X, _ = case.data(n=100, seed=11)
        data = case.data()
        model = thin(case.fit(*data), *data, C=0.02, random_state=0).model
        (tmp_path / f"X{k}").write_bytes(pickle.dumps(X))
        case.save(model, str(tmp_path / f"model{k}"))
        expected.append(np.asarray(eval(case.answer, {"model": model, "X": X, "xgboost": xgboost})))
    (tmp_path / "cases").write_bytes(pickle.dumps([(case.load, case.answer) for case in cases]))
    subprocess.run([sys.executable, "-c", FRESH, str(tmp_path)], check=True, timeout=120)
    for k, name in enumerate(names):
        found = pickle.loads((tmp_path / f"answers{k}").read_bytes())
        np.testing.assert_array_equal(np.asarray(found), expected[k], err_msg=name)


def test_the_model_returned_is_pickled_and_thinned_again(case, fitted, refitted):
    again = pickle.loads(pickle.dumps(refitted.model))
    X, y = case.data(seed=10)
    np.testing.assert_array_equal(predicted(again, X), predicted(refitted.model, X))
    adapter = adapter_for(fitted[0])
    if adapter.keeps_type and not isinstance(again, ThinnedTreesClassifier) and len(refitted.kept) > 1:
        tolerance = 0.3 if adapter.target.has_classes else 0.9
        smaller = thin(again, *case.data(), tolerance=tolerance, validation_data=(X, y))
        assert len(smaller.kept) < len(refitted.kept)


def test_the_model_that_came_in_is_not_changed(case):
    """And there are no warnings of other libraries, whether it was fitted to a frame or to an array."""
    X, y = case.data()
    model = case.fit(X, y)
    before, arguments = predicted(model, X), repr(model.get_params()) if hasattr(model, "get_params") else None
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        if adapter_for(model).link.takes_weights:
            thin(model, X, y, C=0.02)
        thin(model, X, y, tolerance=0.1, validation_data=case.data(seed=10))
    np.testing.assert_array_equal(before, predicted(model, X))
    assert arguments is None or repr(model.get_params()) == arguments


def test_importances_survive(fitted, weighted):
    if weighted is None or not hasattr(fitted[0], "feature_importances_") or isinstance(fitted[0], CatBoostClassifier):
        return
    assert len(weighted.model.feature_importances_) == len(fitted[0].feature_importances_)
    assert np.isfinite(weighted.model.feature_importances_).all()


@pytest.mark.parametrize("policy", ["Depthwise", "Lossguide"])
def test_catboosts_trees_whose_branches_differ_in_depth(policy):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 5))
    y = (X[:, 0] * X[:, 1] + X[:, 2] > 0).astype(int)
    model = CatBoostClassifier(60, depth=5, min_data_in_leaf=12, grow_policy=policy, verbose=0, thread_count=1)
    model.set_params(allow_writing_files=False).fit(X, y)
    adapter = adapter_for(model)
    rows = read_rows(adapter, X, y, None)
    np.testing.assert_allclose(adapter.raw_scores(model, X), rows.full_scores, atol=1e-5)
    kept, weights = np.array([3, 40, 59]), np.array([2.0, -1.0, 0.5])
    expected = rows.weighted_scores(kept, weights, 0.3)
    np.testing.assert_allclose(adapter.raw_scores(adapter.rebuild(kept, weights, 0.3), X), expected, atol=1e-5)
