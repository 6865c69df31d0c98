"""Whether answers satisfy a schema, asked of libraries with the files as they are written: nothing of stagec is used."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

import jsonschema
import jsonschema_rs
from jsonschema.validators import validator_for
from properties.soundness.free_schemas import DRAFTS, Placed
from referencing import Registry, Resource
from referencing.exceptions import Unresolvable
from referencing.jsonschema import DRAFT202012

Json = Any

_AT = "file:///project/"


class Oracle:
    """Two validators of the schemas in some files, by their paths; a schema that cannot be used accepts nothing."""

    def __init__(self, files: Mapping[str, Json]) -> None:
        self._files = files
        self._homes = {name: str(each.get("$id", each.get("id", _AT + name))) for name, each in files.items()}
        homes = [(self._homes[name], each) for name, each in files.items()]
        resources = [(address, Resource.from_contents(each, DRAFT202012)) for address, each in homes]
        self._registry: Any = Registry().with_resources(resources)
        self._quick = jsonschema_rs.Registry(homes)
        drafts = {each.get("$schema") for each in files.values() if isinstance(each, dict)}
        self._alike = len(drafts) == 1

    def satisfying(self, placed: Placed) -> list[Json]:
        """Return the answers that satisfy a schema, as both libraries find; one of them knows no mixed dialects."""
        address = f"{self._homes[placed.file]}#/{quote(placed.name)}"
        whole = {"$schema": self._draft(placed.file), "allOf": [{"$ref": address}]}
        try:
            quick = jsonschema_rs.validator_for(whole, registry=self._quick)
            found = [each for each in placed.answers if quick.is_valid(each)]
            return [each for each in found if self._agrees(whole, each)] if self._alike else found
        except (ValueError, jsonschema_rs.ReferencingError, jsonschema.exceptions.SchemaError, Unresolvable):
            return []

    def _draft(self, file: str) -> str:
        named = self._files[file].get("$schema")
        return str(named) if named in DRAFTS.values() else DRAFTS["2020-12"]

    def _agrees(self, whole: Json, given: Json) -> bool:
        slow: Any = validator_for(whole)
        try:
            return bool(slow(whole, registry=self._registry).is_valid(given))
        except (jsonschema.exceptions._WrappedReferencingError, Unresolvable):  # it finds fewer anchors than the other
            return True
