"""Rows of Markdown files: what is wanted follows from what parsers said, and one diagnostic near their line agrees."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from stagec_dev.rows import Agreement, Row
from stagec_dev.rows.plans import FRONTMATTER
from stagec_dev.tools.answer import ask_rows

OK = {"pyyaml": "ok", "ruamel_safe_12": "ok", "js_yaml4": None, "pyyaml_message": None}
BROKEN = {"pyyaml": "err:x", "ruamel_safe_12": "err:x", "gray_matter": "ok", "pyyaml_message": "line 1, column 4"}
NONE = dict.fromkeys(OK)
DIVIDED = {"pyyaml": "ok", "ruamel_safe_12": "err:duplicate-key"}


def got(verdict: str, *lines: int) -> dict[str, Any]:
    return {"verdict": verdict, "keys": None, "diagnostics": [{"code": "STG107", "line": line} for line in lines]}


def test_a_row_is_answered_without_its_answers(tmp_path: Path) -> None:
    folder = tmp_path / "frontmatter"
    folder.mkdir()
    (folder / "cut-off-na").write_text("---\nname: x\nglobs: *.ts\n---\n", encoding="utf-8")
    (folder / "good.md").write_text("---\nname: x\n---\n", encoding="utf-8")
    (folder / "prose.md").write_text("# Title\n", encoding="utf-8")
    (folder / "index.json").write_text(
        json.dumps({"about": "", "files": [{"file": name} for name in ("cut-off-na", "good.md", "prose.md")]}),
        encoding="utf-8",
    )
    answers: list[Any] = [each.answer() for each in ask_rows(tmp_path)]
    assert [(each["verdict"], each["keys"], len(each["diagnostics"])) for each in answers] == [
        ("malformed", None, 1),
        ("well-formed", ["name"], 0),
        ("left alone", None, 0),
    ]
    assert [each.compare(answer) for each, answer in zip(ask_rows(tmp_path), answers, strict=True)] == [
        Agreement.UNKNOWN
    ] * 3


@pytest.mark.parametrize(
    ("said", "answer", "agreement"),
    [
        (OK, got("well-formed"), Agreement.AGREE),
        (OK, got("malformed", 2), Agreement.DISAGREE),
        (OK, got("left alone"), Agreement.DISAGREE),
        (NONE, got("left alone"), Agreement.AGREE),
        (NONE, got("malformed", 1), Agreement.DISAGREE),
        (BROKEN, got("malformed", 2), Agreement.AGREE),
        (BROKEN, got("malformed", 1), Agreement.AGREE),
        (BROKEN, got("malformed", 3), Agreement.DISAGREE),
        (BROKEN, got("malformed", 2, 2), Agreement.DISAGREE),
        (BROKEN, got("well-formed"), Agreement.DISAGREE),
        (DIVIDED, got("malformed", 9), Agreement.AGREE),
        (BROKEN, {"exit": 4, "crash": "x"}, Agreement.DISAGREE),
    ],
)
def test_an_answer_is_compared_with_what_most_parsers_said(said: Any, answer: Any, agreement: Agreement) -> None:
    assert FRONTMATTER.compare(Row("frontmatter/index.json", "x", {"yaml": said}), answer) is agreement
