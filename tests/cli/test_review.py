"""`stagec review` says first what counts, is one safe comment within GitHub's limit, and knows the merge base."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import jsonschema
import programs
import pytest
from cli.test_diff import TOP, edit, git, repository

from stagec.cli.app import run
from stagec.cli.commands.review import Costs, MovedBound
from stagec.cli.markdown import write_prose
from stagec.ir.graph.usage import Quantity

Shown = pytest.CaptureFixture[str]
__all__ = ["repository"]


def shown(capfd: Shown, form: str, *words: str, status: int) -> str:
    capfd.readouterr()
    assert run(["review", *words, "--format", form]) == status
    return capfd.readouterr().out


def shown_json(capfd: Shown, *words: str, status: int) -> Any:
    made = json.loads(shown(capfd, "json", *words, status=status))
    jsonschema.validate(made, json.loads((TOP / "schemas" / "review.schema.json").read_bytes()))
    return made


def lower(top: Path) -> None:
    edit(top / "docs" / "pipeline.yaml", "maxStageExecutions: 8", "maxStageExecutions: 4")
    with (top / "docs" / "check.md").open("a") as file:
        file.write("Be kind.\n")


def test_the_verdict_comes_first_and_decides_the_exit_status(repository: Path, capfd: Shown) -> None:
    assert shown(capfd, "markdown", "--against", "HEAD", status=0).startswith(
        "## ✅ No flow has changed, no new errors\n"
    )
    edit(repository / "docs" / "check.md", "turnCap: 10", "turnCap: 11")
    assert shown(capfd, "markdown", "--against", "HEAD", status=0).startswith("## ✅ Nothing breaks runs in flight")
    lower(repository)
    assert shown(capfd, "markdown", "--against", "HEAD", status=1).startswith("## ❌ 1 change breaks runs in flight\n")
    assert shown(capfd, "text", "--against", "HEAD", status=1).startswith("1 change breaks runs in flight\n")
    told = shown(capfd, "markdown", "--against", "HEAD", "--allow", "chg110", status=0)
    assert (
        "- **CHG110** the limit of node executions is 4 and was 8: a run in flight may be beyond it (allowed)" in told
    )


def test_a_review_has_changes_bounds_and_findings(repository: Path, capfd: Shown) -> None:
    lower(repository)
    made = shown_json(capfd, "--against", "HEAD", status=1)
    assert (made["breaking"], made["newErrors"], made["verdict"]) == (1, 0, "1 change breaks runs in flight")
    (flow,) = made["flows"]
    assert [each["code"] for each in flow["changes"]] == ["CHG110", "CHG217"]
    assert {"entry": "", "measure": "steps", "before": 8, "after": 4} in flow["bounds"]
    text = shown(capfd, "text", "--against", "HEAD", status=1)
    assert "bounds   at most 4 steps (was 8)" in text
    comment = shown(capfd, "markdown", "--against", "HEAD", status=1)
    assert "⬇️ 4 steps (was 8)" in comment


def test_a_review_says_what_a_change_costs_where_prices_and_spans_are_known(repository: Path, capfd: Shown) -> None:
    (repository / "stagec.toml").write_text(PRICED)
    lower(repository)
    (flow,) = shown_json(capfd, "--against", "HEAD", status=1)["flows"]
    amounts = {each["measure"]: (each["before"], each["after"]) for each in flow["bounds"]}
    assert amounts.keys() >= {"steps", "turns", "calls", "inputTokens", "outputTokens", "cost"}
    assert amounts["inputTokens"] == (2000 * amounts["turns"][0], 2000 * amounts["turns"][1])
    stored = 1000 * amounts["inputTokens"][1]  # the dearest way to read: into the cache of the provider
    assert amounts["cost"][1] == stored + 4000 * amounts["outputTokens"][1]
    comment = shown(capfd, "markdown", "--against", "HEAD", status=1)
    assert f"⬇️ **${amounts['cost'][1] / 1e9:.3f}** (was ${amounts['cost'][0] / 1e9:.3f})" in comment
    assert "```mermaid\nflowchart TB\n" in comment
    assert "```diff\n  + Be kind.\n" in comment


PRICED = """\
[models]
default = "anthropic:claude-3-5-haiku-latest"
[cost]
calls = "0..2"
input-tokens = "500..2000"
output-tokens = "50..500"
"""


def sections(comment: str) -> list[str]:
    """Return the heads of a comment in their order, without what is folded."""
    return re.findall(r"^(?:## |\| Flow \| What|\*\*What.*|\*\*New.*|<details open>)", comment, flags=re.MULTILINE)


def test_what_breaks_changes_and_costs_is_read_first(repository: Path, capfd: Shown) -> None:
    (repository / "stagec.toml").write_text(PRICED)
    lower(repository)
    edit(repository / "docs" / "write.md", "turnCap: 20", "turnCap: 21")
    edit(repository / "docs" / "check.md", "allowedTools: [Read", "allowedTools: [Read, Read, Edit")
    comment = shown(capfd, "markdown", "--against", "HEAD", status=1)
    order = ["## ", "| Flow | What", "**What breaks runs in flight**", "**New findings**", "**What else changes**"]
    assert sections(comment) == [*order, "<details open>"]
    assert comment.startswith("## ❌ 1 change breaks runs in flight, 1 new warning\n")
    row = next(line for line in comment.splitlines() if line.startswith("| `docs-repair`"))
    costs = row.split(" | ")[-1].removesuffix(" |").split("<br>")
    assert re.fullmatch(r"⬇️ \*\*\$0\.\d+\*\* \(was \$0\.960\)", costs[0])
    assert costs[1:] == ["⬇️ 4 steps (was 8)", "⬇️ 122 turns (was 240)", "⬇️ 244 tool calls (was 480)"]
    harmless = comment.partition("**What else changes**\n\n")[2].partition("\n\n")[0].splitlines()
    assert sorted(harmless) == ["- check: prompt changed", "- check: tool Edit added", "- write: turns 20 → 21"]
    assert "| `docs-repair` |  | ⬇️ 244,000 input tokens (was 480,000) |" in comment


def test_new_warnings_are_in_the_verdict_and_fail_nothing(repository: Path, capfd: Shown) -> None:
    edit(repository / "docs" / "check.md", "allowedTools: [Read", "allowedTools: [Read, Read")
    comment = shown(capfd, "markdown", "--against", "HEAD", status=0)
    assert comment.startswith("## ⚠️ No flow has changed, no new errors, 1 new warning\n")
    assert "**New findings**\n\n- ⚠️ **STG309** `docs/check.md:4`" in comment
    edit(repository / "docs" / "check.md", "turnCap: 10", "turnCap: 11")
    comment = shown(capfd, "markdown", "--against", "HEAD", status=0)
    assert comment.startswith("## ⚠️ Nothing breaks runs in flight, no new errors, 1 new warning\n")


def test_a_price_that_is_not_known_is_said_and_what_would_give_one(repository: Path, capfd: Shown) -> None:
    edit(repository / "docs" / "check.md", "turnCap: 10", "turnCap: 11")
    comment = shown(capfd, "markdown", "--against", "HEAD", status=0)
    assert "| money: not known<br>⬆️ 248 turns (was 240) |" in comment
    assert "is not known: no model is named for check, repair and write; `--model PROVIDER:NAME` names one." in comment
    comment = shown(capfd, "markdown", "--against", "HEAD", "--model", "anthropic:no-such", status=0)
    assert "is not known: the price table has no row for the model of check, repair and write." in comment
    comment = shown(capfd, "markdown", "--against", "HEAD", "--model", "anthropic:claude-3-5-haiku-latest", status=0)
    assert re.search(r"\| ⬆️ \*\*\$[\d.,]+\*\* \(was \$[\d.,]+\)<br>⬆️ 248 turns \(was 240\)", comment)
    assert "not known" not in comment
    (repository / "stagec.toml").write_text(PRICED)
    git(repository, "checkout", "docs")
    with (repository / "docs" / "check.md").open("a") as file:
        file.write("Be kind.\n")
    assert "| as before: $0.960 |" in shown(capfd, "markdown", "--against", "HEAD", status=0)


def test_what_a_new_flow_costs_is_said(repository: Path, capfd: Shown) -> None:
    (repository / "stagec.toml").write_text(PRICED)
    shutil.copytree(TOP / "registries" / "code-review", repository / "review")
    comment = shown(capfd, "markdown", "--against", "HEAD", status=0)
    assert "| none | **$3.84**<br>20 steps<br>960 turns<br>1,920 tool calls |" in comment
    assert "**What changes**" not in comment
    assert "bounds   at most $3.84\n" in shown(capfd, "text", "--against", "HEAD", status=0)


def test_of_several_entries_the_one_that_takes_most_stands_for_all() -> None:
    moved = (
        MovedBound("one", Quantity.TURNS, 10, 20),
        MovedBound("two", Quantity.TURNS, 40, 30),
        MovedBound("one", Quantity.INPUT, 5, 6),
        MovedBound("two", Quantity.INPUT, 5, None),
    )
    assert [each.describe() for each in Costs(moved).select_worst()] == [
        "30 turns (was 40)",
        "no bound of input tokens (was 5)",
    ]
    paid = (*moved, MovedBound("one", Quantity.COST, None, 2 * 10**9))
    assert [each.describe() for each in Costs(paid).select_worst()] == ["$2.00 (was no bound)", "30 turns (was 40)"]


def test_of_many_flows_those_that_break_come_first_with_one_bound_each(repository: Path, capfd: Shown) -> None:
    for number in range(4):
        shutil.copytree(repository / "docs", repository / f"docs{number}")
        edit(repository / f"docs{number}" / "pipeline.yaml", "id: docs-repair", f"id: docs-repair-{number}")
    git(repository, "add", "-A")
    git(repository, "commit", "-qm", "second")
    for folder in repository.glob("docs*"):
        edit(folder / "check.md", "turnCap: 10", "turnCap: 11")
    edit(repository / "docs2" / "pipeline.yaml", "maxStageExecutions: 8", "maxStageExecutions: 4")
    edit(repository / "docs3" / "check.md", "allowedTools: [", "allowedTools: [no_such_tool, ")
    comment = shown(capfd, "markdown", "--against", "HEAD", status=1)
    rows = re.findall(r"^\| `(.+?)` \|.*\| (.*?) \|$", comment.partition("**What breaks")[0], flags=re.MULTILINE)
    assert [name for name, _ in rows] == [f"docs-repair{each}" for each in ("-2", "-3", "", "-0", "-1")]
    assert [cost for _, cost in rows][:3] == [
        "money: not known<br>⬇️ 4 steps (was 8)",
        "not known",
        "money: not known<br>⬆️ 248 turns (was 240)",
    ]
    assert comment.index("Drawing of <code>docs-repair-2</code>") < comment.index(
        "Drawing of <code>docs-repair-3</code>"
    )


def test_new_errors_count_and_known_ones_do_not(repository: Path, capfd: Shown) -> None:
    edit(repository / "docs" / "check.md", "allowedTools: [", "allowedTools: [no_such_tool, ")
    made = shown_json(capfd, "--against", "HEAD", status=1)
    assert made["verdict"] == "1 new error"
    assert made["stuck"] == 1
    assert made["flows"][0]["withoutPlan"] == ["."]
    comment = shown(capfd, "markdown", "--against", "HEAD", status=1)
    assert comment.startswith("## ❌ 1 new error\n")
    assert "- ❌ **STG370** `docs/check.md:" in comment
    assert "❌ not known: errors" in comment
    git(repository, "commit", "-qam", "broken")
    made = shown_json(capfd, "--against", "HEAD", status=0)
    assert (made["newErrors"], len(made["findings"]["kept"])) == (0, len(made["findings"]["kept"]))
    assert "Findings as before (1 error" in shown(capfd, "markdown", "--against", "HEAD", status=0)
    git(repository, "revert", "--no-edit", "HEAD")
    assert len(shown_json(capfd, "--against", "HEAD~1", status=0)["findings"]["gone"]) >= 1


def test_errors_that_the_configuration_hides_hide_what_breaks(repository: Path, capfd: Shown) -> None:
    (repository / "stagec.toml").write_text('ignore = ["STG370"]\n')
    git(repository, "add", "stagec.toml")
    git(repository, "commit", "-qm", "settings")
    edit(repository / "docs" / "check.md", "allowedTools: [", "allowedTools: [no_such_tool, ")
    made = shown_json(capfd, "--against", "HEAD", status=1)
    assert (made["newErrors"], made["stuck"], made["verdict"]) == (0, 1, "errors hide what 1 flow breaks")
    git(repository, "commit", "-qam", "broken")
    edit(repository / "docs" / "pipeline.yaml", "maxStageExecutions: 8", "maxStageExecutions: 4")
    comment = shown(capfd, "markdown", "--against", "HEAD", status=0)
    assert comment.startswith("## ✅ No change is seen, and errors hide parts of 1 flow, no new errors\n")
    edit(repository / "docs" / "write.md", "turnCap: 20", "turnCap: 5")
    comment = shown(capfd, "markdown", "--against", "HEAD", status=0)  # no run was begun by a flow with errors
    assert "| none | not known |" in comment


def test_a_branch_is_compared_with_the_commit_from_which_it_went_off(repository: Path, capfd: Shown) -> None:
    git(repository, "checkout", "-q", "-b", "change")
    edit(repository / "docs" / "check.md", "turnCap: 10", "turnCap: 11")
    git(repository, "commit", "-qam", "change")
    git(repository, "checkout", "-q", "main")
    lower(repository)
    git(repository, "commit", "-qam", "elsewhere")
    git(repository, "checkout", "-q", "change")
    assert len(shown_json(capfd, "--against", "main", status=0)["flows"][0]["changes"]) == 3
    made = shown_json(capfd, "--against", "main", "--merge-base", status=0)
    assert [each["code"] for each in made["flows"][0]["changes"]] == ["CHG313"]
    assert made["branch"] == "main"
    assert (
        len(shown_json(capfd, "docs", "--against", "main:docs", "--merge-base", status=0)["flows"][0]["changes"]) == 1
    )


def test_without_a_merge_base_it_is_said_why(repository: Path, capfd: Shown, tmp_path: Path) -> None:
    git(repository, "checkout", "-q", "--orphan", "other")
    git(repository, "commit", "-qm", "other")
    assert run(["review", "--against", "main", "--merge-base"]) == 2
    assert "'main' and HEAD have no common commit" in capfd.readouterr().err
    assert run(["review", "--against", "no-such", "--merge-base"]) == 2


@pytest.mark.parametrize("change", ["added", "removed"])
def test_a_flow_of_one_side_is_reviewed(change: str, repository: Path, capfd: Shown) -> None:
    if change == "added":
        shutil.copytree(TOP / "registries" / "code-review", repository / "review")
    else:
        shutil.rmtree(repository / "docs")
        shutil.copytree(TOP / "registries" / "code-review", repository / "review")
        git(repository, "add", "-A")
    status = 1 if change == "removed" else 0
    assert f"| **{change}** |" in shown(capfd, "markdown", "--against", "HEAD", status=status)


HOSTILE = [
    "@octocat please look", "cc @org/team", "<img src=x onerror=alert(1)>", "</details><h1>x</h1>", "```\n# x\n```",
    "a | b | c", "[x](javascript:alert(1))", "![](https://e.example/x.png)", "#123 GH-7 org/repo#9", "`` ` ``",
    "https://e.example/?a=b www.e.example", "<!-- -->", "~~~\nx", "\\", "*a* _b_ ~~c~~", "fix: closes #1", "'@octocat'",
    "\u202eevil", "- [ ] x", "1. x", "&lt;b&gt; &amp;", "$x$ :smile: deadbeef",
]  # fmt: skip


@pytest.mark.parametrize("text", HOSTILE)
def test_no_sentence_has_markup_mentions_or_links(text: str) -> None:
    prose = write_prose(f"node {text} is gone: {text}")
    bare = re.sub(r"(?<!`)(`+)(?!`).*?(?<!`)\1(?!`)", "", prose)
    assert re.fullmatch(r"[A-Za-z0-9 ,.;:()=+~→-]*", bare), bare
    assert not re.search(r"www\.|://|@|#|GH-\d", bare)


def test_values_and_possessives_in_a_sentence_stay_whole() -> None:
    told = """'check' refuses {"page": "x", "broken": true, "faults": [1, null]}, which is in the protocol's examples"""
    whole = (
        """`check` refuses `{"page": "x", "broken": true, "faults": [1, null]}`, which is in the protocol's examples"""
    )
    assert write_prose(told) == whole
    assert write_prose('a value {"page": tr…') == 'a value `{"page": tr…`'
    assert write_prose('title "A | b" → "A long…') == 'title `"A | b"` → `"A long…`'


