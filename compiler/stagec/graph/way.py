"""Ways through plans: the nodes of a run in order, those that run together side by side."""

from __future__ import annotations

from enum import StrEnum

from stagec.core.value import value


class Joint(StrEnum):
    """What stands between the nodes of a way where several run together."""

    OPEN = "("
    NEXT = "|"
    CLOSE = ")"


Way = tuple[str | Joint, ...]


@value
class Weight:
    """What a run takes, and one way that takes it: without any where it is the limit alone that counts."""

    total: int
    way: Way = ()


SHOWN = 1_000
"""Parts of a way that are kept; forks inside forks double them."""


class Ending(StrEnum):
    """What is asked of a branch: that it ends as done, that a join may follow it, or nothing."""

    DONE = "done"
    JOINABLE = "joinable"
    ANY = "any"


Part = tuple[str, Ending, bool]
"""A node, what is asked of the branch from it on, and whether a fork leads to it.

The branch of a fork ends with its first node, unless that fails: then the edges of its failure are followed.
"""
FAIL = "fail"
"""The outcome of a node that has failed; no other outcome leads on from the first node of a branch."""
