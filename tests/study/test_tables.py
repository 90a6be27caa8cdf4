import numpy as np
import pytest

from dualboost_study.protocol import PUBLISHED
from dualboost_study.tables import accuracy_table, compare_with_paper, paper_results, straying

from .conftest import DATASETS, synthetic


def test_the_best_are_marked(papers):
    table = accuracy_table(papers, "cart", 1)
    assert list(table.accuracy) == list(PUBLISHED)
    assert list(table.accuracy.index) == DATASETS
    assert table.best_totally_corrective["nm"].all()
    assert not table.best_totally_corrective["xgboost"].any()
    assert (table.best.sum(axis=1) >= 1).all()
    text = table.as_text()
    assert text.at["banana", "NM-Boost"] == "0.900!* / 20.0"
    assert list(text.index[-2:]) == ["mean", "median"]
    assert text.at["mean", "XGBoost"].endswith("/ 100.0")


def test_latex(papers):
    latex = accuracy_table(papers, "cart", 1).as_latex()
    assert latex.startswith(r"\begin{tabular}{lrrrrrrrrr}")
    assert r"\textbf{0.900}$^*$ / 20.0" in latex
    assert latex.count(r"\\") == 1 + len(DATASETS) + 2


def test_the_papers_tables_ship_with_the_study():
    paper = paper_results()
    assert paper.groupby("experiment").size().to_dict() == {
        "cart": 720,
        "confidence": 480,
        "optimal": 560,
        "reweight": 560,
    }
    assert paper["accuracy_mean"].between(0.4, 1.0).all()
    reweighted = paper[(paper["experiment"] == "reweight") & (paper["depth"] == 1) & (paper["method"] == "nm")]
    assert reweighted["accuracy_mean"].mean() == pytest.approx(0.800, abs=5e-4)
    assert reweighted["columns"].mean() == pytest.approx(16.4, abs=0.06)


def test_the_paper_compared_with_itself_does_not_stray():
    paper = paper_results()
    cart = paper[paper["experiment"] == "cart"].set_index(["depth", "dataset", "method"])

    def of(column):
        table = cart.loc[cart.index.get_level_values("dataset") == "banana", column].droplevel("dataset")
        return lambda experiment, depth, method, value: float(table[depth, method])

    results = synthetic(of("accuracy_mean"), of("columns"), values=1)
    comparison = compare_with_paper(results)
    banana = comparison[comparison["dataset"] == "banana"]
    np.testing.assert_allclose(banana["strays"], 0.0, atol=1e-12)
    assert "xgboost" not in set(comparison["method"])
    assert straying(banana)["median |strays|"].max() == pytest.approx(0.0, abs=1e-12)


def test_summaries_are_over_the_data_sets_that_every_method_has(papers):
    table = accuracy_table(papers, "cart", 1)
    table.accuracy.loc["titanic", "nm"] = np.nan
    text = table.as_text()
    assert text.at["titanic", "NM-Boost"] == ""
    expected = table.accuracy["xgboost"].drop("titanic").mean()
    assert text.at["mean", "XGBoost"].startswith(f"{expected:.3f}")


def test_latex_escapes_names(papers):
    table = accuracy_table(papers, "cart", 1)
    renamed = [frame.rename(index={"banana": "a_b & c"}) for frame in (table.accuracy, table.deviation, table.trees)]
    assert r"a\_b \& c & " in type(table)(*renamed).as_latex()
