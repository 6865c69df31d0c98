"""Tool catalogues: `tools.yaml` with `.mcp.json` and `tools.lock.json`, which `catalogue` reads; they have no flow."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator

from stagec.ir.catalogue import Catalogue, find_catalogue, read_catalogue
from stagec.ir.catalogue.read import LOCK, SERVERS, TOOLS, is_catalogue, resembles_catalogue
from stagec.ir.flow import NameKind, Occurrence
from stagec.languages import FrontEnd, Sources, Tree


class _Catalogues(FrontEnd[Catalogue]):
    name = "tools"
    paths = (rf"(?:^|/)(?:{'|'.join(map(re.escape, (*TOOLS, SERVERS, LOCK)))})$",)

    def claims(self, file: str) -> bool:
        return posixpath.basename(file) in {*TOOLS, SERVERS, LOCK}

    def recognises(self, tree: Tree) -> bool:
        return isinstance(tree.value, dict) and "steps" not in tree.value and resembles_catalogue(tree)

    def sees(self, sources: Sources, file: str) -> bool:
        """Tell whether a file is ours; other programs have a `tools.json` too."""
        return posixpath.basename(file) not in TOOLS or is_catalogue(sources, file)

    def read(self, sources: Sources, files: tuple[str, ...]) -> tuple[Catalogue, ...]:
        """Return the catalogues that the files belong to; a `.mcp.json` that belongs to none is one itself."""
        own = {file for file in files if posixpath.basename(file) not in {SERVERS, LOCK}}
        locks = {file for file in files if posixpath.basename(file) == LOCK}
        owners = {find_catalogue(sources, posixpath.dirname(file)) for file in locks}
        begun = sorted(own.union(owner for owner in owners if owner is not None))
        found = [each for file in begun if (each := read_catalogue(sources, file)) is not None]
        covered = {each.servers_file for each in found}
        bare = [file for file in files if posixpath.basename(file) == SERVERS and file not in covered]
        return (*found, *(each for file in bare if (each := read_catalogue(sources, file)) is not None))

    def list_names(self, catalogue: Catalogue) -> Iterator[Occurrence]:
        for tool in catalogue.by_name.values():
            yield Occurrence(NameKind.TOOL, tool.name, catalogue.file, tool.at, tool.entry)


FRONTEND = _Catalogues()
