"""The version of stagec, and where its documentation lives."""

__version__ = "0.1.0"

DOCUMENTATION = "https://stagec.readthedocs.io/en/latest"
