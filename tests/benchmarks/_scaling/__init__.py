"""Shelf: the dimensions of projects, one module for each subject."""
