"""Tasks: what y means, and how scores become predictions."""
