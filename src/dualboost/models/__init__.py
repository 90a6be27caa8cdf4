"""Fitted models: a weighted ensemble, how it scores rows, and what is known of its fit."""
