"""Whether the compiled file of a workflow of gh-aw belongs to it, by the digests that gh-aw takes."""

from __future__ import annotations

import json
from hashlib import sha256
from pathlib import Path
from time import process_time

import pytest

from stagec.check.pipeline import Project, compile_project
from stagec.sources.project.settings import Settings

HEAD = "on: push\nbrand-new-key: 1"
CURRENT: list[str] = []
STALE, UNKNOWN = ["STG3174", "STG3173"], ["STG3173"]
"""The codes that a workflow with a key that stagec does not know has, by what its compiled file says."""


def judge(root: Path, head: str, digest: str, body: str = "Do it.", parts: dict[str, str] | None = None) -> list[str]:
    """Return the codes of a workflow, in no order that matters."""
    folder = root / ".github/workflows"
    folder.mkdir(parents=True)
    (folder / "t.md").write_text(f"---\n{head}\n---\n{body}", encoding="utf-8", newline="")
    lock = f'# gh-aw-metadata: {{"schema_version":"v4","frontmatter_hash":"{digest}","strict":true}}\nname: t\n'
    (folder / "t.lock.yml").write_text(lock, encoding="utf-8")
    for name, text in (parts or {}).items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    told = compile_project(Project(root, (root,), Settings())).diagnostics
    return sorted({each.code for each in told if each.code in STALE}, reverse=True)


def digest(told: str) -> str:
    return sha256(told.encode()).hexdigest()


@pytest.mark.parametrize(
    ("head", "wanted"),
    [
        ("engine: copilot", "c2a79263dc72f28c76177afda9bf0935481b26da094407a50155a6e0244084e3"),
        (
            """name: Independent review
on: pull_request
description: Original policy
steps:
  - name: Load policy
    run: echo old-policy""",
            "25f559ca4eb71fc8fc48959f329c0325090b22bbc7905c2b7a0fdc85b2c7023c",
        ),
    ],
)
def test_digests_that_gh_aw_has_written(head: str, wanted: str) -> None:
    from stagec.languages.agent_files.workflows import LockState, judge_lock

    lock = f'# gh-aw-metadata: {{"schema_version":"v3","frontmatter_hash":"{wanted}"}}\n'.encode()
    for ending in ("\n", "\r\n"):
        text = f"---\n{head}\n---\nReview.\n".replace("\n", ending)
        assert judge_lock(text, {}, "t.md", lock, lambda _: b"") is LockState.CURRENT
    assert judge_lock(f"---\n{head} \n#\n---\n", {}, "t.md", lock, lambda _: b"") is LockState.STALE


@pytest.mark.parametrize(
    ("head", "body", "told"),
    [
        (HEAD, "Do it.", '{"frontmatter-text":"on: push\\nbrand-new-key: 1"}'),
        (f"\n{HEAD}  \n", "Do it.", '{"frontmatter-text":"on: push\\nbrand-new-key: 1"}'),
        (f"{HEAD} # <é>", "", '{"frontmatter-text":"on: push\\nbrand-new-key: 1 # <é>"}'),
        (f"{HEAD} # <é>", "", '{"frontmatter-text":"on: push\\nbrand-new-key: 1 # \\u003cé\\u003e"}'),
        (
            HEAD,
            "${{ vars.B }}} ${{ github.x }} ${{ env.A }} ${{ vars.B }} ${{}} ${{ env.C } }} ${{ env.D }",
            f'{{"frontmatter-text":{json.dumps(HEAD)},' + '"template-expressions":["${{ env.A }}","${{ vars.B }}"]}',
        ),
        (
            f"{HEAD}\ninlined-imports: true",
            "\nDo ${{ env.A }}.\n",
            '{"body-text":"Do ${{ env.A }}.","frontmatter-text":"on: push\\nbrand-new-key: 1\\ninlined-imports: true"}',
        ),
    ],
)
def test_a_digest_that_fits_shows_that_gh_aw_knows_the_names(tmp_path: Path, head: str, body: str, told: str) -> None:
    assert judge(tmp_path / "a", head, digest(told), body) == CURRENT
    assert judge(tmp_path / "b", head, digest(told + " "), body) == (UNKNOWN if "inlined" in head else STALE)


IMPORTING = f"""{HEAD}
imports:
  # parts
  - 'shared/a.md'

  - uses: shared/b.md
    with: {{x: 1}}
  - owner/repo/x.md@main
  - shared/none.md
steps: []"""
PARTS = {
    "shared/a.md": "---\ntools:\n  edit:\nimports:\n  - b.md\n  - ../t.md\n---\n${{ github.actor }}",
    "shared/b.md": "No frontmatter. ${{ env.B }}",
}
_HEAD = json.dumps(IMPORTING)
_A, _T = json.dumps("tools:\n  edit:\nimports:\n  - b.md\n  - ../t.md")[1:-1], json.dumps(IMPORTING)[1:-1]


_BOTH = f'{{"frontmatter-text":{_HEAD},"imported-frontmatters":"\\n---\\n{_T}\\n---\\n{_A}","imports":["../t.md",'
_OLDER = '"b.md","shared/a.md"]}'
_NEWER = '"shared/a.md","shared/b.md"],"template-expressions":["${{ env.B }}","${{ github.actor }}"]}'


@pytest.mark.parametrize("told", [f"{_BOTH}{_OLDER}", f"{_BOTH}{_NEWER}"])
def test_imports_count_as_newer_and_older_versions_read_them(tmp_path: Path, told: str) -> None:
    assert judge(tmp_path / "a", IMPORTING, digest(told), parts=PARTS) == CURRENT
    assert judge(tmp_path / "b", IMPORTING, digest(told + " "), parts=PARTS) == UNKNOWN


@pytest.mark.parametrize(
    ("head", "body"),
    [(f"{HEAD}\nimports: [a.md]", "x"), (HEAD, "{{#runtime-import a.md}}"), (f"{HEAD}\n#", "{{#import? a.md}}")],
)
def test_what_versions_read_differently_proves_no_change(tmp_path: Path, head: str, body: str) -> None:
    assert judge(tmp_path, head, "0" * 64, body, {"a.md": "A part."}) == UNKNOWN


def test_a_list_that_is_not_indented_is_no_import_to_the_digest(tmp_path: Path) -> None:
    head = f"{HEAD}\nimports:\n- a.md"
    assert (
        judge(tmp_path, head, digest(f'{{"frontmatter-text":{json.dumps(head)}}}'), parts={"a.md": "A part."})
        == CURRENT
    )


def test_who_turned_the_comparison_off_is_not_told_of_it(tmp_path: Path) -> None:
    assert judge(tmp_path, "on:\n  push:\n  stale-check: false\nbrand-new-key: 1", "0" * 64) == UNKNOWN


def test_hostile_workflows_cost_little(tmp_path: Path) -> None:
    parts = {f"p{index}.md": f"---\nimports:\n  - p{index + 1}.md\n---\n" for index in range(1500)}
    began = process_time()
    assert judge(tmp_path, f"{HEAD}\nimports:\n  - p0.md", "0" * 64, "${{" * 150_000, parts) == UNKNOWN
    assert process_time() - began < 15
