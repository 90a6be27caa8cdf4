"""The interface of formulations: one hyperparameter C, a programme for given rows, and the paper's objective."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field, fields, replace
from typing import Any, ClassVar, NamedTuple, Protocol

import numpy as np

from .._typing import Matrix, Vector
from ..arguments import ParameterObject
from ..errors import InvalidParameterError, UnsupportedFormulationError
from ..matrix.columns import Columns, NoSideRows, SideRows
from ..matrix.rows import Rows
from .programme import Programme

LARGEST_C = 1e15
"""The largest C beside a ridge: beyond it the ridge is lost in the rounding errors of the loss."""
SMALLEST_C = 1e-100
"""The bound of C from below: squares of smaller prices of rows vanish."""
LEAST_ROWS = 100
"""With fewer rows, the default C of a mean loss is that of so many."""
ROUNDING = 1e-9
"""The share by which C may exceed its bound: a sum of weights depends on the order of the terms."""


class Intercepts(Protocol):
    """The part of a target's operator that programmes over leaves need."""

    def rows_of_A(self, rows: Rows) -> Rows: ...

    def intercepts(self) -> Matrix: ...


class Effort(NamedTuple):
    """The effort of the search for trees where leaves are optimised."""

    overgrowth: float
    """The number of trees that are grown, divided by ``max_trees``; the least useful trees are eliminated."""
    n_regrown: int
    """How often each remaining tree is grown again, given all others."""
    exchanges_stumps: bool = False
    """Whether stumps are exchanged until no exchange lowers the objective, instead of grown again: only for losses that
    are quadratic in the scores, and growers that compare all stumps."""


