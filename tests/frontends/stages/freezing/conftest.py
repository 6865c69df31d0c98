"""What freezes pipelines written in a few words."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from frontends.stages.freezing._pipelines import Freezing, plan_of

from stagec.core.json import Json
from stagec.ir.plan import Plan


@pytest.fixture
def machine(tmp_path: Path) -> Freezing:
    """Return what freezes stage objects; the first is the entry unless another is named."""

    def freeze(*stages: dict[str, Any], **members: Json) -> Plan:
        body = {"id": "demo", "entry": stages[0]["id"], "stages": list(stages), **members}
        return plan_of(tmp_path, {"pipeline.json": json.dumps(body)})

    return freeze


@pytest.fixture
def project(tmp_path: Path) -> Freezing:
    """Return what freezes the pipeline of a Markdown stage `plan.md`, of more lines, and of other files."""

    def freeze(given: str, more: str = "", **files: str) -> Plan:
        texts = {name.replace("__", "."): text for name, text in files.items()}
        return plan_of(tmp_path, {"pipeline.yaml": f"entry: plan\nid: demo\n{more}", "plan.md": given, **texts})

    return freeze
