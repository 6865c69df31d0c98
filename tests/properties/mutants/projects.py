"""The projects that mutants are made of, as data: what a file holds, where its values are, and how it is written."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from copy import deepcopy
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import yaml

EXAMPLES = Path(__file__).parents[3] / "registries"
PLAN = "wine-quality"
"""The example of a stage plan."""
REGISTRY, AGENT = "steps_registry.json", "agent.json"
CURRENT = (
    "iterator-e223069",
    "reviewer-e223069",
    "facilitator-e223069",
    "considerer-5fa49c6",
    "detailer-819ae5b",
    "merger-59ef10f",
    "triager-2a26132",
)

Pointer = tuple[str | int, ...]


class Stage(NamedTuple):
    """A stage file: its frontmatter, and the prompt below it."""

    head: Any
    body: str


class Change(NamedTuple):
    """What a mutant changes: files to write (None to delete one), and where; `words` are the old and new names."""

    files: Mapping[str, bytes | None]
    places: tuple[tuple[str, Pointer], ...]
    words: frozenset[str] = frozenset()


class Project(NamedTuple):
    """A project that has no mistake of its own, or whose mistakes are known: its folder, and its files as data."""

    root: Path
    files: Mapping[str, Any]

    @property
    def name(self) -> str:
        return self.root.name

    def data(self, file: str) -> Any:
        """Return a copy of what a file holds: of a stage its frontmatter."""
        found = self.files[file]
        return deepcopy(found.head if isinstance(found, Stage) else found)

    def write(self, file: str, data: Any) -> bytes:
        """Return the file with other data."""
        found = self.files[file]
        if isinstance(found, Stage):
            return f"---\n{in_yaml(data)}---\n{found.body}".encode()
        if isinstance(data, str):
            return data.encode()
        return (json.dumps(data, indent=2) if file.endswith(".json") else in_yaml(data)).encode()

    def change(self, file: str, data: Any, *at: Pointer, words: tuple[Any, ...] = ()) -> Change:
        """Return the change to other data in one file."""
        places = tuple((file, each) for each in at)
        return Change(
            {file: self.write(file, data)}, places, frozenset(each for each in words if isinstance(each, str))
        )

    def named(self, ending: str) -> Iterator[str]:
        """Yield the files whose path ends so."""
        return (file for file in sorted(self.files) if file.endswith(ending))

    @property
    def registry(self) -> str | None:
        return next(self.named(REGISTRY), None)

    @property
    def pipeline(self) -> str | None:
        return next((file for file in sorted(self.files) if Path(file).stem == "pipeline"), None)

    @property
    def stages(self) -> tuple[str, ...]:
        return tuple(file for file, found in sorted(self.files.items()) if isinstance(found, Stage))

    @property
    def schemas(self) -> tuple[str, ...]:
        """The files of output schemas of a registry."""
        return tuple(self.named(".schema.json")) if self.registry else ()


def in_yaml(data: Any) -> str:
    return str(yaml.safe_dump(data, sort_keys=False, allow_unicode=True, width=1_000))


def is_data(file: Path) -> bool:
    return file.is_file() and "_meta" not in file.name and file.name != "README.md" and "_config" not in file.parts


@cache
def load_project(root: Path) -> Project:
    """Read every file of a project."""
    return Project(
        root, {file.relative_to(root).as_posix(): load(file) for file in sorted(root.rglob("*")) if is_data(file)}
    )


def load(file: Path) -> Any:
    text = file.read_text(encoding="utf-8")
    if file.suffix == ".json":
        return json.loads(text)
    if file.suffix in {".yaml", ".yml"}:
        return yaml.safe_load(text)
    if text.startswith("---\n") and "completionTool:" in text:
        head, _, body = text.removeprefix("---\n").partition("\n---\n")
        return Stage(yaml.safe_load(head), body)
    return text


def list_projects() -> tuple[Path, ...]:
    """Return nine registries, three pipelines and a stage plan, or those of the examples where there is no corpus."""
    own = [EXAMPLES / name for name in ("issue-flow", "project-flow", "code-review", "docs-repair", PLAN)]
    corpus = os.environ.get("STAGEC_CORPUS")
    if corpus is None:
        return tuple(own)
    return (
        *own,
        *(Path(corpus, "agents", name) for name in CURRENT),
        Path(corpus, "stage-definitions/derived-md/ralph"),
    )


def reach(owner: Any, *path: str | int) -> Iterator[Pointer]:
    """Yield every pointer that a pattern stands for; `*` is any member."""
    if not path:
        yield ()
        return
    head, *rest = path
    if isinstance(owner, dict):
        keys: list[Any] = list(owner) if head == "*" else [head] if head in owner else []
    else:
        keys = list(range(len(owner))) if isinstance(owner, list) and head == "*" else []
    for key in keys:
        yield from ((key, *deeper) for deeper in reach(owner[key], *rest))


def walk(owner: Any, path: Pointer = ()) -> Iterator[tuple[Pointer, Any]]:
    """Yield every value inside another, with where it is."""
    waiting = [(path, owner)]
    while waiting:
        here, found = waiting.pop()
        yield here, found
        members = found.items() if isinstance(found, dict) else enumerate(found) if isinstance(found, list) else ()
        waiting.extend(((*here, key), each) for key, each in members)


def value_at(owner: Any, path: Pointer) -> Any:
    for key in path:
        owner = owner[key]
    return owner


def put(owner: Any, path: Pointer, new: Any) -> Any:
    """Return the data with another value at a pointer."""
    value_at(owner, path[:-1])[path[-1]] = new
    return owner


def drop(owner: Any, path: Pointer) -> Any:
    """Return the data without what is at a pointer."""
    del value_at(owner, path[:-1])[path[-1]]
    return owner


def rename(owner: Any, path: Pointer, new: str) -> Any:
    """Return the data with another name for a member, at the same position."""
    members = value_at(owner, path[:-1])
    renamed = [(new if key == path[-1] else key, each) for key, each in members.items()]
    members.clear()
    members.update(renamed)
    return owner
