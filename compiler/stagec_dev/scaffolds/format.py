"""A format: how files of one input syntax are read, searched and changed."""

from __future__ import annotations

from collections.abc import Mapping

from stagec_dev.scaffold import Scaffold, filled, identifier

_TAKES = "the name of a syntax"

_FORMAT = '''"""Files in the syntax @name@: @@."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from stagec.core.budgets import Budgets
from stagec.core.edit import Edit
from stagec.core.place import START, Place, Span
from stagec.sources.tree import Format, Parsed


def _parse(_file: str, data: bytes, _budgets: Budgets) -> Parsed:
    return Parsed("@@" + data.decode())


def _locate(_data: bytes, places: Iterable[Place]) -> Mapping[Place, Span]:
    return dict.fromkeys(places, START)


def _apply(text: str, _edits: Iterable[Edit]) -> str:
    return text


FORMAT = Format("@name@", (".@suffix@",), _parse, _locate, _apply)
'''

_TEST = """from __future__ import annotations

from stagec.core.budgets import Budgets
from stagec.sources.formats import format_of
from stagec.sources.formats.@name@ import FORMAT
from stagec.sources.tree import Parsed


def test_the_format_is_found_by_the_suffix_of_a_file() -> None:
    assert format_of("some.@suffix@") == FORMAT


def test_a_file_is_read() -> None:
    assert FORMAT.parse("some.@suffix@", b"@@", Budgets()) == Parsed({"@@": "@@"})
"""


def _files(words: tuple[str, ...]) -> Mapping[str, str]:
    name = identifier(words, _TAKES)
    shown = {"name": name, "suffix": name.replace("_", "-")}
    return {
        f"compiler/stagec/sources/formats/{name}.py": filled(_FORMAT, **shown),
        f"tests/sources/formats/test_{name}.py": filled(_TEST, **shown),
    }


FORMAT = Scaffold(_TAKES, _files)
