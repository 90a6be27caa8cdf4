"""The scikit-learn estimator, which checks its parameters and puts the parts of a fit together."""

from __future__ import annotations

from typing import Any, TypeVar

from joblib import effective_n_jobs
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state

from .._typing import Vector
from ..algebra.columns import Columns
from ..algebra.rows import Rows
from ..algebra.threads import one_blas_thread
from ..arguments import require_fraction, require_integer
from ..data.merging import TrainingRows, merge_rows
from ..data.splitting import hold_out
from ..errors import InvalidParameterError, UnsupportedFormulationError
from ..formulations import Formulation, make_formulation
from ..inspection import InspectionMixin
from ..loop.generation import generate
from ..loop.held_out import HeldOut
from ..loop.history import Trace
from ..loop.leaf_wiring import LeafWiring, wire_leaves
from ..loop.logs import log_end, log_iteration, log_start
from ..loop.path import ON_PATH
from ..loop.progress import ProgressBar
from ..loop.stopping import Callbacks, NoImprovement, StoppingRule, TimeLimit
from ..loop.wiring import Wiring, wire
from ..masters import Precision, SolverOptions
from ..models.fitted import Tuning
from ..pricing import PricingContext, TrainingData, affordable_depth, make_grower, make_pool, makes_trees
from ..tasks import CLASSIFICATION, Task
from ..tasks.scoring import make_scoring
from .conclusion import conclude
from .degenerate import warn_if_degenerate
from .parameters import DEFAULT_SIZES, EnsembleSize, as_callbacks, check_common
from .prediction import PredictionMixin
from .problem import Problem, Rewire
from .reading import TrainingSet, read_training_set

Estimator = TypeVar("Estimator", bound="DualBoostClassifier")

DEFAULT_SHARE = 0.1
"""The share of rows held out where a fit is to end early and no share is given."""


