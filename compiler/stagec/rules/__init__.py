"""Shelf of families, each a shelf of rules. Phases state facts; rules turn facts into findings."""
