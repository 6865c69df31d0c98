"""What agents of each tool may do: a table for each owner of files, after its documentation and its source."""

from __future__ import annotations

from pathlib import Path

import pytest
from permitted import agent_file, compile_with_rights

from stagec.ir.rights import Rights

ALL = "read grep glob list edit write patch bash webfetch websearch task skill"


def read(tmp_path: Path, path: str, head: str, text: str = "Do it.") -> Rights | None:
    """Return what the only agent of a project may do."""
    agent_file(path, head, text)(tmp_path)
    accesses = compile_with_rights(tmp_path).list_accesses()
    return next(iter(accesses[0].rights.values())) if accesses else None


def names(rights: Rights | None) -> str:
    """Return the tools in a text, with a `+` if there may be others."""
    assert rights is not None
    return " ".join([*(each.name for each in rights.tools), *(["+"] if rights.is_open else [])])


def labels(rights: Rights | None, tool: str = "") -> str:
    """Return the labels of one tool, or of all, by their first letters."""
    assert rights is not None
    found = {label for each in rights.tools if tool in ("", each.name) for label in each.labelled.labels}
    return "".join(each.value[0] for each in sorted(found, key=lambda label: "puws".find(label.value[0])))


OPENCODE = [
    ("", "+"),
    ("permission: allow", f"{ALL} +"),
    ("permission: ask", f"{ALL} +"),
    ("permission: deny", ""),
    ("permission: {edit: deny}", "+"),
    ("permission: {edit: ask}", "edit write patch +"),
    ('permission: {"*": deny, read: allow}', "read"),
    ('permission: {read: allow, "*": deny}', ""),
    ('permission: {"*": deny, bash: {"git *": allow}}', "bash"),
    ('permission: {"*": deny, bash: {"git *": allow, "*": deny}}', ""),
    ('permission: {"*": deny, bash: {"*": deny, "git *": ask}}', "bash"),
    ('permission: {"*": deny, bash: {"*": deny, "rm *": deny}}', ""),
    ('permission: {bash: {"*": allow, "rm *": deny}}', "bash +"),
    ('permission: {"*": allow, edit: {"docs/*": deny}}', f"{ALL} +"),
    ('permission: {"*": deny, "web*": allow}', "webfetch websearch web*"),
    ('permission: {"*": deny, "rea?": allow}', "read rea?"),
    ('permission: {"*": deny, "github_*": allow}', "github_*"),
    ("permission: {external_directory: allow, doom_loop: allow}", "+"),
    ("tools: {bash: true}", "bash +"),
    ("tools: {bash: false}", "+"),
    ("tools: {write: false, edit: true}", "edit write patch +"),
    ("tools: {edit: true, write: false}", "+"),
    ('tools: {"*": false, read: true}', "read"),
    ('tools: {"*": false, slack_post: true}', "slack_post"),
    ("tools: {bash: true}\npermission: {bash: deny}", "+"),
    ("tools: {bash: false}\npermission: {bash: allow}", "bash +"),
    ('tools: {read: true, "*": false}\npermission: {read: allow}', ""),
    ("mode: subagent\ntools: {patch: true}", "edit write patch +"),
]


@pytest.mark.parametrize(("head", "wanted"), OPENCODE)
def test_an_agent_of_opencode_may_call_what_the_last_rule_for_it_allows(head: str, wanted: str, tmp_path: Path) -> None:
    assert names(read(tmp_path, ".opencode/agents/a.md", f"description: d\n{head}")) == wanted


@pytest.mark.parametrize("head", ["disable: true\ntools: {bash: true}", "tools: bash", "permission: {bash: yes}"])
def test_an_agent_that_opencode_does_not_load_may_do_nothing(head: str, tmp_path: Path) -> None:
    assert read(tmp_path, ".opencode/agent/a.md", f"description: d\n{head}") is None


@pytest.mark.parametrize(
    ("tool", "wanted"),
    [
        ("bash", "pws"),
        ("webfetch", "us"),
        ("websearch", "u"),
        ("read", "p"),
        ("edit", "w"),
        ("github_create_issue", "ws"),
        ("github_*", "puws"),
        ("brave_search_web", "u"),
        ("nobody_knows", ""),
    ],
)
def test_tools_of_opencode_do_what_their_likes_do(tool: str, wanted: str, tmp_path: Path) -> None:
    assert labels(read(tmp_path, ".opencode/modes/m.md", f'permission: {{"{tool}": allow}}'), tool) == wanted


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("!`git log $ARGUMENTS`", ["$ARGUMENTS"]),
        ("!`git log $12`", ["$12"]),
        ("!`git log`, and then $ARGUMENTS", []),
        ("`git log $1`", []),
    ],
)
def test_a_command_of_opencode_gives_its_arguments_to_a_shell(text: str, wanted: list[str], tmp_path: Path) -> None:
    rights = read(tmp_path, ".opencode/commands/c.md", "description: d", text)
    assert rights is not None
    assert [each.what for each in rights.shell] == wanted


COPILOT = [
    ("", "+", ""),
    ("tools: ['*']", "+", ""),
    ("tools: []", "", ""),
    ("tools: [read, search, todo]", "read search todo", "p"),
    ("tools: [execute, web]", "execute web", "puws"),
    ("tools: [web/fetch]", "web/fetch", "us"),
    ("tools: [fetch]", "fetch", "us"),
    ("tools: [edit/editFiles]", "edit/editFiles", "w"),
    ("tools: [editFiles]", "editFiles", "w"),
    ("tools: [search/codebase, codebase]", "search/codebase codebase", "p"),
    ("tools: [execute/runInTerminal]", "execute/runInTerminal", "pws"),
    ("tools: [web/githubRepo]", "web/githubRepo", "pu"),
    ("tools: [github/get_issue]", "github/get_issue", "pu"),
    ("tools: [github/add_issue_comment]", "github/add_issue_comment", "ws"),
    ("tools: ['github/*']", "github/*", "puws"),
    ("tools: [slack/search]", "slack/search", "pu"),
    ("tools: ['nobody/*', other]", "nobody/* other", ""),
    ("tools: read, edit", "read edit", "pw"),
]


