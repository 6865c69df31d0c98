"""Drawings of flows: what is drawn where, and the files of every format."""
