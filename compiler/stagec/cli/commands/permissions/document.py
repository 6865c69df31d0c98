"""Permissions as one JSON document, as `schemas/permissions.schema.json` describes it."""

from __future__ import annotations

import json
from collections.abc import Iterable

from stagec.cli.commands.permissions.collect import FlowPermissions, NodePermissions
from stagec.core.json import Json
from stagec.core.place import pointer_text


def format_flows(flows: Iterable[FlowPermissions]) -> str:
    """Return the document."""
    made = [
        {
            "flow": each.id,
            "file": each.file,
            "tests": each.tests,
            "failing": each.failing,
            "runs": each.runs,
            "nodes": [_write_node(node) for node in each.nodes],
        }
        for each in flows
    ]
    text = json.dumps({"version": 1, "flows": made}, indent=2) + "\n"
    return text.replace("##", "#\\u0023")  # build services obey `##[…]` wherever it stands; only strings hold it


def _write_node(given: NodePermissions) -> Json:
    return {
        "node": given.node,
        "mode": given.mode,
        "limited": not given.is_open,
        "without": list(given.without),
        "evidence": given.evidence.value,
        "asked": given.asked,
        "silent": given.silent,
        "tools": [
            {
                "name": each.name,
                "program": each.is_program,
                "labels": [label.value for label in each.labels],
                "told": each.teller.value,
                "file": each.at.file,
                "pointer": pointer_text(each.at.pointer),
                "line": each.position.line,
                "column": each.position.column,
                "tests": each.tests,
                "runs": each.runs,
            }
            for each in given.tools
        ],
        "least": list(given.least),
        "surplus": list(given.surplus),
    }
