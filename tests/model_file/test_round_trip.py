"""What is saved and loaded is the same model."""

import pickle
import re
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingClassifier

from dualboost import (
    CartLearner,
    DualBoostClassifier,
    DualBoostClassifierCV,
    OptimalLearner,
    SolverOptions,
    load_model,
    thin,
    to_lightgbm,
)
from dualboost.errors import DegenerateEnsembleWarning, UnsupportedModelError
from dualboost.formulations import ERLPBoost, LPBoost, MDBoost
from dualboost.thinning import ThinnedTreesClassifier

from ..conftest import small_dataset
from ..golden import FOLDER
from ..several_classes import three_classes
from ..thinning.models import numbers, table

NEW_NUMBERS, NEW_LABELS = numbers(n=300, seed=5, missing=True)
NEW_TABLE, _ = table(n=300, seed=6)


def saved_and_loaded(model, folder, name="model.json"):
    model.save(folder / name)
    return load_model(folder / name)


def assert_same_answers(one, other, X):
    for method in ("decision_function", "predict_proba", "predict"):
        ours, theirs = getattr(one, method)(X), getattr(other, method)(X)
        assert ours.dtype == theirs.dtype
        np.testing.assert_array_equal(ours, theirs, strict=True)


@pytest.fixture(scope="module")
def many():
    """Many trees of which some have no weight, so that the order of summation matters."""
    X, y = numbers(n=600, missing=True)
    learner = CartLearner(voting="confidence")
    return DualBoostClassifier("lp", max_depth=3, max_trees=60, learner=learner, calibration="training").fit(X, y)


@pytest.fixture(scope="module")
def of_a_table():
    X, y = table()
    return DualBoostClassifier("qrlp", C=50, max_depth=3, max_trees=25).fit(X, np.where(y == 1, "yes", "no"))


def test_the_same_answers_in_a_fresh_process(many, of_a_table, tmp_path):
    models = {"many.json": (many, NEW_NUMBERS), "table.json.gz": (of_a_table, NEW_TABLE)}
    for name, (model, X) in models.items():
        model.save(tmp_path / name)
        (tmp_path / f"{name}.rows").write_bytes(pickle.dumps(X))
    script = """
import pickle, sys, dualboost
folder, *names = sys.argv[1:]
answers = {}
for name in names:
    model, X = dualboost.load_model(f"{folder}/{name}"), pickle.load(open(f"{folder}/{name}.rows", "rb"))
    answers[name] = [getattr(model, method)(X) for method in ("predict", "decision_function", "predict_proba")]
pickle.dump(answers, open(f"{folder}/answers", "wb"))
"""
    subprocess.run([sys.executable, "-c", script, str(tmp_path), *models], check=True)
    answers = pickle.loads((tmp_path / "answers").read_bytes())
    for name, (model, X) in models.items():
        methods = (model.predict, model.decision_function, model.predict_proba)
        for method, answer in zip(methods, answers[name], strict=True):
            np.testing.assert_array_equal(answer, method(X), strict=True)


def test_every_formulation(formulation_shape, tmp_path):
    X, y = small_dataset("waveform")
    clf = DualBoostClassifier(formulation_shape, max_depth=2, max_trees=30).fit(X, y)
    loaded = saved_and_loaded(clf, tmp_path)
    assert_same_answers(loaded, clf, X)
    assert_same_answers(loaded, clf, sparse.csr_matrix(X))
    assert loaded.formulation_ == clf.formulation_
    assert loaded.score(X, y) == clf.score(X, y)


def test_only_trees_with_a_weight_are_kept(many, tmp_path):
    loaded = saved_and_loaded(many, tmp_path)
    used = np.flatnonzero(many.weights_)
    assert len(used) < len(many.weights_) == loaded.n_generated_
    np.testing.assert_array_equal(loaded.weights_, many.weights_[used])
    np.testing.assert_array_equal(loaded.votes(NEW_NUMBERS), many.votes(NEW_NUMBERS)[:, used])