class DualBoostClassifier(InspectionMixin, PredictionMixin, ClassifierMixin, BaseEstimator):
    """A small, accurate tree ensemble by totally corrective boosting.

    Every tree is found by pricing with the duals of a linear or convex programme. After every new tree all leaf values
    of all trees are re-optimised (by default), or one weight for each tree (the formulations of the paper). Each
    solution has a duality gap, computed from its values and duals.

    By default the loss is logistic and the score is the log-odds. Half as many trees again are grown as asked for,
    those that are missed least are eliminated, and each tree that remains is grown once more against all others.

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
    corrects : {"trees", "leaves"}, default=None
        What is re-optimised after every new tree: one weight for each tree, or the values of all leaves with a ridge
        and a free intercept. None means the leaves for "logistic", if the learners are trees, and the trees for all
        others. "leaves" is also possible for the losses of "lp", "cg" and "convex".
    epsilon : float, default=None
        For "erlp" and "qrlp" the paper's stopping constant: the larger it is, the stronger the duals are pulled to
        uniform. For "soft", "total" and "mlp" the guarantee: the fit ends within epsilon of the best margin that the
        learner allows. None means 0.01, the papers' value. Other formulations have none, and a formulation object has
        its own.
    learner : {"cart", "optimal"}, learner object, scikit-learn classifier, or list of these, default="cart"
        The base learner. "cart" is ``CartLearner()``: it grows greedily, with at most 255 thresholds for each feature.
        "optimal" is ``OptimalLearner()``, which finds the tree with the largest edge: exactly at depth 1 and 2, with
        STreeD (an extra) and a time budget at more. A classifier, ``ClassifierLearner(classifier)``, is cloned and must
        take ``sample_weight``. The learner objects have options: a depth of their own, confidence-rated votes, and
        more. All learners of a list are used.
    max_depth : int, default=None
        The greatest depth of a tree, unless its learner has a depth of its own. None means 5 where leaves are
        corrected (2 with ``learner="optimal"``), and stumps, 1, where trees are.
    max_trees : int, default=None
        The greatest number of trees: those of the result where leaves are corrected, and those generated where trees
        are. None means 50 and 100.
    tol : float, default=1e-6
        The largest relative duality gap of a solution, and the smallest improvement of the (normalised) edge that lets
        a tree enter.
    solver : SolverOptions, default=None
        How the programmes are solved, which does not change what is optimal; None means ``SolverOptions()``.
    class_weight : dict, "balanced" or None, default=None
        What the sample weights of each class are multiplied by: a dict of weights by class, 1 for classes that it
        leaves out; or "balanced", the number of rows / (the number of classes * the rows of the class), with rows
        counted by ``sample_weight``. As in scikit-learn's ``HistGradientBoostingClassifier`` the rows held out are
        weighted too, and so are the validation score and the probabilities: they are those of classes so mixed. Of no
        effect under "lexi", which finds the weights of the classes itself.
    validation_fraction : float, default=None
        The share of rows held out to record the validation score, and to calibrate probabilities on. None means none,
        and 0.1 if ``n_iter_no_change`` is given.
    n_iter_no_change : int, default=None
        Stop when the validation score has not risen for that many iterations, and keep the best iteration: later
        learners get weight zero, and ``objective_`` and ``gap_`` are those of the best iteration.
    scoring : str, scorer or None, default=None
        The validation score: a name of ``sklearn.metrics.get_scorer_names()`` or a scorer made by
        ``sklearn.metrics.make_scorer``; None is the accuracy. Probabilities, for scorers such as "neg_log_loss", are
        those of the curve that fits the training rows. Needs rows that are held out.
    calibration : {"cross_fit", "training"}, default="cross_fit"
        What the probabilities are calibrated on if no rows are held out; of no effect under "logistic", whose scores
        are log-odds. "cross_fit" fits the same ensemble on either half of the rows (at most 10,000 each), less
        precisely, and scores the other half: honest, and it takes about as long again as the fit itself. "training"
        takes the training rows: for those who need no probabilities, as these are overconfident for deep trees. Fewer
        than 10 rows of a class in a half are too few for "cross_fit", and "training" is used. The ensemble is the same.
    time_limit : float, default=None
        Seconds after which no further iteration begins; the calibration takes its time afterwards.
    n_jobs : int, default=None
        The number of threads; None means 1, and -1 all. It does not change the model.
    random_state : int, RandomState instance or None, default=None
        Decides which rows are held out.
    verbose : int, default=0
        1 shows a progress bar on a terminal.
    callbacks : callable or list of callables, default=None
        Called after every iteration with its record (``dualboost.loop.history.Iteration``: one row of ``history_``, for
        the master's solution at that time). If a callback returns True, the fit stops; its exceptions are passed on.

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
        The number of learners generated, and of iterations: the same if one column enters at a time. Where leaves are
        corrected, trees that were eliminated or replaced count as generated.
    n_trees_ : int
        The number of weights above 1e-6 times the largest weight.
    n_leaves_ : int
        The number of leaves of the trees with a weight, in which (but for "spatial") no split has the same vote on both
        sides. A learner that is not a tree counts as one leaf.
    objective_ : float
        In the paper's own direction: "nm", "md", "md-full", "lp-nu", "hard", "soft", "total", "mlp" maximise, the
        others minimise ("qrlp" and "erlp" over the duals, so that more trees raise it).
    gap_ : float
        The relative duality gap of ``weights_``, computed from the weights and the duals alone.
    bound_ : float or None
        With an exact learner (hard votes and "optimal", or stumps by "edge"): no ensemble of the learner's trees,
        generated or not, has a better objective than this; for "nm", with the offset of the same number of trees. None
        where nothing is proven.
    certified_ : bool or None
        Whether ``objective_`` meets ``bound_`` within ``tol``: the ensemble is then optimal over all trees of the
        class.
    duals_ : ndarray of shape (n_rows,) or (n_rows, n_classes)
        The final duals u, one for each row passed to ``fit``, as the learner would see them; zero for rows that were
        held out. With more than two classes, the residuals: how much the loss falls if a score of the row rises.
    stop_reason_ : str
        One of "certified", "converged", "max_trees", "time_limit", "no_improvement", "callback", "interrupted",
        "solver_failed".
        "certified" is a proof that no tree of the class improves the ensemble. "converged" means that none was found;
        with CART, a heuristic, that is not a proof that none exists; for "soft", "total" and "mlp", that epsilon is
        reached.
    history_ : dict of equal-length arrays
        iteration, objective, gap, edge, threshold, train_accuracy, validation_score, n_trees, n_generated,
        pricing_seconds, master_seconds, bound (nan where nothing is proven).
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
        corrects: str | None = None,
        epsilon: float | None = None,
        learner: Any = "cart",
        max_depth: int | None = None,
        max_trees: int | None = None,
        tol: float = 1e-6,
        solver: SolverOptions | None = None,
        class_weight: Any = None,
        validation_fraction: float | None = None,
        n_iter_no_change: int | None = None,
        scoring: Any = None,
        calibration: str = "cross_fit",
        time_limit: float | None = None,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
        callbacks: Any = None,
    ) -> None:
        self.formulation = formulation
        self.C = C
        self.corrects = corrects
        self.epsilon = epsilon
        self.learner = learner
        self.max_depth = max_depth
        self.max_trees = max_trees
        self.tol = tol
        self.solver = solver
        self.class_weight = class_weight
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.scoring = scoring
        self.calibration = calibration
        self.time_limit = time_limit
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.callbacks = callbacks

    def fit(self: Estimator, X: Any, y: Any, sample_weight: Any = None) -> Estimator:
        """Train on X with labels y; ``sample_weight`` are multiplicities: 2 counts as the row twice."""
        self._check_parameters()
        training_set = read_training_set(self, CLASSIFICATION, X, y, sample_weight)
        formulation, tuning = self._choose_formulation(training_set)
        problem = self._pose(training_set, formulation)
        most = tuning.max_trees if tuning is not None else None
        trace = self._generate(problem, most or self._size(formulation).trees)
        fitted = conclude(problem, trace, tuning, effective_n_jobs(self.n_jobs))
        warn_if_degenerate(fitted, problem.wiring)
        self._fitted = fitted
        return self

    def _choose_formulation(self, data: TrainingSet) -> tuple[Formulation, Tuning | None]:
        """The formulation to optimise, and how its C was tuned, if it was."""
        return make_formulation(self.formulation, self.C, self.epsilon), None

    def _pose(self, data: TrainingSet, formulation: Formulation) -> Problem:
        held_out, training_weights = self._hold_out(data)
        rows = self._rows(data, training_weights)
        wiring = self._wire(data, rows, formulation, Precision(self.tol))
        return Problem(data, rows, wiring, held_out, self._rewire(data, wiring.formulation))

    def _rewire(self, data: TrainingSet, formulation: Formulation) -> Rewire | None:
        """Wires the same programme for other rows, if probabilities are to be calibrated by such fits."""
        if self.calibration == "training":
            return None
        return lambda rows: self._wire(data, rows, formulation, ON_PATH)

    def _wire(
        self, data: TrainingSet, rows: TrainingRows, formulation: Formulation, precision: Precision
    ) -> Wiring | LeafWiring:
        """The parts of the algorithm for these rows."""
        self._require_formulation_for(data.task, formulation)
        solver = self.solver or SolverOptions()
        algebra = Rows(rows.counts, data.task.groups(rows.targets), effective_n_jobs(self.n_jobs))
        training_data = TrainingData(rows.X, sorted(data.encoder.categories))
        size = self._size(formulation)
        context = PricingContext(
            size.depth,
            effective_n_jobs(self.n_jobs),
            n_outputs=data.task.n_outputs,
            leave_out_zeros=solver.active_rows is not None,
        )
        if self._corrected(formulation) == "leaves":
            grower = make_grower(self.learner, training_data, context)
            return wire_leaves(data.task, rows.targets, formulation, algebra, solver, precision, grower)
        sides = formulation.side_rows(algebra, rows.X.shape[1])
        of_A = data.task.operator(rows.targets).rows_of_A(algebra)
        columns = Columns(of_A, capacity=min(size.trees, 128), sides=sides)
        pool = make_pool(self.learner, training_data, context, rotate=solver.schedule == "rotate")
        parts = (data.task, rows.targets, formulation, columns, solver, precision, pool)
        return wire(*parts, has_intercept=formulation.has_intercept, rows=algebra if of_A is not algebra else None)

    def _size(self, formulation: Formulation) -> EnsembleSize:
        """The greatest depth and number of trees: those asked for, or the defaults of what is corrected."""
        default = DEFAULT_SIZES[self._corrected(formulation)]
        depth = self.max_depth or affordable_depth(self.learner, default.depth)
        return EnsembleSize(depth, self.max_trees or default.trees)

    def _corrected(self, formulation: Formulation) -> str:
        """What is re-optimised: leaves only where learners are trees."""
        if self.corrects is not None:
            return self.corrects
        return formulation.corrects if makes_trees(self.learner) else "trees"

    def _require_formulation_for(self, task: Task, formulation: Formulation) -> None:
        if task.n_outputs > 1 and not self._learns_many_classes(formulation):
            raise UnsupportedFormulationError(
                f"Only binary classification is supported for formulation={formulation.name!r} with corrects="
                f"{self._corrected(formulation)!r}. The type of the target is multiclass: y has {task.n_outputs} "
                "classes. 'logistic' learns them with leaves of trees, 'nm', 'lp', 'md' and others with the weights of "
                "any learners; or wrap the classifier in sklearn.multiclass.OneVsRestClassifier."
            )

    def _learns_many_classes(self, formulation: Formulation) -> bool:
        return self._corrected(formulation) in formulation.corrects_for_classes

    def _takes_many_classes(self) -> bool:
        """The same for scikit-learn's tags, which are asked for before parameters are checked."""
        try:
            return self._learns_many_classes(make_formulation(self.formulation, self.C, self.epsilon))
        except InvalidParameterError:  # which fit will raise
            return True

    def _rows(self, data: TrainingSet, weights: Vector) -> TrainingRows:
        rows = merge_rows(data.features, data.targets, weights)
        data.task.require_fold(rows.targets)
        return rows

    def _hold_out(self, data: TrainingSet) -> tuple[HeldOut | None, Vector]:
        """The rows to validate on, if any, and the multiplicities of all rows, with zeros for those held out."""
        share = self._held_out_share()
        if share is None:
            return None, data.weights
        strata, rng = data.task.groups(data.targets), check_random_state(self.random_state)
        held = hold_out(strata, data.weights, share, rng)
        training_weights = data.weights.copy()
        training_weights[held] = 0.0
        scoring = make_scoring(self.scoring)
        return HeldOut(data.features[held], data.targets[held], data.weights[held], scoring), training_weights

    def _generate(self, problem: Problem, max_trees: int) -> Trace:
        wiring, callbacks = problem.wiring, Callbacks(as_callbacks(self.callbacks))
        log_start(wiring.formulation, wiring.columns.rows, max_trees)
        with one_blas_thread(), ProgressBar(max_trees, enabled=self.verbose > 0) as progress:
            trace = generate(
                wiring,
                max_trees,
                held_out=problem.held_out,
                keep_best=self._patience() is not None,
                stopping=[callbacks, *self._stopping_rules()],
                observers=[progress, log_iteration, callbacks],
            )
        log_end(trace)
        return trace

    def _stopping_rules(self) -> list[StoppingRule]:
        rules: list[StoppingRule] = []
        if self.time_limit is not None:
            rules.append(TimeLimit(self.time_limit))
        patience = self._patience()
        if patience is not None:
            rules.append(NoImprovement(patience))
        return rules

    def _patience(self) -> int | None:
        """For how many iterations the validation score may not rise; None if it does not end the fit."""
        return self.n_iter_no_change

    def _held_out_share(self) -> float | None:
        """The share of rows to validate on: scikit-learn's default where these have to end the fit."""
        return DEFAULT_SHARE if self.validation_fraction is None and self._patience() else self.validation_fraction

    def _check_parameters(self) -> None:
        check_common(self)
        make_formulation(self.formulation, self.C, self.epsilon)
        if self.n_iter_no_change is not None:
            require_integer("n_iter_no_change", self.n_iter_no_change, least=1)
        share = self._held_out_share()
        if share is not None:
            require_fraction("validation_fraction", share)
        elif self.scoring is not None:
            raise InvalidParameterError(
                f"scoring={self.scoring!r} needs rows to score: set validation_fraction, for example to 0.1."
            )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = self._takes_many_classes()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        return tags
