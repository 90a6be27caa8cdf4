"""Losses as users write them: copies of ours, and two that we do not have."""

from __future__ import annotations

import numpy as np
from scipy.special import expit, xlogy

from dualboost.formulations import MarginLoss, ResidualLoss


class OwnLogistic(MarginLoss):
    slopes = (-1.0, 0.0)
    has_final_scores = True

    def value(self, m):
        return np.logaddexp(0.0, -m)

    def derivative(self, m):
        return -expit(-m)

    def curvature(self, m):
        return expit(m) * expit(-m)

    def conjugate(self, slope):
        return xlogy(-slope, -slope) + xlogy(1.0 + slope, 1.0 + slope)


class OwnSquared(ResidualLoss):
    slopes = (-np.inf, np.inf)

    def value(self, r):
        return 0.5 * r**2

    def derivative(self, r):
        return r

    def curvature(self, r):
        return np.ones_like(r)

    def conjugate(self, slope):
        return 0.5 * slope**2


class SmoothHinge(MarginLoss):
    """A hinge loss that is a parabola over a margin of ``width`` below one."""

    width: float = 1.0
    slopes = (-1.0, 0.0)

    def value(self, m):
        missing = 1.0 - m
        return np.where(
            missing > self.width, missing - 0.5 * self.width, 0.5 * np.maximum(missing, 0) ** 2 / self.width
        )

    def derivative(self, m):
        return -np.clip((1.0 - m) / self.width, 0.0, 1.0)

    def curvature(self, m):
        return np.where((m < 1.0) & (m > 1.0 - self.width), 1.0 / self.width, 0.0)

    def conjugate(self, slope):
        return slope + 0.5 * self.width * slope**2


class LogCosh(ResidualLoss):
    slopes = (-1.0, 1.0)

    def value(self, r):
        return np.logaddexp(r, -r) - np.log(2.0)

    def derivative(self, r):
        return np.tanh(r)

    def curvature(self, r):
        return 1.0 - np.tanh(r) ** 2

    def conjugate(self, slope):
        return 0.5 * (xlogy(1.0 + slope, 1.0 + slope) + xlogy(1.0 - slope, 1.0 - slope))


class Exponential(MarginLoss):
    """Its slope has no lower bound."""

    slopes = (-np.inf, 0.0)

    def value(self, m):
        return np.exp(-m)

    def derivative(self, m):
        return -np.exp(-m)

    def curvature(self, m):
        return np.exp(-m)

    def conjugate(self, slope):
        return xlogy(-slope, -slope) + slope
