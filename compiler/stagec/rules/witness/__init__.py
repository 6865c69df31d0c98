"""STG650-STG699: flows of which the machine completes no run, as a search on the machine itself has found."""

from collections.abc import Iterable

from stagec.core.place import Place
from stagec.core.rule import Family
from stagec.core.words import listing
from stagec.model.flow import Flow
from stagec.model.witness import LostEntry, SearchedFlow

FAMILY = Family(__name__, (range(650, 700),), SearchedFlow)
rule = FAMILY.rule


def name_beginnings(flow: Flow, lost: Iterable[LostEntry]) -> str:
    """Return the nodes with which runs from some entries begin, as a part of a sentence."""
    names = (entry.node for each in lost for entry in flow.list_begun(each.entry))
    return listing(dict.fromkeys(names), "or")


def locate_beginning(flow: Flow, lost: LostEntry) -> Place:
    """Return where it is written that runs begin there."""
    return next((entry.at for entry in flow.list_begun(lost.entry)), flow.at)