@dataclass
class Formulation(ParameterObject, ABC):
    """A totally corrective boosting programme.

    A subclass sets the class attributes and implements ``programme``, ``default_C`` and ``C_grid``; its docstring
    states primal, dual, pricing rule, hyperparameter and paper. ``C=None`` means ``default_C`` for the rows of the fit.
    """

    C: float | None = None

    name: ClassVar[str]
    argument: ClassVar[str] = "formulation"
    """The argument of estimators that takes it."""
    title: ClassVar[str]
    optimises: ClassVar[str]
    """The objective, in a few words for tables."""
    meaning_of_C: ClassVar[str]
    """The meaning of C, its default and its range, for tables."""
    use: ClassVar[str]
    """The case in which to choose it, in one sentence."""
    objective_sign: ClassVar[int]
    """+1 if the paper's objective is the saddle value (``programme.py``), -1 if it is the negative saddle value."""
    depends_on_columns: ClassVar[bool] = False
    """Whether the programme depends on the number of columns."""
    sparser_with_larger_C: ClassVar[bool] = False
    """Whether a larger C uses fewer learners; a path over C begins at its end with the most learners."""
    has_sides: ClassVar[bool] = False
    """Whether the formulation may have side rows: rows of A beside the rows of the data."""
    optimize: ClassVar[str] = "weights"
    """The default of the argument ``optimize``: one weight for each tree ("weights"), or all "leaves"."""
    has_intercept: ClassVar[bool] = False
    """Whether scores have a free intercept also with ``optimize="weights"``; leaves always have one."""
    has_final_scores: ClassVar[bool] = False
    """Whether scores are log-odds or numbers. Other scores are divided by the sum of the weights, and a fitted curve
    turns them into probabilities."""
    has_C: ClassVar[bool] = True
    """Whether C changes anything."""
    balances_classes: ClassVar[bool] = False
    """Whether each class has the same weight whatever its number of rows, which may cost accuracy."""
    optimizes_for_classes: ClassVar[tuple[str, ...]] = ("weights",)
    """The values of ``optimize`` that are available for more than two classes; empty if y must have two."""
    has_loss_a_class: ClassVar[bool] = False
    """Whether, for several classes, a row has a loss for its margin against each other class, instead of one loss for
    the least margin. Only a loss that decreases with the margin can use the least margin."""
    dual_strategy: ClassVar[str] = "own"
    """The name of the strategy, in ``boosting/dual_strategies.py``, that chooses the duals for the next pricing."""

    @abstractmethod
    def programme(self, rows: Rows, n_columns: int) -> Programme:
        """The programme for these rows and ``n_columns`` columns; ``rows.groups`` are the classes."""

    def side_rows(self, rows: Rows, n_features: int) -> SideRows:
        """The side rows; none unless the objective depends on more than the margins."""
        return NoSideRows()

    def with_sides(self, programme: Programme, rows: Rows) -> Programme:
        """The programme with a box and a term for each side row; ``rows`` are the data rows and the side rows."""
        raise NotImplementedError(f"formulation {self.name!r} has no side rows")

    def programme_over(self, columns: Columns, n_columns: int) -> Programme:
        """The programme for the rows of these columns, side rows included, and ``n_columns`` columns."""
        if not columns.sides.n:
            return self.programme(columns.rows, n_columns)
        return self.with_sides(self.programme(columns.rows.with_sides(0), n_columns), columns.rows)

    def shortcoming(self, side_margins: Vector) -> str | None:
        """A warning if the ensemble, by its margins in the side rows, fails to reach a requirement; else None."""
        return None

    def advice_for_splits(self, targets: Vector) -> str:
        """Advice where no split lowers the objective over these targets."""
        return "A larger C may help, or a smaller min_samples_leaf; features that do not vary cannot be split."

    def first_duals(self, rows: Rows) -> Vector:
        """The duals of the first pricing, up to a factor."""
        return rows.counts

    @abstractmethod
    def default_C(self, n_samples: float) -> float:
        """A value of C that works across sizes; ``n_samples`` is the sum of the multiplicities."""

    @abstractmethod
    def C_grid(self, n_samples: float, k: int = 10) -> Vector:
        """The paper's ``k`` values of C for that many samples, increasing; ``default_C`` need not lie between them."""

    def C_bounds(self, n_samples: float) -> tuple[float, float]:
        """The open lower and closed upper end of the values of C that the programme admits."""
        return 0.0, np.inf

    def smallest_useful_C(self, largest_edge: float) -> float | None:
        """The C up to which the empty ensemble is optimal, given the largest edge under ``multiplicities``."""
        return None

    def effort(self, rows: Rows) -> Effort:
        """The effort of the search for trees where leaves are optimised."""
        return Effort(overgrowth=1.5, n_regrown=1)

    @property
    def power_of_rows(self) -> int:
        """The power of the number of rows that C must grow with to keep its meaning; 0 if C is scale-free."""
        return 0

    @property
    def is_scale_free(self) -> bool:
        """Whether C keeps its meaning when rows are repeated or weights are multiplied by a number."""
        return self.power_of_rows == 0

    def carried(self, Cs: Vector, ratio: float) -> Vector:
        """The values of C with the same meaning on ``ratio`` times as many rows."""
        return Cs * ratio**self.power_of_rows

    def multiplicities(self, rows: Rows) -> Vector:
        """The multiplicities of the rows as C counts them."""
        return rows.counts

    @property
    def guarantee(self) -> float:
        """The proven distance from the optimum over all learners at which the fit ends; 0 without such a rule."""
        return 0.0

    @property
    def prices_all_duals(self) -> bool:
        """Whether the pricer gets the duals unchanged, so that its bounds hold for the programme."""
        return True

    def priced_duals(self, u: Vector) -> Vector:
        """The duals for the pricer; a negative dual counts as a positive one with the opposite label."""
        return u

    def resolve(self, n_samples: float) -> Formulation:
        """This formulation with a number for C, checked against its bounds."""
        if self.C is None:
            return replace(self, C=self.default_C(n_samples))
        low, high = self.C_bounds(n_samples)
        is_number = isinstance(self.C, (int, float, np.number)) and not isinstance(self.C, bool)
        if not (is_number and low < self.C <= high * (1.0 + ROUNDING) and np.isfinite(self.C)):
            of_rows = " (the total of the sample weights)" if high == n_samples else ""
            limit = f"at most {high:g}{of_rows}" if np.isfinite(high) else "finite"
            raise InvalidParameterError(
                f"C={self.C!r} is outside the range of {self.argument} {self.name!r}: it must be a number above "
                f"{low:g} and {limit}; C=None picks {self.default_C(n_samples):.4g} for this data."
            )
        return replace(self, C=min(float(self.C), high))

    def resolve_for(self, rows: Rows) -> Formulation:
        """This formulation with a number for C, for the rows of a fit."""
        return self.resolve(self.size_of(rows))

    def size_of(self, rows: Rows) -> float:
        """The number of rows for the default and the grid of C."""
        return rows.n_samples

    def over_leaves(self, rows: Rows, operator: Intercepts, n_outputs: int) -> Any:
        """The programme over the values of leaves, which have any sign and a ridge, with free intercepts.

        Its ``leaf_solver`` names the solver. With several outputs, a leaf has a value for each.
        """
        if n_outputs == 1:
            return self.programme(operator.rows_of_A(rows), 1).over_leaves(rows.put(operator.intercepts()))
        raise UnsupportedFormulationError(
            f"formulation={self.name!r} cannot correct the leaves of {n_outputs} classes: use 'logistic', or "
            "optimize='weights'."
        )

    def for_growing(self, rows: Rows) -> Formulation:
        """The formulation for growing trees where leaves are optimised; C then determines the values alone."""
        return self

    @property
    def C_value(self) -> float:
        """C as a number; only for a resolved formulation."""
        if self.C is None:
            raise InvalidParameterError(f"Formulation {self.name!r} has no C yet; call resolve(n_samples) first.")
        return self.C

    @classmethod
    def has_epsilon(cls) -> bool:
        """Whether the formulation has a parameter ``epsilon``."""
        return any(field.name == "epsilon" for field in fields(cls))


