from __future__ import annotations

from collections.abc import Mapping
from typing import cast

import pytest

from stagec.core.diagnostic import Severity
from stagec.core.failure import Failure
from stagec.core.rule import AnyFamily, AnyRule, Rule
from stagec.sources.project.settings import Selection, Settings


def rule(code: str, name: str, *groups: str) -> AnyRule:
    return Rule(code, name, "0.1", Severity.ERROR, ("test",), groups, "A rule.", lambda _: ())


class Fake:
    """A family whose rules are given instead of found."""

    def __init__(self, name: str, *rules: AnyRule, optional: bool = False) -> None:
        self.name = name
        self.optional = optional
        self._rules = rules

    def asks_first(self, rule: AnyRule) -> bool:
        return self.optional or rule.pedantic

    def rules(self) -> tuple[AnyRule, ...]:
        return self._rules


DOCUMENT = Fake("document", rule("STG101", "unreadable-file"), rule("STG105", "byte-order-mark", "encoding"))
POLICY = Fake("policy", rule("STG901", "odd-name", "style"), optional=True)
FAMILIES = cast("tuple[AnyFamily, ...]", (DOCUMENT, POLICY))


def severities(settings: Settings) -> Mapping[str, Severity]:
    selection = Selection.of(settings, FAMILIES)
    rules = [rule for family in selection.families for rule in family.rules()]
    return {rule.code: severity for rule in rules if (severity := selection.severity(rule)) is not None}


def codes(settings: Settings) -> set[str]:
    return set(severities(settings))


def test_optional_families_are_silent_by_default() -> None:
    assert codes(Settings()) == {"STG101", "STG105"}
    assert Selection.of(Settings(), FAMILIES).families == FAMILIES[:1]


def test_pedantic_rules_are_silent_until_they_are_selected() -> None:
    family = Fake("registry", rule("STG201", "wrong"), rule("STG202", "odd", "pedantic"))

    def select(settings: Settings) -> set[str]:
        selection = Selection.of(settings, cast("tuple[AnyFamily, ...]", (family,)))
        return {each.code for each in family.rules() if selection.severity(each) is not None}

    assert select(Settings()) == select(Settings(severity={"STG202": Severity.ERROR})) == {"STG201"}
    for selector in ("pedantic", "STG202", "odd"):
        assert select(Settings(extend_select=(selector,))) == {"STG201", "STG202"}
        assert select(Settings(select=(selector,))) == {"STG202"}


@pytest.mark.parametrize("selector", ["STG9", "STG901", "odd-name", "policy", "style"])
def test_a_rule_is_selected_by_any_of_its_names(selector: str) -> None:
    assert codes(Settings(select=(selector,))) == {"STG901"}
    assert codes(Settings(extend_select=(selector,))) == {"STG101", "STG105", "STG901"}


def test_a_code_is_never_the_prefix_of_a_longer_one() -> None:
    family = Fake("registry", rule("STG200", "short"), rule("STG2000", "long"), rule("STG299", "last"))

    def select(name: str) -> set[str]:
        severities = Selection.of(Settings(select=(name,)), cast("tuple[AnyFamily, ...]", (family,))).severities
        return set(severities or {})

    assert select("STG2") == {"STG200", "STG2000", "STG299"}
    assert select("STG20") == {"STG200", "STG2000"}
    assert select("STG200") == {"STG200"}
    assert select("STG2000") == {"STG2000"}


def test_a_severity_selects_the_rules_that_were_declared_with_it() -> None:
    assert codes(Settings(select=("error",))) == {"STG101", "STG105", "STG901"}
    assert codes(Settings(ignore=("error",))) == set()


def test_all_is_every_rule() -> None:
    assert codes(Settings(select=("ALL",))) == {"STG101", "STG105", "STG901"}


def test_to_ignore_wins_over_to_select() -> None:
    assert codes(Settings(select=("STG1",), ignore=("encoding",))) == {"STG101"}


def test_selecting_nothing_leaves_nothing() -> None:
    assert codes(Settings(select=())) == set()


def test_the_most_precise_severity_decides() -> None:
    given = {
        "document": Severity.NOTE,
        "STG1": Severity.WARNING,
        "STG10": Severity.NOTE,
        "byte-order-mark": Severity.ERROR,
    }
    assert severities(Settings(severity=given)) == {"STG101": Severity.NOTE, "STG105": Severity.ERROR}


def test_a_rule_that_is_off_does_not_speak_unless_a_more_precise_entry_says_otherwise() -> None:
    given = {"STG1": None, "STG105": Severity.NOTE}
    assert severities(Settings(severity=given)) == {"STG105": Severity.NOTE}


@pytest.mark.parametrize(
    "settings",
    [
        Settings(select=("byte-order-marc",)),
        Settings(extend_select=("byte-order-marc",)),
        Settings(ignore=("byte-order-marc",)),
        Settings(severity={"byte-order-marc": Severity.NOTE}),
    ],
)
def test_a_name_that_no_rule_has_is_refused(settings: Settings) -> None:
    with pytest.raises(Failure, match="no rule is called 'byte-order-marc'; did you mean 'byte-order-mark'"):
        Selection.of(settings, FAMILIES)
