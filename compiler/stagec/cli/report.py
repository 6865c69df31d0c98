"""Reports: what a command has found, declared once as a value; its JSON and the schema of it follow from its class."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Mapping
from typing import Any, Protocol

from stagec.cli.sheet import Sheet
from stagec.cli.streams import find_canvas, put
from stagec.core.json import Json, list_of, object_of
from stagec.core.value import value
from stagec.ir.plan.codec import Definitions, codec_of, write

_VERSION = 1
_PROMISE = "Members may be added within a version; none is removed or changes its meaning."


class Showable(Protocol):
    """A value whose members are annotated like those of a plan; HIDDEN ones are for people only."""

    def draw(self, sheet: Sheet) -> None:
        """Write it for people, on a terminal."""


@value
class ReportForm:
    """The form of a report in JSON: the name of its schema, the command that prints it, and its class."""

    name: str
    command: str
    of: type[Any]

    def schema(self) -> Json:
        """Return the JSON Schema that is published."""
        found: Definitions = {}
        codec_of(self.of).describe(found)
        root = object_of(found.pop(self.of.__name__))
        return {
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "$id": f"urn:stagec:schema:{self.name}",
            "title": f"Printed by stagec {self.command} --format json",
            "description": f"{root['description']} {_PROMISE}",
            "type": "object",
            "properties": {
                "version": {"description": "Version of this format.", "const": _VERSION},
                **object_of(root["properties"]),
            },
            "required": ["version", *list_of(root["required"])],
            "additionalProperties": False,
            "$defs": dict(sorted(found.items())),
        }

    def put(self, report: Showable, output_format: str, **others: Callable[[], str]) -> None:
        """Print a report as text or JSON, or in another format of its command."""
        put_as(output_format, report.draw, json=lambda: self.dump(report), **others)

    def dump(self, report: object) -> str:
        """Return a report as JSON."""
        return dump_document({"version": _VERSION, **object_of(write(report))})


def put_as(output_format: str, draw: Callable[[Sheet], None], **others: Callable[[], str]) -> None:
    """Print what a command has found for people, or in another of its formats."""
    if output_format != "text":
        put(others[output_format]())
        return
    sheet = Sheet(find_canvas(sys.stdout, os.environ))
    draw(sheet)
    put(sheet.text())


def dump_document(document: Mapping[str, Any]) -> str:
    """Return a document as text that no build service takes for a command."""
    text = json.dumps(document, indent=2) + "\n"
    return text.replace("##", "#\\u0023")  # build services obey `##[…]` wherever it stands; only strings hold it
