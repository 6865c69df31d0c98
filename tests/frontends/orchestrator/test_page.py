"""The example of the page about orchestrator files is what the page says."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

from frontends.orchestrator.conftest import FILE

from stagec.check.pipeline import Compilation

PAGE = Path(__file__).parents[3] / "docs" / "user-guide" / "orchestrator.md"


def test_the_file_of_the_page_has_no_findings(validate: Callable[..., Compilation]) -> None:
    (example,) = re.findall(r"```json \S+\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    compilation = validate({FILE: json.loads(example)})
    assert [each.code for each in compilation.diagnostics] == ["STG2131"]
    assert [*compilation.flows[0].nodes] == ["todo", "review", "done", "stuck"]
