"""What every adapter promises, against the real library."""

import pickle
import subprocess
import sys
import warnings

import numpy as np
import pytest
import xgboost
from catboost import CatBoostClassifier
from scipy.special import expit

from dualboost import thin
from dualboost.thinning import ADAPTERS, adapter_for
from dualboost.thinning.members import Kinds, NewLeaves, refitted_scores

from ..thoroughness import only_thorough, together
from .models import CASES

FRESH = """
import pickle, sys
folder = sys.argv[1]
for k, (load, answer) in enumerate(pickle.load(open(f"{folder}/cases", "rb"))):
    names = {"path": f"{folder}/model{k}", "X": pickle.load(open(f"{folder}/X{k}", "rb"))}
    exec(load, names)
    pickle.dump(eval(answer, names), open(f"{folder}/answers{k}", "wb"))
"""


@pytest.fixture(scope="module", params=CASES)
def case(request):
    return CASES[request.param]


@pytest.fixture(scope="module")
def fitted(case):
    X, y = case.data()
    return case.fit(X, y), X, y


@pytest.fixture(scope="module")
def thinned(fitted):
    return thin(*fitted, C=0.02, random_state=0)


def answers(case, model, X):
    return np.asarray(eval(case.answer, {"model": model, "X": X, "xgboost": xgboost}))


def test_every_adapter_has_a_case():
    handled = {type(adapter_for(case.fit(*case.data()))) for case in CASES.values()}
    assert handled == set(ADAPTERS)


def test_members_add_up_to_the_model(case, fitted):
    """On rows that the model has not seen, with missing values and categories."""
    model = fitted[0]
    X, _ = case.data(n=300, seed=7)
    adapter = adapter_for(model)
    outputs = adapter.outputs(X)
    assert outputs.shape == (adapter.n_members, 300)
    expected = adapter.intercept + adapter.weights @ outputs
    np.testing.assert_allclose(adapter.raw_scores(model, X), expected, atol=1e-5)


def test_raw_scores_are_what_the_weights_say(case, fitted, thinned):
    X, _ = case.data(n=300, seed=8)
    adapter = adapter_for(fitted[0])
    assert 0 < len(thinned.kept) < adapter.n_members
    expected = thinned.intercept + thinned.weights @ adapter.outputs(X)[thinned.kept]
    np.testing.assert_allclose(adapter.raw_scores(thinned.model, X), expected, atol=1e-5)
    assert np.ptp(expected) > 0


def test_any_weights_and_intercept_can_be_written(case, fitted):
    """Not only those that thinning finds: few members, and an intercept of either sign."""
    X, _ = case.data(n=200, seed=9)
    adapter = adapter_for(fitted[0])
    outputs = adapter.outputs(X)
    kept = np.array([0, adapter.n_members - 1])
    total = getattr(adapter.link, "total", 1.0)
    for intercept in (-0.25 * total, 0.125 * total):
        weights = np.array([0.5, 0.5]) * (total - abs(intercept))
        model = adapter.rebuild(kept, weights, intercept)
        np.testing.assert_allclose(adapter.raw_scores(model, X), intercept + weights @ outputs[kept], atol=1e-5)


def test_new_leaves_are_what_the_model_predicts(case, fitted):
    """Any values, on rows that the leaves were not read from, as log-odds and with the intercept."""
    (model, X, _), (X_new, _) = fitted, case.data(n=300, seed=12)
    adapter = adapter_for(model)
    if not adapter.refits:
        return
    rng, kept = np.random.default_rng(0), np.array([0, adapter.n_members - 1])
    outputs = [adapter.leaf_outputs(rows) for rows in (X, X_new)]
    seen, new = [adapter.outputs(rows) if own is None else own for rows, own in zip((X, X_new), outputs, strict=True)]
    leaves = [NewLeaves(kinds, rng.normal(size=len(kinds))) for kinds in (Kinds.of(seen[j]) for j in kept)]
    expected = expit(refitted_scores(new[kept], leaves, 0.7))
    rewritten = adapter.rewrite(kept, leaves, 0.7)
    if hasattr(rewritten, "predict_proba"):
        found = np.asarray(rewritten.predict_proba(X_new))[:, 1]
        assert (np.asarray(rewritten.predict(X_new)).ravel() == adapter.classes[(expected > 0.5).astype(int)]).all()
    else:
        found = adapter.link.expected(adapter.raw_scores(rewritten, X_new))
    np.testing.assert_allclose(found, expected, atol=1e-6)
    assert np.ptp(expected) > 0