@pytest.mark.parametrize("text", HOSTILE)
def test_what_strangers_write_stays_in_its_place(text: str, repository: Path, capfd: Shown) -> None:
    with (repository / "docs" / "check.md").open("a") as file:
        file.write(f"{text}\n")
    edit(repository / "docs" / "pipeline.yaml", "id: docs-repair", f"id: docs-repair\nname: {json.dumps(text)}")
    edit(repository / "docs" / "check.md", "turnCap: 10", "turnCap: 7")
    run(["review", "--against", "HEAD", "--format", "markdown"])
    comment = capfd.readouterr().out
    outside = re.sub(r"^( *)(`{3,})(mermaid|diff)\n.*?^\1\2$", "", comment, flags=re.MULTILINE | re.DOTALL)
    outside = re.sub(r"(?<!`)(`+)(?!`)[^\n]*?(?<!`)\1(?!`)", "", outside)
    assert "@" not in outside
    assert set(re.findall(r"<[^>\n]*>", outside)) <= {
        "<details>", "<details open>", "</details>", "<summary>", "</summary>", "<code>", "</code>", "<br>",
    }  # fmt: skip
    assert outside.count("<details") == outside.count("</details>")
    assert not re.search(r"\]\(|https?:|www\.|#\d|!\[", outside)
    rows = [row for row in outside.splitlines() if row.startswith("|")]
    assert {row.count("|") - row.count("\\|") for row in rows} <= {5}


