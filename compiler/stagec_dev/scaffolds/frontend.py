"""A front end: how the files of one system are recognised, read into documents, and lowered to flows."""

from __future__ import annotations

from collections.abc import Mapping

from stagec_dev.scaffold import Scaffold, filled, identifier

_TAKES = "the name of a system"

_FRONT_END = '''"""Front end for @name@: @@."""

from __future__ import annotations

from stagec.core.value import value
from stagec.frontends import Flow, FrontEnd, Sources, Tree


@value
class Document:
    """What was written: @@."""

    tree: Tree


def _claims(file: str) -> bool:
    return file.endswith(".@@")


def _recognises(tree: Tree) -> bool:
    return isinstance(tree.value, dict) and "@@" in tree.value


def _read(sources: Sources, files: tuple[str, ...]) -> tuple[Document, ...]:
    trees = [sources.tree(file, "file") for file in files]
    return tuple(Document(tree) for tree in trees if tree is not None)


def _lower(_document: Document) -> Flow | None:
    return None


FRONT_END = FrontEnd("@name@", _claims, _recognises, _read, _lower)
'''

_TEST = """from __future__ import annotations

from pathlib import Path

from stagec.core.budgets import Budgets
from stagec.frontends.@name@ import FRONT_END
from stagec.sources.read import Sources


def test_its_own_files_are_claimed() -> None:
    assert FRONT_END.claims("@@.yaml")


def test_a_document_says_what_was_written(tmp_path: Path) -> None:
    (tmp_path / "some.yaml").write_text("@@: @@\\n", encoding="utf-8")
    (document,) = FRONT_END.read(Sources(tmp_path, Budgets()), ("some.yaml",))
    assert FRONT_END.lower(document) is not None
"""


def _files(words: tuple[str, ...]) -> Mapping[str, str]:
    name = identifier(words, _TAKES)
    return {
        f"compiler/stagec/frontends/{name}/__init__.py": filled(_FRONT_END, name=name),
        f"tests/frontends/{name}/test_{name}.py": filled(_TEST, name=name),
    }


FRONT_END = Scaffold(_TAKES, _files)
