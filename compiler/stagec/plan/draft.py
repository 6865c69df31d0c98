"""A plan as a front end makes it, before what follows from it is added."""

from __future__ import annotations

from stagec.core.value import value
from stagec.plan.document import Plan


@value
class Draft:
    """A plan without facts and sources, and the files of the project that it is made of."""

    plan: Plan
    files: frozenset[str]
