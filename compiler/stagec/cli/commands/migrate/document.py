"""A migration as one JSON document, as `schemas/migration.schema.json` describes it."""

from __future__ import annotations

import json
from collections.abc import Callable

from stagec.cli.commands.migrate.page import find_positions
from stagec.core.place import pointer_text
from stagec.migration import Migration


def write_document(found: Migration, name: Callable[[str], str], *, is_written: bool) -> str:
    """Return the document."""
    places = find_positions(found, is_written=is_written)
    created = [{"file": name(file), "text": data.decode()} for file, data in found.created.items()]
    changed = sorted(map(name, found.after))
    changes = [
        {"file": name(each.at.file), "pointer": pointer_text(each.at.pointer), "what": each.what}
        for each in found.rewrites
    ]
    decisions = [
        {
            "file": name(each.at.file), "pointer": pointer_text(each.at.pointer),
            "line": places[each.at].line, "column": places[each.at].column,
            "what": each.what, "proposal": each.proposal,
        }
        for each in found.decisions
    ]
    whole = {
        "version": 1, "to": "1.14", "written": is_written, "changed": changed, "created": created,
        "changes": changes, "decisions": decisions, "unreadable": [name(tree.file) for tree in found.unreadable],
    }
    text = json.dumps(whole, indent=2) + "\n"
    return text.replace("##", "#\\u0023")  # build services obey `##[…]` wherever it stands; only strings hold it
