"""What the search for completed runs of a flow has found: entries from which none was found, and why."""

from __future__ import annotations

from stagec.core.value import value
from stagec.model.flow import Flow

JUDGE, UNFIT = "judge-never-satisfied", "unfit-inputs"
"""Kinds of what ends runs that no failure of a run has: nothing satisfies the judge, or an input's schema."""


@value
class LostEntry:
    """An entry from which no completed run was found.

    `kind` is what ends the runs that come furthest: a kind of failure of the machine, or one of the above; it is empty
    where runs only repeat. `node` is where they end, and `detail` what is known besides. `open` says why other runs may
    complete; it is empty where no run does. The search `is_given_up` when it has made too many steps.
    """

    entry: str
    node: str
    kind: str = ""
    detail: str = ""
    open: str = ""
    is_given_up: bool = False


@value
class SearchedFlow:
    """A flow whose completed runs were searched for, and the entries from which none was found."""

    flow: Flow
    lost: tuple[LostEntry, ...] = ()
