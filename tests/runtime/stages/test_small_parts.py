"""Small functions beside the machine: bounds of loops, what a model is shown, what nobody answers, what can be read."""

from __future__ import annotations

import pytest

from stagec.core.json import Json
from stagec.runtime.acts.bound import Continuation, continued
from stagec.runtime.acts.messages import plain, read_messages
from stagec.runtime.effect import Message, Request
from stagec.runtime.manifest import manifest
from stagec.runtime.reading import DEPTH, UnreadableError, readable
from stagec.runtime.unattended import Unattended, unattended


@pytest.mark.parametrize("kind", ["sm", "default-chat"])
def test_a_loop_goes_on_as_long_as_there_are_turns_left(kind: str) -> None:
    assert [continued(kind, 2, taken).proceed for taken in range(4)] == [True, True, False, False]


def test_the_bound_of_a_stage_is_a_cap_and_that_of_a_chat_a_failure() -> None:
    assert continued("sm", 2, 2) == Continuation(proceed=False, cap_hit=True)
    assert continued("default-chat", 2, 2) == Continuation(proceed=False, failure="ExtensionHost/LoopBoundExceeded")


@pytest.mark.parametrize(
    ("tools", "there", "wanted"),
    [
        (["b", "a"], {"a", "b", "c"}, ("b", "a", "done")),
        (["a", "ghost", "a"], {"a"}, ("a", "done")),
        ([], {"a"}, ("done",)),
        (["a"], {"a", "done"}, None),
    ],
)
def test_a_model_is_shown_the_tools_there_are_and_the_completion_tool_last(
    tools: list[str], there: set[str], wanted: tuple[str, ...] | None
) -> None:
    assert manifest(tools, "done", there) == wanted


class TestWhenNobodyIsThere:
    @pytest.mark.parametrize("kind", ["Ask", "Approve", "Confirm", "Select", "Auth.DeviceCode", "Auth.Password", "New"])
    def test_everything_halts(self, kind: str) -> None:
        assert unattended(kind, yolo=False) == Unattended(halts=True)

    @pytest.mark.parametrize(
        ("kind", "answer"),
        [("Ask", ""), ("Approve", True), ("Confirm", True), ("Select", "A"), ("Auth.DeviceCode", None)],
    )
    def test_yolo_answers(self, kind: str, answer: Json) -> None:
        assert unattended(kind, yolo=True, options=("A", "B")) == Unattended(halts=False, answer=answer)

    @pytest.mark.parametrize("yolo", [True, False])
    def test_the_grant_of_a_tool_is_denied_in_every_mode(self, *, yolo: bool) -> None:
        assert unattended("grantStageTool", yolo=yolo) == Unattended(halts=False, answer=False)


class TestWhatCanBeRead:
    @pytest.mark.parametrize("given", [None, True, 1, 1.5, "é", [1, {"a": [2**53]}], {}])
    def test_stays_as_it_is(self, given: Json) -> None:
        assert readable(given) is given

    def test_has_the_nearest_doubles_for_large_numbers(self) -> None:
        assert readable({"n": [2**53 + 1, True]}) == {"n": [2.0**53, True]}

    @pytest.mark.parametrize("given", [float("nan"), [float("inf")], "\ud800", {"\ud800": 1}, 10**400])
    def test_is_nothing_that_json_cannot_say(self, given: Json) -> None:
        with pytest.raises(UnreadableError):
            readable(given)

    @pytest.mark.parametrize(("deeper", "wanted"), [(0, True), (1, False)])
    def test_has_a_depth(self, deeper: int, *, wanted: bool) -> None:
        given: Json = 1
        for _ in range(DEPTH + deeper):
            given = [given]
        try:
            readable(given)
            found = True
        except UnreadableError:
            found = False
        assert found is wanted

    def test_is_nothing_that_lies_in_itself(self) -> None:
        given: list[Json] = []
        given.append(given)
        with pytest.raises(UnreadableError):
            readable(given)


def test_messages_are_read_as_they_are_written() -> None:
    messages = (
        Message("system", "Work."),
        Message("assistant", "", (Request("1", "Read", {"p": 1}),)),
        Message("tool", "x", call="1"),
    )
    assert read_messages(plain(messages)) == messages


@pytest.mark.parametrize(
    "given", [None, [], "text", [{"role": "system"}], [{"role": "king", "text": "x"}], [{"role": "user", "text": 1}, 7]]
)
def test_what_are_no_messages_is_not_read(given: Json) -> None:
    assert read_messages(given) is None
