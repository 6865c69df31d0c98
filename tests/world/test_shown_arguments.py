"""What a call would do is told so that no argument of it hides anything: at the terminal, as JSON and on the page."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from misleading import LONG, MISLEADING, ask
from playable import stages

from stagec.cli.running.worlds import Answers, People, PeopleSetup
from stagec.core.json import list_of, object_of
from stagec.core.value import replace
from stagec.core.words import visible
from stagec.ir.plan.document import Tool
from stagec.runtime.drivers.local.mailbox import Mailbox, MessageWatcher
from stagec.runtime.machine.exchange import Grant
from stagec.runtime.world.questions import OpenQuestion, describe_question, question_to_json, show_arguments, spell

_OWN = ("may stage", "  rule: ")
"""How the sentences of stagec begin, which a terminal breaks where it likes."""


def ask_at_terminal(effect: Grant, tmp_path: Path, *lines: str) -> None:
    typed = iter(lines)
    mail = MessageWatcher(Mailbox(tmp_path / "one.run"), print)
    People(stages(), PeopleSetup(Answers.ASK), mail, lambda _seconds, _other: next(typed)).answer(effect)


@pytest.mark.parametrize("what", MISLEADING)
def test_nothing_misleads_at_the_terminal(what: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tool, arguments, wanted = MISLEADING[what]
    ask_at_terminal(ask(tool, arguments), tmp_path, "n\n")
    told = capsys.readouterr().err
    assert [each for each in wanted if each not in told] == []
    assert [each for each in told.splitlines() if len(each) > 78 and not any(own in each for own in _OWN)] == []
    assert all(each.isprintable() for each in told.splitlines())
    # what stagec says comes last, and no argument can say it
    lines = [each for each in told.splitlines() if each.startswith(("  effects: ", "  yes: ", "  no: "))]
    assert [each.split()[0] for each in lines] == ["effects:", "yes:", "no:"]


@pytest.mark.parametrize("what", MISLEADING)
def test_nothing_misleads_as_json_and_on_the_page(what: str) -> None:
    tool, arguments, wanted = MISLEADING[what]
    told = object_of(json.loads(json.dumps(question_to_json(describe_question(stages(), ask(tool, arguments))))))
    rows = [str(told["sentence"])]
    for each in map(object_of, list_of(told["shown"])):
        shown = list(map(str, list_of(each["rows"])))
        assert all(row.startswith(("| ", ": ", "⟦")) and row.isprintable() for row in shown)
        rows += [f"{each['name']}: {shown[0]}", *shown]
        assert ("whole" in each) is any("characters are folded here" in row for row in shown)
    assert [each for each in wanted if not any(each in row for row in rows)] == []


def details_of(question: OpenQuestion) -> str:
    return question.arguments


@pytest.mark.parametrize("what", MISLEADING)
def test_the_details_leave_nothing_out(what: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tool, arguments, _ = MISLEADING[what]
    effect = ask(tool, arguments)
    ask_at_terminal(effect, tmp_path, "d\n", "n\n")
    told = capsys.readouterr().err
    whole = [row for each in show_arguments(arguments) for row in each.whole]
    assert [row for row in whole if visible(row) not in told] == []
    assert "characters are folded here" not in details_of(describe_question(stages(), effect))


def test_what_a_call_acts_on_comes_first_and_long_values_last() -> None:
    given = {"content": LONG, "mode": "w", "file_path": "b", "command": "c", "edits": [1, 2], "baseUrl": "u"}
    assert [each.name for each in show_arguments(given)] == [
        "command",
        "file_path",
        "baseUrl",
        "mode",
        "edits",
        "content",
    ]


def test_a_long_value_is_folded_with_its_length_and_can_be_opened() -> None:
    (shown,) = show_arguments({"content": LONG})
    assert (shown.length, shown.is_folded, "⟦8,640 more characters are folded here⟧" in shown.rows) == (
        9_000,
        True,
        True,
    )
    explained, *rows = shown.whole
    assert explained == "⟦a row with ':' continues the row above it⟧"
    assert "".join(row[2:] for row in rows) == LONG


@pytest.mark.parametrize(
    "text",
    [
        "\u042f \u0438 \u043e\u043d: \u043e \u0447\u0451\u043c, \u0430?",
        "שלום, עולם",
        "./a/b",
        "\u03bb\u03cc\u03b3\u03bf\u03c2",
        "日本語、テスト",
        "привет мир",
        "    indented = True",
        "naïve café",
        "→ ok",
    ],
)
def test_ordinary_text_is_told_as_it_is(text: str) -> None:
    assert spell(text) == text


@pytest.mark.parametrize(
    "given",
    [
        *({"path": each} for each in ("./a", "/etc/x", "a/b/", ".", "a..b", "..a")),
        *({"url": each} for each in ("https://a.example:80/x", "http://10.0.0.1/", "file:///a", "a@b.example")),
    ],
)
def test_ordinary_paths_and_addresses_are_told_without_more(given: dict[str, str]) -> None:
    ((shown,), (text,)) = show_arguments(given), given.values()
    assert shown.rows == (f"| {text}",)


def test_what_is_known_of_a_tool_is_told() -> None:
    plan = replace(stages(), tools={"Deploy": Tool("discovered", "mutating", command=("sh", "-c", "rm\x1b"))})
    asked = describe_question(plan, ask("Deploy", {}))
    assert asked.details[:2] == (
        "effects: mutating, it changes something",
        "it runs the program: sh -c rm⟦U+001B CONTROL⟧",
    )
    assert "with your rights" in describe_question(stages(), ask("Bash", {})).details[1]


def test_where_an_older_run_knows_only_the_beginning_that_is_told() -> None:
    effect = replace(ask("Bash", {"command": LONG}), arguments=None)
    asked = describe_question(stages(), effect)
    assert [each.name for each in asked.shown] == ["beginning"]
    assert asked.details[0] == "the rest of the arguments is not known: the run was begun by an older version"


@pytest.mark.parametrize(
    ("url", "hosts"),
    [
        ("https://evil.example\\@bank.example", ("evil.example", "bank.example")),
        ("https://me:pw@evil.example:8080\\.bank.example/", ("evil.example",)),
        ("http://2130706433/", ("127.0.0.1",)),
        ("http://010.0.0.1:80/", ("8.0.0.1",)),
        ("http://99999999999/", ()),
    ],
)
def test_the_hosts_that_programs_take_are_told(url: str, hosts: tuple[str, ...]) -> None:
    (shown,) = show_arguments({"url": url})
    told = shown.rows[1:]
    assert told[:1] == () if not hosts else "host of this address" in told[0]
    assert told[1:] == tuple(f"| {each}" for each in hosts)


def test_a_long_name_of_a_tool_tells_its_length() -> None:
    told = describe_question(stages(), ask("Read" + "x" * 61, {})).sentence
    assert "xx' (65 characters), which its plan does not allow" in told
    assert "characters" not in describe_question(stages(), ask("R" * 64, {})).sentence