def test_what_is_known_of_the_fit(many, tmp_path):
    loaded = saved_and_loaded(many, tmp_path)
    for name in ("objective_", "gap_", "bound_", "certified_", "stop_reason_", "n_trees_", "n_iter_"):
        assert getattr(loaded, name) == getattr(many, name), name
    np.testing.assert_array_equal(loaded.feature_importances_, many.feature_importances_)
    assert list(loaded.history_) == list(many.history_)
    for name, column in many.history_.items():
        expected = np.full(len(column), np.nan) if name.endswith("_seconds") else column
        np.testing.assert_array_equal(loaded.history_[name], expected, strict=True)
    assert not hasattr(loaded, "duals_")


SEVERAL = [
    np.array([-3, 0, 100], dtype=np.int8),
    np.array([0, 1, 2**64 - 1], dtype=np.uint64),
    [-1.0, 0.0, 2.0],
    np.array([1.0, 2.0, 3.0], dtype=np.float32),
    ["a", "ä\n\"'", "z"],
    np.array(["first", "second", "third"], dtype=object),
]


@pytest.mark.parametrize("classes", SEVERAL, ids=str)
def test_several_classes(classes, tmp_path):
    X, y = three_classes()
    clf = DualBoostClassifier(max_depth=3, max_trees=4).fit(X, np.asarray(classes)[y])
    loaded = saved_and_loaded(clf, tmp_path)
    assert loaded.classes_.dtype == clf.classes_.dtype
    assert_same_answers(loaded, clf, three_classes(seed=3)[0])
    np.testing.assert_array_equal(loaded.intercept_, clf.intercept_, strict=True)
    np.testing.assert_array_equal(loaded.feature_importances_, clf.feature_importances_)
    content = (tmp_path / "model.json").read_bytes()
    loaded.save(tmp_path / "again.json")
    assert (tmp_path / "again.json").read_bytes() == content


