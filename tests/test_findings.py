"""From findings to diagnostics: folding, selecting, weighing and sorting."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from stagec.check.findings import Verdict, diagnose, leave_out_repetitions
from stagec.core.diagnostic import Severity
from stagec.core.place import START, Place, Span
from stagec.core.rule import AnyRule, Finding, Related, Rule
from stagec.core.value import replace
from stagec.sources.formats.json import FORMAT
from stagec.sources.project.settings import Selection
from stagec.sources.tree import Tree

FILE = Place("a.json")


def _rule(code: str, severity: Severity = Severity.ERROR) -> AnyRule:
    return Rule(code, "name", "0.1", severity, ("origin",), (), "", lambda _: ())


def _speaking(*rules: AnyRule) -> Selection:
    return Selection((), {rule.code: rule.severity for rule in rules})


SYNTAX, NAMES, OPINION = _rule("STG101"), _rule("STG201"), _rule("STG202", Severity.WARNING)
ALL = _speaking(SYNTAX, NAMES, OPINION)


def _summary(verdicts: list[Verdict], selection: Selection = ALL) -> list[tuple[str, str, int]]:
    return [(each.code, each.message, each.folded) for each in diagnose(verdicts, {}, selection)]


def test_a_finding_inside_an_earlier_family_s_error_is_folded_into_it() -> None:
    verdicts = [Verdict(SYNTAX, Finding(FILE / "x", "broken")), Verdict(NAMES, Finding(FILE / "x" / "y", "lost"))]
    assert _summary(verdicts) == [("STG101", "broken", 1)]


def test_a_finding_at_the_same_place_is_folded_too() -> None:
    verdicts = [Verdict(SYNTAX, Finding(FILE / "x", "broken")), Verdict(NAMES, Finding(FILE / "x", "lost"))]
    assert _summary(verdicts) == [("STG101", "broken", 1)]


def test_a_finding_beside_or_above_an_error_stands() -> None:
    verdicts = [
        Verdict(SYNTAX, Finding(FILE / "x" / "y", "broken")),
        Verdict(NAMES, Finding(FILE / "x", "above")),
        Verdict(NAMES, Finding(FILE / "xy", "beside")),
    ]
    assert [message for _, message, _ in _summary(verdicts)] == ["broken", "above", "beside"]


def test_findings_of_one_family_never_fold_each_other() -> None:
    verdicts = [Verdict(NAMES, Finding(FILE / "x", "one")), Verdict(_rule("STG203"), Finding(FILE / "x", "two"))]
    assert len(diagnose(verdicts, {}, _speaking(NAMES, _rule("STG203")))) == 2


def test_a_warning_or_a_wrong_key_folds_nothing() -> None:
    warning = _rule("STG105", Severity.WARNING)
    verdicts = [
        Verdict(warning, Finding(FILE / "x", "odd")),
        Verdict(SYNTAX, Finding((FILE / "x").key, "repeated")),
        Verdict(NAMES, Finding(FILE / "x" / "y", "lost")),
    ]
    assert len(diagnose(verdicts, {}, _speaking(warning, SYNTAX, NAMES))) == 3


def test_an_error_folds_even_when_it_is_not_selected() -> None:
    verdicts = [Verdict(SYNTAX, Finding(FILE / "x", "broken")), Verdict(NAMES, Finding(FILE / "x", "lost"))]
    assert _summary(verdicts, _speaking(NAMES)) == []


def test_the_selection_decides_the_severity() -> None:
    found = diagnose([Verdict(NAMES, Finding(FILE, "lost"))], {}, Selection((), {"STG201": Severity.NOTE}))
    assert [each.severity for each in found] == [Severity.NOTE]


def test_spans_of_a_small_file_are_looked_up_again_only_when_it_has_changed() -> None:
    asked: list[bytes] = []

    def locate(data: bytes, places: Iterable[Place]) -> Mapping[Place, Span]:
        asked.append(data)
        return FORMAT.locate(data, places)

    counting = replace(FORMAT, locate=locate)
    lines = []
    for data in (b'{"x": 1}', b'{"x": 1}', b'\n{"x": 1}', b'{"x": 1}' + b" " * 9_000, b'{"x": 1}' + b" " * 9_000):
        trees = {"a.json": Tree("a.json", "any", counting, data)}
        lines += [each.span.start.line for each in diagnose([Verdict(NAMES, Finding(FILE / "x", "lost"))], trees, ALL)]
    assert [len(each) for each in asked] == [8, 9, 9_008, 9_008]  # what is large is not kept
    assert lines == [1, 1, 2, 1, 1]


def test_places_in_files_that_were_not_read_are_shown_at_their_start() -> None:
    finding = Finding(FILE / "x", "lost", (Related(Place("gone.json", ("y",)), "here"),))
    (found,) = diagnose([Verdict(NAMES, finding)], {}, ALL)
    assert (found.span, found.related[0].span) == (START, START)


def test_what_two_rules_runs_say_twice_is_said_once() -> None:
    verdict = Verdict(NAMES, Finding(FILE / "x", "lost"))
    assert len(diagnose(tuple(leave_out_repetitions([verdict, verdict])), {}, ALL)) == 1


def test_an_error_at_a_stretch_of_text_folds_what_is_said_of_that_stretch_and_no_other() -> None:
    here, there = Place("a.md", range=(3, 9)), Place("a.md", range=(20, 29))
    later = _rule("STG701")
    verdicts = [
        Verdict(NAMES, Finding(here, "broken")),
        Verdict(later, Finding(here, "follows")),
        Verdict(later, Finding(there, "stands")),
    ]
    assert _summary(verdicts, _speaking(NAMES, later)) == [("STG201", "broken", 1), ("STG701", "stands", 0)]


def test_a_syntax_error_folds_all_that_is_said_of_its_file() -> None:
    verdicts = [Verdict(SYNTAX, Finding(Place("a.md", range=(0, 1)), "broken")), Verdict(NAMES, Finding(FILE, "else"))]
    follows = Verdict(NAMES, Finding(Place("a.md", range=(5, 6)), "follows"))
    assert _summary([*verdicts, follows]) == [("STG201", "else", 0), ("STG101", "broken", 1)]


def _caused(rule: AnyRule, message: str, *causes: Place) -> Verdict:
    return Verdict(rule, Finding(Place("b.json", (message,)), message, causes=causes))


def test_a_finding_whose_cause_is_an_earlier_error_is_folded_into_it_in_whatever_file_that_is() -> None:
    broken = Verdict(NAMES, Finding(FILE / "x", "broken"))
    later = _rule("STG203")
    verdicts = [broken, _caused(later, "same", FILE / "x"), _caused(later, "inside", FILE / "x" / "y")]
    assert _summary(verdicts, _speaking(NAMES, later)) == [("STG201", "broken", 2)]


def test_a_finding_whose_cause_is_sound_stands() -> None:
    later = _rule("STG203")
    verdicts = [Verdict(NAMES, Finding(FILE / "x" / "y", "broken")), _caused(later, "stands", FILE / "x")]
    assert [message for _, message, _ in _summary(verdicts, _speaking(NAMES, later))] == ["broken", "stands"]


def test_a_part_of_which_something_cannot_be_read_explains_what_rests_on_it() -> None:
    verdicts = [Verdict(SYNTAX, Finding(FILE / "x" / "y", "broken")), _caused(NAMES, "follows", FILE / "x")]
    assert _summary(verdicts) == [("STG101", "broken", 1)]


def test_a_warning_is_no_cause_and_neither_is_what_is_folded_itself() -> None:
    warning, later = _rule("STG105", Severity.WARNING), _rule("STG203")
    verdicts = [
        Verdict(warning, Finding(FILE / "w", "odd")),
        Verdict(SYNTAX, Finding(FILE / "x", "broken")),
        Verdict(NAMES, Finding(FILE / "x" / "y", "repeats")),
        _caused(later, "rests on a warning", FILE / "w"),
        _caused(later, "rests on x", FILE / "x" / "y"),
    ]
    folded = {message: count for _, message, count in _summary(verdicts, _speaking(warning, SYNTAX, NAMES, later))}
    assert folded == {"odd": 0, "broken": 2, "rests on a warning": 0}


def test_two_errors_that_name_each_other_as_cause_are_one() -> None:
    one = Verdict(NAMES, Finding(FILE / "x", "one", causes=(FILE / "y",)))
    other = Verdict(NAMES, Finding(FILE / "y", "other", causes=(FILE / "x",)))
    assert _summary([one, other]) == [("STG201", "one", 1)]


def test_the_cause_may_be_told_by_a_later_rule_of_the_family() -> None:
    later = _rule("STG203")
    verdicts = [_caused(NAMES, "follows", FILE / "x"), Verdict(later, Finding(FILE / "x", "broken"))]
    assert _summary(verdicts, _speaking(NAMES, later)) == [("STG203", "broken", 1)]


def test_what_is_folded_under_a_finding_goes_with_it() -> None:
    later = _rule("STG203")
    verdicts = [
        Verdict(NAMES, Finding(FILE / "y", "follows", causes=(FILE / "x",))),
        _caused(NAMES, "follows from that", FILE / "y"),
        Verdict(later, Finding(FILE / "x", "broken")),
    ]
    assert _summary(verdicts, _speaking(NAMES, later)) == [("STG203", "broken", 2)]


def test_an_error_may_spoil_more_than_the_place_where_it_stands() -> None:
    broken = Verdict(NAMES, Finding(FILE / "x" / "deep", "broken", spoils=(FILE / "x",)))
    later = _rule("STG203")
    verdicts = [broken, _caused(later, "follows", FILE / "x"), _caused(later, "stands", FILE / "z")]
    assert _summary(verdicts, _speaking(NAMES, later)) == [("STG201", "broken", 1), ("STG203", "stands", 0)]
