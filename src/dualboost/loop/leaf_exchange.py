"""Stumps that are exchanged until no exchange lowers the objective, where the loss is quadratic in the scores."""

from __future__ import annotations

from ..pricing.stump_exchange import StumpExchange
from .leaf_ensemble import LeafEnsemble
from .leaf_wiring import LeafWiring


def exchanger_of(wiring: LeafWiring) -> StumpExchange | None:
    """Who compares all stumps for the places of those held; None where none does, or where the loss is another one.

    None too where stumps are grown on samples of the rows: what they are to do without is what the exchange would find.
    """
    stumps: StumpExchange | None = getattr(wiring.grower, "stumps", None)
    sees_all_rows = wiring.samples.share == 1.0
    return stumps if sees_all_rows and wiring.formulation.effort(wiring.rows).exchanges_stumps else None


def exchange_stumps(
    ensemble: LeafEnsemble, wiring: LeafWiring, stumps: StumpExchange, least_share: float, n_fixed: int
) -> float:
    """Exchange stumps at the programme of the ensemble, whose leaves end at the optimum; returns the objective's fall.

    ``least_share`` is the share of the objective by which an exchange must lower it, and the first ``n_fixed`` stumps
    stay.
    """
    ensemble.point = wiring.optimum(ensemble.point)[0]
    before, stage, columns = ensemble.point, ensemble.stage(), ensemble.columns
    if not ensemble.held or any(ensemble.grown[j].tree.n_leaves != 2 for j in ensemble.held):
        return 0.0
    unit = wiring.unit(before)
    curvature, least = unit * before.curvature, unit * least_share * abs(before.objective)
    pull = unit * before.residual + curvature * before.scores
    goes_left = [columns.leaves(k) == 0 for k in range(columns.n_trees)]
    found = stumps.exchanged(goes_left, pull, curvature, unit * before.ridge, least, n_fixed)
    for place, grown in found.items():
        ensemble.put(place, grown)
    ensemble.point = wiring.optimum(ensemble.point)[0]
    if ensemble.point.objective > before.objective:  # rounding, where hardly anything was left to gain
        ensemble.restore(stage)
        ensemble.point = before
    return float(before.objective - ensemble.point.objective)
