"""SHELF: kinds of changes that make mutants, one module each."""
