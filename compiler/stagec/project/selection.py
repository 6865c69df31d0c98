"""Which rules speak, and how loudly: one place for `--select`, `--ignore` and severities."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from stagec.core.diagnostic import Severity
from stagec.core.failure import Failure
from stagec.core.nearest import NameIndex, hint
from stagec.core.rule import AnyFamily, AnyRule
from stagec.core.value import value
from stagec.core.words import quote
from stagec.project.settings import Settings


@value
class Selection:
    """The families that judge, and the severity of every rule that may speak, by code.

    `severities` is None when nothing was configured: every rule then speaks as it was declared, and need not be
    imported to find that out.
    """

    families: tuple[AnyFamily, ...]
    severities: Mapping[str, Severity] | None

    @classmethod
    def of(cls, settings: Settings, families: Iterable[AnyFamily]) -> Selection:
        """Return what the settings select among the rules of the families; unknown names raise `Failure`."""
        every = tuple(families)
        if settings.selects_nothing:
            return cls(tuple(family for family in every if not family.optional), None)
        _refuse_unknown(settings, every)
        chosen: dict[str, Severity] = {}
        for family in every:
            for rule in family.rules():
                weight = _weight(settings.severity, family, rule)
                if weight is not None and _is_selected(settings, family, rule):
                    chosen[rule.code] = weight
        speaking = [family for family in every if not family.optional or any(r.code in chosen for r in family.rules())]
        return cls(tuple(speaking), chosen)

    def severity(self, rule: AnyRule) -> Severity | None:
        """Return how heavy the findings of a rule are, or nothing when it does not speak."""
        if self.severities is None:
            return None if rule.pedantic else rule.severity
        return self.severities.get(rule.code)


def names_of(family: AnyFamily, rule: AnyRule) -> frozenset[str]:
    """Return every name that selects a rule: code and its prefixes, rule, family, groups, severity and `ALL`."""
    prefixes = (rule.code[:length] for length in range(len("STG"), _LONGEST_PREFIX + 1))
    return frozenset({"ALL", rule.code, rule.name, family.name, rule.severity.value, *rule.groups, *prefixes})


_LONGEST_PREFIX = len("STG20")
"""A longer one would be a code: `STG200` is one rule, and not ten rules from `STG2000`."""


def _is_selected(settings: Settings, family: AnyFamily, rule: AnyRule) -> bool:
    names = names_of(family, rule)
    base = not family.asks_first(rule) if settings.select is None else not names.isdisjoint(settings.select)
    return (base or not names.isdisjoint(settings.extend_select)) and names.isdisjoint(settings.ignore)


def _weight(severities: Mapping[str, Severity | None], family: AnyFamily, rule: AnyRule) -> Severity | None:
    fitting = names_of(family, rule) & severities.keys()
    if not fitting:
        return rule.severity
    return severities[max(sorted(fitting), key=lambda selector: _precision(selector, rule))]


def _precision(selector: str, rule: AnyRule) -> int:
    if selector in {rule.code, rule.name}:
        return 100
    if selector in rule.groups:
        return 1
    return len(selector) if selector.startswith("STG") else 0


def _refuse_unknown(settings: Settings, families: Iterable[AnyFamily]) -> None:
    pairs = [(family, rule) for family in families for rule in family.rules()]
    known = frozenset().union(*(names_of(family, rule) for family, rule in pairs))
    for selector in (*(settings.select or ()), *settings.extend_select, *settings.ignore, *settings.severity):
        if selector not in known:
            near = hint(selector, NameIndex(sorted(known))) or "; 'stagec rules' lists them"
            raise Failure(f"no rule is called {quote(selector)}{near}")
