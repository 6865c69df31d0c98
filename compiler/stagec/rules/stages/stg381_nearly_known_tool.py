"""A stage allows a tool that is nearly one which is known.

## Why this matters
Not all tools are known: there is no catalogue, or a server is not locked. A name that differs from a known one by one
slip is most likely that one. Names are compared exactly, so the model is not offered the tool.

## How to fix
Correct the name, or add the tool to the catalogue; `stagec tools lock` adds those of MCP servers.
"""

from collections.abc import Iterator

from stagec.catalogue import WELL_KNOWN
from stagec.catalogue.document import foreign_name
from stagec.core.diagnostic import Severity
from stagec.core.guess import Guess
from stagec.core.nearest import NameIndex, is_slip
from stagec.core.place import Mention
from stagec.core.rule import Finding, Related
from stagec.core.words import quote
from stagec.frontends.stages.document import Pipeline
from stagec.rules.stages import rule

_SHOWN = 8


@rule(since="0.1", origin=("stage-definitions:allowed-tools-unknown", "rulings:tools"), severity=Severity.WARNING)
def check(pipeline: Pipeline) -> Iterator[Finding]:
    catalogue = pipeline.catalogue
    if catalogue is not None and catalogue.is_whole:
        return  # then every unknown name is told
    servers = catalogue.servers if catalogue is not None else {}
    known = catalogue.names if catalogue is not None else NameIndex(WELL_KNOWN)
    found: dict[str, list[Mention]] = {}
    for stage in pipeline.stages:
        for each in stage.allowed or ():
            if each.name not in known and foreign_name(each.name, servers) is None:
                found.setdefault(each.name, []).append(each)
    for name, (first, *others) in found.items():
        near = known.nearest(name)
        if near is not None and is_slip(name, near):
            related = tuple(Related(each.at, "allowed here too") for each in others[:_SHOWN])
            message = f"no tool {quote(name)} is known; did you mean {quote(near)}?"
            yield Finding(first.at, message, related, Guess(name, near, tuple(each.at for each in others)))
