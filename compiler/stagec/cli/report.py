"""Reports: what a command has found, declared once as a value; its JSON and the schema of it follow from its class."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Protocol, runtime_checkable

from stagec.cli.differences import dump_document
from stagec.cli.sheet import Sheet
from stagec.cli.streams import find_canvas, put
from stagec.core.json import Json, list_of, object_of
from stagec.core.value import NOTHING, value
from stagec.ir.plan.codec import Definitions, codec_of, write

_VERSION = 1
_PROMISE = "Members may be added within a version; none is removed or changes its meaning."


class Report(Protocol):
    """A value whose members are annotated like those of a plan; HIDDEN ones are for people only."""

    def draw(self, sheet: Sheet) -> None:
        """Write it for people, on a terminal."""


@runtime_checkable
class MarkdownReport(Report, Protocol):
    """A report that can also be a comment."""

    def list_markdown(self) -> Iterator[str]:
        """Yield the lines of the comment; what people have written stands in it as code and never as markup."""


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


def put_report(report: Report, output_format: str, others: Mapping[str, Callable[[Any], str]] = NOTHING) -> None:
    """Print a report as text, Markdown or JSON, or in a format of its own."""
    if output_format == "json":
        put(dump_document({"version": _VERSION, **object_of(write(report))}))
    elif output_format == "markdown" and isinstance(report, MarkdownReport):
        put("".join(f"{line}\n" for line in report.list_markdown()))
    elif output_format == "text":
        sheet = Sheet(find_canvas(sys.stdout, os.environ))
        report.draw(sheet)
        put(sheet.text())
    else:
        put(others[output_format](report))