def test_a_comment_is_never_longer_than_github_accepts(repository: Path, capfd: Shown) -> None:
    for number in range(110):  # each with an error that was not there, and a long path
        folder = repository / ("a-folder-with-a-long-name-" * 9) / f"{'a-folder-with-a-long-name-' * 9}{number}"
        shutil.copytree(repository / "docs", folder)
        edit(folder / "check.md", "allowedTools: [", "allowedTools: [no_such_tool, ")
    comment = shown(capfd, "markdown", "--against", "HEAD", status=1)
    assert 50_000 < len(comment.encode()) <= 65_000
    assert re.search(r"… and [\d,]+ more lines, for which a comment has no room", comment)
    assert comment.startswith("## ❌ 110 new errors\n")
    assert "```mermaid" in comment
    assert comment.count("<details") == comment.count("</details>")


def test_many_flows_are_counted_and_drawn_as_far_as_there_is_room(repository: Path, capfd: Shown) -> None:
    for number in range(20):
        shutil.copytree(repository / "docs", repository / f"docs{number}")
        edit(repository / f"docs{number}" / "pipeline.yaml", "id: docs-repair", f"id: docs-repair-{number}")
    comment = shown(capfd, "markdown", "--against", "HEAD", status=0)
    assert "| … | 5 more flows | | |" in comment
    assert comment.count("```mermaid") == 3
    assert "17 more flows without a drawing here" in comment


