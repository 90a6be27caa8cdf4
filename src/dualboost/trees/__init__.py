"""Base learners: decision trees, how they are built from splits, and LightGBM's text form of trees."""
