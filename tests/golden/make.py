"""Makes model files, or some of them: ``python -m tests.golden.make [NAME ...]``."""

import json
import sys
import warnings

import numpy as np
import pandas as pd
from sklearn.ensemble import HistGradientBoostingClassifier

from dualboost import (
    CartLearner,
    DualBoostClassifier,
    DualBoostClassifierCV,
    DualBoostRegressor,
    DualBoostRegressorCV,
    OptimalLearner,
    SolverOptions,
    thin,
)
from dualboost.errors import DegenerateEnsembleWarning
from dualboost.formulations import HuberLoss, LPBoost, MDBoost, QuantileLoss

from ..numbers_to_learn import amounts, counts
from ..several_classes import three_classes
from ..thinning.models import numbers, table
from . import FOLDER

N_ROWS = 12
METHODS = ("predict", "decision_function", "predict_proba")
"""Called where the model has them."""
METHODS_OF_QUANTILES = ("predict", "predict_quantiles", "predict_interval")


def with_numbered_category(n=400, seed=0):
    X, y = table(n, seed)
    return X.assign(size=pd.Categorical(np.arange(n) % 5 * 10)), y


def with_numbers_that_are_categories(n=400, seed=0):
    X, y = table(n, seed)
    group = np.arange(n) % 6
    return X.assign(group=group), y ^ np.isin(group, (1, 4))


def thinned():
    X, y = numbers(missing=True)
    model = HistGradientBoostingClassifier(max_iter=20, max_leaf_nodes=5, random_state=0).fit(X, y)
    return thin(model, X, y, tolerance=0.01).model


def fit(clf, data, classes=(0, 1)):
    X, y = data()
    return clf.fit(X, np.array(classes)[y])


def numbers_with_gaps(n=400, seed=0):
    return numbers(n, seed, missing=True)


def half_missing(n=400, seed=0):
    """That a value is missing says most about the label."""
    X, y = numbers(n, seed)
    X[:, 2] = np.where((y == 1) ^ (np.arange(n) % 9 == 0), np.nan, X[:, 2])
    return X, y


def models():
    """Each with a function that makes rows for it."""
    yield "stumps", numbers, fit(DualBoostClassifier("lp", max_trees=12), numbers)
    yield "depth_3", numbers, fit(DualBoostClassifier("qrlp", max_depth=3, max_trees=8), numbers, (-1.0, 2.0))
    confident = DualBoostClassifier("cg", C=0.2, max_depth=2, learner=CartLearner(voting="confidence"), max_trees=6)
    yield "confidence", numbers_with_gaps, fit(confident, numbers_with_gaps, (False, True))
    tables = DualBoostClassifier("nm", max_depth=3, max_trees=10)
    yield "table", table, fit(tables, table, ("no", "ja, natürlich"))
    by_edge = CartLearner(criterion="edge")
    coded = DualBoostClassifier("erlp", max_depth=2, max_trees=6, learner=by_edge, epsilon=0.02, verbose=False)
    yield "numbered_category", with_numbered_category, fit(coded, with_numbered_category)
    held_out = DualBoostClassifier(
        "cg", max_depth=2, max_trees=15, validation_fraction=0.3, n_iter_no_change=5, random_state=1
    )
    yield "calibrated", numbers, fit(held_out, numbers)
    optimal = DualBoostClassifier("lp", learner="optimal", max_trees=20)
    yield "optimal", half_missing, fit(optimal, half_missing)
    members, solver = ["cart", OptimalLearner(max_depth=2)], SolverOptions(schedule="rotate")
    clipped = MDBoost(C=2.0, negative_weights="clip")
    pool = DualBoostClassifier(clipped, learner=members, max_trees=8, solver=solver)
    yield "pool", numbers, fit(pool, numbers, np.array([3, 200], dtype=np.uint8))
    tuned = DualBoostClassifierCV("nm", Cs=4, cv=3, max_trees=10, random_state=0)
    yield "tuned", table, fit(tuned, table)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DegenerateEnsembleWarning)
        yield "empty", numbers, fit(DualBoostClassifier(LPBoost(C=1e-6)), numbers)
    yield "thinned", numbers_with_gaps, thinned()
    leaves = DualBoostClassifier("logistic", C=200.0, max_depth=2, max_trees=6)
    yield "leaves", table, fit(leaves, table, ("no", "yes"))
    listed = DualBoostClassifier(max_depth=3, max_trees=6, categorical_features=["colour", "group"])
    yield "listed", with_numbers_that_are_categories, fit(listed, with_numbers_that_are_categories)
    classes = DualBoostClassifier("logistic", max_depth=3, max_trees=6)
    yield "classes", three_classes, fit(classes, three_classes, ("low", "mittelmäßig", "high"))
    tuned_classes = DualBoostClassifierCV("logistic", Cs=2, cv=2, max_depth=2, max_trees=3, random_state=0)
    margins = DualBoostClassifier("qrlp", max_depth=2, max_trees=6, learner=CartLearner(voting="confidence"))
    yield "class_margins", three_classes, fit(margins, three_classes, ("a", "b", "c"))
    yield "tuned_classes", three_classes, fit(tuned_classes, three_classes, (-1.0, 0.0, 4.0))
    yield "numbers", amounts, DualBoostRegressor(max_depth=2, max_trees=5).fit(*amounts())
    huber = DualBoostRegressor(HuberLoss(delta=0.5), optimize="weights", max_depth=2, max_trees=6, n_jobs=2)
    yield "huber", amounts, huber.fit(*amounts())
    yield "counts", counts, DualBoostRegressor("poisson", max_depth=2, max_trees=5, random_state=0).fit(*counts())
    tuned_numbers = DualBoostRegressorCV(QuantileLoss(quantiles=0.9), Cs=2, cv=2, max_depth=2, max_trees=3)
    yield "tuned_numbers", amounts, tuned_numbers.fit(*amounts())
    quantiles = DualBoostRegressor(
        "quantile",
        quantiles=[0.05, 0.3, 0.8, 0.95],
        interval_calibration="conformal",
        max_depth=2,
        max_trees=5,
        random_state=0,
    )
    yield "quantiles", amounts, quantiles.fit(*amounts())


def answers(clf, X):
    methods = METHODS_OF_QUANTILES if getattr(clf, "quantiles", None) else METHODS
    is_frame = isinstance(X, pd.DataFrame)
    rows = pd.DataFrame(X).astype(object)
    return {
        "columns": list(X.columns) if is_frame else None,
        "categorical": list(X.select_dtypes("category").columns) if is_frame else [],
        "rows": rows.where(rows.notna(), None).to_numpy().tolist(),
    } | {method: getattr(clf, method)(X).tolist() for method in methods if hasattr(clf, method)}


def main(*names):
    """Write all files, or those named."""
    for name, data, clf in models():
        if names and name not in names:
            continue
        suffix = ".json.gz" if name == "thinned" else ".json"
        clf.save(FOLDER / f"{name}{suffix}")
        X, _ = data(n=N_ROWS, seed=11)
        lines = [f" {json.dumps(key)}: {json.dumps(value)}" for key, value in answers(clf, X).items()]
        (FOLDER / f"{name}.expected.json").write_text("{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
