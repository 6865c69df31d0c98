"""One mistake about the elements of a list is one error, whatever else speaks of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from stagec import Project, Settings, Severity, compile_project

EXAMPLE = Path(__file__).parents[3] / "registries" / "file-review"
PIPELINE, LIST = "pipeline.yaml", "stages/list-files.md"
REVIEW, SUMMARY = "stages/review-file.md", "stages/summarise.md"


@pytest.mark.parametrize(
    ("file", "old", "new", "codes"),
    [
        (PIPELINE, "parsed.files", "parsed.file", ["STG388"]),
        (PIPELINE, "parsed.files", "ctx.branch", ["STG388"]),
        (PIPELINE, "most: 50", "most: 10", ["STG389"]),
        (PIPELINE, "most: 50", "most: many", ["STG175"]),
        (PIPELINE, "    most: 50\n", "", ["STG175"]),
        (PIPELINE, "most: 50", "mst: 50", ["STG175"]),
        (PIPELINE, "forEach:", "forEech:", ["STG175"]),
        (PIPELINE, "onFailure: collect", "onFailure: true", ["STG175"]),
        (PIPELINE, "join: summarise", "join: review-file", ["STG343"]),
        (PIPELINE, "join: summarise", "join: sumarise", ["STG342"]),
        (PIPELINE, "    join: summarise\n", "", []),
        (PIPELINE, "[review-file]", "[review-fil]", ["STG341"]),
        (PIPELINE, "list-files:", "list-file:", ["STG355"]),
        (LIST, "maxItems: 50", "maxItems: 51", ["STG389"]),
        (LIST, "      maxItems: 50\n", "", ["STG389"]),
        (LIST, "type: array", 'type: [array, "null"]', ["STG388"]),
        (LIST, "id: list-files", "id: list-file", ["STG340"]),
        (LIST, "---\nid", "--\nid", ["STG169"]),
        (REVIEW, "ctx.item.path", "ctx.item.pth", ["STG336"]),
        (REVIEW, "id: review-file", "id: review-fil", ["STG341"]),
        (SUMMARY, "{{ctx.upstream}}", "{{ctx.item}}", ["STG391"]),
    ],
)
def test_it_is_told_once(file: str, old: str, new: str, codes: list[str]) -> None:
    text = (EXAMPLE / file).read_text(encoding="utf-8")
    assert text.count(old) >= 1
    overlay = {file: text.replace(old, new, 1).encode()}
    found = compile_project(Project(EXAMPLE, (), Settings(), overlay)).diagnostics
    assert [each.code for each in found if each.severity is Severity.ERROR] == codes
