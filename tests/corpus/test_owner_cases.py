"""Small projects whose tools were measured: stagec reports exactly the expected findings.

A case that holds is one row of `PUBLIC` or `OWNERS`. Notes are left out: they ask nothing of anybody.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Mapping
from pathlib import Path

import pytest

from stagec.core.diagnostic import Severity
from stagec.pipeline import Project, compile_project
from stagec.project.configuration import configure

needs_corpus = pytest.mark.skipif("STAGEC_CORPUS" not in os.environ, reason="STAGEC_CORPUS is not set")

PUBLIC: Mapping[str, set[str]] = {
    "c04-named-copilot-agent": set(),
    "f01-edge-to-undefined": {"error STG341"},
    "f02-unreachable": {"warning STG603"},
    "f03-dead-end-loop": {"error STG604"},
    "f04-verdict-without-transition": {"error STG363"},
    "f05-case-of-unknown-value": {"error STG361"},
    "f06-join-conditional-parent": {"warning STG348"},
    "f07-join-is-sibling": {"error STG343"},
    "f08-self-loop": {"error STG604"},
    "f09-schema-never-satisfied": {"error STG316"},
    "f11-plan-depends-on-itself": {"error STG438"},
    "f12-plan-mutual": {"error STG439"},
    "f13-plan-missing-dependency": {"error STG437"},
    "f14-plan-input-nobody-writes": {"error STG447"},
    "i01-agent-hooks-empty-list": {"error STG3115"},
    "i02-agent-allowed-tools-list": {"error STG3113"},
    "i06-agent-description-colons": {"warning STG3101"},
    "i07-ask-user-question": {"warning STG3114"},
    "i09-hook-flat-entry": {"error STG3150"},
    "i10-hook-flat-no-type": {"warning STG3156"},
    "i11-hook-matcher-object": {"warning STG3156"},
    "i12-hook-event-lower-case": {"warning STG3155"},
    "i13-deny-star-outside": {"error STG3151"},
    "i14-deny-write-param": {"warning STG3152"},
    "i16-settings-trailing-comma": {"error STG106"},
    "i19-mcp-server-url-key": {"error STG505", "error STG3159"},
    "i23-skill-single-file": {"error STG3121"},
    "i27-plugin-flat-mcp": set(),
    "i31-plugin-agents-list": set(),
    "i35-plugins-same-agent-name": set(),
    "i36-oc-bare-star": {"error STG107"},
    "i37-oc-no-space": {"error STG107"},
    "i38-oc-tools-map-of-maps": {"error STG3168"},
    "i39-oc-tools-text": {"error STG3168"},
    "i45-oc-nested-permission-write": {"error STG3168"},
    "i50-instructions-unquoted-glob": {"error STG107"},
    "i55-aw-empty-shared": set(),
}
OWNERS: Mapping[str, set[str]] = {
    "F1-agent-hooks-events": {"error STG3115", "warning STG3156"},
    "F2-plugin-command-wins-over-skill": {"warning STG3122"},
    "R07d-agent-hook-timeout": {"error STG3115"},
}
CASES = [
    (f"{group}/{name}", told) for group, rows in (("public", PUBLIC), ("owners", OWNERS)) for name, told in rows.items()
]


def copy(case: str, root: Path) -> Path:
    shutil.copytree(Path(os.environ["STAGEC_CORPUS"], case), root, symlinks=True)
    for each in (root, *root.rglob("*")):
        each.chmod(0o755) if not each.is_symlink() else None  # the corpus cannot be written
    return root


def tell(*named: Path) -> list[tuple[str, str]]:
    """Return the files and findings that are told of the paths that a user names."""
    found = configure(named)
    told = compile_project(Project(found.root, named, found.settings)).diagnostics
    return [(each.at.file, f"{each.severity} {each.code}") for each in told if each.severity is not Severity.NOTE]


@needs_corpus
@pytest.mark.parametrize(("case", "told"), CASES, ids=[case for case, _ in CASES])
def test_a_case_is_told_as_its_tool_takes_it(case: str, told: set[str], tmp_path: Path) -> None:
    root = copy(case, tmp_path / "case")
    (root / ".git").mkdir()
    assert {finding for _, finding in tell(root)} == told


@needs_corpus
def test_a_case_is_one_of_the_corpus() -> None:
    folder = Path(os.environ["STAGEC_CORPUS"])
    assert PUBLIC.keys() <= json.loads((folder / "public" / "index.json").read_bytes()).keys()
    assert OWNERS.keys() <= json.loads((folder / "owners" / "index.json").read_bytes())["cases"].keys()


@needs_corpus
def test_only_a_malformed_guard_loses_an_agent(tmp_path: Path) -> None:
    root = copy("owners/F1-agent-hooks-events", tmp_path / "case")
    agents = {each.relative_to(root).as_posix() for each in root.rglob("*.md")}
    told = tell(root)
    assert len(told) == len(agents) == 45
    assert dict(told) == {
        each: "error STG3115"
        if Path(each).name.startswith(("pretooluse-", "permissionrequest-"))
        else "warning STG3156"
        for each in agents
    }


@needs_corpus
@pytest.mark.parametrize("named", ["", ".github", ".github/agents", ".github/agents/rev.agent.md"])
def test_an_agent_of_copilot_stays_one_whatever_is_named(named: str, tmp_path: Path) -> None:
    assert tell(copy("public/c04-named-copilot-agent", tmp_path / "case") / named) == []


@needs_corpus
@pytest.mark.parametrize("named", ["agents", "agents/two.md"])
def test_a_collection_outside_of_a_repository_is_read(named: str, tmp_path: Path) -> None:
    root = copy("public/c12-agents-folder-without-git", tmp_path / "case")
    assert tell(root / named) == [("agents/two.md", "warning STG3101")]
