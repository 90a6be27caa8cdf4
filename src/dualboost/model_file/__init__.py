"""Fitted models as JSON files, written by ``save`` and read by ``load_model``, as in ``docs/model_format.md``."""
