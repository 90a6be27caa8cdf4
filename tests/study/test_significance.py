import numpy as np
import pandas as pd
import pytest
from scipy.stats import wilcoxon

from dualboost_study.tables import AccuracyTable, significance


def table(accuracy):
    return AccuracyTable(accuracy, accuracy, accuracy)


def accuracies(n=12, seed=0, gaps=(0.0, 0.0, 0.05)):
    rng = np.random.default_rng(seed)
    base = rng.uniform(0.6, 0.9, n)[:, None]
    values = base + np.array(gaps) + 0.005 * rng.standard_normal((n, len(gaps)))
    return pd.DataFrame(values, columns=["nm", "lp", "xgboost"][: len(gaps)])


def test_a_method_that_always_wins_is_told_apart():
    found = significance(table(accuracies()))
    assert found.ranks.index[0] == "xgboost"
    assert found.ranks.iloc[0] == 1.0
    assert found.friedman_p < 0.001
    assert found.groups == [sorted(["nm", "lp"], key=list(found.ranks.index).index)]
    worst = found.pairs.set_index(["method", "other"])["corrected_p"]
    assert worst["lp", "xgboost"] < 0.01
    assert worst["nm", "lp"] > 0.05


def test_p_values_are_scipys_corrected_by_holm():
    accuracy = accuracies(gaps=(0.0, 0.01, 0.02)).round(4)
    found = significance(table(accuracy)).pairs
    expected = sorted(
        wilcoxon(accuracy[a] - accuracy[b]).pvalue for a, b in (("nm", "lp"), ("nm", "xgboost"), ("lp", "xgboost"))
    )
    np.testing.assert_allclose(found["p"], expected)
    holm = np.maximum.accumulate(np.minimum(np.array(expected) * [3, 2, 1], 1.0))
    np.testing.assert_allclose(found["corrected_p"], holm)


def test_the_critical_difference_is_demsars():
    """Table 5 of the paper: q = 3.102 for nine classifiers; with 20 data sets the difference is 2.686."""
    rng = np.random.default_rng(0)
    names = ["nm", "qrlp", "lp", "cg", "erlp", "md", "adaboost", "xgboost", "lightgbm"]
    found = significance(table(pd.DataFrame(rng.random((20, 9)), columns=names)))
    assert found.critical_difference == pytest.approx(3.102 * np.sqrt(9 * 10 / (6 * 20)), rel=1e-3)


def test_few_data_sets_prove_nothing():
    assert significance(table(accuracies(n=4))) is None


def test_equal_methods_do_not_differ():
    same = pd.DataFrame({name: np.linspace(0.6, 0.9, 8) for name in ("nm", "lp", "cg")})
    with np.errstate(invalid="ignore"):
        found = significance(table(same))
    assert (found.pairs["corrected_p"] == 1.0).all()
    assert len(found.groups[0]) == 3
