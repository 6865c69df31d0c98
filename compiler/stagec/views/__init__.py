"""Drawings of flows: the layout, and the files of every format."""
