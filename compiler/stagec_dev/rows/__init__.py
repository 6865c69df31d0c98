"""Shelf: one module per kind of row, each telling how its rows are found, answered and compared."""
