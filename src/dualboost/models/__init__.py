"""Fitted models: a weighted ensemble, its scores, and the figures of the fit."""
