"""Shelf of families, each a shelf of rules: phases state facts, rules turn facts into findings."""

LEFT_BY_RUNS = frozenset({"checkpoints", "markers"})
"""Families that judge what runs leave, and nothing in a project: other commands than `validate` ask them."""
