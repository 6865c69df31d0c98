"""Shelf: one child per tool whose files stages are made of, each defining one `AgentReader`."""

from __future__ import annotations

from collections.abc import Callable

from stagec.core.value import value
from stagec.creation.adopted import Adopted
from stagec.creation.around import Around
from stagec.creation.collected import AgentText

__all__ = ["Adopted", "AgentReader", "AgentText", "Around"]


@value
class AgentReader:
    """The kinds of files of one tool, and the stage that is made of one of them.

    `agents` become stages wherever they are found. `others`, such as skills, do when nothing else is there, or when
    somebody names them.
    """

    agents: tuple[str, ...]
    others: tuple[str, ...]
    read: Callable[[AgentText, Around], Adopted]
