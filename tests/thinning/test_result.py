from dataclasses import replace

import matplotlib
import numpy as np
import pytest
from sklearn.ensemble import AdaBoostClassifier

from dualboost import thin

from .models import numbers

matplotlib.use("Agg")
import matplotlib.pyplot as plt

X, Y = numbers(n=500)


@pytest.fixture(scope="module")
def result():
    fitted = AdaBoostClassifier(n_estimators=40, random_state=0).fit(X, Y)
    return thin(fitted, X, Y, tolerance=0.02, random_state=0)


def test_plot_marks_what_was_taken(result):
    ax = result.plot()
    trees, taken = result.path["trees"], int(result.path["trees"][result.chosen])
    labels = [text.get_text() for text in ax.get_legend().get_texts()]
    assert f"taken: {taken} trees" in labels
    assert "the model as it was: 40 trees" in labels
    drawn = np.concatenate([line.get_xdata() for line in ax.lines[: len(set(result.path["way"]))]])
    np.testing.assert_array_equal(np.sort(drawn), np.sort(trees))
    assert "validation accuracy" in ax.get_ylabel()
    plt.close(ax.figure)


def test_the_legend_tells_ways_apart(result):
    path = {**result.path, "way": np.resize(np.array(["refit", "imitate"], dtype=object), len(result.path["way"]))}
    ax = replace(result, path=path).plot()
    labels = [text.get_text() for text in ax.get_legend().get_texts()]
    assert labels[:2] == ["leaves fitted to y", "leaves fitted to the model's predictions"]
    assert ax.lines[0].get_marker() != ax.lines[1].get_marker()
    plt.close(ax.figure)


def test_plot_draws_into_axes_given(result):
    figure, ax = plt.subplots()
    assert result.plot(ax) is ax
    plt.close(figure)


def test_plot_of_training_scores():
    fitted = AdaBoostClassifier(n_estimators=20, random_state=0).fit(X, Y)
    ax = thin(fitted, X, Y, tolerance=0.02, validation_fraction=None).plot()
    assert "training accuracy" in ax.get_ylabel()
    plt.close(ax.figure)


def test_summary_reads_as_a_table(result):
    summary = result.summary()
    lines = str(summary).splitlines()
    assert len(lines) == 1 + len(summary)
    assert summary["accuracy, rows given"][1] == pytest.approx(result.model.score(X, Y))
    assert summary["accuracy, validation"] == (
        result.full_score,
        result.path["validation_score"][result.chosen],
    )
    assert summary["bytes, saved"][1] < summary["bytes, saved"][0]


def test_path_is_a_table(result):
    pd = pytest.importorskip("pandas", reason="the table is shown as a data frame")
    frame = pd.DataFrame(result.path)
    assert list(frame) == ["way", "C", "trees", "members", "nodes", "train_score", "validation_score"]
    assert (frame["nodes"] == 3 * frame["trees"]).all()
