"""Targets with centre zero and scale one, warnings of outliers, and errors in any unit."""

from __future__ import annotations

from decimal import Decimal
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri
from sklearn.metrics import r2_score

from .._typing import Vector
from ..arguments import warn_user
from ..errors import DataWarning, InvalidDataError
from ..workers import ALONE, Communicator
from ..workers.base import joined, smallest_reaching

ROUNDING = 1e-12
"""Predictions of a constant that are nearer to it than this share of its size are the constant."""


def r_squared(true: Any, predicted: Any, sample_weight: Any = None) -> float:
    """R²; for a constant, one if it is predicted and zero otherwise."""
    true, predicted, _ = _in_a_usual_unit(true, predicted)
    if len(true) > 1 and not np.ptp(true):
        return float(np.abs(predicted - true).max() <= ROUNDING * np.abs(true[0]))
    return float(r2_score(true, predicted, sample_weight=sample_weight))


def root_mean_square(true: Any, predicted: Any) -> float:
    """The root of the mean squared error, in the unit of the numbers."""
    true, predicted, unit = _in_a_usual_unit(true, predicted)
    return float(np.ldexp(np.sqrt(np.mean((true - predicted) ** 2)), unit))


def _in_a_usual_unit(true: Any, predicted: Any) -> tuple[Vector, Vector, int]:
    """Both divided by a power of two, which rounds nothing, and its exponent."""
    true, predicted = (np.asarray(values, dtype=float) for values in (true, predicted))
    largest = max(float(np.abs(values).max(initial=0.0)) for values in (true, predicted))
    unit = int(np.frexp(largest)[1]) if np.isfinite(largest) else 0
    return np.ldexp(true, -unit), np.ldexp(predicted, -unit), unit


# A fit gives the same bits in every unit of y: the centre is subtracted before whole numbers beyond double precision
# are rounded, and targets are rounded to fewer digits than a change of the unit preserves. If workers have parts of y,
# centre and scale are computed from all parts.

LARGEST_EXACT = 2.0**53
"""Whole numbers up to this are exact in double precision."""
LARGEST = float(np.finfo(np.float64).max)
GRID = 36
"""The bits of a target after the binary point; of a target beyond one, after its leading bit."""
LEAST_TAIL, LARGEST_TAIL = 0.1, 0.25
"""The share of rows beyond the outer quantiles on either side; it is larger if y has few distinct numbers."""
MANY = 13
"""With this many distinct numbers, y has the smaller share."""
LEAST_SHARE = 2.0**-46
"""A smaller distance of two quantiles, as a share of the largest difference, is a rounding error."""


class Standard(NamedTuple):
    """A target is ``(y - centre) / scale``."""

    centre: float
    """A whole number of Python if y has more digits than double precision."""
    scale: float


def without_decimals(y: Any) -> Any:
    """y with every ``Decimal`` as a whole number of Python or in double precision."""
    values = np.asarray(y)
    if values.dtype.kind != "O" or not any(isinstance(entry, Decimal) for entry in values.ravel().tolist()):
        return y
    plain = np.empty(values.size, dtype=object)
    plain[:] = [_without_decimal(entry) for entry in values.ravel().tolist()]
    return plain.reshape(values.shape)


def _without_decimal(entry: Any) -> Any:
    if not isinstance(entry, Decimal):
        return entry
    is_whole = entry.is_finite() and entry == entry.to_integral_value()
    return int(entry) if is_whole else float(entry)


def with_all_digits(y: NDArray[Any]) -> NDArray[Any]:
    """y in double precision, or in a type of more digits if necessary; an error names an entry that is no number."""
    if y.ndim != 1:
        raise InvalidDataError(f"y has {y.ndim} dimensions; it must have one number for each row.")
    numbers = _in_double_precision(y)
    if y.dtype.kind == "f":
        return y if y.dtype.itemsize > 8 else numbers
    if y.dtype.kind not in "iuO" or not len(y) or np.abs(numbers).max() <= LARGEST_EXACT:
        return numbers
    entries = [int(entry) if isinstance(entry, Integral) else entry for entry in y.tolist()]
    return numbers if any(isinstance(entry, (str, bytes)) for entry in entries) else np.array(entries, dtype=object)


