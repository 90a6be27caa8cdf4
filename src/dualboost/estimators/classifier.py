"""The classifier."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sklearn.base import BaseEstimator, ClassifierMixin

from ..errors import InvalidParameterError, UnsupportedFormulationError
from ..formulations import Formulation, make_formulation
from ..inspection import InspectionMixin
from ..solvers import SolverOptions
from ..targets import CLASSIFICATION, Target
from .base import Boosting
from .prediction import PredictionMixin


class DualBoostClassifier(Boosting, InspectionMixin, PredictionMixin, ClassifierMixin, BaseEstimator):
    """A small, accurate tree ensemble by totally corrective boosting.

    Every tree is found by pricing with the duals of a linear or convex programme. After every new tree all leaf values
    of all trees are re-optimised (by default), or one weight for each tree (the formulations of the paper). Each
    solution has a duality gap, computed from its values and duals.

    By default the loss is logistic and the score is the log-odds. The fit grows 1.5 times ``max_trees`` trees,
    eliminates the least important ones, and grows each remaining tree once more against all others.

    With more than two classes, a leaf has a value for each class, so that one tree serves them all; the loss is the
    cross-entropy, and the scores are log-probabilities up to a number that the classes of a row share. Under the
    formulations of the paper, and most of their family, a tree votes for one class and has a weight, and a margin is
    the score of a row's own class minus the best other one.

    Parameters
    ----------
    formulation : str or Formulation, default="logistic"
        What is optimised: "logistic", or a formulation of the paper or its family: "nm", "qrlp", "lp", "cg", "erlp",
        "md", "lp-nu", "hard", "md-full", "convex", "lexi", "soft", "total", "mlp", "cq" or "spatial"; see
        ``dualboost.formulations``. A formulation object has its own parameters, which can be searched over, as
        ``formulation__loss``.
    C : float, default=None
        The formulation's one hyperparameter, with the paper's meaning. None picks the formulation's documented default
        for the size of the data. Leave it at None if ``formulation`` is an object with its own C.
    optimize : {"weights", "leaves"}, default=None
        What is re-optimised after every new tree: one weight for each tree, or the values of all leaves with a ridge
        and a free intercept. None means the leaves for "logistic", if the learners are trees, and the trees for all
        others. "leaves" is also possible for the losses of "lp", "cg" and "convex".
    epsilon : float, default=None
        For "erlp" and "qrlp" the paper's stopping constant: the larger it is, the stronger the duals are pulled to
        uniform. For "soft", "total" and "mlp" the guarantee: the fit ends within epsilon of the best margin that the
        learner allows. None means 0.01, the papers' value. Other formulations have none, and a formulation object has
        its own.
    learner : {"cart", "optimal", "xgboost"}, learner object, scikit-learn classifier, or list of these, default="cart"
        The base learner. "cart" is ``CartLearner()``: it grows greedily, with at most 255 thresholds for each feature.
        "optimal" is ``OptimalLearner()``, which finds the tree with the largest edge: exactly at depth 1 and 2, with
        STreeD (an extra) and a time budget at more. "xgboost" is ``XGBoostLearner()``: the trees of "cart", grown by
        XGBoost (an extra). A classifier, ``ClassifierLearner(classifier)``, is cloned and must take ``sample_weight``.
        The learner objects have options: a depth of their own, confidence-rated votes, and more. All learners of a list
        are used.
    max_depth : int, default=None
        The greatest depth of a tree, unless its learner has a depth of its own. None means 5 where leaves are
        corrected (2 with ``learner="optimal"``), and stumps, 1, where trees are. No tree is deeper than 256.
    max_trees : int, default=None
        The greatest number of trees: of the result if leaves are corrected (None means 50), or of all trees generated
        if trees are corrected (None means 100).
    max_leaf_nodes : int, default=None
        The most leaves of a tree; the splits with the largest gains are kept. None for no limit but ``max_depth``.
    min_samples_leaf : int or float, default=1
        The fewest training rows in a leaf, or their share, rounded up; rows are counted whatever their weights are.
    max_features : int, float, "sqrt", "log2" or None, default=None
        The number of features for each split, or their share, drawn by ``random_state`` for every split; None for all.
        If none of them can split a tree at its root, all are tried. Only if leaves are corrected.
    subsample : float, default=None
        The share of the rows that each tree is grown on, drawn by ``random_state`` for every tree. The values of its
        leaves are fitted to all rows. A tree without a split is grown again on all rows. None means all rows (1.0), and
        for two classes down to 0.7 if there may be more than one leaf to four rows. Only if leaves are corrected.
    monotonic_cst : array of -1, 0 and 1, dict of these by name of feature, or None, default=None
        1 where scores, and so the probability of the second class, must not fall if the feature rises, -1 where they
        must not rise, 0 for no such limit. It holds for all rows, exactly, and ``gap_`` is that of the programme with
        this limit; a missing value is not compared. Not for features with categories, nor for several classes.
    interaction_cst : "pairwise", "no_interactions", list of sets of positions, or None, default=None
        The features that may interact: all features on the way to a leaf are in one of the sets, features of no set
        make one more. "pairwise" and "no_interactions" are all pairs, and each feature by itself. None is for all.
        These limits are kept by ``learner="cart"`` and "xgboost", and refused with other learners.
    tol : float, default=1e-6
        The largest relative duality gap of a solution, and the smallest improvement of the (normalised) edge that lets
        a tree enter.
    solver : SolverOptions, default=None
        How the programmes are solved, which does not change the optimum; None means ``SolverOptions()``.
    categorical_features : "from_dtype", None, or list of names, of positions or of bools, default="from_dtype"
        The columns of X that hold categories, as in scikit-learn's ``HistGradientBoostingClassifier``. "from_dtype"
        takes columns of text and of a categorical type (pandas, polars, Arrow); of an array, columns of text. A list
        names all of them: any other column must hold numbers. None means none. A category with fewer than 4 training
        rows counts as missing, like a category that training rows lack.
    class_weight : dict, "balanced" or None, default=None
        A factor of the sample weights for each class: a dict of weights by class, 1 for classes that it leaves out; or
        "balanced", the number of rows / (the number of classes * the rows of the class), with rows counted by
        ``sample_weight``. As in scikit-learn's ``HistGradientBoostingClassifier``, it also weights the rows held out,
        the validation score and the probabilities. No effect under "lexi", which finds the weights of the classes.
    validation_fraction : float, default=None
        The share of rows held out to record the validation score, and to calibrate probabilities on. None means none,
        and 0.1 if ``n_iter_no_change`` is given.
    n_iter_no_change : int, default=None
        Stop when the validation score has not risen for that many iterations, and keep the best iteration: later
        learners get weight zero, and ``objective_`` and ``gap_`` belong to the best iteration.
    scoring : str, scorer or None, default=None
        The validation score: a name of ``sklearn.metrics.get_scorer_names()`` or a scorer made by
        ``sklearn.metrics.make_scorer``; None is the accuracy. Probabilities, for scorers such as "neg_log_loss", are
        calibrated on the training rows. Needs rows that are held out.
    calibration : {"cross_fit", "training"}, default="cross_fit"
        The rows that calibrate the probabilities if no rows are held out; no effect under "logistic", whose scores are
        log-odds. "cross_fit" fits an ensemble to each half of the rows (at most 10,000 each), less precisely, and
        scores the other half; it takes about as long as the fit. "training" takes the training rows; its probabilities
        are overconfident for deep trees. With fewer than 10 rows of a class in a half, "cross_fit" is "training". The
        choice does not change the ensemble.
    warm_start : bool, default=False
        Whether ``fit`` continues with the trees of the last fit, on equal data with a larger ``max_trees``. These trees
        stay, new ones join them, and all leaves, or all weights, are optimised together. ``history_`` begins with the
        ensemble of the last fit. Other parameters should not change, which is not checked.
    time_limit : float, default=None
        Seconds for the whole of ``fit``, of which growing trees, the optimum at the end and the calibration each have a
        share. A fit takes at most a third longer, or one second if the limit is below three, unless a single step does,
        such as one tree. If there was no time to solve to ``tol``, a ``SolverWarning`` has the gap.
    n_jobs : int, default=None
        The number of threads; None means 1, and -1 all processors that the process may use. It does not change the
        model. Little work is done by one thread, and trees are grown on one until more have proved quicker.
    device : {"cpu", "cuda"}, default="cpu"
        Where duals, scores, votes and leaves of the rows are, and where trees are grown: "cuda" is a GPU, by CuPy and
        XGBoost (the extra "cuda"), with ``learner="xgboost"``, for one score a row. Sums come out in another order
        there, so that the model is that of "cpu" up to rounding. X, y and ``sample_weight`` may be arrays of CuPy with
        either.
    random_state : int, RandomState instance or None, default=None
        Selects the rows held out, and the rows and features that trees are grown on. With None every fit holds other
        rows out, but the rows and features of trees do not change.
    verbose : int, default=0
        1 shows a progress bar on a terminal.
    callbacks : callable or list of callables, default=None
        Called after every iteration with its record (``dualboost.boosting.history.Iteration``: one row of
        ``history_``, for the solution at that time). If a callback returns True, the fit stops. Its exceptions are
        passed on.

    Attributes
    ----------
    classes_ : ndarray of the classes, sorted
    n_features_in_ : int
    feature_names_in_ : ndarray, only if X has string column names
    estimators_ : list of learners, in order
        Every learner generated; where leaves are corrected, the trees of the result.
    weights_ : ndarray
        One weight for each learner, zeros included. Where leaves are corrected, the largest absolute value of the
        tree's leaves: its votes, in [-1, 1], times the weight are the values.
    intercept_ : float or ndarray of shape (n_classes,)
        What is added to the weighted votes; zero for the formulations without an intercept. One for each class if there
        are more than two.
    n_generated_, n_iter_ : int
        The number of learners generated, and of iterations; they are equal if one column enters at a time. If leaves
        are corrected, trees that were eliminated or replaced count as generated.
    n_trees_ : int
        The number of weights above 1e-6 times the largest weight.
    n_leaves_ : int
        The number of leaves of the trees with a weight, in which (but for "spatial") no split has the same vote on both
        sides. A learner that is not a tree counts as one leaf.
    objective_ : float
        In the paper's own direction: "nm", "md", "md-full", "lp-nu", "hard", "soft", "total", "mlp" maximise, the
        others minimise ("qrlp" and "erlp" over the duals, so that more trees raise it).
    gap_ : float
        The relative duality gap of ``weights_``, computed from the weights and the duals alone: no other weights of the
        trees generated (where leaves are corrected: no other values of the leaves of these trees) have an objective
        that is better by more than this. It does not bound ensembles of other trees.
    bound_ : float or None
        With an exact learner (hard votes and "optimal", or stumps by "edge"): no ensemble of the learner's trees,
        generated or not, has a better objective than this; for "nm", with the offset of the same number of trees. None
        where nothing is proven.
    certified_ : bool or None
        True: no ensemble of the class, of any size, has an objective that is better than ``objective_`` by more than
        ``tol``; the class is all trees that the learner chooses from: of its depth, on the cuts that it looks at.
        False: ``bound_`` is further away. None: nothing is proven about trees that were not generated, as with CART,
        whose result is proven by ``gap_`` alone.
    duals_ : ndarray of shape (n_rows,) or (n_rows, n_classes)
        The final duals u, one for each row passed to ``fit``, as the learner would see them; zero for rows that were
        held out. With more than two classes, the residuals: how much the loss falls if a score of the row rises.
    stop_reason_ : str
        One of "certified", "converged", "max_trees", "time_limit", "no_improvement", "callback", "interrupted",
        "solver_failed", "grower_failed".
        "certified" is a proof that no tree of the class improves the ensemble. "converged" means that none was found;
        with CART, a heuristic, that is not a proof that none exists; for "soft", "total" and "mlp", that epsilon is
        reached.
    history_ : dict of equal-length arrays
        iteration, objective, gap, edge, threshold, train_score, validation_score, n_trees, n_generated,
        pricing_seconds, solver_seconds, bound (nan where nothing is proven).
    feature_importances_ : ndarray
        For each feature the weighted sum, over the learners, of its share in the learner's gain (for classifiers that
        are not trees: in their own importances or absolute coefficients). Sums to one; all zero if no learner has a
        split.
    formulation_ : Formulation
        The formulation with the value of C that was used.
    fitted_ : FittedModel
        All of these attributes as one value, which ``fit`` sets at its end: a fit that fails leaves it unchanged.

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
        formulation: str | Formulation = "logistic",
        C: float | None = None,
        *,
        optimize: str | None = None,
        epsilon: float | None = None,
        learner: Any = "cart",
        max_depth: int | None = None,
        max_trees: int | None = None,
        max_leaf_nodes: int | None = None,
        min_samples_leaf: int | float = 1,
        max_features: int | float | str | None = None,
        subsample: float | None = None,
        monotonic_cst: Any = None,
        interaction_cst: Any = None,
        tol: float = 1e-6,
        solver: SolverOptions | None = None,
        categorical_features: Any = "from_dtype",
        class_weight: Any = None,
        validation_fraction: float | None = None,
        n_iter_no_change: int | None = None,
        scoring: Any = None,
        calibration: str = "cross_fit",
        warm_start: bool = False,
        time_limit: float | None = None,
        n_jobs: int | None = None,
        device: str = "cpu",
        random_state: Any = None,
        verbose: int = 0,
        callbacks: Any = None,
    ) -> None:
        self.formulation = formulation
        self.C = C
        self.optimize = optimize
        self.epsilon = epsilon
        self.learner = learner
        self.max_depth = max_depth
        self.max_trees = max_trees
        self.max_leaf_nodes = max_leaf_nodes
        self.min_samples_leaf = min_samples_leaf
        self.max_features = max_features
        self.subsample = subsample
        self.monotonic_cst = monotonic_cst
        self.interaction_cst = interaction_cst
        self.tol = tol
        self.solver = solver
        self.categorical_features = categorical_features
        self.class_weight = class_weight
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.scoring = scoring
        self.calibration = calibration
        self.warm_start = warm_start
        self.time_limit = time_limit
        self.n_jobs = n_jobs
        self.device = device
        self.random_state = random_state
        self.verbose = verbose
        self.callbacks = callbacks

    def _target_readers(self) -> Sequence[type[Target]]:
        return CLASSIFICATION

    def _made_formulation(self, C: float | None = None) -> Formulation:
        return make_formulation(self.formulation, self.C if C is None else C, self.epsilon)

    def _require_formulation_for(self, target: Target, formulation: Formulation) -> None:
        if target.n_outputs > 1 and not self._learns_many_classes(formulation):
            raise UnsupportedFormulationError(
                f"Only binary classification is supported for formulation={formulation.name!r} with optimize="
                f"{self._optimized(formulation)!r}. The type of the target is multiclass: y has {target.n_outputs} "
                "classes. 'logistic' learns them with leaves of trees, 'nm', 'lp', 'md' and others with the weights of "
                "any learners; or wrap the classifier in sklearn.multiclass.OneVsRestClassifier."
            )

    def _learns_many_classes(self, formulation: Formulation) -> bool:
        return self._optimized(formulation) in formulation.optimizes_for_classes

    def _takes_many_classes(self) -> bool:
        """``_learns_many_classes`` for the tags of scikit-learn, which parameters out of range must not prevent."""
        try:
            return self._learns_many_classes(make_formulation(self.formulation, self.C, self.epsilon))
        except InvalidParameterError:  # which fit will raise
            return True

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = self._takes_many_classes()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        return tags
