"""What is frozen: fits, thinnings, refusals, commands, plots and names. Each of ``CASES`` gives plain values."""

import inspect
import tempfile
import warnings
from functools import cache, partial
from pathlib import Path
from typing import Any, NamedTuple

import catboost
import lightgbm
import numpy as np
import pandas as pd
import scipy.sparse
import xgboost
from sklearn import ensemble
from sklearn.base import clone
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeClassifier

import dualboost
from dualboost import dask, datasets, errors, formulations, plots

from .facts import (
    attempt,
    command,
    digest,
    drawing,
    made,
    of_fit,
    of_model,
    of_thinning,
    plain,
    public,
    recorded,
    signature,
    subcommands,
)
from .tables import COMMANDS, DATA, FITS, METHODS, ODD, OTHERS, PARAMETERS, ROWS, WRONG

N, N_NEW = 120, 20
WEIGHTS = np.linspace(0.2, 3.0, N)
NAMES = list("abcde")


class Data(NamedTuple):
    X: Any
    y: Any
    new: Any


@cache
def data(task, n=N):
    """Five features, of which the last has missing values."""
    rng = np.random.default_rng(n)
    X = rng.normal(size=(n + N_NEW, 5)).round(2)
    X[rng.random(n + N_NEW) < 0.15, 4] = np.nan
    score = X[:, 0] + np.abs(X[:, 1]) - np.nan_to_num(X[:, 4]) / 2 + rng.normal(size=n + N_NEW) / 2
    y = {
        "two": np.where(score > 0.8, "yes", "no"),
        "three": np.array(["low", "mid", "high"])[np.digitize(score, [0.2, 1.4])],
        "numbers": (10.0 * score).round(3),
        "quantiles": (10.0 * score).round(3),
        "counts": np.exp(score).round(),
    }[task]
    return Data(X[:n], y[:n], X[n:])


def table(task):
    """The same as a table, with two columns of categories, one of which is text and has a gap."""
    X, y, new = data(task)
    frame = pd.DataFrame(np.r_[X, new], columns=NAMES)
    side = np.digitize(frame["c"], [-0.5, 0.5])
    frame["c"] = pd.Categorical(np.array(["red", "green", "blue"])[side])
    frame["word"] = pd.Series(np.array(["up", "down"])[side % 2]).mask(frame.index == 3)
    return Data(frame[:N], y, frame[N:])


def coded(task):
    """The third column has the numbers of categories."""
    X, y, new = data(task)
    X, new = (np.c_[part[:, :2], np.digitize(part[:, 2], [-0.5, 0.5]), part[:, 3:]] for part in (X, new))
    return Data(X, y, new)


def sparse(task):
    X, y, new = data(task)
    return Data(scipy.sparse.csr_array(np.nan_to_num(X)), y, scipy.sparse.csr_array(np.nan_to_num(new)))


def on_disk(task):
    return data(task)._replace(X=dualboost.RowsOnDisk.of_array(data(task).X))


SMALL = {"max_depth": 2, "max_trees": 4, "random_state": 0}


def estimator(task, **options):
    """An estimator for the task, whose formulation or loss is its ``objective``; with ``Cs`` one that is tuned."""
    kind = "Classifier" if task in ("two", "three") else "Regressor"
    if task == "quantiles":
        options = {"objective": "quantile", "quantiles": [0.1, 0.5, 0.9]} | options
    objective = [options.pop("objective")] if "objective" in options else []
    return made(f"DualBoost{kind}" + ("CV" if "Cs" in options else ""), *objective, **options)


