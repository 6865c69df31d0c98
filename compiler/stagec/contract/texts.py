"""Prompts and schemas that a plan is to hold, each once, and the files in which the schemas lie."""

from __future__ import annotations

from collections.abc import Mapping

from stagec.contract.bundle import bundle
from stagec.contract.reach import Reach
from stagec.contract.schemas import Schema, Schemas
from stagec.core.place import Place
from stagec.plan.contents import Contents


class Texts:
    """The texts collected so far; `files` are those in which the schemas among them lie, and what they refer to."""

    def __init__(self, schemas: Schemas) -> None:
        self.files: set[str] = set()
        self._schemas = schemas
        self._contents = Contents()
        self._known: dict[Place, str] = {}

    @property
    def texts(self) -> Mapping[str, str]:
        """Every text, by the name under which the plan holds it."""
        return self._contents.texts

    def text(self, text: str) -> str:
        """Keep a text and return its name."""
        return self._contents.add(text)

    def schema(self, schema: Schema) -> str:
        """Keep a schema with all that it refers to, and return its name."""
        if schema.at not in self._known:
            self.files.update(at.file for at in Reach(self._schemas, schema).targets)
            self._known[schema.at] = self.text(bundle(self._schemas, schema))
        return self._known[schema.at]
