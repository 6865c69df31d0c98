"""Shelf: one module per shelf of stagec, each telling how a new member of it begins."""
