"""Flows with what is to be said about the rights of their nodes, all through the whole compiler."""

from __future__ import annotations

from pathlib import Path

import pytest
from permitted import Make, agent_file, compile_with_rights, orchestrator, pipeline, registry, stage_plan

LINE = "{a: b, b: c}"
BOTH = "{a: {stages: [b, c], execution: parallel, join: d}}"
CHAIN = "{a: {stages: [b, c, d], execution: sequential}}"
EITHER = "{a: [{when: {parsed.ok: true}, stages: [b]}, {when: {parsed.ok: false}, stages: [c]}], b: d, c: d}"
LOOP = "{a: b, b: [{when: {parsed.ok: true}, stages: []}, {when: {parsed.ok: false}, stages: [a]}]}"
HUB = "mcp: {hub: {command: docker, args: [run, ghcr.io/github/github-mcp-server]}}\n"
CLAUDE = ".claude/agents/helper.md"
COMMAND = ".claude/commands/fix.md"
SHELL = {"runner": {"command": "sh", "args": ["-c", "gh issue close '${context.title}'"]}}
WORDS = {"runner": {"command": "gh", "args": ["issue", "close", "${context.title}"]}}
NUMBER = {"runner": {"command": "bash", "args": ["-c", "gh issue close ${context.issue}"]}}
ALL_PROMPTS = "Read the issue, run the tests, edit the file, search and fetch the URL. {uv-issue}"

