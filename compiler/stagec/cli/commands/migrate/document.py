"""A migration as one JSON document, as `schemas/migration.schema.json` describes it."""

from __future__ import annotations

import json
from collections.abc import Callable

from stagec.cli.commands.migrate.page import find_positions
from stagec.core.place import Place, pointer_text
from stagec.migration import Migration


def write_document(found: Migration, name: Callable[[str], str], *, is_written: bool) -> str:
    """Return the document."""
    positions = find_positions(found, is_written=is_written)
    whole = {
        "version": 1,
        "to": "1.14",
        "written": is_written,
        "changed": sorted(map(name, found.after)),
        "created": [{"file": name(file), "text": data.decode()} for file, data in found.created.items()],
        "changes": [{**_write_place(each.at, name), "what": each.what} for each in found.rewrites],
        "decisions": [
            {
                **_write_place(each.at, name),
                "line": positions[each.at].line,
                "column": positions[each.at].column,
                "what": each.what,
                "proposal": each.proposal,
            }
            for each in found.decisions
        ],
        "unreadable": [name(tree.file) for tree in found.unreadable],
    }
    text = json.dumps(whole, indent=2) + "\n"
    return text.replace("##", "#\\u0023")  # build services obey `##[…]` wherever it stands; only strings hold it


def _write_place(at: Place, name: Callable[[str], str]) -> dict[str, str]:
    return {"file": name(at.file), "pointer": pointer_text(at.pointer)}
