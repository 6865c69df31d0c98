"""Shelf: one module per benchmark, each defining one `Benchmark`; run by `python -m stagec_dev bench`."""