def fitted(task, X, y, *more, **options):
    """A small model; without a word of what is doubtful."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return estimator(task, **SMALL | options).fit(X, y, *more)


# Every formulation and loss, with every learner, over leaves and over trees.
CLASSIFIER = make_pipeline(SimpleImputer(), LogisticRegression())
LEARNERS = {
    "stumps": {"learner": "cart", "max_depth": 1},
    "cart": {"learner": "cart", "max_depth": 3},
    "optimal": {"learner": "optimal", "max_depth": 2},
    "by edge": {"learner": made("CartLearner", criterion="edge"), "max_depth": 1},
    "confidence": {"learner": made("CartLearner", voting="confidence"), "max_depth": 2},
    "xgboost": {"learner": made("XGBoostLearner", max_depth=2)},
    "classifier": {"learner": made("ClassifierLearner", CLASSIFIER)},
    "pool": {"learner": [made("CartLearner", max_depth=1), made("OptimalLearner", max_depth=2)]},
}


def grid():
    tasks = [(task, name) for name in formulations.FORMULATIONS for task in ("two", "three")]
    losses = [entry["name"] for entry in command("formulations", "--json") if entry["option"] == "--loss"]
    tasks += [("counts" if name == "poisson" else "numbers", name) for name in losses]
    for task, name in [*tasks, ("quantiles", "quantile")]:
        for learner, own in LEARNERS.items():
            for unit in ("leaves", "trees"):
                options = {"objective": name, "max_trees": 5, "random_state": 0} | own | {"corrects": unit}
                yield f"fit/{task}/{name}/{learner}/{unit}", partial(of_options, task, options)


def of_options(task, options):
    """A fit; "rows" makes other data, "then" has parameters of a second fit, "fit" has arguments of fit."""
    own = {"rows": data, "then": None, "fit": {}}
    rows, then, fit = ({**own, **options}[name] for name in own)
    options = {name: value for name, value in options.items() if name not in own}
    if "object" in options:
        kind, arguments = options.pop("object")
        options["objective"] = made(kind, **arguments)
    return of_fit(partial(estimator, task, **options), rows(task), then, **fit)


# Every option, with each of these.
BASES = {
    "leaves of two": ("two", {}),
    "trees of two": ("two", {"objective": "lp"}),
    "leaves of three": ("three", {}),
    "trees of three": ("three", {"objective": "nm"}),
    "leaves of numbers": ("numbers", {}),
    "trees of numbers": ("numbers", {"objective": "absolute", "corrects": "trees"}),
    "leaves of quantiles": ("quantiles", {}),
}


def solver(**options):
    return {"solver": made("SolverOptions", **options)}


def enough(record):
    return record.n_trees >= 2


OPTIONS = {
    "defaults": {"max_depth": None, "max_trees": None},
    "weights": {"fit": {"sample_weight": WEIGHTS}},
    "some weights are zero": {"fit": {"sample_weight": np.arange(N) % 3}},
    "balanced": {"class_weight": "balanced"},
    "class_weight": {"class_weight": {"no": 1.0, "yes": 3.0}},
    "monotonic": {"monotonic_cst": [1, 0, -1, 0, 0]},
    "monotonic by name": {"monotonic_cst": {"a": 1}, "rows": table},
    "pairwise": {"interaction_cst": "pairwise", "max_depth": 3},
    "no interactions": {"interaction_cst": "no_interactions"},
    "interactions": {"interaction_cst": [{0, 1}, {2, 3, 4}]},
    "max_leaf_nodes": {"max_leaf_nodes": 3},
    "min_samples_leaf": {"min_samples_leaf": 20},
    "share in a leaf": {"min_samples_leaf": 0.2},
    "max_features": {"max_features": 2},
    "max_features by name": {"max_features": "sqrt"},
    "subsample": {"subsample": 0.5},
    "stopped early": {"validation_fraction": 0.3, "n_iter_no_change": 2, "max_trees": 12},
    "scored": {"validation_fraction": 0.25, "scoring": "neg_log_loss"},
    "warm start": {"warm_start": True, "then": {"max_trees": 6}},
    "calibration": {"calibration": "training"},
    "conformal": {"calibrate": "conformal"},
    "epsilon": {"epsilon": 0.05},
    "tol": {"tol": 1e-2},
    "highs": solver(master="highs"),
    "clarabel": solver(master="clarabel"),
    "ipm": solver(master="ipm"),
    "every": solver(reoptimize="every"),
    "two columns": solver(columns_per_iteration=2) | LEARNERS["pool"],
    "all columns": solver(columns_per_iteration="all") | LEARNERS["pool"],
    "rotate": solver(schedule="rotate") | LEARNERS["pool"],
    "active rows": solver(active_rows=30),
    "categories": {"rows": table},
    "categories, optimal": {"rows": table, "learner": "optimal"},
    "categories, xgboost": {"rows": table, "learner": "xgboost"},
    "categories by position": {"rows": coded, "categorical_features": [2]},
    "sparse": {"rows": sparse},
    "on disk": {"rows": on_disk, "learner": "xgboost"},
    "few cuts": {"learner": made("OptimalLearner", n_thresholds=3)},
    "threads": {"n_jobs": 2},
    "callback": {"callbacks": enough, "max_trees": 8},
    "small C": {"C": 1e-3},
    "large C": {"C": 1e4},
    "tuned": {"Cs": 3, "cv": 2},
    "tuned on held-out rows": {"Cs": [0.5, 5.0], "select": "sparsest", "validation_fraction": 0.3},
    "tuned by a score": {"Cs": [0.5, 5.0], "cv": 2, "scoring": "roc_auc", "fit": {"sample_weight": WEIGHTS}},
}
OF_CLASSES = {
    **{name: {"scale_free": True} for name in ("LPBoost", "CGBoost", "QRLPBoost", "ERLPBoost")},
    **{name: {"negative_weights": "clip"} for name in ("MDBoost", "MDFullBoost")},
    **{name: {"epsilon": 0.1} for name in ("SoftBoost", "MLPBoost", "TotalBoost")},
    **{name: {"C": 0.5} for name in ("NMBoost", "CqBoost", "LexiBoost", "NuLPBoost")},
    "SpatialLPBoost": {"smoothness": 0.5, "neighbours": [[0, 2], [1, 3]]},
}
OF_NUMBERS = {
    "HuberLoss": {"delta": 0.3},
    "TubeLoss": {"epsilon": 0.5},
    "QuantileLoss": {"quantiles": 0.9},
}


def variations():
    for base, (task, own) in BASES.items():
        for name, options in OPTIONS.items():
            yield f"option/{base}/{name}", partial(of_options, task, SMALL | own | options)
        rows = {"eval_set": data(task, 60)[:2]}
        yield f"option/{base}/eval_set", partial(of_options, task, SMALL | own | {"fit": rows, "n_iter_no_change": 2})
    for task, objects in (("two", OF_CLASSES), ("three", OF_CLASSES), ("numbers", OF_NUMBERS)):
        for name, arguments in objects.items():
            yield f"object/{task}/{name}", partial(of_options, task, SMALL | {"object": (name, arguments)})
    for loss in ("exponential", "logistic", "squared_hinge", "huber"):
        for penalty in ("l1", "l2", "linf"):
            given = "ConvexBoost", {"loss": loss, "penalty": penalty}
            yield f"object/two/ConvexBoost/{loss}, {penalty}", partial(of_options, "two", SMALL | {"object": given})


def odd():
    """Data that are unusual, but no error, or nearly so."""
    for expression in ODD:
        for base in ("leaves of two", "trees of two", "leaves of numbers"):
            yield f"odd/{base}/{expression}", partial(_odd, expression, *BASES[base])


def _odd(expression, task, own):
    found = {"np": np, "N": N, "X": data("two").X, "y": data("two").y, "t": data("numbers").y}
    X, y = eval(f"({expression})", found)
    return of_fit(partial(estimator, task, **SMALL | own), Data(X, y, X[:N_NEW]))


# Refusals: expressions, and what they raise, or how they are taken.
BAD = ("bogus", -1.5, float("nan"), 0, [1, "x"], {"x": 3}, True)
KINDS = tuple(f"DualBoost{kind}{tuned}" for kind in ("Classifier", "Regressor") for tuned in ("", "CV"))
PARTS = tuple(name for name in dualboost.__all__ if name.endswith(("Learner", "Loss", "Options", "Boost")))


def bad_arguments(kind):
    """Every argument with every bad value; some are taken."""
    names = [(name, value) for name in inspect.signature(getattr(dualboost, kind)).parameters for value in BAD]
    return {f"{name}={value!r}": attempt(partial(_with_argument, kind, {name: value})) for name, value in names}


def _with_argument(kind, options):
    of_classes = kind.endswith(("Boost", "Learner", "Options")) or "Classifier" in kind
    X, y, _ = data("two" if of_classes else "numbers", 40)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if kind in KINDS:
            return repr(made(kind, **SMALL | ({"Cs": 2} if "CV" in kind else {}) | options).fit(X, y))
        part = made(kind, **options)
        place = "learner" if "Learner" in kind else "solver" if "Options" in kind else "objective"
        return repr(fitted("two" if of_classes else "numbers", X, y, **{place: part, "max_trees": 2}))


def refusals(expressions, task="two"):
    X, y, new = data(task)
    frame = pd.DataFrame(X, columns=NAMES)
    model, by_name = fitted(task, X, y), fitted(task, frame, y)
    names = {one: fitted(one, *data(one)[:2]) for one in ("two", "three", "numbers", "quantiles")}
    names |= {
        "db": dualboost,
        "np": np,
        "pd": pd,
        "N": N,
        "thin": partial(made, "thin"),
        "made": made,
        "solver": solver,
    }
    names |= {
        "X": X,
        "y": y,
        "new": new,
        "frame": frame,
        "names": NAMES,
        "w": WEIGHTS,
        "text": np.array(["1", "x"] * 60),
    }
    names |= {"fit": partial(fitted, task), "predict": model.predict, "by_name": by_name.predict, "numbers_y": X[:, 0]}
    names |= {f"of_{one}": partial(fitted, one, *data(one, 40)[:2]) for one in ("two", "three", "numbers", "quantiles")}
    names |= {"Linear": LinearRegression, "Logistic": LogisticRegression}
    with tempfile.TemporaryDirectory(prefix="golden_") as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        names["load"] = partial(_loaded, names["two"], Path(folder, "model.json"))
        if expressions is OTHERS:
            names |= _models_of_others(X, y)
        return {one: attempt(lambda one=one: _brief(eval(one, names))) for one in expressions}


def _brief(value):
    """What a call that is taken gives."""
    if hasattr(value, "get_params"):
        return f"{type(value).__name__} {plain(getattr(value, 'classes_', None))} {plain(value.objective_)}"
    return type(value).__name__ if not isinstance(value, np.ndarray) else digest(str(plain(value)))


def _loaded(model, path, change):
    """A model file whose text was changed."""
    model.save(path)
    path.write_text(change(path.read_text()))
    return dualboost.load_model(path)


def _models_of_others(X, y):
    X_full, few = np.nan_to_num(X), {"n_estimators": 3, "random_state": 0}
    return {
        "linear": fitted("two", X, y, objective="lp", learner=CLASSIFIER),
        "forest": ensemble.RandomForestClassifier(**few, max_depth=2).fit(X_full, y),
        "logistic": LogisticRegression().fit(X_full, y),
        "search": GridSearchCV(estimator("two", **SMALL), {"C": [1.0]}, cv=2).fit(X, y),
        "medians": ensemble.AdaBoostRegressor(**few).fit(X_full, X_full[:, 0]),
        "several": ensemble.AdaBoostClassifier(**few).fit(X_full, data("three").y),
        "gaps": ensemble.HistGradientBoostingClassifier(max_iter=3).fit(X, y),
        "unfitted": ensemble.RandomForestClassifier(),
    }


def unfitted():
    """Everything that needs a fit, without one."""
    X, y, _ = data("two")
    facts = {}
    for kind in KINDS:
        model = made(kind)
        facts[f"repr {kind}"] = repr(model)
        for method, arguments in METHODS.items():
            if hasattr(type(model), method):
                given = eval(arguments, {"X": X, "y": y})
                facts[f"{kind}.{method}"] = attempt(
                    lambda model=model, method=method, given=given: _run(model, method, given)
                )
        for function in ("to_c", "to_sql", "to_onnx", "to_lightgbm"):
            facts[f"{function}({kind})"] = attempt(partial(made, function, model))
        facts[f"thin({kind})"] = attempt(partial(made, "thin", model, X, y))
        facts |= {f"{plot}({kind})": attempt(partial(_drawn, plot, model, X, y)) for plot in plots.__all__}
    return facts


def _run(model, method, given):
    found = getattr(model, method)
    return list(found(*given)) if callable(found) else found


# Thinning: a model of each library, for two classes, three classes and numbers.
XGB = {"n_estimators": 12, "max_depth": 3, "n_jobs": 1}
LGB = {"n_estimators": 12, "num_leaves": 6, "n_jobs": 1, "verbose": -1, "min_child_samples": 5}
CAT = {"iterations": 12, "depth": 3, "verbose": 0, "thread_count": 1, "allow_writing_files": False}
SK = {"n_estimators": 12, "random_state": 0}
HIST = {"max_iter": 12, "max_leaf_nodes": 6, "random_state": 0}
OURS = {"max_depth": 3, "max_trees": 8}
LIBRARIES = {
    "xgboost": (xgboost.XGBClassifier(**XGB), xgboost.XGBRegressor(**XGB)),
    "xgboost dart": (xgboost.XGBClassifier(**XGB, booster="dart", rate_drop=0.3), None),
    "lightgbm": (lightgbm.LGBMClassifier(**LGB), lightgbm.LGBMRegressor(**LGB)),
    "catboost": (catboost.CatBoostClassifier(**CAT), catboost.CatBoostRegressor(**CAT)),
    **{
        f"{name} of scikit-learn": tuple(getattr(ensemble, name + kind)(**SK) for kind in ("Classifier", "Regressor"))
        for name in ("GradientBoosting", "RandomForest", "ExtraTrees", "Bagging")
    },
    "hist": (ensemble.HistGradientBoostingClassifier(**HIST), ensemble.HistGradientBoostingRegressor(**HIST)),
    "adaboost": (ensemble.AdaBoostClassifier(DecisionTreeClassifier(max_depth=1), **SK), None),
    "ours": (estimator("two", **OURS), estimator("numbers", **OURS)),
    "ours by trees": (estimator("two", objective="lp", **OURS), estimator("numbers", objective="huber", **OURS)),
    "ours, tuned": (estimator("two", objective="nm", Cs=2, cv=2, **OURS), None),
}
FIXED = {"validation_fraction": 0.3, "random_state": 0}
HOW = {
    "folds": {"tolerance": 0.02, "random_state": 0},
    "size": {"max_trees": 6, "validation_fraction": None},
    "weights": {"method": "thin", "tolerance": 0.05} | FIXED,
    "reweighted": {"method": "reweight", "formulation": "nm", "C": 0.1, "validation_fraction": None},
}
MORE = {
    "no tolerance": FIXED,
    "one tree": {"max_trees": 1} | FIXED,
    "scoring": {"tolerance": 0.01, "scoring": "balanced_accuracy"} | FIXED,
    "sample_weight": {"sample_weight": WEIGHTS, "tolerance": 0.05} | FIXED,
    "path of C": {"formulation": "cg"} | FIXED,
    "epsilon": {"formulation": "erlp", "epsilon": 0.1, "C": 20.0, "validation_fraction": None},
}


def numeric(task):
    """Without gaps, which not all libraries bear, and with numbers as classes."""
    X, y, new = data(task)
    y = y if task == "numbers" else np.unique(y, return_inverse=True)[1]
    return Data(np.nan_to_num(X), y, np.nan_to_num(new))


def thinnings():
    for library, (classifier, regressor) in LIBRARIES.items():
        for task, model in (("two", classifier), ("three", classifier), ("numbers", regressor)):
            for how, options in HOW.items() if model is not None else ():
                if how in ("folds", "size") or task == "two" or library == "xgboost":
                    yield f"thin/{library}/{task}/{how}", partial(_thinned, model, task, options)
    given = {"validation_data": tuple(numeric("two"))[:2], "tolerance": 0.1}
    for how, options in (MORE | {"validation_data": given}).items():
        yield f"thin/xgboost/two/{how}", partial(_thinned, LIBRARIES["xgboost"][0], "two", options)
    for library, booster in (
        ("xgboost", lambda model: model.get_booster()),
        ("lightgbm", lambda model: model.booster_),
    ):
        yield f"thin/{library}/booster", partial(_thinned, LIBRARIES[library][0], "two", HOW["folds"], booster)


def _thinned(model, task, options, part=lambda model: model):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        whole = clone(model).fit(*numeric(task)[:2])
    return of_thinning(part(whole), numeric(task), **options)


# The command line.
def commands(task):
    """Fits of a table, and everything that a model file is for."""
    X, y, new = table(task)
    facts = {}
    with tempfile.TemporaryDirectory(prefix="golden_") as folder:
        X.assign(a=X["a"].abs(), y=y).to_csv(Path(folder, "train.csv"), index=False)
        new.assign(a=new["a"].abs()).to_csv(Path(folder, "test.csv"), index=False)
        lines = [f"fit train.csv --target y -o model.json --max-trees 4 {options}" for options in FITS[task]]
        for line in [*lines, *COMMANDS, *(WRONG if task == "two" else ())]:
            facts[line] = command(*line.split(), folder=folder)
        for name in ("model.c", "model.sql", "model.txt"):
            facts[name] = attempt(lambda name=name: digest(Path(folder, name).read_text()))
    return facts


def helps():
    facts, waiting = {"--version": command("--version"), "formulations": command("formulations")}, [()]
    while waiting:
        words = waiting.pop()
        facts[" ".join(words)] = text = command(*words, "--help")
        waiting += [(*words, name) for name in subcommands(text)]
    return facts


# Names, plots, clusters.
def names():
    facts = {module.__name__: public(module) for module in (dualboost, formulations, datasets, plots, errors, dask)}
    for name in (*dask.__all__, *dualboost.__all__):
        found = getattr(dualboost, name, None) or getattr(dask, name)
        if hasattr(found, "get_params") and name not in ("ClassifierLearner", "Formulation"):
            facts[f"get_params of {name}"] = {key: repr(value) for key, value in found().get_params().items()}
            facts[f"repr of {name}"] = repr(found())
        for method in (*METHODS, "fit", "set_params", "get_params", "of_array", "of_parquet", "to_local"):
            if callable(getattr(found, method, None)):
                facts[f"{name}.{method}"] = attempt(
                    lambda found=found, method=method: signature(getattr(found, method))
                )
    for name in ("make_twonorm", "make_ringnorm", "make_waveform"):
        facts[name] = [
            plain(part[:, :3] if part.ndim > 1 else part) for part in getattr(datasets, name)(5, random_state=0)
        ]
    return facts


def drawings(task, options):
    X, y, _ = table(task)
    model = fitted(task, X, y, **options)
    return {name: attempt(partial(_drawn, name, model, X, y)) for name in plots.__all__}


def _drawn(name, model, X, y):
    draw = getattr(plots, name)
    given = [value for key, value in (("X", X), ("y", y)) if key in inspect.signature(draw).parameters]
    return drawing(draw(model, *given))


def on_a_cluster(kind):
    import dask.array as da
    from distributed import Client, LocalCluster

    rows = data("two" if kind.endswith("Classifier") else "numbers")
    options = {"n_workers": 1, "threads_per_worker": 1, "processes": False, "dashboard_address": None}
    with LocalCluster(**options) as cluster, Client(cluster), recorded() as told:
        model = made(kind, **SMALL).fit(*(da.from_array(part, chunks=(60, *part.shape[1:])) for part in rows[:2]))
        predicted = plain(model.predict(da.from_array(rows.new, chunks=(10, 5))).compute())
    return {**of_model(model.to_local(), rows), "spread": predicted, "repr": repr(model), "warnings": told}


def _all():
    yield from grid()
    yield from variations()
    yield from odd()
    yield from thinnings()
    for kind in (*KINDS, *PARTS):
        yield f"refused/arguments/{kind}", partial(bad_arguments, kind)
    for task in ("two", "numbers"):
        yield f"refused/data/{task}", partial(refusals, DATA, task)
        yield f"refused/rows/{task}", partial(refusals, ROWS, task)
    yield from (("refused/unfitted", unfitted), ("refused/others", partial(refusals, OTHERS)))
    yield "refused/parameters", partial(refusals, PARAMETERS)
    for task in FITS:
        yield f"command line/{task}", partial(commands, task)
    yield from (("command line/help", helps), ("names", names))
    for task in ("two", "three", "numbers", "quantiles"):
        yield f"plots/{task}", partial(drawings, task, {})
    yield from (
        ("plots/tuned", partial(drawings, "two", {"Cs": 2, "cv": 2})),
        ("plots/trees", partial(drawings, *BASES["trees of two"])),
    )
    for kind in dask.__all__:
        yield f"cluster/{kind}", partial(on_a_cluster, kind)


CASES = dict(_all())


def facts_of(name):
    """The facts of a case, or the error by which it failed."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return name, attempt(CASES[name])
