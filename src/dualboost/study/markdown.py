"""The results as a page of text: blocks of Markdown between marks, which the report fills and leaves the rest alone.

A block stands between ``<!-- begin NAME -->`` and ``<!-- end NAME -->``; what is written around it is by hand.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from importlib import resources
from pathlib import Path

from ..errors import InvalidDataError
from .blocks import accuracy_by_dataset, accuracy_means, closeness, observations, opening, ranks, times, variants
from .blocks_of_sizes import equal_leaves, equal_trees, matches
from .figures import draw_pictures
from .results import Results

BLOCKS: dict[str, Callable[[Results], str]] = {
    "opening": opening,
    "observations": observations,
    "accuracy": accuracy_means,
    "accuracy by data set": accuracy_by_dataset,
    "closeness": closeness,
    "ranks": ranks,
    "variants": variants,
    "times": times,
    "equal trees": equal_trees,
    "equal leaves": equal_leaves,
    "matches": matches,
}
"""What each block holds."""
PICTURES = "pictures of "
"""A block with such a name shows a picture."""
BLOCK = re.compile(r"(<!-- begin (?P<name>[a-z ]+) -->\n)(?P<text>.*?)(<!-- end (?P=name) -->)", re.DOTALL)


def write_page(results: Results, path: str | Path) -> Path:
    """Fill the blocks of the file, or of a new one, and draw the pictures that it shows beside it."""
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    template = resources.files(__package__) / "page" / "results.md"
    text = path.read_text(encoding="utf-8") if path.exists() else template.read_text(encoding="utf-8")
    drawn = {picture.stem: picture.name for picture in draw_pictures(results, path.parent, f"{path.stem}_")}
    shown = {stem.removeprefix(f"{path.stem}_"): name for stem, name in drawn.items()}
    path.write_text(filled(text, results, shown), encoding="utf-8")
    return path


def filled(text: str, results: Results, pictures: dict[str, str]) -> str:
    """The text with its blocks made anew; ``pictures`` are names of files by what they show."""

    def block(match: re.Match[str]) -> str:
        name = match["name"]
        if name.startswith(PICTURES):
            file = pictures.get(name.removeprefix(PICTURES).replace(" ", "_"))
            content = f"\n![{name.removeprefix(PICTURES)}]({file})\n" if file else ""
        elif name in BLOCKS:
            content = BLOCKS[name](results)
        else:
            raise InvalidDataError(f"The page has a block {name!r}, which is not known; there are {sorted(BLOCKS)}.")
        return f"{match[1]}{content}{match[4]}"

    return BLOCK.sub(block, text)