def _in_double_precision(y: NDArray[Any]) -> Vector:
    if y.dtype.kind not in "biufOSU":
        raise InvalidDataError(f"y holds {y.dtype}, not numbers, which a regressor learns.")
    try:
        numbers = y.astype(np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise InvalidDataError(_not_a_number(y)) from error
    if not np.isfinite(numbers).all():
        row = int(np.flatnonzero(~np.isfinite(numbers))[0])
        raise InvalidDataError(f"y is {y[row]} in row {row}; every row needs a finite number: drop such rows.")
    return numbers


def _not_a_number(y: NDArray[Any]) -> str:
    for row, entry in enumerate(y.tolist()):
        try:
            float(entry)
        except (TypeError, ValueError):
            return f"y is {entry!r} in row {row}; every row needs a number: a regressor learns numbers only."
        except OverflowError:
            break
    return f"y is beyond the largest number, {LARGEST:.1e}, in row {row}: give y in a larger unit."


def differences(y: NDArray[Any], centre: float) -> Vector:
    """y - centre, taken before rounding where y has more digits than double precision; its centre is whole then."""
    with np.errstate(over="ignore"):
        apart = y - (int(centre) if y.dtype.kind == "O" else y.dtype.type(centre))
        return np.asarray(apart, dtype=np.float64)


def standardised(y: NDArray[Any], centre: float, scale: float) -> Vector:
    with np.errstate(over="ignore"):
        return np.asarray(differences(y, centre) / scale)


def by_deviation(y: NDArray[Any], weights: Vector, workers: Communicator = ALONE) -> Standard:
    """The mean and the standard deviation."""
    shares = _shares(weights, workers)
    least = -workers.max(-float(y.astype(np.float64).min()))
    centre = _moved(y, least, _mean(_finite(differences(y, least)), shares, workers))
    apart = _finite(differences(y, centre))
    apart = apart - _mean(apart, shares, workers)
    largest = _largest(apart, workers)
    scale = largest * np.sqrt(_mean((apart / (largest or 1.0)) ** 2, shares, workers))
    return Standard(centre, _positive(scale, centre))


def by_quantiles(y: NDArray[Any], weights: Vector, workers: Communicator = ALONE) -> Standard:
    """The median, and the distance of two quantiles relative to their distance under the normal distribution.

    A tenth of the rows on either side may be anywhere; at least one of five. If the quantiles coincide, the scale is
    the standard deviation.
    """
    shares = _shares(weights, workers)
    rough = _moved(y, _quantiles(y.astype(np.float64), shares, [0.5], workers)[0], 0.0)
    apart = _finite(differences(y, rough))
    few, _ = joined(workers, np.unique(apart)[:MANY])
    tail = float(np.clip(1.25 / len(np.unique(few)), LEAST_TAIL, LARGEST_TAIL))
    low, median, high = _quantiles(apart, shares, [tail, 0.5, 1.0 - tail], workers)
    is_apart = high - low > LEAST_SHARE * _largest(apart, workers)
    scale = (high - low) / (-2.0 * ndtri(tail)) if is_apart else by_deviation(y, weights, workers).scale
    centre = _moved(y, rough, median)
    return Standard(centre, _positive(scale, centre))


def by_mean(y: NDArray[Any], weights: Vector, workers: Communicator = ALONE) -> Standard:
    """The mean as the scale, for numbers that are never negative."""
    return Standard(0.0, _positive(_mean(y.astype(np.float64), _shares(weights, workers), workers), 0.0))


def rounded(targets: Vector) -> Vector:
    """Targets to the grid."""
    _, exponents = np.frexp(targets)
    bits = GRID - np.maximum(exponents, 0)
    return np.asarray(np.ldexp(np.rint(np.ldexp(targets, bits)), -bits))


def _shares(weights: Vector, workers: Communicator) -> Vector:
    shares = weights / workers.max(float(weights.max()))
    return np.asarray(shares / workers.sum(float(shares.sum())))


def _largest(values: Vector, workers: Communicator) -> float:
    return workers.max(float(np.abs(values).max()))


def _mean(values: Vector, shares: Vector, workers: Communicator) -> float:
    """The mean, without overflow or underflow."""
    largest = _largest(values, workers) or 1.0
    return largest * workers.sum(float(np.dot(values / largest, shares)))


def _quantiles(values: Vector, weights: Vector, shares: list[float], workers: Communicator) -> list[float]:
    """The weighted quantiles; the middle of two values if a share is reached between them."""
    total = workers.sum(float(weights.sum()))
    goals = np.array(shares) * total
    slack = 1e-12 * total
    lows, highs = smallest_reaching(workers, values, weights, np.array([goals - slack, goals + slack])).tolist()
    return [low if low == high else 0.5 * low + 0.5 * high for low, high in zip(lows, highs, strict=True)]


def _moved(y: NDArray[Any], centre: float, step: float) -> float:
    """The centre plus a step; a whole number if y has more digits than double precision."""
    return int(centre) + round(step) if y.dtype.kind == "O" else centre + step


def _finite(apart: Vector) -> Vector:
    if not np.isfinite(apart).all():
        raise InvalidDataError(f"y has numbers further apart than {LARGEST:.1e}: give y in a larger unit.")
    return apart


def _positive(scale: float, centre: float) -> float:
    """The scale; if all numbers are equal, their size, or one if they are zero."""
    return float(scale) if scale > 0 else abs(float(centre)) or 1.0


ONE_NUMBER = 1e-6
"""One number is an outlier if the variance of all others is a smaller share of its square."""


def warn_of_outliers(standard: Standard, reach: float, y: NDArray[Any], targets: Vector, workers: Communicator) -> None:
    """``targets`` are the standardised y; beyond ``reach`` they are clipped."""
    if np.isfinite(reach):
        _warn_of_those_beyond(standard, reach, targets, workers)
    elif _is_of_one_number(y, targets, workers):
        furthest = workers.max(float(np.abs(targets).max())) * standard.scale
        warn_user(
            f"One number of y is {furthest:.3g} from {standard.centre:.6g}, and the others vary so little beside it "
            "that hardly anything of them will be learnt. If it is an outlier, leave it out or take loss='huber'.",
            DataWarning,
        )


def _is_of_one_number(y: NDArray[Any], targets: Vector, workers: Communicator) -> bool:
    """Whether one number is so large that all others, which differ, are nearly equal beside it."""
    sizes = np.abs(targets)
    largest = workers.max(float(sizes.max(initial=0.0)))
    is_other = sizes < largest
    others = targets[is_other]
    spread = float(workers.max(np.array([others.max(initial=-np.inf), (-others).max(initial=-np.inf)])).sum())
    differ = workers.max(float((y[is_other] != y[is_other][:1]).any()))
    n_others, n_all = workers.sum(np.array([len(others), len(y)], dtype=float))
    return bool(differ and n_others == n_all - 1 and n_others * spread**2 < ONE_NUMBER * largest**2)


def _warn_of_those_beyond(standard: Standard, reach: float, targets: Vector, workers: Communicator) -> None:
    own = np.array([np.count_nonzero(np.abs(targets) > reach), len(targets)], dtype=float)
    n_beyond, n_all = workers.sum(own)
    if n_beyond:
        warn_user(
            f"{n_beyond:.0f} of {n_all:.0f} numbers of y are further than {reach * standard.scale:.3g} from their "
            f"median, {standard.centre:.6g}, and count as being so far: no prediction goes beyond. If they are no "
            "outliers, take the logarithm of y or loss='squared'.",
            DataWarning,
        )
