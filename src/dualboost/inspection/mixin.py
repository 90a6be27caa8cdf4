"""The methods by which users inspect a fitted estimator."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn import get_config
from sklearn.utils import estimator_html_repr
from sklearn.utils.validation import check_is_fitted

from .._typing import Features, Scores, Vector
from ..errors import UnsupportedModelError
from ..models.fitted import FittedModel
from .effects import effects_table
from .html import fitted_html
from .rules import rules_table, used_trees

MOST_ON_A_PATH = 40
"""The most features that may be tested on the way to a leaf: TreeSHAP loses about a digit with every three features, so
that its values are right to 1e-6 with so many, and wrong with 60."""


@dataclass(frozen=True, eq=False)
class Explanation:
    """SHAP values of some rows: ``base_value + values.sum(axis=1)`` equals ``decision_function``.

    Of a regressor it equals ``predict``, or under the Poisson loss its logarithm.
    """

    values: Scores = field(repr=False)
    """How far each feature (column) moves the score of each row; a positive value is towards the second class.

    Of a regressor, how far the prediction, in the units of y; under the Poisson loss, its logarithm.
    For several classes there is a third axis, with an entry for each class, as in ``shap.Explanation``.
    """
    base_value: float | Vector
    """The mean score of the training rows, with the intercept; for several classes or quantiles one for each."""
    feature_names: list[str]
    class_names: list[str]
    """Those of the quantiles for a regressor that has several; empty for others."""

    def importances(self) -> Vector:
        """The mean absolute SHAP value of each feature; for several classes their sum over the classes.

        This is the length of a feature's bar in ``shap.summary_plot``.
        """
        means = np.abs(self.values).mean(axis=0)
        return means.reshape(len(self.feature_names), -1).sum(axis=1)


def explain_margins(model: FittedModel, features: Features) -> Explanation:
    trees = used_trees(model, "explain")
    uncounted = [j for j, tree in trees.items() if tree.n_leaves > 1 and tree.covers is None]
    if uncounted:
        raise UnsupportedModelError(
            f"explain needs the number of training rows in each leaf, which estimators_[{uncounted[0]}] does not have: "
            "it had no weight when it was fitted. Thin with another C, or fit again."
        )
    for j, tree in trees.items():
        n_tested = tree.most_on_a_path
        if n_tested > MOST_ON_A_PATH:
            raise UnsupportedModelError(
                f"explain: estimators_[{j}] tests {n_tested} features on the way to one leaf, and SHAP values are not "
                f"exact with more than {MOST_ON_A_PATH}: fit with max_depth={MOST_ON_A_PATH} or less."
            )
    contributions = model.in_units.contributions(features)
    values, base_value = np.moveaxis(contributions[..., :-1], -1, 1), contributions[0, ..., -1]
    one_or_each = float(base_value) if model.target.n_outputs == 1 else base_value
    return Explanation(np.ascontiguousarray(values), one_or_each, model.inputs.names, model.target.output_names)


class InspectionMixin:
    """Rules, explanations, and a summary in notebooks."""

    if TYPE_CHECKING:

        @property
        def fitted_(self) -> FittedModel: ...

        def _features(self, X: Any) -> Features: ...

    def rules(self, X: Any = None) -> Any:
        """Every leaf of the used trees as a rule, in a pandas data frame; the strongest first.

        ``tree`` and ``leaf`` are the position of the rule (rules of equal strength stay in this order), ``weight`` is
        the tree's share of all weights (where leaves are corrected, the largest absolute value of its leaves), and
        ``weighted_vote`` is weight times vote. A row falls into one leaf of each tree; the weighted votes of these
        leaves add up to ``decision_function``, less ``intercept_`` if there is one. ``rows`` is the number of training
        rows in the leaf, by their multiplicities, or of rows of X, and ``share`` their share. Thresholds are rounded to
        six digits; "or missing" is added only for features with missing values in training.

        For several classes, ``label`` is the class that a rule speaks for most, ``weighted_vote`` the value for this
        class, and a column ``value_<class>`` has the values for each class, which add up to ``decision_function`` less
        ``intercept_``. The strength of a rule is its largest absolute value.

        Of a regressor, ``weight`` and ``weighted_vote`` are in the units of y, or under the Poisson loss in those of
        the logarithm of the mean. The weighted votes of the leaves of a row and ``fitted_.in_units.intercept`` add up
        to ``predict``, or to its logarithm. Of several quantiles, ``weighted_vote`` is the value of the largest size,
        ``quantile`` says whose it is, and a column ``value_<quantile>`` has the values for each.
        """
        check_is_fitted(self)
        return rules_table(self.fitted_, None if X is None else self._features(X))

    def effects(self, X: Any = None) -> Any:
        """The ensemble as a sum of functions of one feature and of pairs of features, in a pandas data frame.

        Only for trees that test at most two features on the way to a leaf, such as stumps and trees of depth 2. The
        first row is the intercept; each further one is a cell of an effect, the strongest effect first: ``feature``,
        ``value`` (between two cuts, a category, or missing), ``low`` and ``high`` (above ``low``, at most ``high``),
        for pairs the same of the ``other_`` feature, ``share`` of the rows, and ``effect``. The intercept and the
        effects of the cells that a row is in add up to ``decision_function``, to rounding; of a regressor to
        ``predict``, under the Poisson loss to its logarithm. For several classes or quantiles there is a column
        ``effect_<class>`` for each.

        The decomposition is the functional analysis of variance under features that are independent of each other, each
        distributed as in X, or if X is None as in the training rows: the mean of every effect over each of its features
        is zero. So the effect of one feature is the partial dependence of the score on it, less its mean, and the
        effect of a pair is what the two do together beyond what each does alone; its ``share`` is a product of two. A
        model from a file does not know the training rows: pass X.
        """
        check_is_fitted(self)
        return effects_table(self.fitted_, None if X is None else self._features(X))

    def explain(self, X: Any) -> Explanation:
        """Exact SHAP values of ``decision_function``: ``base_value + values.sum(axis=1)`` is the score.

        An unknown feature is averaged over by the number of training rows in each leaf, counted by their multiplicities
        (path-dependent TreeSHAP). Only for ensembles of trees, with at most 40 features on the way to a leaf: the
        algorithm loses its digits with more. For several classes ``values`` has an axis more, and
        ``base_value`` an entry for each class. Of a regressor the sum is ``predict``, in the units of y; under the
        Poisson loss the logarithm of ``predict``.
        """
        features = self._features(X)
        return explain_margins(self.fitted_, features)

    def _repr_html_inner(self) -> str:
        return estimator_html_repr(self) + fitted_html(self)

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        bundle = {"text/plain": repr(self)}
        if get_config()["display"] == "diagram":
            bundle["text/html"] = self._repr_html_inner()
        return bundle
