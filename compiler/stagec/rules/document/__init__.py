"""STG1xx: what is wrong with one file, before anything is read into it."""

from stagec.core.diagnostic import Severity
from stagec.core.edit import Change, Edit, Fix
from stagec.core.nearest import Names, hint
from stagec.core.rule import Family, Finding, Related
from stagec.core.words import counted, listing, quote
from stagec.sources.tree import Fault, Tree

__all__ = [
    "Change",
    "Edit",
    "Fault",
    "Finding",
    "Fix",
    "Names",
    "Related",
    "Severity",
    "Tree",
    "counted",
    "hint",
    "listing",
    "quote",
    "rule",
]

FAMILY = Family(__name__, 100, Tree)
rule = FAMILY.rule
