"""Shelf of families, each a shelf of rules: phases state facts, rules turn facts into findings."""
