"""Whose an agent file is: its path decides, and what lies beside it, whatever a user names and wherever they stand."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest
from campaigns import sample

from stagec.check.pipeline import Compilation, Project, compile_project
from stagec.sources.project.configuration import configure

FAULTY = "---\nname: a\ndescription: Use it when: x\n---\nBody.\n"
"""Rules for frontmatter that is not YAML; one of the two reports it, whatever the kind of file."""
TREE: Mapping[str, str] = {
    ".claude/agents/a.md": FAULTY.replace("---\nB", "tools: read\nmodel: GPT-5\n---\nB"),
    ".claude/agents/deep/b.md": "---\nname: b\ndescription: B\ntools: Read, mcp__a_b__c\n---\nBody.\n",
    ".claude/commands/a.md": FAULTY,
    ".claude/rules/a.md": FAULTY,
    ".claude/settings.json": '{"env": {"ANTHROPIC_BASE_URL": "http://x"}, "hooks": {"Stop": "beep"}, "model": 5}',
    ".claude/skills/a/SKILL.md": FAULTY,
    ".claude/skills/a/part/SKILL.md": FAULTY,
    ".claude/skills/b.md": "---\nname: b\ndescription: B\n---\nBody.\n",
    ".mcp.json": '{"mcpServers": {"a_b": {"url": "http://x"}}}',
    "AGENTS.md": "@missing.md\n",
    "CLAUDE.md": "@missing.md\n",
    ".github/agents/README.md": FAULTY,
    ".github/agents/a.agent.md": FAULTY,
    ".github/agents/b.md": "---\nname: b\ndescription: B\ntools: [read, edit]\nmodel: GPT-5\n---\nBody.\n",
    ".github/chatmodes/a.chatmode.md": FAULTY,
    ".github/instructions/a.instructions.md": FAULTY.replace("Use", "U\napplyTo: [a]\nother: U"),
    ".github/prompts/a.prompt.md": FAULTY,
    ".github/skills/a/SKILL.md": FAULTY,
    ".github/workflows/a.md": "---\non: push\nimports: [part.md, missing.md]\n---\nBody.\n",
    ".github/workflows/part.md": "---\ntools:\n  edit:\n---\nBody.\n",
    ".github/workflows/part.lock.yml": "on: push\n",
    ".cursor/rules/a.mdc": FAULTY,
    ".opencode/agents/a.md": "---\ndescription: A\nmode: subagent\ntools: read\n---\nBody.\n",
    ".opencode/commands/a.md": "---\ndescription: [a]\n---\nBody.\n",
    ".opencode/modes/a.md": "---\ndescription: A\ntools: read\n---\nBody.\n",
    ".opencode/skills/a/SKILL.md": FAULTY,
    ".agents/skills/a/SKILL.md": FAULTY,
    "packages/x/.claude/agents/a.md": FAULTY,
    "packages/x/.mcp.json": '{"mcpServers": {"a-b": {"command": "a"}}}',
    "packages/x/.opencode/agents/a.md": "---\ndescription: A\nmode: subagent\ntools:\n  read: true\n---\nBody.\n",
    "packages/x/agents/a.md": FAULTY,
    "plugin/.claude-plugin/plugin.json": '{"name": "p"}',
    "plugin/.mcp.json": '{"a": {"command": "a"}}',
    "plugin/agents/a.md": FAULTY,
    "plugin/commands/same.md": "---\ndescription: A\n---\nBody.\n",
    "plugin/hooks/hooks.json": '{"hooks": {"Stop": "beep"}}',
    "plugin/skills/same/SKILL.md": "---\nname: same\ndescription: A\n---\nBody.\n",
    "tools/one/.claude-plugin/plugin.json": '{"name": "one"}',
    "tools/one/agents/a.agent.md": "---\nname: a\ndescription: A\ntools: [read]\nmodel: GPT-5\n---\nBody.\n",
    "tools/.github/plugin/marketplace.json": '{"name": "m", "plugins": [{"name": "one", "source": "./one"}]}',
}
"""A file of every kind, with a fault where it can have one, and files that only look like one."""
NAMED = sorted({part for file in TREE for part in (file, *(str(each) for each in Path(file).parents))})
QUESTIONED = {"packages/x/agents", "packages/x/agents/a.md"}
"""A collection, which counts only where a user names it."""
Told = frozenset[tuple[str, str, int]]


def write(root: Path, files: Mapping[str, str]) -> None:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def compile_named(*named: Path) -> tuple[Path, Compilation]:
    """Return what comes of the paths that a user names, and the root that they mean."""
    found = configure(named)
    return found.root, compile_project(Project(found.root, named, found.settings))


def tell(*named: Path) -> Told:
    """Return what is told, with whole paths and without messages: the root, which these count from, may differ."""
    root, compilation = compile_named(*named)
    return frozenset((str(root / each.at.file), each.code, each.span.start.line) for each in compilation.diagnostics)


@pytest.fixture(scope="module", params=["in a repository", "outside of one"])
def tree(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("tree").resolve()
    write(root, TREE)
    if request.param == "in a repository":
        (root / ".git").mkdir()
    return root


@pytest.fixture(scope="module")
def whole(tree: Path) -> Told:
    return tell(tree)


def test_every_kind_is_told_something(whole: Told, tree: Path) -> None:
    told = {Path(file).relative_to(tree).as_posix() for file, _, _ in whole}
    silent = {
        *(".claude/agents/deep/b.md", ".claude/skills/a/part/SKILL.md", "AGENTS.md"),
        *(".github/agents/README.md", ".github/agents/b.md", ".github/workflows/part.md", ".cursor/rules/a.mdc"),
        *(".github/workflows/part.lock.yml", "packages/x/.opencode/agents/a.md", "packages/x/agents/a.md"),
        *(each for each in TREE if each.startswith(("plugin/", "tools/")) and each.endswith("plugin.json")),
        *("plugin/commands/same.md", "tools/one/agents/a.agent.md", "tools/.github/plugin/marketplace.json"),
    }
    assert set(TREE) - told == silent & set(TREE)
    codes = {(Path(file).relative_to(tree).as_posix(), code) for file, code, _ in whole}
    assert {("plugin/skills/same/SKILL.md", "STG3122"), (".claude/commands/a.md", "STG3127")} <= codes
    assert not {"STG3171", "STG3172", "STG3167", "STG510"} & {code for _, code in codes}, codes


@pytest.mark.parametrize("named", sample([each for each in NAMED if each not in QUESTIONED], 40))
def test_the_findings_of_a_part_are_those_of_the_whole(
    named: str, tree: Path, whole: Told, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tree / named
    told = tell(path)
    unknown = {each for each in told if each[1] == "STG116"}  # a file that stagec reads for others only
    assert told - unknown == {each for each in whole if Path(each[0]).is_relative_to(path)}
    assert not unknown or path.suffix in {".json", ".yml"}
    if path.is_dir():
        monkeypatch.chdir(path)
        assert tell() == told


def test_two_parts_tell_what_each_of_them_tells(tree: Path, whole: Told) -> None:
    assert whole >= tell(tree / ".github", tree / ".opencode", tree / "packages/x") >= tell(tree / ".opencode")


@pytest.mark.parametrize("is_repository", [True, False])
@pytest.mark.parametrize("named", ["agents", "agents/two.md"])
def test_a_collection_is_read_where_it_is_named(named: str, tmp_path: Path, *, is_repository: bool) -> None:
    write(tmp_path, {"agents/two.md": FAULTY, "agents/skills/a/SKILL.md": FAULTY})
    (tmp_path / ".git").mkdir() if is_repository else None
    assert {(Path(file).name, code) for file, code, _ in tell(tmp_path / named)} == {("two.md", "STG3101")}


def test_a_suffix_of_copilot_says_whose_a_file_of_a_collection_is(tmp_path: Path) -> None:
    text = "---\ndescription: A\ntools: [codebase]\nmodel: GPT-5\n---\nBody.\n"
    names = ("a.agent.md", "b.prompt.md", "c.instructions.md")
    write(tmp_path, {f"agents/{name}": text.replace("desc", "name: a\ndesc") for name in names} | {".git/x": ""})
    _, found = compile_named(tmp_path / "agents")
    assert found.diagnostics == ()
    assert {tree.file for tree in found.trees.values() if tree.kind == "agent-file"} == {"agents/a.agent.md"}


AGENT = "---\nname: a\ndescription: A\ntools: [read]\n---\nBody.\n"
CLAUDE, COPILOT = ".claude-plugin/plugin.json", ".github/plugin/plugin.json"
LISTED = '{"plugins": [{"name": "p", "source": "./plugins/p"}, {"source": {"source": "github"}}, 5]}'


@pytest.mark.parametrize(
    ("files", "is_of_claude"),
    [
        ({f"plugins/p/{CLAUDE}": "{}"}, True),
        ({f"plugins/p/{CLAUDE}": "{}", ".github/plugin/marketplace.json": LISTED}, False),
        ({f"plugins/p/{CLAUDE}": "{}", ".github/plugin/marketplace.json": LISTED.replace("/p", "/q")}, True),
        (
            {
                f"plugins/p/{CLAUDE}": "{}",
                ".github/plugin/marketplace.json": LISTED.replace('"./plugins/p"', '"p"').replace(
                    '{"pl', '{"metadata": {"pluginRoot": "./plugins"}, "pl', 1
                ),
            },
            False,
        ),
        (
            {
                f"plugins/p/{CLAUDE}": "{}",
                ".github/plugin/marketplace.json": LISTED,
                ".claude-plugin/marketplace.json": LISTED,
            },
            True,
        ),
        ({f"plugins/p/{CLAUDE}": "{}", f"plugins/p/{COPILOT}": "{}"}, True),
        ({f"plugins/p/{COPILOT}": "{}"}, False),
        ({".github/plugin/marketplace.json": LISTED}, False),
        ({".github/plugin/marketplace.json": "[", f"plugins/p/{CLAUDE}": "{}"}, True),
    ],
)
def test_whose_a_plugin_is(files: Mapping[str, str], tmp_path: Path, *, is_of_claude: bool) -> None:
    servers = '{"mcpServers": {"a": {"url": "http://x"}}}'
    write(tmp_path, {**files, "plugins/p/agents/a.md": AGENT, "plugins/p/.mcp.json": servers, ".git/x": ""})
    for named in ("", "plugins/p", "plugins/p/agents", "plugins/p/agents/a.md"):
        _, found = compile_named(tmp_path / named)
        read = {tree.file for tree in found.trees.values() if tree.kind == "agent-file"}
        codes = {each.code for each in found.diagnostics} - {"STG507", "STG3144"}
        assert {file for file in read if file.endswith(".md")} == {"plugins/p/agents/a.md"}
        assert codes & {"STG3110"} == ({"STG3110"} if is_of_claude else set()), named
        if not named:
            assert codes == ({"STG3110", "STG3158"} if is_of_claude else set())
