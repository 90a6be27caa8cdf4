"""Linear algebra over the rows: the only package that multiplies, or adds up, vectors with an entry for each row."""
