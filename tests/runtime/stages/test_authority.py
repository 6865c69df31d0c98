"""Who decides about calls, as a function: the stage about its own, the mode about all others; and one-shot grants."""

from __future__ import annotations

import pytest

from stagec.core.json import Json
from stagec.runtime.acts.authority import (
    Decision,
    Envelope,
    Proposal,
    Rules,
    approval_key,
    decide_call,
    digest_of,
    guarded,
    matches,
)
from stagec.runtime.acts.grants import Grants, Handled, Token, close, consume, issue

TOKEN = Token("r/a#1", 1, "p", "bash", "d")
OTHER = Token("r/a#1", 1, "p", "bash", "e")
EMPTY = Grants()
ISSUED, USED = Grants(issued=(TOKEN.key,)), Grants(consumed=(TOKEN.key,))


class TestInAStage:
    @pytest.mark.parametrize("mode", ["ask", "allowlist", "yolo", None])
    @pytest.mark.parametrize(
        ("envelope", "heard", "wanted"),
        [
            (Envelope(("bash",)), None, Decision("approve", "sm-envelope")),
            (Envelope((), TOKEN), None, Decision("ask", "sm-grant-token")),
            (Envelope((), TOKEN), "approve", Decision("approve", "sm-grant-token")),
            (Envelope((), TOKEN), "deny", Decision("deny", "sm-grant-token", "GrantDenied")),
            (Envelope((), TOKEN), "defer", Decision("deny", "sm-grant-token", "GrantDenied")),
            (Envelope((), TOKEN), "nobody", Decision("deny", "sm-grant-token", "GrantDenied")),
            (Envelope((), None), "approve", Decision("deny", "sm-grant-token", "GrantDenied")),
            (Envelope((), TOKEN, ISSUED), None, Decision("approve", "sm-grant-token")),
            (Envelope((), TOKEN, USED), "approve", Decision("deny", "sm-grant-token", "GrantAlreadyConsumed")),
        ],
    )
    def test_the_stage_and_people_decide(
        self, mode: str | None, envelope: Envelope, heard: str | None, wanted: Decision
    ) -> None:
        assert decide_call(mode, Proposal("bash", heard=heard), envelope) == wanted


class TestOutsideOfStages:
    @pytest.mark.parametrize(
        ("mode", "heard", "wanted"),
        [
            ("yolo", None, Decision("approve", "mode-gate")),
            ("allowlist", None, Decision("deny", "mode-gate", "NotOnAllowlist")),
            ("ask", None, Decision("ask", "mode-gate")),
            (None, None, Decision("ask", "mode-gate")),
            ("ask", "approve", Decision("approve", "mode-gate")),
            ("ask", "deny", Decision("deny", "mode-gate", "AskRefused")),
            ("ask", "nobody", Decision("halt", "mode-gate")),
        ],
    )
    def test_the_mode_decides(self, mode: str | None, heard: str | None, wanted: Decision) -> None:
        assert decide_call(mode, Proposal("bash", "bash:ls", heard)) == wanted

    def test_an_allowlist_has_patterns(self) -> None:
        rules = Rules(patterns=("read:*", "bash:ls"))
        assert decide_call("allowlist", Proposal("bash", "bash:ls"), rules=rules) == Decision("approve", "mode-gate")

    def test_what_was_approved_once_is_not_asked_about_again(self) -> None:
        rules = Rules(approved=("bash:ls",))
        assert decide_call("ask", Proposal("bash", "bash:ls"), rules=rules) == Decision("approve", "mode-gate")


@pytest.mark.parametrize(
    ("pattern", "key", "wanted"),
    [
        ("read:readme.md", "read:readme.md", True),
        ("read:*", "read:/app/README.md", True),
        ("read:*", "read:a\nb", True),
        ("read:*", "exec:ls", False),
        ("read:foo.md", "read:foo.md.bak", False),
        ("read:file.txt", "read:filextxt", False),
        ("", "read:x", False),
        ("", "", True),
        ("*", "", True),
        ("a*a", "a", False),
        ("a*b*c", "aXbYc", True),
        ("a*b*c", "acb", False),
        ("*b*", "abc", True),
        ("a**b", "ab", True),
    ],
)
def test_a_star_stands_for_any_text_and_nothing_else_does(pattern: str, key: str, *, wanted: bool) -> None:
    assert matches(pattern, key) is wanted


def test_guards_deny_what_was_approved_in_any_mode_and_the_first_counts() -> None:
    approved = Decision("approve", "sm-envelope")
    assert guarded(approved, [None, "First", "Second"]) == Decision("deny", "guard", "First")
    assert guarded(approved, [None]) == approved


@pytest.mark.parametrize("kind", ["deny", "ask", "halt"])
def test_guards_are_not_heard_about_what_was_not_approved(kind: str) -> None:
    decision = Decision(kind, "mode-gate")
    assert guarded(decision, ["Never"]) == decision


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


def test_the_key_of_a_call_is_its_tool_and_its_arguments() -> None:
    assert approval_key("read", {"path": "x"}) == 'read:{"path":"x"}'


class TestGrants:
    def test_a_token_is_bound_to_all_of_its_parts(self) -> None:
        assert TOKEN.key == "r/a#1\x001\x00p\x00bash\x00d"

    def test_a_token_is_used_once(self) -> None:
        issued = issue(EMPTY, TOKEN, "approve")
        assert issued == Handled(ISSUED)
        assert consume(issued.grants, TOKEN) == Handled(USED)
        assert consume(USED, TOKEN) == Handled(USED, "Validation/GrantAlreadyConsumed")

    def test_a_token_that_was_used_is_not_issued_again(self) -> None:
        assert issue(USED, TOKEN, "approve") == Handled(USED, "Validation/GrantAlreadyConsumed")

    @pytest.mark.parametrize("decision", ["deny", "defer", ""])
    def test_only_an_approval_mints_a_token(self, decision: str) -> None:
        assert issue(EMPTY, TOKEN, decision) == Handled(EMPTY, "ToolTerminal/GrantDenied")

    def test_a_token_that_was_not_issued_cannot_be_used(self) -> None:
        assert consume(ISSUED, OTHER) == Handled(ISSUED, "Validation/GrantNotFound")

    def test_what_was_not_used_expires_with_the_execution(self) -> None:
        closed = close(ISSUED, "r/a#1")
        assert closed == Grants(closed=("r/a#1",))
        assert consume(closed, TOKEN) == Handled(closed, "Validation/GrantStageExpired")
        assert issue(closed, TOKEN) == Handled(closed, "Validation/GrantStageExpired")

    def test_tokens_of_other_executions_stay(self) -> None:
        assert close(ISSUED, "r/a#11") == Grants(issued=(TOKEN.key,), closed=("r/a#11",))
