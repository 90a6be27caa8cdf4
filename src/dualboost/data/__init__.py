"""What comes in: features, rows, files."""
