"""Which rules speak, and how loudly: one place for `--select`, `--ignore` and severities."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache

from stagec.core.diagnostic import Severity
from stagec.core.failure import Failure
from stagec.core.nearest import NameIndex, hint
from stagec.core.rule import AnyFamily, AnyRule
from stagec.core.value import value
from stagec.core.version import locate_page
from stagec.core.words import quote
from stagec.project.settings import Settings


@value
class Selection:
    """The families that judge, and the severity of every rule that may speak, by code.

    `severities` is None when nothing was configured: every rule then speaks as it was declared, and need not be
    imported to find that out. `documentation` is the address of the site that has the pages of rules.
    """

    families: tuple[AnyFamily, ...]
    severities: Mapping[str, Severity] | None
    documentation: str | None = None

    @classmethod
    def of(cls, settings: Settings, families: Iterable[AnyFamily]) -> Selection:
        """Return what the settings select among the rules of the families; unknown names raise `Failure`.

        A mandatory rule does not hear what a file of the project says.
        """
        every = tuple(families)
        if settings.selects_nothing:
            return cls(tuple(family for family in every if not family.optional), None, settings.documentation)
        named = [(family, rule, names_of(family, rule)) for family in every for rule in family.rules()]
        _refuse_unknown(settings, frozenset().union(*(names for _, _, names in named)))
        chosen: dict[str, Severity] = {}
        speaking = {family.name for family in every if not family.optional}
        mandatory = settings.told
        for family, rule, names in named:
            heard = mandatory if rule.mandatory else settings
            weight = _weigh(heard, rule, names)
            if weight is not None and _is_selected(heard, names, asks_first=family.asks_first(rule)):
                chosen[rule.code] = weight
                speaking.add(family.name)
        return cls(tuple(each for each in every if each.name in speaking), chosen, settings.documentation)

    def severity(self, rule: AnyRule) -> Severity | None:
        """Return how heavy the findings of a rule are, or nothing when it does not speak."""
        if self.severities is None:
            return None if rule.pedantic else rule.severity
        return self.severities.get(rule.code)

    def locate_page(self, rule: AnyRule) -> str | None:
        """Return the address of a rule's page, if it is published."""
        return locate_page(self.documentation, rule.code)

    def lets_speak(self, family: AnyFamily, rule: AnyRule) -> bool:
        """Tell whether a rule of a family judges, and its findings are shown."""
        return not family.asks_first(rule) if self.severities is None else rule.code in self.severities


@cache
def names_of(family: AnyFamily, rule: AnyRule) -> frozenset[str]:
    """Return every name that selects a rule: code and its prefixes, rule, family, groups, severity and `ALL`.

    A prefix may be written as pages do: `STG6xx` is `STG6`, for codes of this length.
    """
    prefixes = [rule.code[:length] for length in range(len("STG"), _LONGEST_PREFIX + 1)]
    ranges = (each.ljust(len(rule.code), "x") for each in prefixes[1:])
    return frozenset({"ALL", rule.code, rule.name, family.name, rule.severity.value, *rule.groups, *prefixes, *ranges})


_LONGEST_PREFIX = len("STG20")
"""A longer one would be a code: `STG200` is one rule, and not ten rules from `STG2000`."""


def _weigh(settings: Settings, rule: AnyRule, names: frozenset[str]) -> Severity | None:
    fitting = names & settings.severity.keys()
    nearest = max(sorted(fitting), key=lambda selector: _precision(selector, rule), default=None)
    return rule.severity if nearest is None else settings.severity[nearest]


def _is_selected(settings: Settings, names: frozenset[str], *, asks_first: bool) -> bool:
    base = not asks_first if settings.select is None else not names.isdisjoint(settings.select)
    return (base or not names.isdisjoint(settings.extend_select)) and names.isdisjoint(settings.ignore)


def _precision(selector: str, rule: AnyRule) -> int:
    if selector in {rule.code, rule.name}:
        return 100
    if selector in rule.groups:
        return 1
    return len(selector.rstrip("x")) if selector.startswith("STG") else 0


def _refuse_unknown(settings: Settings, known: frozenset[str]) -> None:
    for selector in (*(settings.select or ()), *settings.extend_select, *settings.ignore, *settings.severity):
        if selector not in known:
            near = hint(selector, NameIndex(sorted(known))) or "; 'stagec rules' lists them"
            raise Failure(f"no rule is called {quote(selector)}{near}")
