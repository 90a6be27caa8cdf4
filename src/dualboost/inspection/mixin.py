"""The methods by which users inspect a fitted estimator."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sklearn import get_config
from sklearn.utils import estimator_html_repr
from sklearn.utils.validation import check_is_fitted

from .._typing import Features
from ..models.fitted import FittedModel
from .explain import Explanation, explain_margins
from .html import fitted_html
from .rules import rules_table


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
        to ``predict``, or to its logarithm.
        """
        check_is_fitted(self)
        return rules_table(self.fitted_, None if X is None else self._features(X))

    def explain(self, X: Any) -> Explanation:
        """Exact SHAP values of ``decision_function``: ``base_value + values.sum(axis=1)`` is the score.

        An unknown feature is averaged over by the number of training rows in each leaf, counted by their multiplicities
        (path-dependent TreeSHAP). Only for ensembles of trees. For several classes ``values`` has an axis more, and
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
