"""LP-Boost by dynamic data reduction."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral
from typing import ClassVar

from ..errors import InvalidParameterError
from .lp import LPBoost


@dataclass(frozen=True)
class DDABoost(LPBoost):
    """DDA: LP-Boost whose masters and pricings look at active rows only, and whose result is certified over all rows.

    Primal and Dual are those of ``lp``, over all rows. On the way they are solved over

    1. a sample of ``sample`` rows, half of either class, whose bounds are scaled so that it stands for all rows;
    2. once the sample misleads, the active rows: those whose margins are near 1; those far below 1, which have
       u_i = C c_i, in bundles; and none of those far above 1, which have u_i = 0. They are chosen anew, by the margins
       of all rows, when the objective over all rows differs from that over the active ones by more than their gap.

    The weights are optimal when no row left out makes a difference: then u, with zeros there, is dual feasible over all
    rows. Objective and gap are those of all rows at every iteration; before the first choice of active rows the gap is
    large, as a sample has little to say of the dual of all rows. With at most ``sample`` rows it is ``lp``.

    Pricing: a column improves when its edge exceeds 1; learners are grown on the rows with a sample weight.

    C: the price of a unit of slack, as for ``lp``. Default: 50/M. Paper's range: that of ``lp`` in its own paper.
    ``sample``: how many rows to begin with, at least 2.

    Paper: after Aziz, Wu, Nowak, Hendrix & Kronqvist, "On optimizing ensemble models using column generation", Journal
    of Optimization Theory and Applications 203 (2024). The text was not at hand. Its three phases, and active rows
    chosen by sparse duals, are from the description in Akkerman et al. (2025); the sample and its size, the bundles,
    when rows are chosen anew, and the certificate are ours. Its nonlinear losses and its measure of diversity are not here.
    """

    sample: int = 20_000

    name: ClassVar[str] = "dda"
    title: ClassVar[str] = "DDA"
    optimises: ClassVar[str] = "hinge loss plus the sum of the weights, by way of active rows"
    use: ClassVar[str] = "As lp, in less time on hundreds of thousands of rows."

    def __post_init__(self) -> None:
        if isinstance(self.sample, bool) or not isinstance(self.sample, Integral) or self.sample < 2:
            raise InvalidParameterError(f"sample={self.sample!r} must be a whole number of rows, at least 2.")

    @property
    def n_sampled(self) -> int:
        return int(self.sample)
