"""Shelf: one package per system whose files stagec reads: from trees to documents, from documents to flows."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

from stagec.ir.agent import CalledAgent
from stagec.ir.flow import Flow, Occurrence
from stagec.ir.rights import FlowRights
from stagec.sources.discover import FileWish
from stagec.sources.read import Sources
from stagec.sources.tree import Tree

if TYPE_CHECKING:
    from stagec.ir.plan.document import Draft

__all__ = ["AnyFrontEnd", "CalledAgent", "FindAgent", "Flow", "FlowRights", "FrontEnd", "Sources", "Tree"]

D = TypeVar("D")
FindAgent = Callable[[str], CalledAgent | None]
"""Returns the agent whose definition a file is."""


class FrontEnd(Generic[D]):
    """The reader of the files of one system. A subclass defines its special parts; there is one object of each.

    The order of calls: discovery asks `claims` and `considers` for the names of files, then `sees` for those that it
    found, or `recognises` for a file that a user named. `read` makes documents of what is left; `connect` joins them
    with the agents that other documents describe; `lower` says what a document means.
    """

    name: ClassVar[str]
    paths: ClassVar[tuple[str, ...]] = ()
    """Patterns of which one matches the path of each file that is read or looked for, unless its name may be any.

    The hooks of pre-commit run for these.
    """
    yields: ClassVar[bool] = False
    """Whether it comes last, and takes no file that another one has read.

    Of a file that a user named and that it sees, it is the only one; and of a file that it claims and `reserves`.
    """
    each_path: ClassVar[bool] = False
    """Whether a file is read by every path that says something else (`FileWish`)."""

    def claims(self, _file: str, /) -> bool:
        """Tell whether discovery should look at a file, by its path."""
        return False

    def considers(self, _file: str, /) -> bool:
        """Tell whether discovery should look at a file that nobody claims or reads."""
        return False

    def anchor(self, _folder: str, /) -> tuple[str, str] | None:
        """Return the part of a folder's path that gives its files a meaning, and the meaning."""
        return None

    def sees(self, _sources: Sources, _file: str, /) -> bool:
        """Tell by a glance at its text whether a file that nobody named by hand belongs to this system."""
        return True

    def recognises(self, _tree: Tree, /) -> bool:
        """Tell whether a file that a user named belongs to this system, by its content."""
        return False

    def reserves(self, _file: str, /) -> bool:
        """Tell whether a file that this system claims and does not see belongs to no other one either."""
        return False

    def read(self, _sources: Sources, _files: tuple[str, ...], /) -> tuple[D, ...]:
        """Read files, and everything that they refer to, into documents."""
        return ()

    def connect(self, document: D, _find: FindAgent, /) -> D:
        """Return a document that knows the agents that it calls."""
        return document

    def lower(self, _document: D, /) -> Flow | None:
        """Return the flow of a document; None if too much of it is missing, or if the system has no flows."""
        return None

    def describe(self, _document: D, _flow: Flow, /) -> CalledAgent | None:
        """Return an agent as its callers see it."""
        return None

    def freeze(self, document: D, _flow: Flow, _sources: Sources, /) -> Draft:
        """Return the draft of a plan of a flow without errors."""
        raise TypeError(f"no plan can be made of {type(document).__name__}")

    def grant(self, _document: D, _flow: Flow | None, _sources: Sources, /) -> tuple[FlowRights, ...]:
        """Return the rights of the nodes of a flow, or of each agent of a document without a flow."""
        return ()

    def list_asking(self, _document: D, _flow: Flow, /) -> Iterable[str]:
        """Return the nodes of a flow that ask a model."""
        return ()

    def list_names(self, _document: D, /) -> Iterable[Occurrence]:
        """Return every place at which a name stands."""
        return ()

    @property
    def wish(self) -> FileWish:
        """The files that discovery looks for."""
        considers = self.considers if self.defines("considers") else None
        anchor = self.anchor if self.defines("anchor") else None
        return FileWish(self.claims, considers, anchor, self.each_path)

    def defines(self, member: str) -> bool:
        """Tell whether this system has an answer of its own to a member."""
        return getattr(type(self), member) is not getattr(FrontEnd, member)


AnyFrontEnd = FrontEnd[Any]
