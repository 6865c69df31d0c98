"""Shelf: one package per driver, a way to store the history of runs and to pass requests to the world."""