def test_several_classes_in_every_kind_of_rows(tmp_path):
    """Tuned, fitted anew, pickled, exported; dense or sparse rows."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 4)).round(1)
    y = (X[:, 0] > 0).astype(int) + (X[:, 1] > 0) + (X[:, 2] > 1)
    clf = DualBoostClassifierCV(Cs=2, cv=2, max_depth=2, max_trees=4).fit(X, y)
    loaded = saved_and_loaded(clf, tmp_path, "model.json.gz")
    assert loaded.C_ == clf.C_
    np.testing.assert_array_equal(loaded.scores_, clf.scores_)
    for rows in (X, sparse.csr_matrix(X)):
        assert_same_answers(loaded, clf, rows)
    assert_same_answers(pickle.loads(pickle.dumps(loaded)), clf, X)
    assert_same_answers(clone(loaded).fit(X, y), clf, X)
    np.testing.assert_array_equal(to_lightgbm(loaded).predict(X), to_lightgbm(clf).predict(X))


def test_several_classes_without_a_tree(tmp_path):
    X, y = np.zeros((30, 2)), np.arange(30) % 3
    with pytest.warns(DegenerateEnsembleWarning):
        clf = DualBoostClassifier().fit(X, y)
    assert_same_answers(saved_and_loaded(clf, tmp_path), clf, X)


def test_stages_are_refused_in_words(many, tmp_path):
    loaded = saved_and_loaded(many, tmp_path)
    for method in (loaded.staged_decision_function, loaded.staged_predict):
        with pytest.raises(UnsupportedModelError, match="loaded from a file"):
            next(iter(method(NEW_NUMBERS)))


@pytest.mark.parametrize(
    "clf",
    [
        DualBoostClassifier(LPBoost(), max_trees=np.int64(5), C=1, verbose=False, n_jobs=2, time_limit=60),
        DualBoostClassifier(ERLPBoost(C=np.float64(9.0), epsilon=0.1), max_trees=5),
        DualBoostClassifier(
            MDBoost(negative_weights="clip"), learner=[CartLearner(max_depth=1), "optimal"], max_trees=5
        ),
        DualBoostClassifier(
            learner=OptimalLearner(max_depth=np.int64(2), voting="confidence"),
            max_trees=5,
            solver=SolverOptions(columns_per_iteration="all"),
            tol=np.float64(1e-5),
        ),
        DualBoostClassifier("erlp", epsilon=0.1, solver=SolverOptions("ipm", "every", active_rows=None), max_trees=5),
        DualBoostClassifierCV("lp", Cs=[0.1, 1], cv=2, select="sparsest", max_trees=5),
        DualBoostClassifierCV("lp", Cs=np.array([0.2, 1.0]), max_trees=5, random_state=3),
    ],
    ids=["object", "object with C", "pool", "learner", "solver", "list of C", "array of C"],
)
def test_arguments_survive(clf, tmp_path):
    X, y = numbers()
    loaded = saved_and_loaded(clf.fit(X, y), tmp_path)
    assert type(loaded) is type(clf)
    ours, theirs = clone(loaded).get_params(deep=False), clf.get_params(deep=False)
    assert list(ours) == list(theirs)
    for name, value in ours.items():
        assert value == (theirs[name].tolist() if isinstance(theirs[name], np.ndarray) else theirs[name]), name
    np.testing.assert_array_equal(clone(loaded).fit(X, y).weights_, clf.weights_)


def test_what_tuning_found(tmp_path):
    X, y = table()
    clf = DualBoostClassifierCV("nm", Cs=3, cv=2, max_trees=10).fit(X, y)
    loaded = saved_and_loaded(clf, tmp_path)
    assert loaded.C_ == clf.C_ == loaded.formulation_.C
    np.testing.assert_array_equal(loaded.Cs_, clf.Cs_)
    np.testing.assert_array_equal(loaded.scores_, clf.scores_)
    assert list(loaded.path_) == list(clf.path_)
    assert all(np.array_equal(loaded.path_[name], clf.path_[name]) for name in clf.path_)


@pytest.mark.parametrize(
    "classes",
    [
        [0, 1],
        np.array([-3, 100], dtype=np.int8),
        np.array([0, 2**64 - 1], dtype=np.uint64),
        [False, True],
        [-1.0, 2.0],
        np.array([1.0, 3.0], dtype=np.float32),
        ["a", "ä\n\"'"],
        np.array(["first", "second"], dtype=object),
    ],
    ids=str,
)
def test_classes_keep_their_type(classes, tmp_path):
    X, y = numbers()
    clf = DualBoostClassifier(max_trees=3).fit(X, np.asarray(classes)[y])
    loaded = saved_and_loaded(clf, tmp_path)
    assert loaded.classes_.dtype == clf.classes_.dtype
    assert_same_answers(loaded, clf, NEW_NUMBERS)


@pytest.mark.parametrize(
    "categories",
    [
        list("uvwxyz"),
        pd.Index(["a", "b"], dtype="string"),
        [3, 1, 2],
        [0.5, -1.0, 1e300],
        [True, False],
        ["a", 1, 2.5],
        ["", "NaN", "None"],
    ],
    ids=str,
)
@pytest.mark.filterwarnings("ignore::dualboost.errors.DataWarning")
def test_categories_keep_their_type(categories, tmp_path):
    X, y = numbers()
    codes = (np.arange(len(X)) + (y == 1)) % len(categories)
    frame = pd.DataFrame(X).assign(kind=pd.Categorical.from_codes(codes, categories)).rename(columns=str)
    clf = DualBoostClassifier(max_depth=2, max_trees=10).fit(frame, y)
    loaded = saved_and_loaded(clf, tmp_path)
    unknown = frame.assign(kind=pd.Categorical.from_codes(codes % 2 - 1, ["never seen"]))
    for rows in (frame, unknown):
        assert_same_answers(loaded, clf, rows)
    assert loaded.feature_names_in_.tolist() == list(frame.columns)


def test_a_loaded_model_is_thinned_and_exported(of_a_table, tmp_path):
    X, y = table()
    loaded = saved_and_loaded(of_a_table, tmp_path)
    assert_same_answers(loaded, of_a_table, NEW_TABLE)
    np.testing.assert_array_equal(to_lightgbm(loaded).predict(NEW_TABLE), to_lightgbm(of_a_table).predict(NEW_TABLE))
    result = thin(loaded, X, np.where(y == 1, "yes", "no"), tolerance=0.05, random_state=0)
    assert len(result.kept) < len(loaded.weights_)
    assert_same_answers(saved_and_loaded(result.model, tmp_path), result.model, NEW_TABLE)


def test_an_ensemble_without_a_tree(tmp_path):
    X, y = numbers()
    with pytest.warns(DegenerateEnsembleWarning):
        clf = DualBoostClassifier(LPBoost(C=1e-6)).fit(X, y)
    loaded = saved_and_loaded(clf, tmp_path)
    assert not len(loaded.weights_)
    assert_same_answers(loaded, clf, NEW_NUMBERS)


def test_a_thinned_model(tmp_path):
    X, y = numbers(missing=True)
    X = pd.DataFrame(X, columns=list("abcde"))
    original = HistGradientBoostingClassifier(max_iter=20, random_state=0).fit(X, np.where(y == 1, "yes", "no"))
    model = thin(original, X, np.where(y == 1, "yes", "no"), tolerance=0.05).model
    loaded = saved_and_loaded(model, tmp_path)
    assert isinstance(loaded, ThinnedTreesClassifier)
    assert_same_answers(loaded, model, pd.DataFrame(NEW_NUMBERS, columns=list("abcde")))
    assert_same_answers(clone(loaded), model, NEW_NUMBERS)


def test_a_loaded_model_is_fitted_anew(of_a_table, tmp_path):
    X, y = numbers()
    again = saved_and_loaded(of_a_table, tmp_path).fit(X, y)
    assert_same_answers(again, clone(of_a_table).fit(X, y), NEW_NUMBERS)
    assert len(list(again.staged_predict(X))) == again.n_iter_
    assert again.duals_.shape == y.shape


def test_models_are_loaded_without_pandas():
    script = """
