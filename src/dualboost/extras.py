"""The packages that parts of dualboost ask for, and how to install them."""

from __future__ import annotations

REQUIREMENTS = {
    "clarabel": "clarabel>=0.9",
    "click": "click>=8.1",
    "cupy": "cupy-cuda12x[ctk]>=14.0",
    "dask": "dask[array,dataframe]>=2024.1",
    "distributed": "distributed>=2024.1",
    "folktables": "folktables>=0.0.12",
    "matplotlib": "matplotlib>=3.8",
    "onnx": "onnx>=1.17",
    "pandas": "pandas>=2.0",
    "pooch": "pooch>=1.6",
    "pyarrow": "pyarrow>=14.0",
    "pystreed": "pystreed>=1.3",
    "tomli": "tomli>=2.0",
    "tqdm": "tqdm>=4.66.6",
    "xgboost": "xgboost>=2.1",
}
"""As in ``pyproject.toml``."""


def how_to_install(*packages: str) -> str:
    """The command that installs packages, wherever dualboost itself was installed from."""
    return " ".join(["pip install", *(f"'{REQUIREMENTS[name]}'" for name in packages)])
