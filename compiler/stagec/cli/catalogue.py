"""Every rule with its family, and how rules are found by what users call them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from stagec.core.failure import Failure
from stagec.core.nearest import Names, hint
from stagec.core.rule import AnyFamily, AnyRule
from stagec.core.value import value
from stagec.core.version import DOCUMENTATION
from stagec.core.words import quote
from stagec.project.selection import names_of


@value
class Entry:
    """One rule and the family it belongs to."""

    family: AnyFamily
    rule: AnyRule

    @property
    def summary(self) -> str:
        """The first line of the rule's page."""
        return self.rule.explanation.strip().partition("\n")[0]

    @property
    def url(self) -> str:
        """Where the rule's page is published."""
        return f"{DOCUMENTATION}/rules/{self.rule.code}/"

    def facts(self) -> dict[str, Any]:
        """Return what there is to know about the rule, for printing as JSON."""
        return {
            "code": self.rule.code,
            "name": self.rule.name,
            "severity": self.rule.severity,
            "origin": list(self.rule.origin),
            "groups": list(self.rule.groups),
            "since": self.rule.since,
            "family": self.family.name,
            "optional": self.family.optional,
            "summary": self.summary,
            "url": self.url,
        }


def entries(families: Iterable[AnyFamily]) -> tuple[Entry, ...]:
    """Return every rule of some families, by code."""
    return tuple(Entry(family, rule) for family in families for rule in family.rules())


def find(every: Iterable[Entry], called: str) -> tuple[Entry, ...]:
    """Return the rules that a code, prefix, name, family or group means; raise `Failure` when it means none."""
    known = tuple(every)
    for wanted in (called, called.upper(), called.lower()):
        found = tuple(each for each in known if wanted in names_of(each.family, each.rule))
        if found:
            return found
    names = sorted({name for each in known for name in _names(each)})
    near = hint(called, Names(names)) or "; 'stagec rules' lists them"
    raise Failure(f"no rule, family or group is called {quote(called)}{near}")


def _names(each: Entry) -> tuple[str, ...]:
    return each.rule.code, each.rule.name, each.family.name, *each.rule.groups
