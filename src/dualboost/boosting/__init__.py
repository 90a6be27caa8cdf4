"""The algorithm: price a column, re-optimise every weight, repeat."""