def require_epsilon(epsilon: object) -> None:
    """Refuse an ``epsilon`` that is not a positive number."""
    if not (isinstance(epsilon, (int, float, np.number)) and 0 < epsilon < np.inf):
        raise InvalidParameterError(f"epsilon={epsilon!r} must be a number above 0; the papers use 0.01.")


def regularisation_grid(k: int) -> Vector:
    """The paper's range 10^-4 ... 10^-0.33, uniform in the exponent."""
    return np.logspace(-4.0, -0.33, k)


@dataclass
class CountsRows(Formulation):
    """A formulation with a C, in its paper, that must change with the number of rows to keep its meaning.

    ``scale_free=True`` replaces the multiplicities c_i in the formulas of the paper by their shares c_i/M of the total
    M, which is then 1: C depends neither on the number of rows nor on the scale of the sample weights.
    """

    scale_free: bool = field(default=False, kw_only=True, metadata={"may_lack": True})

    usual_C: ClassVar[float]
    """The default of C where M is 1."""

    def __post_init__(self) -> None:
        if not isinstance(self.scale_free, (bool, np.bool_)):
            raise InvalidParameterError(
                f"scale_free={self.scale_free!r} must be False, the paper's C, or True, a C that means the same on any "
                "number of rows."
            )

    @property
    def power_of_paper(self) -> int:
        """The power of M that the paper's C has to grow with: -1 for the price of a row, 1 for a number of rows."""
        return -1

    @property
    def power_of_rows(self) -> int:
        return 0 if self.scale_free else self.power_of_paper

    def multiplicities(self, rows: Rows) -> Vector:
        return rows.counts / rows.n_samples if self.scale_free else rows.counts

    def total(self, n_samples: float) -> float:
        """M, as the formulas have it."""
        return 1.0 if self.scale_free else n_samples


@dataclass
class PricesLoss(CountsRows):
    """C is the price of a unit of loss of one row; with ``scale_free=True`` that of the mean loss, as in "logistic"."""

    usual_C: ClassVar[float] = 50.0

    def default_C(self, n_samples: float) -> float:
        return self.usual_C / self.total(n_samples)

    def C_grid(self, n_samples: float, k: int = 10) -> Vector:
        return np.geomspace(2.0, 2000.0, k) if self.scale_free else regularisation_grid(k)


@dataclass
class PricesMeanLoss(Formulation):
    """A loss with a ridge and a free intercept, whose C is the price of the mean loss.

    With n rows, C is the ridge n/C beside the sum of the losses. The class attributes below are such ridges.
    """

    objective_sign: ClassVar[int] = 1
    optimize: ClassVar[str] = "leaves"
    has_intercept: ClassVar[bool] = True
    default_ridge: ClassVar[float] = 25.0
    growing_ridges: ClassVar[tuple[float, ...]] = (5.0, 20.0, 100.0)
    """Trees are grown with the nearest of these, so that all values of C share a few sets of trees."""
    grid_ridges: ClassVar[tuple[float, float]] = (300.0, 1.0)
    least_growing_rows: ClassVar[int] = LEAST_ROWS
    """With fewer rows, trees are grown as with this number of rows."""

    def size_of(self, rows: Rows) -> float:
        """The number of rows."""
        return rows.n_observed

    def C_bounds(self, n_samples: float) -> tuple[float, float]:
        return SMALLEST_C, LARGEST_C

    def default_C(self, n_samples: float) -> float:
        return max(n_samples, LEAST_ROWS) / self.default_ridge

    def for_growing(self, rows: Rows) -> Formulation:
        n_rows = max(self.size_of(rows), self.least_growing_rows)
        ridge = min(self.growing_ridges, key=lambda one: abs(np.log(one * self.C_value / n_rows)))
        return replace(self, C=n_rows / ridge)

    def C_grid(self, n_samples: float, k: int = 10) -> Vector:
        return n_samples / np.geomspace(*self.grid_ridges, k)

    def prices(self, rows: Rows) -> Vector:
        """P_i = C c_i/M: the price of the loss of each row."""
        return rows.counts * (self.C_value / rows.n_samples)
