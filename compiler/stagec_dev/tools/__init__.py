"""Shelf: one module per contributors' tool, called what a contributor types."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Callable

from stagec.core.value import value


@value
class DeveloperTool:
    """A tool for contributors: its command line, and its function; `run` returns the exit status."""

    declare: Callable[[ArgumentParser], None]
    run: Callable[[Namespace], int]
