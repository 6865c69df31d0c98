"""Which tool calls a stage may make: its own, and those that people grant one by one."""

from __future__ import annotations

import pytest

from stagec.core.json import Json
from stagec.runtime.machine.acts.conversation_state import Authority, Decision, Token, decide_call, digest_of

TOKEN = Token("r/a#1", 1, "p", "bash", "d")


@pytest.mark.parametrize(
    ("tools", "token", "consumed", "reply", "wanted"),
    [
        (("bash",), None, (), None, Decision("approve", "sm-envelope")),
        ((), TOKEN, (), None, Decision("ask", "sm-grant-token")),
        ((), TOKEN, (), "approve", Decision("approve", "sm-grant-token")),
        ((), TOKEN, (), "deny", Decision("deny", "sm-grant-token", "GrantDenied")),
        ((), TOKEN, (), "defer", Decision("deny", "sm-grant-token", "GrantDenied")),
        ((), None, (), "approve", Decision("deny", "sm-grant-token", "GrantDenied")),
        ((), TOKEN, (TOKEN.key,), "approve", Decision("deny", "sm-grant-token", "GrantAlreadyConsumed")),
        ((), TOKEN, (TOKEN.key,), None, Decision("deny", "sm-grant-token", "GrantAlreadyConsumed")),
        ((), TOKEN, ("r/a#1\x001\x00p\x00bash\x00e",), None, Decision("ask", "sm-grant-token")),
    ],
)
def test_the_stage_decides_about_its_tools_and_people_about_all_others(
    tools: tuple[str, ...], token: Token | None, consumed: tuple[str, ...], reply: str | None, wanted: Decision
) -> None:
    assert decide_call("bash", token, Authority(tools, consumed), reply) == wanted


def test_a_token_is_bound_to_all_of_its_parts() -> None:
    assert TOKEN.key == "r/a#1\x001\x00p\x00bash\x00d"


@pytest.mark.parametrize(
    ("arguments", "wanted"),
    [
        ({"a": 1, "b": 2}, "43258cff783fe7036d8a43033f830adfc60ec037382473548ac742b888292777"),
        ({"b": 2.0, "a": 1}, "43258cff783fe7036d8a43033f830adfc60ec037382473548ac742b888292777"),
        (None, "74234e98afe7498fb5daf1f36ac2d78acc339464f950703b8c019892f982b90b"),
        (float("nan"), None),
        ("\ud800", None),
    ],
)
def test_arguments_are_named_by_a_digest_whatever_order_they_have(arguments: Json, wanted: str | None) -> None:
    assert digest_of(arguments) == wanted
