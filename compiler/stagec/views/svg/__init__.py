"""Drawings in SVG: shapes, lines and styles, for pages and for files of their own."""