def test_what_cannot_be_reviewed_is_refused(repository: Path, capfd: Shown) -> None:
    assert run(["review", "--against", "HEAD", "--allow", "CHG999"]) == 2
    assert "'CHG999' is not a code of a breaking change" in capfd.readouterr().err
    assert run(["review", "--against", "HEAD", "--flow", "docs-repai"]) == 3
    assert "did you mean 'docs-repair'?" in capfd.readouterr().err


def test_a_review_from_a_pull_request_in_a_scratch_repository(repository: Path, tmp_path: Path) -> None:
    """A branch is pushed to a bare remote; whoever clones it sees what the branch changes since it went off main."""
    import os
    import sys

    bare, clone = tmp_path / "bare.git", tmp_path / "clone"
    git(tmp_path, "init", "-q", "--bare", "-b", "main", str(bare))
    git(repository, "push", "-q", str(bare), "main")
    git(repository, "checkout", "-q", "-b", "change")
    lower(repository)
    git(repository, "commit", "-qam", "change")
    git(repository, "push", "-q", str(bare), "change")
    git(tmp_path, "clone", "-q", "-b", "change", str(bare), str(clone))
    words = [
        sys.executable,
        "-m",
        "stagec",
        "review",
        "--against",
        "origin/main",
        "--merge-base",
        "--format",
        "markdown",
    ]
    around = {**os.environ, "PYTHONPATH": str(TOP / "compiler"), "TMPDIR": str(tmp_path)}
    ended = subprocess.run(
        [*words, "--format", "markdown"], cwd=clone, env=around, capture_output=True, text=True, check=False
    )
    assert (ended.returncode, ended.stderr) == (1, "")
    assert ended.stdout.startswith("## ❌ 1 change breaks runs in flight\n")
    assert "where it went off `origin/main`." in ended.stdout


