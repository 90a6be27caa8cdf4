"""Models of other libraries with weights of classes of their own, on few rows of a rare class, made smaller."""

import pickle

import lightgbm
import numpy as np
import xgboost
from catboost import CatBoostClassifier
from sklearn.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.tree import DecisionTreeClassifier

from dualboost import DualBoostClassifier, thin
from dualboost.errors import DualBoostError
from dualboost.thinning import adapter_for
from dualboost.thinning.trials import read_rows

from .sane import require

NEAR = 1e-5
"""A score nearer to the cut than this may be on either side in another precision; so may those of equal classes."""
WORDS = np.array(["common", "rare", "rarest"])


def draw_model(seed):
    """Rows, an unfitted model, weights of rows and of their classes, CatBoost's threshold, arguments of ``thin``."""
    rng = np.random.default_rng(seed)
    X, codes = _rows(rng)
    counts = rng.integers(1, 4, len(codes)).astype(float) if rng.random() < 0.3 else np.ones(len(codes))
    options = {"tolerance": float(rng.choice([0.0, 0.01, 0.05])), "method": "refit"}
    if codes.max() == 1 and rng.random() < 0.2:
        options["method"] = "imitate"
    threshold = float(rng.choice([0.5, 0.5, 0.2, 0.7]))
    kinds = [kind for kind in KINDS if codes.max() == 1 or kind not in FOR_TWO]
    kind = kinds[rng.integers(len(kinds))]
    model, factors = kind(rng, codes, counts)
    y = WORDS[codes] if rng.random() < 0.3 and kind is not _xgboost else codes
    return X, y, model, counts, factors[codes], threshold, options


def _rows(rng):
    n, n_classes = int(rng.integers(60, 300)), int(rng.choice([2, 2, 3]))
    X = rng.normal(size=(n, int(rng.integers(2, 5)))).round(int(rng.integers(1, 4)))
    score = X[:, 0] + X[:, 1] + rng.uniform(0.2, 1.5) * rng.normal(size=n)
    shares = np.sort(rng.uniform(0.08, 0.3, n_classes - 1))
    cuts = np.quantile(score, 1.0 - np.cumsum(shares)[::-1])
    codes = np.digitize(score, cuts)
    return X, codes if rng.random() < 0.8 else codes.max() - codes


def _balanced(codes, counts=None, power=1.0):
    totals = np.bincount(codes, weights=counts)
    return (totals.max() / totals) ** power


def _positive(rng, codes):
    return float(np.round(rng.choice([_balanced(codes)[1], rng.uniform(0.2, 10.0)]), 3))


def _sizes(rng):
    return {"max_depth": int(rng.integers(1, 4)), "n_estimators": int(rng.integers(2, 12))}


def _by_class(rng, codes, counts=None):
    """An argument of scikit-learn's, and the factors that it means."""
    n_classes = codes.max() + 1
    drawn = rng.integers(3)
    if drawn == 0:
        return None, np.ones(n_classes)
    if drawn == 1:
        return "balanced", _balanced(codes, counts)
    factors = np.round(rng.uniform(0.5, 8.0, n_classes), 2)
    return dict(enumerate(factors.tolist())), factors


def _xgboost(rng, codes, counts):
    options, factors = _sizes(rng) | {"n_jobs": 1}, np.ones(codes.max() + 1)
    if codes.max() == 1:
        factors[1] = options["scale_pos_weight"] = _positive(rng, codes)
        options["objective"] = str(rng.choice(["binary:logistic", "binary:logitraw", "reg:logistic"]))
    kind = [xgboost.XGBClassifier, xgboost.XGBRFClassifier][rng.integers(2)]
    return kind(**options, base_score=[None, 0.3][rng.integers(2)]), factors


def _lightgbm(rng, codes, counts):
    options = _sizes(rng) | {"n_jobs": 1, "verbose": -1, "min_child_samples": 5}
    options["class_weight"], factors = _by_class(rng, codes)
    if codes.max() == 1:
        drawn = rng.integers(3)
        if drawn == 0:
            options[str(rng.choice(["is_unbalance", "unbalance", "unbalanced_sets"]))] = True
            factors = factors * _balanced(codes)
        elif drawn == 1:
            options["scale_pos_weight"] = _positive(rng, codes)
            factors = factors * [1.0, options["scale_pos_weight"]]
    return lightgbm.LGBMClassifier(**options), factors


def _catboost(rng, codes, counts):
    options = {"iterations": int(rng.integers(2, 12)), "depth": int(rng.integers(1, 4)), "random_seed": 0}
    options |= {"verbose": 0, "thread_count": 1, "allow_writing_files": False}
    drawn = rng.integers(4)
    if drawn == 0:
        return CatBoostClassifier(**options, auto_class_weights="Balanced"), _balanced(codes, counts)
    if drawn == 1:
        return CatBoostClassifier(**options, auto_class_weights="SqrtBalanced"), _balanced(codes, counts, 0.5)
    if drawn == 2 and codes.max() == 1:
        weight = _positive(rng, codes)
        return CatBoostClassifier(**options, scale_pos_weight=weight), np.array([1.0, weight])
    factors = np.round(rng.uniform(0.5, 8.0, codes.max() + 1), 2)
    options["loss_function"] = ["MultiClass", "Logloss" if codes.max() == 1 else "MultiClass"][rng.integers(2)]
    return CatBoostClassifier(**options, class_weights=factors.tolist()), factors


