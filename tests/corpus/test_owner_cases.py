"""Small projects whose tools were measured: stagec reports exactly the expected findings.

A case that holds is one row of `PUBLIC` or `OWNERS`. Notes are left out: they ask nothing of anybody.
"""

from __future__ import annotations

import csv
import json
import os
import shutil
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

import pytest

from stagec.check.pipeline import Project, compile_project
from stagec.core.diagnostic import Severity
from stagec.sources.project.configuration import configure

needs_corpus = pytest.mark.skipif("STAGEC_CORPUS" not in os.environ, reason="STAGEC_CORPUS is not set")

PUBLIC: Mapping[str, set[str]] = {
    "c04-named-copilot-agent": set(),
    "c14-aw-unknown-event": {"error STG3173"},
    "c14-aw-unknown-key": {"error STG3173"},
    "c14-aw-unknown-permission": {"error STG3173"},
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
    "i04-agent-no-frontmatter": {"warning STG3106"},
    "i06-agent-description-colons": {"warning STG3101"},
    "i07-ask-user-question": {"warning STG3114"},
    "i09-hook-flat-entry": {"error STG3150"},
    "i10-hook-flat-no-type": {"warning STG3156"},
    "i11-hook-matcher-object": {"warning STG3156"},
    "i12-hook-event-lower-case": {"warning STG3155"},
    "i13-deny-star-outside": {"error STG3151"},
    "i14-deny-write-param": {"warning STG3152"},
    "i16-settings-trailing-comma": {"error STG106"},
    "i17-settings-mcp-servers": {"warning STG3145"},
    "i19-mcp-server-url-key": {"error STG505", "error STG3159"},
    "i21-hook-empty-quotes-path": {"warning STG3157"},
    "i22-skill-json": {"error STG3121"},
    "i23-skill-single-file": {"error STG3121"},
    "i27-plugin-flat-mcp": set(),
    "i31-plugin-agents-list": set(),
    "i32-plugin-skills-bare": {"error STG3144"},
    "i35-plugins-same-agent-name": set(),
    "i36-oc-bare-star": {"error STG107"},
    "i37-oc-no-space": {"error STG107"},
    "i38-oc-tools-map-of-maps": {"error STG3168"},
    "i39-oc-tools-text": {"error STG3168"},
    "i41-oc-permission-order": {"warning STG3149"},
    "i42-oc-command-bad-list": {"error STG3102"},
    "i45-oc-nested-permission-write": {"error STG3168"},
    "i46-copilot-bare-server": {"warning STG3175"},
    "i48-copilot-handoff-unknown": {"warning STG3178"},
    "i49-copilot-same-stem": {"warning STG3176"},
    "i50-instructions-unquoted-glob": {"error STG107"},
    "i51-instructions-globs": {"warning STG3161"},
    "i52-instructions-no-applyto": {"warning STG3161"},
    "i54-aw-stale-lock": {"warning STG3174"},
    "i55-aw-empty-shared": set(),
}
OWNERS: Mapping[str, set[str]] = {
    "F1-agent-hooks-events": {"error STG3115", "warning STG3156"},
    "F2-plugin-command-wins-over-skill": {"warning STG3122"},
    "R01-dollar-digit-in-skill": {"warning STG3140"},
    "R02-injection-not-run": {"warning STG3140"},
    "R03-misspelt-skill-key": {"warning STG3118"},
    "R05a-disallowed-with-specifier": {"warning STG3141"},
    "R05b-disallowed-names-nothing": {"warning STG3141"},
    "R06a-plugin-agents-folder": {"error STG3144"},
    "R06b-plugin-strict-user-config": {"error STG3144"},
    "R06d-marketplace-source": {"error STG3144"},
    "R07a-settings-enum-drops-file": {"error STG3150"},
    "R07b-settings-boolean-drops-file": {"error STG3150"},
    "R07d-agent-hook-timeout": {"error STG3115"},
    "R08a-matcher-of-session-start": {"warning STG3155"},
    "R08c-prompt-hook-on-session-start": {"warning STG3156"},
    "R10-mcp-rule-with-parentheses": {"error STG3151"},
    "R11a-codex-config-value": {"error STG3148"},
    "R11c-codex-mcp-bearer": {"error STG3148"},
    "R12a-opencode-json-value": {"error STG3148"},
    "R13-hidden-unicode": {"warning STG119"},
    "R14-cursor-plain-md": {"warning STG3143"},
    "R15a-copilot-mcp-secret": {"warning STG3177"},
    "R15c-copilot-no-applyto": {"warning STG3161"},
    "R16-skill-links-nothing": {"warning STG3146"},
}
SHORT: Mapping[str, str] = {
    "public/i25-linked-skills": "the link is a text in the corpus; a real one is told, as tests of owners show",
    "public/i56-cursor-space-after-comma": "no owner says so",
}
"""Cases of which less is told than is wanted, and why: they never count as agreement."""
ELSEWHERE = {
    "public/c01-init-from-claude-md": "tests/creation",
    "public/c02-init-from-agents-md": "tests/creation",
    "public/c09-precommit-settings": "tests/packaging/test_pre_commit.py",
    "public/c11-permissions-disallowed": "tests/cli/test_permissions.py",
    "public/c12-agents-folder-without-git": "test_a_collection_outside_of_a_repository_is_read",
    "public/c18-cli-note-agents-only-review": "an opinion about review",
    "public/f15-two-servers-one-tool": "needs a lock, which needs the servers",
    "owners/S1-stud-json-stage": "the exit status of validate, not a finding",
}
"""Cases that are not about findings of `validate`: who judges them."""
SETTINGS = "owners/settings-keys.tsv"
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


