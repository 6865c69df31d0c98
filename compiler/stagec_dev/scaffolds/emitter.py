"""An emitter: one format a drawing can be written in."""

from __future__ import annotations

from collections.abc import Mapping

from stagec_dev.scaffold import Scaffold, filled, identifier

_TAKES = "the name of a drawing format"

_EMITTER = '''"""Drawings as @name@: @@."""

from __future__ import annotations

from stagec.emitters import Emitter, Picture


def _emit(pictures: tuple[Picture, ...]) -> bytes:
    names = (box.name for picture in pictures for box in picture.boxes.values())
    return "".join(f"@@ {name}\\n" for name in names).encode()


EMITTER = Emitter("@name@", ".@suffix@", is_text=True, emit=_emit)
'''

_TEST = """from __future__ import annotations

from stagec.emitters import Box, Line, Picture, Role, Stroke
from stagec.emitters.@name@ import EMITTER

BOXES = {name: Box(name, name, Role.NODE, "work") for name in ("a", "b")}
PICTURE = Picture("flow", "A flow", BOXES, (Line("a", "b", Stroke.GO, ("ok",)),))


def test_boxes_and_lines_are_drawn() -> None:
    assert EMITTER.emit((PICTURE,)).decode() == "what it should write, not @@"


def test_what_users_write_stays_text() -> None:
    hostile = Picture("flow", "<b>", {"a": Box("a", '"] <script> @@', Role.NODE)}, ())
    assert "<script>" not in EMITTER.emit((hostile,)).decode()
"""


def _files(words: tuple[str, ...]) -> Mapping[str, str]:
    name = identifier(words, _TAKES)
    shown = {"name": name, "suffix": name.replace("_", "-")}
    return {
        f"compiler/stagec/emitters/{name}.py": filled(_EMITTER, **shown),
        f"tests/emitters/test_{name}.py": filled(_TEST, **shown),
    }


EMITTER = Scaffold(_TAKES, _files)
