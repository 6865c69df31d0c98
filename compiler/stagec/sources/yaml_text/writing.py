"""How values are written into YAML: plain where that is safe, else as JSON, which YAML contains."""

from __future__ import annotations

import json
import re

from stagec.core.json import Json
from stagec.sources.yaml_text.scalars import meaning

_PLAIN = re.compile(r"[A-Za-z_](?:[\w ./-]*\w)?", re.ASCII)


def written(given: Json) -> str:
    """Return a value as text that may stand anywhere in a document, on one line."""
    if isinstance(given, str) and _PLAIN.fullmatch(given) and meaning(given) == given:
        return given
    shown = json.dumps(given, ensure_ascii=False, allow_nan=False)
    return shown if shown.isprintable() else json.dumps(given, allow_nan=False)
