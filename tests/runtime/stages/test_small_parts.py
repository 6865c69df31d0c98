"""Small functions beside the machine: which values can be read, and messages as JSON."""

from __future__ import annotations

import pytest

from stagec.core.json import Json
from stagec.core.json_reader import DEPTH, UnreadableError
from stagec.runtime.machine.acts.conversation_state import messages_to_json, read_messages
from stagec.runtime.machine.exchange import Message, Request
from stagec.runtime.machine.json_values import normalise


class TestWhatCanBeRead:
    @pytest.mark.parametrize("given", [None, True, 1, 1.5, "é", [1, {"a": [2**53]}], {}])
    def test_stays_as_it_is(self, given: Json) -> None:
        assert normalise(given) is given

    def test_has_the_nearest_doubles_for_large_numbers(self) -> None:
        assert normalise({"n": [2**53 + 1, True]}) == {"n": [2.0**53, True]}

    def test_a_whole_number_stays_one(self) -> None:
        assert type(normalise(10**21)) is int
        assert normalise(normalise(2**63 + 1)) == 2**63

    @pytest.mark.parametrize("given", [float("nan"), [float("inf")], "\ud800", {"\ud800": 1}, 10**400])
    def test_is_nothing_that_json_cannot_say(self, given: Json) -> None:
        with pytest.raises(UnreadableError):
            normalise(given)

    @pytest.mark.parametrize(("deeper", "wanted"), [(0, True), (1, False)])
    def test_has_a_depth(self, deeper: int, *, wanted: bool) -> None:
        given: Json = 1
        for _ in range(DEPTH + deeper):
            given = [given]
        try:
            normalise(given)
            found = True
        except UnreadableError:
            found = False
        assert found is wanted

    def test_is_nothing_that_lies_in_itself(self) -> None:
        given: list[Json] = []
        given.append(given)
        with pytest.raises(UnreadableError):
            normalise(given)


def test_messages_are_read_as_they_are_written() -> None:
    messages = (
        Message("system", "Work."),
        Message("assistant", "", (Request("1", "Read", {"p": 1}),)),
        Message("tool", "x", call="1"),
    )
    assert read_messages(messages_to_json(messages)) == messages


@pytest.mark.parametrize(
    "given", [None, [], "text", [{"role": "system"}], [{"role": "king", "text": "x"}], [{"role": "user", "text": 1}, 7]]
)
def test_what_are_no_messages_is_not_read(given: Json) -> None:
    assert read_messages(given) is None
