"""``dualboost export``: writes a model in another format or language."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from .options import FILE, JSON


@click.command()
@click.argument("model", type=FILE)
@click.option("-o", "--out", type=FILE, required=True, help="The file to write: .c, .sql, .onnx or .txt.")
@click.option("--name", help="In C: how the names of functions begin [default: model].")
@click.option("--probability-of", help="In SQL: the class whose probability is asked for [default: the prediction].")
@click.option("--quantile", type=float, help="In SQL: the level asked for, of a model with several quantiles.")
@click.option("--end", type=click.Choice(["lower", "upper"]), help="In SQL: the end of the outermost interval.")
@JSON
def export(model: Path, out: Path, as_json: bool, **options: Any) -> None:
    """Write a model as C (.c), an expression of SQL (.sql), ONNX (.onnx) or a LightGBM model (.txt).

    The ending of the file's name says which.
    """
    from ..data.whole_files import write_whole
    from ..errors import InvalidDataError, InvalidParameterError
    from ..export.files import FORMATS
    from ..loading import load_model
    from .output import report, require_place

    require_place(out, model)
    if out.suffix not in FORMATS:
        raise InvalidParameterError(f"--out {out}: the name must end with one of {', '.join(FORMATS)}.")
    wanted = FORMATS[out.suffix]
    given = {name: value for name, value in options.items() if value is not None}
    for name, value in given.items():
        if name not in wanted.options:
            raise InvalidParameterError(f"--{name.replace('_', '-')} {value} is not for {out.suffix}: leave it out.")
    fitted = load_model(model)
    if "probability_of" in given:
        given["probability_of"] = _label(fitted, given["probability_of"])
    content = wanted.content(fitted, **given)
    try:
        write_whole(out, content)
    except OSError as error:
        raise InvalidDataError(f"{out}: cannot be written: {error.strerror or error}.") from error
    trees = fitted.tree_sum().trees
    figures = {"export": str(out), "bytes": len(content), "trees": len(trees)}
    report(figures | {"leaves": sum(tree.n_leaves for tree in trees)}, as_json)


def _label(fitted: Any, text: str) -> Any:
    """The class that is written so; the text itself if there is none, which the export then refuses."""
    classes = getattr(fitted, "classes_", ())
    return next((label for label in classes if str(label) == text), text)
