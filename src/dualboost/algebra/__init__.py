"""The only place with arrays as long as the rows."""
