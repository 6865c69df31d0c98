"""`stagec graph --diff` draws how a project was and how it is in one picture."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import programs
import pytest

from stagec.cli.app import run

Shown = pytest.CaptureFixture[str]
EXAMPLES = Path(__file__).parents[2] / "registries"


def git(folder: Path, *words: str) -> None:
    named = ("-c", "user.name=x", "-c", "user.email=x@example.org", "-c", "commit.gpgsign=false")
    subprocess.run(["git", *named, *words], cwd=folder, check=True, capture_output=True)


def edit(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


@pytest.fixture
@programs.starts("git")
def top(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make a repository with a project, changed since the last commit, and go there."""
    top = tmp_path / "top"
    shutil.copytree(EXAMPLES / "code-review", top / "agents")
    git(top, "init", "-q", "-b", "main", ".")
    git(top, "add", "-A")
    git(top, "commit", "-q", "-m", "first")
    monkeypatch.chdir(top)
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    edit(top / "agents" / "stages" / "review.md", "turnCap: 10", "turnCap: 6")
    edit(top / "agents" / "pipeline.yaml", "[high, critical]", "[critical]")
    return top


def shown(capfd: Shown, *words: str, status: int = 0) -> Any:
    capfd.readouterr()
    assert run(["graph", *words, "--format", "json"]) == status
    return json.loads(capfd.readouterr().out)["flows"]


def list_changed(flow: Any) -> dict[str, list[str]]:
    return {box["name"]: [box["fate"], *box["changes"]] for box in flow["boxes"] if box["fate"] != "same"}


def test_a_revision_and_what_is_there_are_one_drawing(top: Path, capfd: Shown) -> None:
    (flow,) = shown(capfd, "agents", "--diff", "HEAD")
    assert list_changed(flow) == {"review": ["changed", "✗ CHG126 turns 10 → 6"]}
    (line,) = (each for each in flow["lines"] if each["fate"] != "same")
    assert (line["target"], line["fate"]) == ("node:plan", "changed")
    assert (line["before"], line["labels"]) == (
        ["ok: parsed.severity in high, critical"],
        ["ok: parsed.severity = critical"],
    )
    assert flow["remarks"] == [
        "compared with HEAD: nodes 1 changed; lines 1 changed",
        "✗ 1 change breaks runs in flight",
    ]


@pytest.mark.parametrize(
    "form", ["dot", "svg", "mermaid", "json", "html", "graphml", pytest.param("png", marks=pytest.mark.needs("dot"))]
)
def test_every_format_draws_it(form: str, top: Path, tmp_path: Path) -> None:
    assert run(["graph", "agents", "--diff", "HEAD", "--format", form, "-o", str(tmp_path / "drawn")]) == 0
    drawn = (tmp_path / "drawn").read_bytes()
    assert form == "png" or b"compared with HEAD" in drawn


def test_a_plan_is_a_side_as_well(top: Path, capfd: Shown) -> None:
    assert run(["compile", "agents", "-o", "new.plan.json"]) == 0
    git(top, "checkout", "-q", "agents")
    assert run(["compile", "agents", "-o", "old.plan.json"]) == 0
    expected = {"review": ["changed", "✗ CHG126 turns 10 → 6"]}
    for words in (("new.plan.json", "--diff", "old.plan.json"), ("new.plan.json", "--diff", "agents")):
        (flow,) = shown(capfd, *words)
        assert list_changed(flow) == expected
    (flow,) = shown(capfd, "agents", "--diff", "new.plan.json")
    assert list_changed(flow) == {"review": ["changed", "turns 6 → 10"]}
    assert all(box["details"] for box in flow["boxes"] if box["role"] == "node")


def test_flows_without_changes_are_left_out_unless_all_are_or_one_is_asked_for(top: Path, capfd: Shown) -> None:
    shutil.copytree(EXAMPLES / "docs-repair", top / "docs")
    git(top, "add", "docs")
    git(top, "commit", "-q", "-m", "docs")
    capfd.readouterr()
    assert run(["graph", "--diff", "HEAD"]) == 0
    drawn = capfd.readouterr()
    assert drawn.err == "stagec: note: 1 flow without changes is not drawn\n"
    assert "docs-repair" not in drawn.out
    (flow,) = shown(capfd, "--diff", "HEAD", "--flow", "docs-repair")
    assert (flow["fate"], flow["remarks"]) == ("same", ["compared with HEAD: nothing has changed"])
    git(top, "checkout", "-q", "agents")
    assert {flow["fate"] for flow in shown(capfd, "--diff", "HEAD")} == {"same"}


def test_a_flow_of_one_side_is_added_or_removed(top: Path, capfd: Shown) -> None:
    shutil.copytree(EXAMPLES / "docs-repair", top / "docs")
    shutil.rmtree(top / "agents")
    gone, new = shown(capfd, "--diff", "HEAD")
    assert (gone["fate"], new["fate"]) == ("removed", "added")
    assert {box["fate"] for box in new["boxes"]} == {"added"}


def test_a_side_with_errors_is_drawn_and_it_is_said(top: Path, capfd: Shown) -> None:
    edit(top / "agents" / "pipeline.yaml", "stages: [test, lint]", "stages: [test, missing]")
    (flow,) = shown(capfd, "agents", "--diff", "HEAD")
    assert list_changed(flow)["missing"] == ["added"]
    assert list_changed(flow)["review"] == ["changed", "definition changed"]
    assert any("a side has errors" in each for each in flow["remarks"])


def test_a_flow_whose_file_cannot_be_read_may_be_there(top: Path, capfd: Shown) -> None:
    edit(top / "agents" / "pipeline.yaml", "id: code-review", "id: [")
    (flow,) = shown(capfd, "agents", "--diff", "HEAD")
    assert flow["remarks"][-1] == "agents has files that cannot be read: the flow may be in one of them"


def test_it_goes_together_with_what_makes_drawings_smaller(top: Path, capfd: Shown) -> None:
    (flow,) = shown(capfd, "agents", "--diff", "HEAD", "--changed", "--depth", "0")
    assert [box["name"] for box in flow["boxes"] if box["role"] == "node"] == ["plan", "review"]
    (flow,) = shown(capfd, "agents", "--diff", "HEAD", "--collapse", "cycle")
    (group,) = (box for box in flow["boxes"] if box["role"] == "group")
    assert group["changes"] == ["review: ✗ CHG126 turns 10 → 6", "1 line inside changed"]
    (flow,) = shown(capfd, "agents", "--diff", "HEAD", "--focus", "test", "--depth", "1")
    assert {box["name"] for box in flow["boxes"]} >= {"execute", "review"}


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--diff", "HEAD", "--root", "."), "--diff takes one path"),
        (("--diff", "HEAD", "agents", "agents"), "--diff takes one path"),
        (("--diff", "HEAD", "--run", "x"), "--diff takes one path"),
        (("--changed",), "--changed needs --diff, which says what is compared"),
        (("--diff", "no-such"), "git knows no revision 'no-such'"),
        (("agents", "--diff", "HEAD", "--flow", "code-revie"), "did you mean 'code-review'?"),
    ],
)
def test_what_cannot_be_is_refused(words: tuple[str, ...], told: str, top: Path, capfd: Shown) -> None:
    assert run(["graph", *words]) in {2, 3}
    assert told in capfd.readouterr().err


def test_the_same_sides_are_the_same_bytes(top: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    drawn = []
    for _ in range(2):
        assert run(["graph", "agents", "--diff", "HEAD", "--format", "svg"]) == 0
        drawn.append(capfdbinary.readouterr().out)
    assert drawn[0] == drawn[1]