def _forest(rng, codes, counts):
    class_weight, factors = _by_class(rng, codes)
    kind = [RandomForestClassifier, ExtraTreesClassifier][rng.integers(2)]
    return kind(**_sizes(rng), class_weight=class_weight, random_state=0), factors


def _bagging(rng, codes, counts):
    class_weight, factors = _by_class(rng, codes)
    sizes = _sizes(rng)
    tree = DecisionTreeClassifier(max_depth=sizes["max_depth"], class_weight=class_weight)
    return BaggingClassifier(tree, sizes["n_estimators"], random_state=0), factors


def _adaboost(rng, codes, counts):
    sizes = _sizes(rng)
    class_weight, factors = _by_class(rng, codes)
    tree = DecisionTreeClassifier(max_depth=sizes["max_depth"], class_weight=class_weight)
    return AdaBoostClassifier(tree, n_estimators=sizes["n_estimators"], random_state=0), factors


def _gradient_boosting(rng, codes, counts):
    init = [None, "zero"][rng.integers(2)]
    loss = "exponential" if codes.max() == 1 and rng.random() < 0.5 else "log_loss"
    return GradientBoostingClassifier(**_sizes(rng), init=init, loss=loss, random_state=0), np.ones(codes.max() + 1)


def _hist(rng, codes, counts):
    class_weight, factors = _by_class(rng, codes)
    rounds = int(rng.integers(2, 12))
    return HistGradientBoostingClassifier(max_iter=rounds, class_weight=class_weight, random_state=0), factors


def _ours(rng, codes, counts):
    class_weight, factors = _by_class(rng, codes, counts)
    return DualBoostClassifier(max_trees=8, max_depth=2, class_weight=class_weight), factors


KINDS = [_xgboost, _lightgbm, _catboost, _forest, _bagging, _adaboost, _gradient_boosting, _hist, _ours]
FOR_TWO = (_adaboost,)


def check_thinned(seed):
    """Whether the case is refused. Nothing is lost beyond ``tolerance``, where rows weigh as they did in training."""
    X, y, model, counts, factors, threshold, options = draw_model(seed)
    _name_classes(model, np.unique(y).tolist(), seed)
    try:
        model.fit(X, y, sample_weight=counts)
        if isinstance(model, CatBoostClassifier) and model.get_all_params()["loss_function"] == "Logloss":
            model.set_probability_threshold(threshold)
        adapter = adapter_for(model)
    except (DualBoostError, ValueError):  # a class that is too rare for its library
        return True
    before, raw = pickle.dumps(model), adapter.raw_scores(model, X)
    weights = counts * factors
    require_decisions(adapter, model, X, y)
    try:
        result = thin(model, X, y, sample_weight=counts, validation_fraction=None, **options)
    except DualBoostError:
        return True
    require(np.array_equal(adapter.raw_scores(model, X), raw), "the model that was given predicts something else")
    require(pickle.dumps(model) == before, "the model that was given was changed")
    large, small = (np.average(_predicted(own, X) == y, weights=weights) for own in (model, result.model))
    rounding = 2.0 * weights.max() / weights.sum()
    require(abs(result.full_score - large) <= rounding, "the model has", large, "and not", result.full_score)
    if options["method"] == "refit":
        require(small >= large - options["tolerance"] - rounding, type(model), "had", large, "and has", small)
    return False


def _name_classes(model, names, seed):
    """Weights by class, drawn by number, get the names of the classes; CatBoost takes these in any order."""
    drawn = model.get_params().get("class_weights")
    if isinstance(getattr(model, "class_weight", None), dict):
        model.set_params(class_weight={names[k]: own for k, own in model.class_weight.items()})
    elif drawn is not None and seed % 2:
        model.set_params(class_weights=dict(reversed(list(zip(names, drawn, strict=True)))))


def require_decisions(adapter, model, X, y):
    """Raw scores are cut where ``predict`` cuts them."""
    scores = read_rows(adapter, X, y, None).full_scores
    differ = adapter.target.decode(scores) != _predicted(model, X)
    if scores.ndim > 1:
        two = np.sort(scores, axis=1)[:, -2:]
        is_near = two[:, 1] - two[:, 0] < NEAR
    else:
        is_near = np.abs(scores - adapter.cut) < NEAR
    require(not (differ & ~is_near).any(), "decisions are not those of predict for", np.flatnonzero(differ & ~is_near))


def _predicted(model, X):
    return np.ravel(model.predict(X))
