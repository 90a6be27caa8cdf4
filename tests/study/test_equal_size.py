"""The experiment of equal sizes: what is recorded of a fit, and who is best within a budget."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from dualboost_study import Preset, read_results, run_study
from dualboost_study.fitting import prepared, run_cell
from dualboost_study.observations import OBSERVATIONS
from dualboost_study.protocol import METHODS, Cell, Settings
from dualboost_study.results import TABLES, write_compact
from dualboost_study.sizes import (
    ANY_DEPTH,
    BUDGETS,
    COLUMNS,
    LEAVES,
    TREES,
    contestant,
    size_means,
    sizes_table,
    trees_to_match,
    within_budgets,
)
from dualboost_study.summary import sentences, verdicts

from .conftest import synthetic

SMALL = Preset(
    experiments=("equal_size",),
    datasets=("twonorm",),
    methods=("nm", "cg", "adaboost", "xgboost", "lightgbm", "logistic"),
    depths=(1, 2),
    seeds=1,
    values=2,
    iterations=12,
    most_rows=300,
)
AT = {budget: k for k, budget in enumerate(BUDGETS)}


def recorded(method, depth=2, value=1):
    return run_cell(Cell("equal_size", "twonorm", method, depth, 0, value), SMALL, None)


@pytest.mark.parametrize("method", [name for name in SMALL.methods if name != "nm"])
def test_within_a_budget_of_trees_is_a_fit_with_so_many(method):
    """The ensemble on the way of a long fit is the one that a short fit gives; NM-Boost would drop trees later."""
    record = recorded(method)
    assert "error" not in record, record.get("error")
    parts = prepared("twonorm", 0, None, SMALL.preparation, SMALL.most_features, SMALL.most_rows)
    settings = Settings("equal_size", 2, 5, 100.0, "every", 1.0, 0, SMALL.epsilon)
    fitted = METHODS[method].fit(*parts["train"], record["hyperparameter"], settings)
    X, y = parts["test"]
    k = AT["trees", 5]
    assert record["within_trees"][k] == fitted.n_trees == 5
    assert record["within_leaves"][k] == fitted.n_leaves
    correct = np.where(METHODS[method].scores(fitted.model, X) > 0, 1.0, -1.0) == y
    assert record["within_test"][k] == pytest.approx(correct.mean(), abs=1e-6)


@pytest.mark.parametrize("method", SMALL.methods)
def test_nothing_is_beyond_its_budget(method):
    record = recorded(method)
    for k, (kind, budget) in enumerate(BUDGETS):
        assert record[f"within_{kind}"][k] <= budget
    largest = AT["trees", TREES[-1]]
    assert record["within_trees"][largest] == record["trees"]
    assert record["within_test"][largest] == record["test_accuracy"]


def test_a_budget_that_nothing_fits_into_has_the_majority():
    """No tree of depth 5 with more than ten leaves is within ten leaves."""
    record = recorded("adaboost", depth=5)
    k = AT["leaves", LEAVES[0]]
    assert (record["within_trees"][k], record["within_leaves"][k]) == (0, 0)
    assert 0.4 < record["within_test"][k] < 0.6


def test_rates_are_those_that_few_trees_need():
    rates = contestant("xgboost").grid(100, 6)
    assert rates[0] == pytest.approx(0.05)
    assert rates[-1] == pytest.approx(1.0)
    np.testing.assert_allclose(contestant("nm").grid(100, 6), METHODS["nm"].grid(100, 6))


def test_a_run_is_read_as_a_table(tmp_path):
    run_study(replace(SMALL, methods=("nm", "xgboost")), tmp_path)
    sizes = read_results(tmp_path).sizes
    assert list(sizes) == COLUMNS
    assert len(sizes) == 2 * 2 * 2 * len(BUDGETS)
    assert sizes_table([]).empty


def table(accuracy, trees=lambda method, budget: budget, methods=("nm", "md", "xgboost", "logistic")):
    """A table of sizes in which test and validation accuracies are a function of (method, depth, budget)."""
    rows = [
        [*("equal_size", dataset, method, depth, 0, value, kind, budget),
         *2 * [accuracy(method, depth, budget) - 0.01 * value], *2 * [trees(method, budget)]]
        for dataset in ("banana", "heart")
        for method in methods
        for depth in (1, 3)
        for value in (0, 1)
        for kind, budget in BUDGETS
    ]  # fmt: skip
    return pd.DataFrame(rows, columns=COLUMNS)


def test_values_and_depths_are_chosen_on_validation_rows():
    sizes = table(lambda method, depth, budget: 0.7 + 0.01 * depth)
    chosen = within_budgets(sizes, "trees")
    assert set(chosen["value"]) == {0}
    assert chosen["depth"].eq(ANY_DEPTH).sum() == 2 * 4 * len(TREES)
    assert size_means(sizes, "trees").loc[(ANY_DEPTH, 5)].eq(0.73).all()
    sizes.loc[sizes["value"] == 1, "validation_accuracy"] += 0.1
    assert set(within_budgets(sizes, "trees")["value"]) == {1}


def test_how_many_trees_match():
    """NM-Boost has 0.8 with 20 trees; XGBoost reaches that within 40, and within as many as 20 has 0.7."""
    sizes = table(
        lambda method, depth, budget: 0.8 if method == "nm" or budget >= 40 else 0.7,
        lambda method, budget: min(budget, 20) if method == "nm" else budget,
    )
    row = trees_to_match(sizes, ["nm"], ["xgboost"]).set_index("depth").loc[1]
    assert row["accuracy"] == pytest.approx(0.8)
    assert row["trees"] == 20
    assert row["rivals_at_most_as_many"] == pytest.approx(0.7)
    assert row["rival_trees"] == 40
    assert row["own_trees"] == 1
    by_chance = sizes.assign(
        test_accuracy=sizes["test_accuracy"] + 0.1 * sizes["budget"].eq(3) * sizes["method"].eq("xgboost")
    )
    assert trees_to_match(by_chance, ["nm"], ["xgboost"])["rival_trees"].eq(40).all(), "a peak is no match"
    never = table(lambda method, depth, budget: 0.8 if method == "nm" else 0.7)
    assert trees_to_match(never, ["nm"], ["xgboost"])["rival_trees"].isna().all()


@pytest.mark.parametrize(("lead", "holds"), [(0.02, True), (-0.02, False)])
def test_the_nineteenth_question(lead, holds):
    everyone = ("nm", "qrlp", "lp", "cg", "erlp", "md", "adaboost", "xgboost", "lightgbm", "logistic")
    sizes = table(lambda method, depth, budget: 0.8 + (lead if method == "lp" else 0.0), methods=everyone)
    results = replace(synthetic(lambda *cell: 0.8, lambda *cell: 10, values=1), sizes=sizes)
    verdict = OBSERVATIONS[19].judge(results)
    assert verdict.holds is holds
    assert verdict.figures["depth 1, 5 trees, the six"] == pytest.approx(max(lead, 0.0))
    said = " ".join(sentences(results, verdicts(results)))
    assert "Within 20 trees" in said
    assert "logistic over leaves reaches 0.800" in said


def test_compact_results_choose_the_same(tmp_path):
    """Only the rows that are chosen for a depth are kept; all else is made of them."""
    run_study(replace(SMALL, methods=("nm", "xgboost")), tmp_path / "run")
    results = read_results(tmp_path / "run")
    write_compact(results, tmp_path / "run", tmp_path / "kept", TABLES)
    kept = read_results(tmp_path / "kept")
    assert len(kept.sizes) == len(results.sizes) / 2, "two values"
    for kind in ("trees", "leaves"):
        pd.testing.assert_frame_equal(within_budgets(kept.sizes, kind), within_budgets(results.sizes, kind))
