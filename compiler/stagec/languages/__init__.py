"""Shelf: one package per system whose files stagec reads: from trees to documents, from documents to flows."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from stagec.core.value import value
from stagec.ir.agent import CalledAgent
from stagec.ir.flow import Flow, Occurrence
from stagec.ir.rights import FlowRights
from stagec.sources.discover import Anchor
from stagec.sources.read import Sources
from stagec.sources.tree import Tree

if TYPE_CHECKING:
    from stagec.ir.plan.document import Draft

__all__ = ["AnyFrontEnd", "CalledAgent", "FindAgent", "Flow", "FlowRights", "FrontEnd", "Sources", "Tree"]

D = TypeVar("D")
FindAgent = Callable[[str], CalledAgent | None]
"""Returns the agent whose definition a file is."""


def _always(_sources: Sources, _file: str) -> bool:
    return True


def _never(_file: str) -> bool:
    return False


def _none(document: object, _flow: Flow, _sources: Sources) -> Draft:
    raise TypeError(f"no plan can be made of {type(document).__name__}")


def _no_access(_document: object, _flow: Flow | None, _sources: Sources) -> tuple[FlowRights, ...]:
    return ()


def _no_names(_document: object) -> Iterable[Occurrence]:
    return ()


@value
class FrontEnd(Generic[D]):
    """How one system's files are recognised and read.

    `claims(file name)` tells whether discovery should look at a file, `considers(file name)` whether it should do so if
    nobody claims or reads it; `recognises(value)` whether a file that a user named by hand is one of this system's
    anyway, judged by what it says. `read(sources, files)` reads the claimed
    files and everything they refer to into documents; `lower(document)` says what a document means, or nothing when
    too much of it is missing. Where a name says too little, `sees(sources, file)` tells whether a file that nobody
    named by hand is one of this system's, by a glance at its text. `freeze(document, flow, sources)` makes the draft of
    a plan out of a flow without errors; a system that means no flow has none, nor has one whose flow cannot be run.
    One that `yields` comes last, and takes no file that another one has read; of a file that a user named and that it
    sees it is the only one. The same holds for a file that it claims and `reserves`, seen or not. `describe(document,
    flow)` says what an agent is to those who call it, and `connect(document, find)` returns a document that knows the
    agents that it calls. `grant(document, flow, sources)` returns what the nodes of the flow may do, or, of a document
    without a flow, what each of its agents may do. `list_names(document)` returns every place at which a name stands.
    `anchor(folder)` tells where the path of a folder says something of the files in it, and with `each_path` a file is
    read by every path that says something else (`FileWish`). `paths` are patterns of which one is found in the path of
    each file that it reads or looks for, unless the name of the file is any: the hooks of pre-commit run for these.
    """

    name: str
    claims: Callable[[str], bool]
    recognises: Callable[[Tree], bool]
    read: Callable[[Sources, tuple[str, ...]], tuple[D, ...]]
    lower: Callable[[D], Flow | None]
    sees: Callable[[Sources, str], bool] = _always
    considers: Callable[[str], bool] | None = None
    anchor: Anchor | None = None
    each_path: bool = False
    paths: tuple[str, ...] = ()
    freeze: Callable[[D, Flow, Sources], Draft] = _none
    yields: bool = False
    reserves: Callable[[str], bool] = _never
    describe: Callable[[D, Flow], CalledAgent | None] | None = None
    connect: Callable[[D, FindAgent], D] | None = None
    grant: Callable[[D, Flow | None, Sources], tuple[FlowRights, ...]] = _no_access
    list_names: Callable[[D], Iterable[Occurrence]] = _no_names

    @property
    def has_plans(self) -> bool:
        """Whether plans can be made of the flows of this system."""
        return self.freeze is not _none


AnyFrontEnd = FrontEnd[Any]
