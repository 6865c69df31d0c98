"""Shelf: one module per contributors' tool, called what a contributor types."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Callable

from stagec.core.value import value


@value
class DeveloperTool:
    """What a tool takes on its command line, and what it does; `run` returns the exit status."""

    declare: Callable[[ArgumentParser], None]
    run: Callable[[Namespace], int]
