"""At home in scikit-learn: refit, clone, pickle, search, pipelines, parallel scores; the same seed, the same model."""

import pickle
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.inspection import partial_dependence, permutation_importance
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from dualboost import DualBoostClassifier
from dualboost.formulations import LPBoost

from .conftest import ALL_FORMULATIONS, TRIED_FORMULATIONS, small_dataset
from .thoroughness import ANY, SHAPES, every, together


def fingerprint(clf, X):
    return np.r_[clf.weights_, clf.decision_function(X), clf.objective_, clf.predict_proba(X)[:, 1]]


@pytest.mark.parametrize("formulation_name", every(ALL_FORMULATIONS, SHAPES))
def test_refit_gives_the_same_model(formulation_name):
    X, y = small_dataset("twonorm")
    clf = DualBoostClassifier(formulation_name, max_trees=15, validation_fraction=0.2, random_state=3)
    first = fingerprint(clf.fit(X, y), X)
    clf.fit(X[:100], y[:100])
    np.testing.assert_array_equal(fingerprint(clf.fit(X, y), X), first)


@pytest.mark.parametrize("formulation_name", every(ALL_FORMULATIONS, SHAPES))
def test_clone_fits_the_same_model(formulation_name):
    X, y = small_dataset("ringnorm")
    clf = DualBoostClassifier(formulation_name, max_trees=15, random_state=0).fit(X, y)
    np.testing.assert_array_equal(fingerprint(clone(clf).fit(X, y), X), fingerprint(clf, X))


def test_clone_of_a_formulation_object():
    clf = DualBoostClassifier(LPBoost(C=0.3), max_depth=2)
    assert clone(clf).formulation == clf.formulation


@pytest.mark.parametrize("formulation_name", every(ALL_FORMULATIONS, SHAPES))
def test_order_of_rows_does_not_change_the_model(formulation_name):
    X, y = small_dataset("integers")
    order = np.random.default_rng(0).permutation(len(y))
    one = DualBoostClassifier(formulation_name, max_trees=15).fit(X, y)
    other = DualBoostClassifier(formulation_name, max_trees=15).fit(X[order], y[order])
    np.testing.assert_array_equal(fingerprint(one, X), fingerprint(other, X))


def test_threads_do_not_change_the_model():
    X, y = small_dataset("waveform")
    models = [DualBoostClassifier(max_depth=3, max_trees=15, n_jobs=n).fit(X, y) for n in (1, 2)]
    np.testing.assert_array_equal(*(fingerprint(clf, X) for clf in models))


@pytest.mark.parametrize("formulations", together(TRIED_FORMULATIONS))
def test_pickle_in_a_fresh_process(formulations, tmp_path):
    X, y = small_dataset("breast_cancer")
    np.save(tmp_path / "X.npy", X)
    models = [DualBoostClassifier(name, max_depth=2, max_trees=5).fit(X, y) for name in formulations]
    for name, clf in zip(formulations, models, strict=True):
        (tmp_path / f"{name}.pickle").write_bytes(pickle.dumps(clf))
    code = (
        "import pickle, sys, numpy as np\n"
        "for name in sys.argv[1:]:\n"
        "    clf = pickle.load(open(f'{name}.pickle', 'rb'))\n"
        "    np.save(f'{name}.npy', clf.predict_proba(np.load('X.npy')))\n"
    )
    subprocess.run([sys.executable, "-c", code, *formulations], cwd=tmp_path, check=True)
    for name, clf in zip(formulations, models, strict=True):
        np.testing.assert_array_equal(np.load(tmp_path / f"{name}.npy"), clf.predict_proba(X), err_msg=name)


def test_grid_search_in_a_pipeline():
    X, y = small_dataset("twonorm")
    pipeline = make_pipeline(StandardScaler(), DualBoostClassifier(max_trees=10))
    grid = {"dualboostclassifier__formulation": ["nm", "cg"], "dualboostclassifier__C": [0.01, 0.1]}
    search = GridSearchCV(pipeline, grid, cv=3).fit(X, y)
    assert search.best_score_ > 0.8
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()


@pytest.mark.parametrize("formulation_name", every(ALL_FORMULATIONS, ANY))
def test_parallel_cross_validation_equals_serial(formulation_name):
    X, y = small_dataset("twonorm")
    clf = DualBoostClassifier(formulation_name, max_trees=10)
    np.testing.assert_array_equal(cross_val_score(clf, X, y, n_jobs=2), cross_val_score(clf, X, y))


def test_inspection_tools_of_scikit_learn():
    X, y = small_dataset("twonorm")
    clf = DualBoostClassifier(max_trees=10).fit(X, y)
    assert partial_dependence(clf, X, [0])["average"].shape[0] == 1
    assert permutation_importance(clf, X, y, n_repeats=2, random_state=0).importances_mean.max() > 0


@pytest.mark.parametrize("form", ["list", "frame", "csr", "csc", "float32"])
def test_forms_of_input_agree(form):
    from scipy import sparse

    X, y = small_dataset("integers")
    forms = {
        "list": lambda a: a.tolist(),
        "frame": lambda a: pd.DataFrame(a, columns=list("abcd")),
        "csr": sparse.csr_matrix,
        "csc": sparse.csc_matrix,
        "float32": lambda a: a.astype(np.float32),
    }
    expected = DualBoostClassifier(max_depth=2, max_trees=10).fit(X, y)
    clf = DualBoostClassifier(max_depth=2, max_trees=10).fit(forms[form](X), y)
    np.testing.assert_allclose(clf.decision_function(forms[form](X)), expected.decision_function(X), atol=1e-12)
    if form == "frame":
        assert list(clf.feature_names_in_) == list("abcd")
