"""Reads and prepares data: features, training rows, and files."""
