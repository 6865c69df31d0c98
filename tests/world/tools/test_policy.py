"""Which calls of steps may be made: every mode, every list, every kind of tool; and that nobody else decides."""

from __future__ import annotations

import pytest

from stagec.runtime.machine.exchange import Ask
from stagec.runtime.world.request_json import ToolDefinition
from stagec.runtime.world.tools.step_calls import Listing, decide, decide_for

READS = ToolDefinition("Read", effects="read", origin="bundled")
EDITS = ToolDefinition("Edit", effects="mutating", origin="bundled")
CHANGES = ToolDefinition("Bash", effects="mutating", origin="bundled")
UNKNOWN = ToolDefinition("search")
TOOLS = (READS, EDITS, CHANGES, UNKNOWN)
Y, ASK, N = "approve", "ask", "deny"
TABLE = {
    ("default", Listing.LISTED): (Y, Y, Y, Y),
    ("acceptEdits", Listing.LISTED): (Y, Y, Y, Y),
    ("plan", Listing.LISTED): (Y, N, N, ASK),
    ("bypassPermissions", Listing.LISTED): (Y, Y, Y, Y),
    ("default", Listing.UNLISTED): (ASK, ASK, ASK, ASK),
    ("acceptEdits", Listing.UNLISTED): (ASK, ASK, ASK, ASK),
    ("plan", Listing.UNLISTED): (ASK, N, N, ASK),
    ("bypassPermissions", Listing.UNLISTED): (N, N, N, N),
    ("default", Listing.OPEN): (Y, ASK, ASK, ASK),
    ("acceptEdits", Listing.OPEN): (Y, Y, ASK, ASK),
    ("plan", Listing.OPEN): (Y, N, N, ASK),
    ("bypassPermissions", Listing.OPEN): (Y, Y, Y, Y),
}


@pytest.mark.parametrize(("mode", "listing"), TABLE)
def test_every_mode_and_list_decides_as_documented(mode: str, listing: Listing) -> None:
    assert tuple(decide(mode, listing, each).kind for each in TOOLS) == TABLE[mode, listing]


@pytest.mark.parametrize("listing", Listing)
@pytest.mark.parametrize("mode", [None, "", "yolo", "PLAN"])
def test_a_mode_that_nobody_knows_is_as_careful_as_the_usual_one(mode: str | None, listing: Listing) -> None:
    assert [decide(mode, listing, each) for each in TOOLS] == [decide("default", listing, each) for each in TOOLS]


@pytest.mark.parametrize("mode", ["default", "acceptEdits", "plan", "bypassPermissions"])
def test_what_only_closing_steps_may_call_is_never_asked_about(mode: str) -> None:
    tool = ToolDefinition("githubIssueClose", effects="read")
    assert [decide(mode, each, tool).kind for each in (Listing.UNLISTED, Listing.OPEN)] == [N, N]
    assert decide(mode, Listing.LISTED, tool).kind == Y


def test_a_server_does_not_edit_files_because_its_tool_is_called_so() -> None:
    tool = ToolDefinition("Edit", effects="mutating", origin="mcp")
    assert decide("acceptEdits", Listing.OPEN, tool).kind == ASK


@pytest.mark.parametrize(
    ("tools", "kind"), [(None, Y), ((), ASK), (("Read",), Y), (("read",), ASK)], ids=["no list", "empty", "on", "case"]
)
def test_the_list_is_that_of_the_step(tools: tuple[str, ...] | None, kind: str) -> None:
    assert decide_for(Ask("r/a#1/1.0", "?", tools=tools), READS).kind == kind


def test_a_reason_names_the_list_the_tool_and_the_mode() -> None:
    reason = decide("plan", Listing.LISTED, CHANGES).reason
    assert reason == "'Bash' is on the list, the tool changes something, and the permission mode is plan"
    assert decide(None, Listing.OPEN, EDITS).reason.startswith("its step has no list, the tool edits files")