AGENT = "---\nname: helper\ndescription: Helps.\ntools: Read, Grep\n---\nHelp.\n"


@pytest.fixture
@programs.starts("git")
def agents(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make a repository with an agent file and no flow, and go there; return the folder of its agents."""
    folder = tmp_path / "top" / ".claude" / "agents"
    folder.mkdir(parents=True)
    (folder / "helper.md").write_text(AGENT)
    git(tmp_path / "top", "init", "-q", "-b", "main", ".")
    git(tmp_path / "top", "add", "-A")
    git(tmp_path / "top", "commit", "-q", "-m", "first")
    monkeypatch.chdir(tmp_path / "top")
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    return folder


def test_a_repository_without_a_flow_is_reviewed_by_its_agents(agents: Path, capfd: Shown) -> None:
    made = shown_json(capfd, "--against", "HEAD", status=0)
    assert (made["verdict"], made["flows"], made["agents"]) == ("no agent has changed, no new errors", [], [])
    edit(agents / "helper.md", "Read, Grep", "Grep, Bash, mcp__web__fetch")
    (agents / "free.md").write_text("---\nname: free\ndescription: Does all.\n---\nWork.\n")
    made = shown_json(capfd, "--against", "HEAD", status=0)
    assert made["verdict"] == "2 agents changed, no new errors, 2 agents may call more tools"
    rows = {each["name"]: (each["action"], each["gained"], each["lost"]) for each in made["agents"]}
    assert rows == {"free": ("added", ["*"], []), "helper": ("changed", ["Bash", "mcp__web__fetch"], ["Read"])}
    comment = shown(capfd, "markdown", "--against", "HEAD", status=0)
    assert comment.startswith("## ⚠️ 2 agents changed")
    assert "**What agents may do**\n\n- ⬆️ agent `free` (`.claude/agents/free.md`) **added**: may call every" in comment
    assert "- ⬆️ agent `helper` (`.claude/agents/helper.md`): may call `Bash` and `mcp__web__fetch` now" in comment
    text = shown(capfd, "text", "--against", "HEAD", status=0)
    assert (
        "agent helper\nfile     .claude/agents/helper.md\nchange   may call 'Bash' and 'mcp__web__fetch' now\n" in text
    )


def test_a_limit_that_is_lifted_a_denial_and_a_mode_are_changes_of_rights(agents: Path, capfd: Shown) -> None:
    edit(agents / "helper.md", "tools: Read, Grep", "disallowedTools: Read, Bash\npermissionMode: acceptEdits")
    (each,) = shown_json(capfd, "--against", "HEAD", status=0)["agents"]
    assert (each["gained"], each["lost"]) == (["*"], ["Read"])
    assert each["modes"] == [None, "acceptEdits"]
    git(agents, "commit", "-qam", "open")
    edit(agents / "helper.md", "disallowedTools: Read, Bash\n", "disallowedTools: Bash\n")
    (each,) = shown_json(capfd, "--against", "HEAD", status=0)["agents"]
    assert (each["gained"], each["lost"]) == (["Read"], [])


def test_a_denial_that_the_settings_no_longer_have_gives_a_tool_to_every_agent(agents: Path, capfd: Shown) -> None:
    settings = agents.parent / "settings.json"
    edit(agents / "helper.md", "tools: Read, Grep\n", "")
    settings.write_text('{"permissions": {"deny": ["Bash", "Read(./.env)"]}}')
    git(agents, "add", "-A", "..")
    git(agents, "commit", "-qm", "denied")
    settings.write_text('{"permissions": {"deny": ["Read(./.env)"]}}')
    (each,) = shown_json(capfd, "--against", "HEAD", status=0)["agents"]
    assert (each["gained"], each["lost"]) == (["Bash"], [])


def test_rules_modes_hooks_and_servers_that_settings_gain_and_lose_are_listed(agents: Path, capfd: Shown) -> None:
    settings, servers = agents.parent / "settings.json", agents.parents[1] / ".mcp.json"
    guard = {"hooks": [{"type": "command", "command": "./guard"}], "matcher": "Bash"}
    old = {"permissions": {"allow": ["Read"], "deny": ["WebFetch"]}, "hooks": {"PreToolUse": [guard]}}
    settings.write_text(json.dumps(old))
    servers.write_text('{"mcpServers": {"web": {"command": "web", "args": ["--safe"]}}}')
    git(agents, "add", "-A", "../..")
    git(agents, "commit", "-qm", "settings")
    assert shown_json(capfd, "--against", "HEAD", status=0)["settings"] == []
    new = {"permissions": {"allow": ["Bash(npm:*)"], "defaultMode": "acceptEdits", "additionalDirectories": ["../x"]}}
    settings.write_text(json.dumps({**new, "hooks": {"Stop": [{"hooks": guard["hooks"]}]}}))
    servers.write_text('{"mcpServers": {"web": {"command": "web"}, "far": {"type": "http", "url": "https://x.test"}}}')
    made = shown_json(capfd, "--against", "HEAD", status=0)
    assert made["verdict"].startswith("no agent has changed, no new errors, 8 settings may allow more")
    rows = [(each["kind"], each["name"], each["action"], each["wider"]) for each in made["settings"]]
    assert rows == [
        ("rule", "deny WebFetch", "removed", True),
        ("hook", "PreToolUse(Bash): ./guard", "removed", True),
        ("rule", "allow Bash(npm:*)", "added", True),
        ("permission mode", "", "added", True),
        ("folder", "../x", "added", True),
        ("hook", "Stop: ./guard", "added", True),
        ("server", "web", "changed", True),
        ("server", "far", "added", True),
        ("rule", "allow Read", "removed", False),
    ]
    assert [each["before"] for each in made["settings"] if each["name"] == "web"] == ["web --safe"]
    comment = shown(capfd, "markdown", "--against", "HEAD", status=0)
    assert comment.startswith("## ⚠️ ")
    assert "**What settings allow**\n\n- ⬆️ rule `deny WebFetch` (`.claude/settings.json`) **removed**\n" in comment
    assert "- ⬇️ rule `allow Read` (`.claude/settings.json`) **removed**" in comment
    assert "- ⬆️ server `web` (`.mcp.json`): `'web --safe'` → `web`" in comment
    assert "- ⬆️ server `far` (`.mcp.json`) **added**: `https://x.test`" in comment
    text = shown(capfd, "text", "--against", "HEAD", status=0)
    assert "\nserver web changed\nfile     .mcp.json\nchange   'web --safe' → 'web'\n" in text
    assert "\npermission mode added\nfile     .claude/settings.json\nchange   'acceptEdits'\n" in text


def test_settings_that_claude_code_drops_give_nothing(agents: Path, capfd: Shown) -> None:
    settings = agents.parent / "settings.json"
    settings.write_text('{"permissions": {"deny": ["Bash"]}}')
    git(agents, "add", "-A", "..")
    git(agents, "commit", "-qm", "settings")
    settings.write_text(
        '{"permissions": {"deny": ["Bash"]}, "env": 5,'
        ' "hooks": {"Stop": [{"hooks": [{"type": "command", "command": "x"}]}]}}'
    )
    made = shown_json(capfd, "--against", "HEAD", status=1)
    assert [(each["name"], each["action"], each["wider"]) for each in made["settings"]] == [
        ("deny Bash", "removed", True)
    ]


def test_servers_with_values_that_are_no_json_or_with_hostile_names_are_listed(agents: Path, capfd: Shown) -> None:
    (agents.parents[1] / ".mcp.json").write_text(
        '{"mcpServers": {"huge": {"command": "x", "n": 1e999}, "long": {"command": "x", "n": 12345678901234567890123},'
        ' "half": {"command": "x", "args": ["\\ud800"]}, "none": {}, "e\\u001b[8m": {"command": "`\\n## hi @all"}}}'
    )
    made = shown_json(capfd, "--against", "HEAD", status=1)["settings"]
    assert [each["name"] for each in made] == ["huge", "long", "half", "e\x1b[8m"]
    comment = shown(capfd, "markdown", "--against", "HEAD", status=1)
    assert "server `e\\x1b[8m` (`.mcp.json`) **added**: ``'`\\n## hi @all'``\n" in comment


def test_an_agent_that_only_reads_another_text_or_another_order_gains_nothing(agents: Path, capfd: Shown) -> None:
    edit(agents / "helper.md", "Read, Grep", "Grep, Read")
    assert shown_json(capfd, "--against", "HEAD", status=0)["agents"] == []
    edit(agents / "helper.md", "Help.", "Help more.")
    (each,) = shown_json(capfd, "--against", "HEAD", status=0)["agents"]
    assert (each["gained"], each["lost"], each["reworded"]) == ([], [], True)


def test_a_new_error_of_an_agent_file_fails_the_review(agents: Path, capfd: Shown) -> None:
    (agents / "helper.md").unlink()
    (agents / "lost.md").write_text("---\nname: lost\n---\nWork.\n")
    made = shown_json(capfd, "--against", "HEAD", status=1)
    assert made["newErrors"] == 1
    assert [(each["name"], each["action"]) for each in made["agents"]][-1] == ("helper", "removed")


def test_a_folder_in_which_nothing_is_read_has_no_review(agents: Path, capfd: Shown) -> None:
    shutil.rmtree(agents.parent)
    Path("bare").mkdir()
    assert run(["review", "bare", "--against", "bare"]) == 3
    assert "neither 'bare' nor 'bare' has a flow or agent file" in capfd.readouterr().err
    assert run(["review", "--against", "HEAD", "--flow", "helper"]) == 3
    capfd.readouterr()
