"""Shelf: one package per way of keeping the history of runs and of asking the world what the machine asks."""
