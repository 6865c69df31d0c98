"""From what a front end makes of a flow without errors to its plan: sources and facts are added."""

from stagec.freeze.freeze import freeze

__all__ = ["freeze"]
