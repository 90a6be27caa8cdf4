"""Fitted models as JSON files: written by ``save``, read by ``load_model``; ``docs/model_format.md`` describes them."""