import sys
class NoPandas:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == "pandas":
            raise ImportError(name)
sys.meta_path.insert(0, NoPandas())
import dualboost, pyarrow
folder = sys.argv[1]
print(dualboost.load_model(f"{folder}/stumps.json").predict([[0.0] * 5]))
model = dualboost.load_model(f"{folder}/table.json")
rows = {name: ["red"] if name == "colour" else [0.0] for name in model.feature_names_in_}
print(model.predict(pyarrow.table(rows)))
"""
    run = subprocess.run([sys.executable, "-c", script, str(FOLDER)], check=True, capture_output=True, text=True)
    assert re.fullmatch(r"\[[01]\]\n\['(no|ja, natürlich)'\]\n", run.stdout)


def test_equal_fits_give_equal_files(tmp_path):
    X, y = table()
    for name in ("one", "other"):
        DualBoostClassifier(max_depth=2, max_trees=5).fit(X, y).save(tmp_path / name)
    assert (tmp_path / "one").read_bytes() == (tmp_path / "other").read_bytes()


def test_a_loaded_model_is_pickled(of_a_table, tmp_path):
    loaded = saved_and_loaded(of_a_table, tmp_path)
    assert_same_answers(pickle.loads(pickle.dumps(loaded)), of_a_table, NEW_TABLE)


@pytest.mark.parametrize("name", ["again.json", "again.json.gz"])
def test_saved_again_is_the_same_file(name, of_a_table, many, tmp_path):
    for model in (of_a_table, many):
        model.save(tmp_path / name)
        content = (tmp_path / name).read_bytes()
        load_model(tmp_path / name).save(tmp_path / name)
        assert (tmp_path / name).read_bytes() == content