def test_type_is_kept(case, fitted, thinned):
    assert type(thinned.model) is case.result
    assert (type(fitted[0]) is case.result) == adapter_for(fitted[0]).keeps_type


def test_classes_and_probabilities_follow_the_raw_scores(case, fitted, thinned):
    X, y = case.data(n=300, seed=10)
    adapter = adapter_for(fitted[0])
    raw = adapter.raw_scores(thinned.model, X)
    clear = np.abs(raw) > 1e-6
    if hasattr(thinned.model, "predict_proba"):
        probabilities = thinned.model.predict_proba(X)
        assert (probabilities >= -1e-6).all()
        np.testing.assert_allclose(probabilities.sum(axis=1), 1.0, atol=1e-6)
        assert ((probabilities[:, 1] > 0.5) == (raw > 0))[clear].all()
        predicted = np.asarray(thinned.model.predict(X)).ravel()
        assert (predicted == adapter.classes[(raw > 0).astype(int)])[clear].all()
        assert np.mean(predicted == y) > 0.7


@only_thorough
@pytest.mark.parametrize("names", together(CASES))
def test_round_trip_in_a_fresh_process(names, tmp_path):
    expected, cases = [], [CASES[name] for name in names]
    for k, case in enumerate(cases):
        X, _ = case.data(n=100, seed=11)
        data = case.data()
        model = thin(case.fit(*data), *data, C=0.02, random_state=0).model
        (tmp_path / f"X{k}").write_bytes(pickle.dumps(X))
        case.save(model, str(tmp_path / f"model{k}"))
        expected.append(answers(case, model, X))
    (tmp_path / "cases").write_bytes(pickle.dumps([(case.load, case.answer) for case in cases]))
    subprocess.run([sys.executable, "-c", FRESH, str(tmp_path)], check=True, timeout=120)
    for k, name in enumerate(names):
        found = pickle.loads((tmp_path / f"answers{k}").read_bytes())
        np.testing.assert_array_equal(np.asarray(found), expected[k], err_msg=name)


def test_the_model_that_came_in_is_not_changed(case):
    X, y = case.data()
    model = case.fit(X, y)
    before = answers(case, model, X) if not isinstance(model, list) else [m.predict(X) for m in model]
    arguments = repr(model.get_params()) if hasattr(model, "get_params") else None
    thin(model, X, y, C=0.02)
    after = answers(case, model, X) if not isinstance(model, list) else [m.predict(X) for m in model]
    np.testing.assert_array_equal(before, after)
    assert arguments is None or repr(model.get_params()) == arguments


def test_what_was_fitted_to_a_frame_or_an_array_warns_of_nothing(case, fitted):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        thin(*fitted, C=0.02)


def test_importances_survive(fitted, thinned):
    if hasattr(fitted[0], "feature_importances_") and not isinstance(fitted[0], CatBoostClassifier):
        assert len(thinned.model.feature_importances_) == len(fitted[0].feature_importances_)
        assert np.isfinite(thinned.model.feature_importances_).all()


def test_result_says_what_it_is(fitted, thinned):
    n_members = adapter_for(fitted[0]).n_members
    assert repr(thinned) == f"ThinResult({type(thinned.model).__name__}: {len(thinned.kept)} of {n_members} trees)"


def test_summary_counts_before_and_after(fitted, thinned):
    summary = thinned.summary()
    adapter = adapter_for(fitted[0])
    assert summary["trees"] == (adapter.n_members, len(thinned.kept))
    assert summary["leaves"][1] <= summary["leaves"][0] == adapter.n_leaves.sum()
    assert summary["bytes, saved"][1] > 0
    assert all(seconds > 0 for seconds in summary["seconds to predict"])
    assert "before" in str(summary)


@pytest.mark.parametrize("policy", ["Depthwise", "Lossguide"])
def test_catboosts_trees_whose_branches_differ_in_depth(policy):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 5))
    y = (X[:, 0] * X[:, 1] + X[:, 2] > 0).astype(int)
    model = CatBoostClassifier(60, depth=5, min_data_in_leaf=12, grow_policy=policy, verbose=0, thread_count=1)
    model.set_params(allow_writing_files=False).fit(X, y)
    adapter = adapter_for(model)
    expected = adapter.intercept + adapter.weights @ adapter.outputs(X)
    np.testing.assert_allclose(adapter.raw_scores(model, X), expected, atol=1e-5)
    kept, weights = np.array([3, 40, 59]), np.array([2.0, -1.0, 0.5])
    expected = 0.3 + weights @ adapter.outputs(X)[kept]
    np.testing.assert_allclose(adapter.raw_scores(adapter.rebuild(kept, weights, 0.3), X), expected, atol=1e-5)
