"""Names that a terminal, a spreadsheet, a page, a compiler or a database would take for something else."""

import csv
import io
import tempfile
import unicodedata
from pathlib import Path
from xml.etree import ElementTree

import numpy as np

from dualboost.inspection.html import fitted_html
from dualboost.plots import plot_tree

from ..command_line import called
from .answers import require_same_elsewhere
from .case import Case
from .sane import require

HOSTILE = (
    "a", "A", "b", "B", "", " ", "a ", '"', "'", "''", '""', "a\nb", "\r\n", "tab\there", "\x1b[31mred\x1b[0m",
    "\x1b]0;title\x07", "*/", "/*", "*/ int x; /*", "??/", "??/\n", "\\", "\\n", "$x$", "$\\frac{", "100%", "{0}",
    "=HYPERLINK(1)", "+1+1", "-1", "@SUM(A1)", "-x", "\t=1", "<script>alert(1)</script>", "&amp;", "<!--", "]]>",
    "\u202eabc", "\u2066x", "\u2028", "\u200b", "\ufeff", "\u0085", "\x7f", "\x00", "a\x00b", "😀", "👩\u200d💻",
    "é", "É", "e\u0301", "ß", "İ", "\u0131", "x" * 2000, "select", "NULL", "true", "from t; drop table t; --", "db",
    "t", "db_s", "DB_s0", "rowid", "c0", "_c0", "r0_0", "X", "label", "probabilities", "prediction", "interval",
    "quantiles", "intercept", "missing", "_hidden", "|", "a|b", "`", "[x]", "a.b", "a:b", "a,b", "a;b", "x=1",
    "?", ":x", "@x", "%s", "int", "model_predict", "nan", "None", "1", "01", "1.0", "1e5",
)  # fmt: skip
INVISIBLE = ("Cc", "Cf", "Cs", "Zl", "Zp")
"""The categories of characters that control a terminal, or cannot be seen there."""
ALLOWED = "\n\u200c\u200d"
"""The ends of lines, and what joins letters and emoji."""
TAGS = {"div", "span", "svg", "path", "rect", "circle", "polyline", "br"}
"""The elements of a summary in a notebook."""
FORMULAS = ("=", "+", "-", "@", "\t", "\r", "\n")
COMMANDS = (("show",), ("show", "--rules"), ("show", "--json"), ("predict",), ("predict", "--json"))


def _drawn(rng, n):
    """Different names, of which two may differ in case only."""
    found = rng.choice(HOSTILE, n, replace=False).tolist()
    other = found[0].swapcase()
    return [*found[:-1], other] if rng.random() < 0.3 and other not in found else found


def draw_names(rng, targets):
    """A table with hostile names of columns, and hostile categories and classes; one column at least is text."""
    n = int(rng.integers(24, 60))
    names = _drawn(rng, int(rng.integers(2, 6)))
    codes = {name: rng.integers(0, int(rng.integers(2, 5)), n) for name in names}
    has_words = [True, *(rng.random(len(names) - 1) < 0.4)]
    total, columns = rng.normal(scale=0.3, size=n), {}
    for name, is_text in zip(names, has_words, strict=True):
        values = codes[name] if is_text else rng.normal(size=n)
        words = _drawn(rng, 4)
        columns[name] = [words[code] for code in codes[name]] if is_text else values.tolist()
        total += rng.choice([-1.0, 1.0]) * np.sin(values)
    n_classes = int(rng.integers(1, 4))
    options = {"max_trees": str(rng.integers(2, 6)), "max_depth": str(rng.integers(1, 4)), "random_state": "0"}
    if n_classes > 1:
        labels = [f"{label}." if label.endswith("\x00") else label for label in _drawn(rng, n_classes)]
        places = np.quantile(total, np.linspace(0, 1, n_classes + 1)[1:-1])
        y = [labels[code] for code in np.digitize(total, places)]
        estimator, options = "DualBoostClassifier", options | {"formulation": str(rng.choice(["'logistic'", "'cg'"]))}
    else:
        y, estimator = total.tolist(), "DualBoostRegressor"
        options |= {"loss": "'quantile'", "quantiles": "[0.1, 0.9]"} if rng.random() < 0.3 else {}
    return Case(estimator, options, columns, y, more={"target": targets[rng.integers(len(targets))]})


def require_names_shown(model, case):
    """Exports and files answer as the model does or are refused, and whatever is shown has visible characters only."""
    require_same_elsewhere(model, case, case.more["target"])
    require_visible(repr(model), "repr")
    page = fitted_html(model)
    require(page != "", "there is no summary")
    require_visible(page, "the summary")
    require({one.tag for one in ElementTree.fromstring(page).iter()} <= TAGS, "the summary has elements of its names")
    if model.n_trees_:
        _require_drawn(model)
    with tempfile.TemporaryDirectory() as folder:
        model.save(Path(folder, "model.json"))
        case.X().to_parquet(Path(folder, "rows.parquet"))
        for command in COMMANDS:
            _require_printed(command, folder)


def require_visible(text, what):
    odd = {one for one in text if unicodedata.category(one) in INVISIBLE and one not in ALLOWED}
    require(not odd, what, "holds", sorted(map(ascii, odd)))


def _require_printed(command, folder):
    files = ["model.json", "rows.parquet"] if command[0] == "predict" else ["model.json"]
    done = called(command[0], *files, *command[1:], cwd=folder)
    require(done.returncode == 0, command, "failed:", done.stderr)
    content = done.stdout if command[0] == "predict" else ""  # redirected, it is data, which stay as they are
    require_visible(done.stderr if content else done.stdout + done.stderr, " ".join(command))
    if command == ("predict",):
        for cell in [cell for line in csv.reader(io.StringIO(done.stdout)) for cell in line]:
            require(not cell.startswith(FORMULAS) or _is_number(cell), "a spreadsheet would compute", repr(cell))


def _is_number(cell):
    try:
        return np.isfinite(float(cell))
    except ValueError:
        return False


def _require_drawn(model):
    """Labels are drawn letter by letter."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot
    from matplotlib.text import Text

    try:
        figure = plot_tree(model).figure
        for text in figure.findobj(Text):
            require_visible(text.get_text(), "a label")
            require(not text._preprocess_math(text.get_text())[1], "a label is mathematics:", text.get_text())
    finally:
        pyplot.close("all")
