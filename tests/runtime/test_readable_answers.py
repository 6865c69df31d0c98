"""Any bytes and any values from any world: what is no JSON is told with its place, and no run ends for it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from campaigns import choose
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from playable import steps

from stagec.core.json import Json
from stagec.core.json_reader import DEPTH, UnreadableError, find_unreadable, read_json
from stagec.core.value import replace
from stagec.runtime.drivers.history import JournalError, dump_event, load_event
from stagec.runtime.machine import Answered, Effect, Started, State, advance
from stagec.runtime.machine.answer_schemas import read_answer
from stagec.runtime.machine.exchange import (
    MACHINE,
    Ask,
    Call,
    Comment,
    Confirm,
    Dispatch,
    Grant,
    Hook,
    Run,
    Shell,
    Turn,
    Wait,
)
from stagec.runtime.machine.program import program_of

NAN, INF = float("nan"), float("inf")


def nest(depth: int, inner: Any = 1) -> Any:
    for _ in range(depth):
        inner = [inner]
    return inner


ENDLESS = "Infinity, or a number larger than every double, is not a JSON number"


@pytest.mark.parametrize(
    ("value", "told"),
    [
        (NAN, "NaN is not a JSON number"),
        ({"items": [{"ok": True}, {"ok": INF}]}, f"/items/1/ok: {ENDLESS}"),
        ({"a": -INF}, f"/a: {ENDLESS}"),
        ([10**400], f"/0: {ENDLESS}"),
        ({"a/b~c": ["x\ud800y"]}, "/a~1b~0c/0: the text contains half a character, '\\ud800'"),
        ({"a": {"\udfff": 1}}, "/a: the name '\\udfff' contains half a character, '\\udfff'"),
        ({"a": {1, 2}}, "/a: a Python 'set' is not JSON"),
        ({"a": {(1,): 2}}, "/a: a Python 'tuple' is not the name of a member"),
        ({"a": {1: 2, "1": 3}}, "/a: the member '1' occurs more than once"),
        (nest(DEPTH + 1), "/" + "/".join("0" * DEPTH) + ": it is nested more than 128 levels deep"),
    ],
    ids=lambda each: str(each)[:40] if isinstance(each, str) else "",
)
def test_the_first_place_that_is_no_json_is_told(value: Any, told: str) -> None:
    assert str(find_unreadable(value)) == told


@pytest.mark.parametrize(
    "value", [None, True, 1.5, 2**53 + 1, "é\U0001f600", {"a": (1, [2, {}])}, {1: 2, None: 3}, nest(DEPTH), ""]
)
def test_what_can_be_written_and_read_again_is_json(value: Any) -> None:
    assert find_unreadable(value) is None


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (b'{"a": [1, NaN]}', "/a/1: NaN is not a JSON number"),
        (b'{"a": -Infinity}', f"/a: {ENDLESS}"),
        (b'{"a": 1e999}', f"/a: {ENDLESS}"),
        (b'{"a": ' + b"9" * 5000 + b"}", f"/a: {ENDLESS}"),
        (rb'["\ud800"]', "/0: the text contains half a character, '\\ud800'"),
        (b'{"x": {"a": 1, "b": 2, "a": 3}}', "/x: the member 'a' occurs more than once"),
        (b"[" * 129 + b"]" * 129, "/" + "/".join("0" * 128) + ": it is nested more than 128 levels deep"),
        (b"[" * 200_000, "it is nested more than 128 levels deep"),
        (b'{"a": \xff}', "byte 6 is not UTF-8"),
        (b"", "it is not JSON: Expecting value: line 1 column 1 (char 0)"),
        (b"{} {}", "it is not JSON: Extra data: line 1 column 4 (char 3)"),
    ],
    ids=lambda each: str(each)[:40],
)
def test_a_text_that_is_no_json_is_refused_with_its_place(text: bytes, told: str) -> None:
    with pytest.raises(UnreadableError) as refused:
        read_json(text)
    assert str(refused.value) == told


def test_a_number_that_no_double_is_becomes_the_nearest_in_an_answer_and_stays_in_a_text() -> None:
    assert read_json("[9007199254740993]") == [2**53 + 1]


WRONG = {"x": NAN}
TOLD = "the answer cannot be read: /x: NaN is not a JSON number"
KEY = "r/a#1/1.0"


@pytest.mark.parametrize(
    ("effect", "given", "wanted"),
    [
        (Ask(KEY, "?"), {"answer": WRONG, "text": "t"}, {"unreadable": "/x: NaN is not a JSON number", "text": "t"}),
        (Ask(KEY, "?"), {"answer": {"a": 1}, "usage": WRONG, "text": "\ud800"}, {"answer": {"a": 1}, "text": "?"}),
        (Ask(KEY, "?"), NAN, {"unreadable": "NaN is not a JSON number"}),
        (
            Turn(KEY, (), (), "done", ""),
            {
                "text": "x",
                "calls": [{"id": "1", "tool": "a", "arguments": {}}, {"id": "2", "tool": "b", "arguments": [INF]}],
            },
            {
                "text": "x",
                "calls": [
                    {"id": "1", "tool": "a", "arguments": {}},
                    {"id": "2", "tool": "b", "unreadable": f"/0: {ENDLESS}"},
                ],
            },
        ),
        (Turn(KEY, (), (), "done", ""), {1, 2}, {"text": "", "calls": [{"unreadable": "a Python 'set' is not JSON"}]}),
        (
            Call(KEY, "t", {}),
            {"value": NAN},
            {
                "error": {
                    "class": "Tool",
                    "code": "Unreadable",
                    "message": "the result cannot be read: /value: NaN is not a JSON number",
                }
            },
        ),
        (Run(KEY, ("a",), 1), {"x": NAN, "exit": 0}, {"exit": None, "stdout": "", "stderr": TOLD}),
        (Shell(KEY, "a"), WRONG, {"exit": None, "stdout": "", "stderr": TOLD}),
        (Dispatch(KEY, "agent", "run"), WRONG, {"failed": TOLD}),
        *((each, WRONG, {"error": TOLD}) for each in (Grant(KEY, "", 1, "", "", ""), Hook(KEY, "m:f", "gate"))),
        *((each, WRONG, {"error": TOLD}) for each in (Wait(KEY, 0), Confirm(KEY, "?"), Comment(KEY, "x"))),
    ],
    ids=lambda each: type(each).__name__,
)
def test_an_answer_keeps_what_can_be_read_and_says_why_the_rest_is_gone(
    effect: Effect, given: Any, wanted: Json
) -> None:
    assert read_answer(effect, given) == wanted


def test_an_answer_that_is_json_is_the_same_object() -> None:
    answer: Json = {"answer": {"a": [1]}}
    assert read_answer(Ask(KEY, "?"), answer) is answer


@settings(max_examples=choose(150, whole=100_000), deadline=None, suppress_health_check=list(HealthCheck))
@given(
    st.binary(max_size=60) | st.text(alphabet='[]{}",:0123456789eE+-.NaIfinty\\ud8n\x00 ', max_size=60).map(str.encode)
)
def test_any_bytes_are_read_or_refused(data: bytes) -> None:
    """What is read is what every reader of JSON reads, and can be written."""
    try:
        found = read_json(data)
    except UnreadableError as error:
        str(error).encode()
        return
    assert json.loads(json.dumps(found, allow_nan=False).encode()) == found == json.loads(data)


@pytest.mark.parametrize(("machine", "place"), [(1, ""), (2, "/action: ")])
def test_complaints_are_in_the_words_of_the_machine_with_which_the_run_began(machine: int, place: str) -> None:
    """Journals have digests of them: a run that an older version began is replayed as it was."""
    program, state = program_of(steps()), State()
    started = load_event(dump_event(Started("r", None, {"topic": "x"}, machine)))
    assert started == Started("r", None, {"topic": "x"}, machine)
    for event in (started, Answered("r/draft#1/1.0", {"answer": {"action": "dance"}})):
        step = advance(program, state, event)
        state = step.state
    (asked,) = step.effects
    assert isinstance(asked, Ask)
    assert asked.complaint == f'{place}"dance" is not one of "next", "repeat" or 2 other candidates'


def test_a_journal_of_a_later_machine_is_refused() -> None:
    text = dump_event(replace(Started("r"), machine=MACHINE + 1))
    with pytest.raises(JournalError, match="a later stagec can resume it"):
        load_event(text)
