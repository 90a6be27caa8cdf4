"""The snippets of docs/inspection.md run, one after the other."""

import re
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

PAGE = Path(__file__).parents[2] / "docs" / "inspection.md"


def test_the_snippets_run(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    snippets = re.findall(r"^```python\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
    assert len(snippets) >= 6
    variables = {}
    for snippet in snippets:
        exec(compile(snippet, PAGE.name, "exec"), variables)
    plt.close("all")
    assert "worst" in capsys.readouterr().out
