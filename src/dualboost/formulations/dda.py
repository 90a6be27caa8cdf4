"""LP-Boost by dynamic data reduction."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..errors import InvalidParameterError
from .lp import LPBoost


@dataclass
class DDABoost(LPBoost):
    """DDA: LP-Boost whose masters and pricings look at active rows only, and whose result is certified over all rows.

    Primal and Dual are those of ``lp``, over all rows. On the way they are solved, and columns priced, over

    1. a sample of ``sample`` rows, half of either class, with bounds that are scaled so that it stands for all rows;
       while it misleads, a sample four times as large, up to a quarter of the rows;
    2. then the active rows: those with a margin below 1, and some above it; the others have u_i = 0;
    3. for the result, the rows near a margin of 1; those below it, which have u_i = C c_i, in bundles.

    Rows mislead when their objective differs from that of all rows by more than the gap on them; active rows are then
    chosen anew. The result is optimal when none that is left out makes a difference: u, with zeros there, is dual
    feasible over all rows. Objective and gap are those of all rows at every iteration; on a sample the gap is large, as
    it says little of the dual of all rows. With at most ``sample`` rows this is ``lp``.

    Pricing: a column improves when its edge exceeds 1; learners are grown on the rows with a sample weight.

    C: the price of a unit of slack, as for ``lp``. Default: 50/M. Paper's range: not known, ours is that of ``lp``.
    ``sample``: how many rows to begin with, at least 2.

    Paper: after Aziz, Wu, Nowak, Hendrix & Kronqvist, "On optimizing ensemble models using column generation", Journal
    of Optimization Theory and Applications 203 (2024). The text was not at hand: its phases, and rows chosen by sparse
    duals, are as Akkerman et al. (2025) describe them. Samples, bundles, when rows are chosen anew, and the certificate
    are ours; its nonlinear losses and its diversity of learners are not here.
    """

    sample: int = 20_000

    name: ClassVar[str] = "dda"
    title: ClassVar[str] = "DDA"
    optimises: ClassVar[str] = "hinge loss plus the sum of the weights, by way of active rows"
    use: ClassVar[str] = "As lp, in less time on hundreds of thousands of rows."

    def __post_init__(self) -> None:
        is_whole = isinstance(self.sample, (int, np.integer)) and not isinstance(self.sample, bool)
        if not is_whole or self.sample < 2:
            raise InvalidParameterError(f"sample={self.sample!r} must be a whole number of rows, at least 2.")

    @property
    def n_sampled(self) -> int:
        return int(self.sample)
