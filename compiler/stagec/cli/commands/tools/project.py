"""The catalogues of a project, found as `validate` finds them."""

from __future__ import annotations

import os
import posixpath
from pathlib import Path

from stagec.catalogue import Catalogue, Lock
from stagec.cli.limits import configured
from stagec.core.failure import Exit, Failure
from stagec.core.value import value
from stagec.core.words import listing, quote
from stagec.frontends.tools import FRONTEND
from stagec.sources.discover import discover
from stagec.sources.read import Sources


@value
class ToolProject:
    """A project with its catalogues, of which there is at least one."""

    root: Path
    catalogues: tuple[Catalogue, ...]

    def folder_of(self, file: str) -> str:
        """Return the absolute folder of a file of the project."""
        return os.path.join(self.root, posixpath.dirname(file))


def open_project(paths: tuple[Path, ...], root: Path | None) -> ToolProject:
    """Return the catalogues under the paths that a user named; raise `Failure` when there is none."""
    configuration = configured(paths, root)
    scope = configuration.settings.scope
    named = tuple(path.absolute() for path in paths)
    found = discover(configuration.root, named, scope, (FRONTEND.claims,))
    sources = Sources(configuration.root, configuration.settings.budgets)
    (claimed,) = found.claimed
    files = [file for file in claimed if file in found.named or FRONTEND.sees(sources, file)]
    catalogues = FRONTEND.read(sources, tuple(sorted({*files, *found.unclaimed})))
    if not catalogues:
        where = listing([os.path.relpath(path) for path in paths or (configuration.root,)])
        raise Failure(f"no tools: {where} holds no tool catalogue and no '.mcp.json'", Exit.NOTHING)
    return ToolProject(configuration.root, catalogues)


def refuse_faults(catalogue: Catalogue, *, lock: bool) -> None:
    """Raise `Failure` when a catalogue cannot be trusted because a file of it is broken; a lock may be replaced."""
    faulty = sorted(catalogue.faulty if lock else catalogue.faulty - {catalogue.lock_file})
    if faulty:
        raise Failure(f"{listing(faulty)} cannot be used as written; 'stagec validate' says what is wrong")


def lock_of(catalogue: Catalogue) -> Lock:
    """Return the lock of a catalogue; raise `Failure` when there is none."""
    if catalogue.lock is None:
        raise Failure(f"there is no {quote(catalogue.lock_file)}; 'stagec tools lock' writes it")
    return catalogue.lock
