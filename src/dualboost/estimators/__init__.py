"""The scikit-learn estimators: the interface for users."""
