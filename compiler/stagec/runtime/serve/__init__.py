"""The page of `stagec serve`: runs as they go, on the graph of their plan; imported by its command alone."""