def list_keys() -> list[dict[str, str]]:
    """Return the documented settings, each with a wrong value and whether the whole file is lost with it."""
    if "STAGEC_CORPUS" not in os.environ:
        return []
    with Path(os.environ["STAGEC_CORPUS"], SETTINGS).open(encoding="utf-8") as file:
        return list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))


def is_told_lost(key: str, wrong: str, root: Path) -> bool:
    """Tell whether stagec says that a wrong value of a setting costs the whole file."""
    *owners, name = key.split(".")
    given = {name: json.loads(wrong)}
    for owner in reversed(owners):
        given = {owner: given}
    (root / ".claude").mkdir(parents=True, exist_ok=True)
    (root / ".claude" / "settings.json").write_text(json.dumps(given), encoding="utf-8")
    return "error STG3150" in {finding for _, finding in tell(root)}


@needs_corpus
def test_a_setting_of_a_wrong_type_costs_what_it_costs(tmp_path: Path) -> None:
    rows = list_keys()
    wanted = {each["key"]: each["whole_file_dropped_2.1.332"] == "yes" for each in rows}
    told = {each["key"]: is_told_lost(each["key"], each["wrong_value"], tmp_path) for each in rows}
    assert {key: is_lost for key, is_lost in told.items() if is_lost is not wanted[key]} == {}
    assert len(told) == 204


def list_wanted() -> dict[str, str]:
    """Return every case of both corpora with what its index says is wanted."""
    folder = Path(os.environ["STAGEC_CORPUS"])
    public = json.loads((folder / "public" / "index.json").read_bytes())
    owners = json.loads((folder / "owners" / "index.json").read_bytes())["cases"]
    found = {f"public/{name}": str(each["want"]) for name, each in public.items()}
    return found | {f"owners/{name}": f"{each['want']}: {each['measured']}" for name, each in owners.items()}


def judge_case(case: str, root: Path) -> tuple[bool, str]:
    """Return whether stagec says of a case what is wanted, and what it says."""
    root = copy(case, root)
    (root / ".git").mkdir()
    told = {finding for _, finding in tell(root)}
    if case in SHORT or case in ELSEWHERE or case not in dict(CASES):
        return False, f"told {sorted(told)}; {SHORT.get(case) or ELSEWHERE.get(case) or 'no row'}"
    return told == dict(CASES)[case], f"told {sorted(told)}"


@needs_corpus
def test_every_case_has_a_row_or_a_reason() -> None:
    assert list_wanted().keys() == {*dict(CASES), *SHORT, *ELSEWHERE}


def main() -> None:
    """Print what is wanted of each case and each setting, what is told, and first how many of them agree."""
    lines: list[tuple[bool, str]] = []
    with tempfile.TemporaryDirectory() as folder:
        for number, (case, wanted) in enumerate(list_wanted().items()):
            agrees, told = judge_case(case, Path(folder, str(number)))
            lines.append((agrees, f"{case}: wanted {wanted!r}, {told}"))
        for row in list_keys():
            is_lost = row["whole_file_dropped_2.1.332"] == "yes"
            told_lost = is_told_lost(row["key"], row["wrong_value"], Path(folder, "settings"))
            lines.append((is_lost is told_lost, f"{row['key']}: wanted lost={is_lost}, told lost={told_lost}"))
    count = f"{sum(agrees for agrees, _ in lines)} of {len(lines)} agree"
    told_lines = (f"{'=' if agrees else '!'} {line}" for agrees, line in lines)
    sys.stdout.write("\n".join([count, *told_lines, count, ""]))


if __name__ == "__main__":
    main()
