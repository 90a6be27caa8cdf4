"""The scikit-learn estimator: it validates, wires the parts together, and predicts."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import validate_data

from .._typing import Features, Vector
from ..algebra.columns import Columns
from ..algebra.rows import Rows
from ..algebra.threads import one_blas_thread
from ..data.features import FeatureEncoder, as_features, has_missing
from ..data.merging import TrainingRows, merge_rows
from ..errors import DegenerateEnsembleWarning, InvalidParameterError, TiedEnsembleWarning
from ..formulations import Formulation, make_formulation
from ..inspection import InspectionMixin
from ..loop.column_generation import ColumnGeneration
from ..loop.held_out import HeldOut
from ..loop.history import Trace
from ..loop.logs import log_end, log_iteration, log_start
from ..loop.progress import ProgressBar
from ..loop.stopping import Callbacks, NoImprovement, StoppingRule, TimeLimit
from ..loop.wiring import Wiring, wire
from ..masters import Precision, SolverOptions
from ..models.ensemble import Ensemble
from ..pricing import LearnerOptions, Pool, TrainingData, make_pool
from ..tasks.binary import TIE, TwoClasses
from ..tasks.calibration import calibrate
from ..tasks.targets import hold_out, require_both_classes, two_classes
from ..trees.tree import Tree
from .parameters import as_callbacks, as_sample_weight, check_common, require_fraction, require_integer
from .prediction import CHECKS, PredictionMixin

MOST_TIED = 0.5
"""A larger share of training rows with a score of zero is worth a warning."""


class DualBoostClassifier(InspectionMixin, PredictionMixin, ClassifierMixin, BaseEstimator):
    """A small, accurate tree ensemble by totally corrective boosting.

    Every tree is priced by the dual of a linear or convex programme, and every weight is re-optimised at every step.
    The fit ends when no tree improves the programme; trees whose weight falls to zero are dropped. Each solution
    carries a duality gap computed from the weights themselves.

    Parameters
    ----------
    formulation : str or Formulation, default="nm"
        What is optimised: "nm", "qrlp", "lp", "cg", "erlp", "md", "lp-nu", "hard", "md-full", "convex", "lexi", "soft",
        "total", "mlp", "cq", "spatial" or "dda"; see ``dualboost.formulations``. An object brings its own parameters.
    C : float, default=None
        The formulation's one hyperparameter, with the paper's meaning. None picks the formulation's documented default
        for the size of the data.
    epsilon : float, default=0.01
        The paper's stopping constant of "erlp" and "qrlp"; the larger, the stronger the pull to uniform sample weights.
        The guarantee of "soft", "total" and "mlp": they end within epsilon of the best margin that the learner allows.
        Not used by the others, nor by a formulation given as an object.
    learner : {"cart", "optimal"}, scikit-learn classifier, or list of these, default="cart"
        The base learner. "cart" grows greedily, with at most 255 thresholds for each feature. "optimal" finds the tree
        with the largest edge: exactly at depth 1 and 2, with STreeD (an extra) and a time budget at more. A classifier
        is cloned and must take ``sample_weight``. A list is a pool; a pair such as ("cart", 3) is a learner with a
        depth of its own.
    max_depth : int, default=1
        The greatest depth of a tree.
    voting : {"hard", "confidence"}, default="hard"
        A leaf votes -1 or +1, or its weighted class balance in [-1, 1].
    max_trees : int, default=100
        The greatest number of trees generated.
    tol : float, default=1e-6
        The largest relative duality gap accepted of a master, and the smallest improvement of the (normalised) edge
        that lets a tree enter.
    master : {"auto", "ipm", "highs", "clarabel"}, default="auto"
        The solver. "ipm" is our own for every formulation; "highs" (linear programmes: "lp", "dda", "nm", "lp-nu",
        "hard", "lexi", "soft", "total", "mlp", "spatial") and "clarabel" (an extra) are independent references.
        Whichever is chosen, the others stand by in case it fails.
    validation_fraction : float, default=None
        The share of rows held out to record the validation accuracy, and to calibrate probabilities.
    n_iter_no_change : int, default=None
        Stop when the validation accuracy has not risen for that many iterations, and keep the best one: later learners
        get weight zero, and ``objective_`` and ``gap_`` are those of its master. Needs ``validation_fraction``.
    time_limit : float, default=None
        Seconds after which no further iteration begins.
    n_jobs : int, default=None
        Threads for growing trees; None means 1, -1 all. It does not change the model.
    random_state : int, RandomState instance or None, default=None
        Decides which rows are held out.
    verbose : int, default=0
        1 shows a progress bar on a terminal.
    reoptimize : {"as_needed", "every"}, default="as_needed"
        "as_needed" solves the master only as far as the next pricing needs, and to the end for the result: fast.
        "every" solves it to the end after every tree, so that each row of ``history_`` and each stage of
        ``staged_predict`` is an optimum: for anytime curves. Both return a solution with the same certificate.
    criterion : {"gini", "edge"}, default="gini"
        How "cart" chooses its splits: by weighted Gini impurity, or by weighted error (ties by Gini).
    pool : {"all", "rotate"}, default="all"
        With several learners: ask all of them at every iteration, or one after the other.
    columns_per_iteration : int or "all", default=1
        How many of the columns found may enter at one iteration, the largest edge first.
    n_thresholds : int, default=None
        Cuts of each numeric feature, at quantiles, for "optimal" and for criterion "edge". None takes all (at most 255)
        for "edge" and at depth 1; 512 in all at depth 2 and 128 beyond, shared among the features.
    tree_time_limit : float, default=10.0
        Seconds for one "optimal" tree of depth 3 or more; then the best one so far is used, without a proof. Only trees
        found within their time are the same in every run.
    callbacks : callable or list of callables, default=None
        Called after every iteration with its record (``dualboost.history.Iteration``: one row of ``history_``, with
        the master as far as it is solved by then). One that returns True stops the fit; what it raises is raised.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
    n_features_in_ : int
    feature_names_in_ : ndarray, only if X has string column names
    estimators_ : list of every learner generated, in order
    weights_ : ndarray
        One weight for each learner generated, zeros included.
    n_generated_, n_iter_ : int
        The number of learners generated, and of iterations: the same if one column enters at a time.
    n_trees_ : int
        The number of weights above 1e-6 of the largest one.
    objective_ : float
        In the paper's own direction: "nm", "md", "md-full", "lp-nu", "hard", "soft", "total", "mlp" maximise, the
        others minimise ("qrlp" and "erlp" over the sample weights, so that more trees raise it).
    gap_ : float
        The relative duality gap of ``weights_``, computed from the weights and sample weights alone.
    bound_ : float or None
        With an exact learner (hard votes and "optimal", or stumps by "edge"): no ensemble of all its trees, generated
        or not, has a better objective; for "nm", with the offset of as many trees. None where nothing is proven.
    certified_ : bool or None
        Whether ``objective_`` meets ``bound_`` within ``tol``: then it is optimal over all trees of the class.
    duals_ : ndarray of shape (n_rows,)
        The final u, one for each row passed to ``fit``, as the learner would see it; zero for rows that were held out.
    stop_reason_ : str
        One of "certified", "converged", "max_trees", "time_limit", "no_improvement", "callback", "interrupted",
        "solver_failed".
        "certified" is a proof that no tree of the class improves the ensemble. "converged" means that none was found;
        with CART, a heuristic, that is not a proof that none exists; for "soft", "total" and "mlp", that epsilon is
        reached.
    history_ : dict of equal-length arrays
        iteration, objective, gap, edge, threshold, train_accuracy, validation_accuracy, n_trees, n_generated,
        pricing_seconds, master_seconds, bound (nan where nothing is proven).
    feature_importances_ : ndarray
        For each feature the weighted sum, over the learners, of its share in a learner's gain (for other classifiers:
        in their own importances or absolute coefficients). Sums to one; all zero if no learner used splits.
    formulation_ : Formulation
        The formulation with the value of C that was used.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from dualboost import DualBoostClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> clf = DualBoostClassifier("nm", max_depth=2, max_trees=30).fit(X, y)
    >>> bool(clf.gap_ <= 1e-6), clf.n_trees_ < clf.n_generated_
    (True, True)
    """

    def __init__(
        self,
        formulation: str | Formulation = "nm",
        C: float | None = None,
        epsilon: float = 0.01,
        learner: Any = "cart",
        max_depth: int = 1,
        voting: str = "hard",
        max_trees: int = 100,
        tol: float = 1e-6,
        master: str = "auto",
        validation_fraction: float | None = None,
        n_iter_no_change: int | None = None,
        time_limit: float | None = None,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
        reoptimize: str = "as_needed",
        criterion: str = "gini",
        pool: str = "all",
        columns_per_iteration: int | str = 1,
        n_thresholds: int | None = None,
        tree_time_limit: float = 10.0,
        callbacks: Any = None,
    ) -> None:
        self.formulation = formulation
        self.C = C
        self.epsilon = epsilon
        self.learner = learner
        self.max_depth = max_depth
        self.voting = voting
        self.max_trees = max_trees
        self.tol = tol
        self.master = master
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.time_limit = time_limit
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.reoptimize = reoptimize
        self.criterion = criterion
        self.pool = pool
        self.columns_per_iteration = columns_per_iteration
        self.n_thresholds = n_thresholds
        self.tree_time_limit = tree_time_limit
        self.callbacks = callbacks

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> DualBoostClassifier:
        """Train on X with labels y of two classes; ``sample_weight`` are multiplicities: 2 is the row twice."""
        self._check_parameters()
        formulation = self._make_formulation()
        encoder = FeatureEncoder().fit(X)
        features, classes, labels, weights = self._read(encoder, X, y, sample_weight)
        held_out, training_weights = self._hold_out(features, labels, weights)
        rows = merge_rows(features, labels, training_weights)
        require_both_classes(rows.labels, classes)
        formulation = formulation.resolve(float(rows.counts.sum()))
        columns = self._make_columns(formulation, rows)
        pool = self._make_pool(rows, sorted(encoder.categories), False)
        wiring = wire(TwoClasses(classes), rows.labels, formulation, columns, self._solver(), Precision(self.tol), pool)
        trace = self._generate(wiring, held_out)
        self._encoder, self.classes_, self.formulation_ = encoder, classes, formulation
        self._keep(trace, rows, columns, held_out)
        return self

    def _make_formulation(self) -> Formulation:
        return make_formulation(self.formulation, self.C, self.epsilon)

    def _read(
        self, encoder: FeatureEncoder, X: Any, y: Any, sample_weight: Any
    ) -> tuple[Features, NDArray[Any], Vector, Vector]:
        """Encoded features, the two classes, labels in {-1, +1} and multiplicities."""
        features, y = validate_data(self, encoder.transform(X), y, **CHECKS)
        classes, labels = two_classes(y)
        return as_features(features), classes, labels, as_sample_weight(sample_weight, len(labels))

    def _hold_out(self, features: Features, labels: Vector, weights: Vector) -> tuple[HeldOut | None, Vector]:
        """The rows to validate on, if any, and the weights of the rows to train on."""
        if self.validation_fraction is None:
            return None, weights
        held = hold_out(labels, weights, self.validation_fraction, check_random_state(self.random_state))
        training_weights = weights.copy()
        training_weights[held] = 0.0
        return HeldOut(features[held], labels[held], weights[held]), training_weights

    def _solver(self) -> SolverOptions:
        return SolverOptions(self.master, self.reoptimize, self.columns_per_iteration, self.pool)

    def _generate(self, wiring: Wiring, held_out: HeldOut | None) -> Trace:
        callbacks = Callbacks(as_callbacks(self.callbacks))
        stopping: list[StoppingRule] = [callbacks]
        if self.time_limit is not None:
            stopping.append(TimeLimit(self.time_limit))
        if self.n_iter_no_change is not None:
            stopping.append(NoImprovement(self.n_iter_no_change))
        log_start(wiring.formulation, wiring.columns, self.max_trees)
        with one_blas_thread(), ProgressBar(self.max_trees, enabled=self.verbose > 0) as progress:
            trace = ColumnGeneration(
                wiring,
                max_trees=self.max_trees,
                most_entering=wiring.solver.most_entering,
                held_out=held_out,
                keep_best=self.n_iter_no_change is not None,
                stopping=stopping,
                observers=[progress, log_iteration, callbacks],
            ).run()
        log_end(trace)
        return trace

    def _keep(self, trace: Trace, rows: TrainingRows, columns: Columns, held_out: HeldOut | None) -> None:
        """Set the fitted attributes, all at once."""
        result = trace.result
        self.weights_ = trace.final_weights()
        self.estimators_ = [
            learner.with_covers(rows.X, rows.counts) if weight and isinstance(learner, Tree) else learner
            for learner, weight in zip(trace.learners, self.weights_, strict=True)
        ]
        self._stages = trace.weights
        self._has_missing = has_missing(rows.X)
        self.n_generated_, self.n_iter_ = len(trace.learners), len(trace.iterations)
        self.n_trees_ = result.n_trees
        self.objective_ = result.objective + 0.0  # not the negative zero
        self.gap_ = result.gap
        self.certified_ = trace.certified
        self.bound_ = float(result.bound) if np.isfinite(result.bound) else None
        self.duals_ = rows.spread(columns.seen(trace.duals))
        self.stop_reason_ = trace.stop_reason
        self.history_ = trace.history()
        balance = TwoClasses(self.classes_).baseline(rows.labels, columns.rows)
        n_jobs = effective_n_jobs(self.n_jobs)
        self._ensemble = Ensemble(self.estimators_, self.weights_, balance, self.n_features_in_, n_jobs)
        self.feature_importances_ = self._ensemble.feature_importances()
        margins = columns.margins(self.weights_[: columns.n_columns])
        if held_out is not None:
            calibrating = (self._ensemble.decide(held_out.X), held_out.targets, held_out.counts)
        else:
            scores = self._ensemble.from_scores(margins[: columns.n_data] * rows.labels)
            calibrating = (scores, rows.labels, rows.counts)
        self._calibration = calibrate(*calibrating)
        if not self.weights_.any():
            self._warn_degenerate(columns)
        else:
            self._warn_tied(margins[: columns.n_data], rows.counts)
        missed = self.formulation_.shortcoming(margins[columns.n_data :])
        if missed is not None:
            warnings.warn(missed, DegenerateEnsembleWarning, stacklevel=3)

    def _warn_degenerate(self, columns: Columns) -> None:
        smallest = self.formulation_.smallest_useful_C(
            float(columns.edges(columns.with_sides(columns.rows.counts)).max())
        )
        hint = "" if smallest is None else f" The smallest C that uses a learner is about {smallest:.3g}."
        warnings.warn(
            f"The optimal ensemble of {self.formulation_.name!r} with C={self.formulation_.C:.3g} is empty, so the "
            f"majority class is predicted.{hint}",
            DegenerateEnsembleWarning,
            stacklevel=4,
        )

    def _warn_tied(self, margins: Vector, counts: Vector) -> None:
        is_tied = np.abs(margins) <= TIE * self.weights_.sum()
        share = float(counts[is_tied].sum() / counts.sum())
        if share > MOST_TIED:
            warnings.warn(
                f"The optimal ensemble of {self.formulation_.name!r} has a score of 0, a tie, for {share:.0%} of the "
                "training rows. Deeper trees, more of them, another C or another formulation may do better.",
                TiedEnsembleWarning,
                stacklevel=4,
            )

    def _make_columns(self, formulation: Formulation, rows: TrainingRows) -> Columns:
        groups = (rows.labels > 0).astype(np.intp)
        algebra = Rows(rows.counts, groups, effective_n_jobs(self.n_jobs))
        sides = formulation.side_rows(algebra, rows.X.shape[1])
        return Columns(algebra, capacity=min(self.max_trees, 128), sides=sides)

    def _make_pool(self, rows: TrainingRows, categorical: list[int], leave_out_zeros: bool = False) -> Pool:
        options = LearnerOptions(
            max_depth=self.max_depth,
            voting=self.voting,
            criterion=self.criterion,
            n_thresholds=self.n_thresholds,
            tree_time_limit=self.tree_time_limit,
            n_jobs=effective_n_jobs(self.n_jobs),
            leave_out_zeros=leave_out_zeros,
        )
        data = TrainingData(rows.X, categorical)
        return make_pool(self.learner, data, options, rotate=self.pool == "rotate")

    def _check_parameters(self) -> None:
        check_common(self)
        if self.validation_fraction is not None:
            require_fraction("validation_fraction", self.validation_fraction)
        if self.n_iter_no_change is not None:
            require_integer("n_iter_no_change", self.n_iter_no_change, least=1)
            if self.validation_fraction is None:
                raise InvalidParameterError(
                    f"n_iter_no_change={self.n_iter_no_change!r} needs rows to validate on: set validation_fraction, "
                    "for example to 0.1."
                )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        return tags
