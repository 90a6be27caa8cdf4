"""Draw the pictures of the pages anew, from the gallery's examples: ``python docs/pictures.py``."""

from __future__ import annotations

import runpy
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

DOCS = Path(__file__).parent
GALLERY = DOCS.parent / "examples" / "gallery"

PICTURES = {
    "plot_1_accuracy.py": {2: "idea_weights.png"},
    "plot_2_duals.py": {1: "idea_duals.png", 2: "idea_pricing.png"},
    "plot_3_tuning.py": {1: "tuning.png"},
    "plot_5_certificates.py": {1: "certificates.png"},
    "plot_7_intervals.py": {1: "intervals.png"},
    "plot_8_effects.py": {1: "effects.png"},
}
"""By example and number of the figure: the file."""


def main() -> None:
    for example, figures in PICTURES.items():
        plt.close("all")
        runpy.run_path(str(GALLERY / example))
        for number, name in figures.items():
            plt.figure(number).savefig(DOCS / name, dpi=110)
            print(DOCS / name)


if __name__ == "__main__":
    main()