TABLE: dict[str, tuple[Make, str]] = {
    # the lethal trifecta: which orders, in pipelines
    "private, untrusted, send": (pipeline({"a": "p", "b": "u", "c": "s"}, LINE), "551 c"),
    "untrusted, private, send": (pipeline({"a": "u", "b": "p", "c": "s"}, LINE), "551 c"),
    "send first": (pipeline({"a": "s", "b": "p", "c": "u"}, LINE), ""),
    "send before the untrusted": (pipeline({"a": "p", "b": "s", "c": "u"}, LINE), ""),
    "send before the private": (pipeline({"a": "u", "b": "s", "c": "p"}, LINE), ""),
    "all in one stage": (pipeline({"a": "pus"}, "{}"), "551 a"),
    "the sender reads the untrusted": (pipeline({"a": "p", "b": "us"}, "{a: b}"), "551 b"),
    "the sender reads the private": (pipeline({"a": "u", "b": "ps"}, "{a: b}"), "551 b"),
    "one reads both": (pipeline({"a": "pu", "b": "s"}, "{a: b}"), "551 b"),
    "one reads and sends, then the other": (pipeline({"a": "ps", "b": "u"}, "{a: b}"), ""),
    "no private data": (pipeline({"a": "u", "b": "n", "c": "s"}, LINE), ""),
    "nobody strange": (pipeline({"a": "p", "b": "n", "c": "s"}, LINE), ""),
    "nothing is sent": (pipeline({"a": "p", "b": "u", "c": "w"}, LINE), ""),
    "two senders": (pipeline({"a": "pu", "b": "s", "c": "s"}, LINE), "551 b, 551 c"),
    "a loop brings it back": (pipeline({"a": "us", "b": "p"}, LOOP), "551 a"),
    "a loop without the private": (pipeline({"a": "us", "b": "n"}, LOOP), ""),
    "a loop that reads last": (pipeline({"a": "s", "b": "pu"}, LOOP), "551 a"),
    "one on each of two ways": (pipeline({"a": "n", "b": "p", "c": "u", "d": "s"}, EITHER), ""),
    "one before, one on a way": (pipeline({"a": "p", "b": "n", "c": "u", "d": "s"}, EITHER), "551 d"),
    "both on one way": (pipeline({"a": "n", "b": "n", "c": "pu", "d": "s"}, EITHER), "551 d"),
    "a join knows both branches": (pipeline({"a": "n", "b": "p", "c": "u", "d": "s"}, BOTH), "551 d"),
    "a sibling knows nothing of the other": (pipeline({"a": "u", "b": "p", "c": "s", "d": "n"}, BOTH), ""),
    "a sibling knows what was before": (pipeline({"a": "pu", "b": "n", "c": "s", "d": "n"}, BOTH), "551 c"),
    "a join without the untrusted": (pipeline({"a": "n", "b": "p", "c": "n", "d": "s"}, BOTH), ""),
    "a sequence": (pipeline({"a": "n", "b": "p", "c": "u", "d": "s"}, CHAIN), "551 d"),
    "a sequence that sends first": (pipeline({"a": "n", "b": "s", "c": "u", "d": "p"}, CHAIN), ""),
    "a stage that no run reaches": (pipeline({"a": "p", "b": "u", "c": "s"}, "{a: b}"), ""),
    # labels: where they come from
    "well-known names": (pipeline({"a": "Read,WebFetch"}, "{}", tools="bundled: [Read, WebFetch]\n"), "551 a"),
    "a search sends nothing": (pipeline({"a": "Read,WebSearch"}, "{}", tools="bundled: [Read, WebSearch]\n"), ""),
    "a shell sends": (pipeline({"a": "Bash,WebSearch"}, "{}", tools="bundled: [Bash, WebSearch]\n"), "551 a"),
    "a label takes away": (
        pipeline({"a": "Read,WebFetch"}, "{}", tools="bundled: [Read, WebFetch]\nlabels: {Read: {reads: []}}\n"),
        "",
    ),
    "a label of an entry comes first": (
        pipeline(
            {"a": "Read,x"},
            "{}",
            tools="bundled: [Read, {name: x, reads: []}]\nlabels: {'*': {reads: untrusted, effects: send}}\n",
        ),
        "",
    ),
    "a label by a pattern": (
        pipeline(
            {"a": "x_all"},
            "{}",
            tools="bundled: [x_all]\nlabels: {x_*: {reads: [private, untrusted], effects: send}}\n",
        ),
        "551 a",
    ),
    "nobody knows the tool": (pipeline({"a": "one,two"}, "{}", tools="bundled: [one, two]\n"), ""),
    "a host without sending": (pipeline({"a": "Read,Edit,Grep"}, "{}", tools="bundled: [Read, Edit, Grep]\n"), ""),
    # registries: all steps of an agent have its tools
    "agent with a shell and the web": (registry(["Read", "Bash", "WebFetch"], prompt=ALL_PROMPTS), "551 agent.json"),
    "agent without the web": (registry(["Read", "Edit", "Bash"], prompt=ALL_PROMPTS), ""),
    "agent with issues of GitHub": (
        registry(["Read", "Bash", "mcp__github__get_issue"], prompt=ALL_PROMPTS),
        "551 agent.json",
    ),
    "agent that only reads at GitHub": (registry(["Read", "mcp__github__get_issue"], prompt="issue"), ""),
    "a server that nobody knows": (registry(["Read", "Bash", "mcp__own__look"], prompt="look bash"), ""),
    "boundary tools are for closing alone": (
        registry(["githubIssueView", "githubIssueClose"], prompt="GitHub issue"),
        "551 agent.json",
    ),
    "steps that only plan send nothing": (
        registry(
            ["Read", "Bash", "WebSearch"],
            modes=dict.fromkeys(("initial.issue", "continuation.issue", "closure.issue"), "plan"),
            prompt=ALL_PROMPTS,
        ),
        "",
    ),
    # orchestrators: agents after each other, steps inside
    "the second agent sends": (orchestrator(["Read", "WebSearch"], ["Bash"]), "551 agent.json, 552 agent.json"),
    "the first sends, and comes again": (orchestrator(["Bash"], ["WebSearch"]), "551 agent.json, 552 agent.json"),
    "agents without the web": (orchestrator(["Read", "Edit"], ["Bash"]), ""),
    # stage plans: a program does the same whatever it reads, until a model decides
    "fetched, read by a model, copied away": (
        stage_plan(a=("curl -o x https://example.org", ""), b=("codex exec", "a"), c=("scp x host:", "b")),
        "551 plan.yaml",
    ),
    "fetched, queried, copied away": (
        stage_plan(a=("curl -o x https://example.org", ""), b=("psql -c q", "a"), c=("scp x host:", "b")),
        "",
    ),
    "a model beside what is copied": (
        stage_plan(a=("llm x", ""), b=("wget https://example.org", ""), c=("scp x host:", "b")),
        "",
    ),
    "a script of a shell before a model": (
        stage_plan(a=(["sh", "-c", "cat x; curl https://e.org"], ""), b=("llm x", "a"), c=("sendmail x", "b")),
        "551 plan.yaml",
    ),
    "an agent as a program": (stage_plan(a=("claude -p x", "")), "551 plan.yaml"),
    "own programs": (stage_plan(a=("python3 load.py", ""), b=("python3 send.py", "a")), ""),
    # agent files
    "an agent with all": (
        agent_file(CLAUDE, "name: helper\ndescription: d\ntools: Read, Bash, WebFetch"),
        "551 helper.md, 552 helper.md",
    ),
    "an agent that reads": (
        agent_file(CLAUDE, "name: helper\ndescription: d\ntools: Read, Grep, WebSearch", "Search the web."),
        "",
    ),
    "an agent that may not": (
        agent_file(
            CLAUDE, "name: helper\ndescription: d\ntools: Read, Bash, WebFetch\ndisallowedTools: Bash, WebFetch"
        ),
        "",
    ),
    "an agent that only plans": (
        agent_file(
            CLAUDE,
            "name: helper\ndescription: d\ntools: Read, Bash, WebSearch\npermissionMode: plan",
            "Search, run tests.",
        ),
        "",
    ),
    # tools that no prompt speaks of
    "a tool that is not spoken of": (pipeline({"a": "w"}, "{}", text="Look."), "552 a"),
    "a tool that only reads": (pipeline({"a": "p"}, "{}", text="Look."), ""),
    "a tool by what it does": (pipeline({"a": "Edit"}, "{}", tools="bundled: [Edit]\n", text="Mend the file."), ""),
    "a tool of an agent": (
        registry(["Read", "WebFetch"], prompt="Say it. {uv-issue}"),
        "551 agent.json, 552 agent.json",
    ),
    "a text in another script": (pipeline({"a": "w"}, "{}", text="問題を読んで答えを書く。"), ""),
    # modes
    "a mode that is loosened": (
        registry(["Read"], modes={"initial.issue": "default", "continuation.issue": "bypassPermissions"}),
        "553 steps_registry.json",
    ),
    "a mode that the kind loosens": (
        registry(["Read"], modes={"continuation.issue": "default"}),
        "553 steps_registry.json",
    ),
    "a plan is carried out": (registry(["Read"], modes={"initial.issue": "plan"}), ""),
    "a plan is carried out by nobody's leave": (
        registry(["Read"], modes={"initial.issue": "plan", "closure.issue": "bypassPermissions"}),
        "553 steps_registry.json",
    ),
    "a mode that is tightened": (
        registry(
            ["Read"], agent="bypassPermissions", modes={"initial.issue": "acceptEdits", "closure.issue": "default"}
        ),
        "",
    ),
    "looser than the agent": (
        registry(["Read"], agent="default", modes={"initial.issue": "bypassPermissions"}),
        "553 steps_registry.json",
    ),
    # texts in programs
    "a title in a shell": (registry(["Read"], **SHELL), "554 steps_registry.json"),
    "a title as a word": (registry(["Read"], **WORDS), ""),
    "a number in a shell": (registry(["Read"], **NUMBER), ""),
    "arguments of a command": (agent_file(COMMAND, "description: d", "Look: !`git log $ARGUMENTS`"), "554 fix.md"),
    "arguments for the model": (agent_file(COMMAND, "description: d", "Look: !`git log`, then do $ARGUMENTS"), ""),
    # what runs at the same time
    "siblings that write": (pipeline({"a": "n", "b": "w", "c": "n", "d": "n"}, BOTH), "375 b"),
    "siblings that write at GitHub": (
        pipeline(
            {"a": "n", "b": "mcp__hub__create_issue", "c": "n", "d": "n"}, BOTH, tools=f"bundled: [harmless]\n{HUB}"
        ),
        "375 b",
    ),
    "siblings that send": (pipeline({"a": "n", "b": "s", "c": "n", "d": "n"}, BOTH), ""),
}


@pytest.mark.parametrize("name", TABLE)
def test_a_flow_has_the_findings_that_are_expected(name: str, tmp_path: Path) -> None:
    make, expected = TABLE[name]
    make(tmp_path)
    said = [each for each in compile_with_rights(tmp_path).diagnostics if each.code in CODES]
    found = {f"{each.code.removeprefix('STG')} {each.at.file.rpartition('/')[2].removesuffix('.md')}" for each in said}
    wanted = {each.removesuffix(".md") for each in expected.split(", ") if each}
    assert found == wanted, [each.message for each in said]


CODES = {"STG375", "STG551", "STG552", "STG553", "STG554"}


def test_the_table_has_enough_of_both() -> None:
    silent = sum(not expected for _, expected in TABLE.values())
    assert len(TABLE) >= 40
    assert min(silent, len(TABLE) - silent) >= 20