@pytest.mark.parametrize(("head", "wanted", "does"), COPILOT)
@pytest.mark.parametrize("path", [".github/agents/a.md", ".github/chatmodes/a.chatmode.md"])
def test_an_agent_of_copilot_may_call_what_it_lists(
    path: str, head: str, wanted: str, does: str, tmp_path: Path
) -> None:
    rights = read(tmp_path, path, f"description: d\n{head}")
    assert (names(rights), labels(rights)) == (wanted, does)


CLOSED = "bash: [], edit: false"
GH_AW = [
    ("", "+", ""),
    ("tools: {}", "+", ""),
    (f"tools: {{{CLOSED}}}", "", ""),
    ("tools: {bash: false, edit: }", "edit", "w"),
    ("tools: {bash: , edit: false}", "bash", "p"),
    ("tools: {bash: true, edit: false}", "bash", "pws"),
    ('tools: {bash: [":*"], edit: false}', "bash", "pws"),
    ('tools: {bash: [echo, "ls"], edit: false}', "bash", ""),
    ('tools: {bash: ["git status", "cat:*"], edit: false}', "bash", "pw"),
    ('tools: {bash: ["curl:*"], edit: false}', "bash", "us"),
    (f"tools: {{{CLOSED}, web-fetch: , web-search: }}", "web-fetch web-search", "us"),
    (f"tools: {{{CLOSED}, github: }}", "github/*", "pu"),
    (f"tools: {{{CLOSED}, github: false}}", "", ""),
    (f"tools: {{{CLOSED}, github: {{allowed: [issue_read]}}}}", "github/issue_read", "pu"),
    (f"tools: {{{CLOSED}, github: {{min-integrity: approved}}}}", "github/*", "p"),
    (f"tools: {{{CLOSED}, github: {{read-only: false}}}}", "github/*", "pu"),
    (f"permissions: {{issues: write}}\ntools: {{{CLOSED}, github: {{read-only: false}}}}", "github/*", "puws"),
    (f"permissions: write-all\ntools: {{{CLOSED}, github: {{toolsets: [all]}}}}", "github/*", "pu"),
    (f"tools: {{{CLOSED}, playwright: , timeout: 5}}", "playwright", "puws"),
    (f"tools: {{{CLOSED}, nobody-knows: }}", "nobody-knows", ""),
    (f"tools: {{{CLOSED}}}\nimports: [shared/x.md]", "+", ""),
    (
        f"tools: {{{CLOSED}}}\nmcp-servers: {{slack: {{command: x, allowed: [post_message]}}}}",
        "slack/post_message",
        "ws",
    ),
    (f"tools: {{{CLOSED}}}\nmcp-servers: {{brave: {{command: x}}}}", "brave/*", "u"),
    (
        f"tools: {{{CLOSED}}}\nsafe-outputs: {{add-comment: , add-labels: , staged: false}}",
        "add-comment add-labels",
        "ws",
    ),
    (
        f"tools: {{{CLOSED}}}\nsafe-outputs: {{create-issue: {{max: 2}}, create-pull-request: false}}",
        "create-issue",
        "ws",
    ),
    (f"tools: {{{CLOSED}}}\nsafe-outputs: {{add-labels: , threat-detection: , noop: }}", "add-labels", "w"),
    (f"tools: {{{CLOSED}}}\nsafe-outputs: {{staged: true, create-issue: }}", "", ""),
]


@pytest.mark.parametrize(("head", "wanted", "does"), GH_AW)
def test_a_workflow_may_do_what_its_tools_and_outputs_do(head: str, wanted: str, does: str, tmp_path: Path) -> None:
    rights = read(tmp_path, ".github/workflows/w.md", f"on: push\n{head}")
    assert (names(rights), labels(rights)) == (wanted, does)


def test_rules_of_cursor_grant_nothing(tmp_path: Path) -> None:
    assert read(tmp_path, ".cursor/rules/r.mdc", "description: d\nglobs: *.ts\nalwaysApply: true") is None


TRIFECTAS = {
    ".opencode/agents/a.md": ("permission: {read: allow, webfetch: ask}", "permission: {read: allow, webfetch: deny}"),
    ".github/agents/a.md": (
        "description: d\ntools: [search/codebase, web/fetch]",
        "description: d\ntools: [read, edit]",
    ),
    ".github/prompts/a.prompt.md": ("tools: [codebase, fetch]", "tools: [codebase, todo]"),
    ".github/workflows/w.md": (
        "on: issues\ntools: {github: }\nsafe-outputs: {add-comment: }",
        "on: issues\ntools: {github: {min-integrity: approved}}\nsafe-outputs: {add-comment: }",
    ),
}


@pytest.mark.parametrize("path", TRIFECTAS)
def test_the_trifecta_is_found_in_files_of_every_owner(path: str, tmp_path: Path) -> None:
    for at, head in enumerate(TRIFECTAS[path]):
        root = tmp_path / str(at)
        root.mkdir()
        agent_file(path, head)(root)
        codes = {each.code for each in compile_with_rights(root).diagnostics}
        assert ("STG551" in codes) is (at == 0), head
