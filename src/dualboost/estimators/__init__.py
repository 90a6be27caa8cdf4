"""The scikit-learn estimators, which are what users call."""
