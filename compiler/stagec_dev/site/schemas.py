"""The schemas as they are published: each says its address, and a catalogue tells which files they are about."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

_FOLDER = "schemas/"
_SUFFIX = ".schema.json"
CATALOGUED: Mapping[str, tuple[str, str, tuple[str, ...]]] = {
    "steps_registry": ("stagec step registry", "Steps of an agent and their transitions", ("steps_registry.json",)),
    "pipeline": ("stagec pipeline", "Stages of models, their order and limits", ("pipeline.yaml",)),
    "tools": ("stagec tools", "Tools that the stages of a project may call", ("tools.yaml",)),
    "tools_lock": ("stagec tools lock", "Tools that MCP servers offer", ("tools.lock.json",)),
    "workflow": ("stagec orchestrator", "Phases of an issue and their agents", ("**/.agent/workflow.json",)),
    "flow_test": (
        "stagec flow tests",
        "Scenarios of a flow with expectations",
        ("*.flow-test.yaml", "*.flow-test.yml", "*.flow-test.json"),
    ),
    "stagec": ("stagec configuration", "What stagec checks, and how", ("stagec.toml",)),
}
"""The documents that people write and that are known by their names: title, description, and patterns of paths."""


def publish_schemas(files: Mapping[str, bytes], address: str | None) -> dict[str, bytes]:
    """Return the files of a site with schemas that name their addresses, and with the catalogue of these.

    Where nobody knows the address, the files are as they were: an address that leads nowhere helps nobody.
    """
    if address is None:
        return dict(files)
    top = address.rstrip("/") + "/"
    found = {name: name.removeprefix(_FOLDER).removesuffix(_SUFFIX) for name in files if _is_schema(name)}
    own = {name: _set_address(files[name], top + name) for name in found}
    entries = [
        {"name": title, "description": description, "fileMatch": [*patterns], "url": f"{top}{_FOLDER}{name}{_SUFFIX}"}
        for name, (title, description, patterns) in CATALOGUED.items()
        if name in found.values()
    ]
    head = {"$schema": "https://json.schemastore.org/schema-catalog.json", "version": 1, "schemas": entries}
    return {**files, **own, f"{_FOLDER}catalog.json": _write(head)}


def _is_schema(name: str) -> bool:
    return name.startswith(_FOLDER) and name.endswith(_SUFFIX)


def _set_address(data: bytes, address: str) -> bytes:
    schema: dict[str, Any] = json.loads(data)
    return _write({**schema, "$id": address})


def _write(given: Mapping[str, Any]) -> bytes:
    return (json.dumps(given, indent=2, ensure_ascii=False) + "\n").encode()
