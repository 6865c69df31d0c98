"""Drawings in the language of Graphviz, and the program that lays them out."""
