"""A stage allows a tool that does not exist.

## Why this matters
Names are compared exactly, also in their letter case. A tool that is not there is not offered to the model, and the
stage is to do its work without it. Hosts find out when the stage starts.

## How to fix
Write the name as the catalogue has it, without arguments such as those of `Bash(git *)`, or add the tool to the
catalogue. If an MCP server offers it by now, run `stagec tools lock`.
"""

from collections.abc import Iterator

from stagec.catalogue import Catalogue
from stagec.catalogue.document import foreign_name
from stagec.core.guess import guess
from stagec.core.nearest import NameIndex, hint
from stagec.core.place import Mention
from stagec.core.rule import Finding, Related
from stagec.core.words import quote
from stagec.frontends.stages.document import Pipeline
from stagec.rules.stages import rule

_SHOWN = 8


@rule(since="0.1", origin=("stage-definitions:allowed-tools-unknown",))
def check(pipeline: Pipeline) -> Iterator[Finding]:
    catalogue, lost = pipeline.catalogue, dict[str, list[Mention]]()
    if catalogue is None or not catalogue.is_whole:
        return
    for stage in pipeline.stages:
        completion = stage.completion.name if stage.completion is not None else None
        for each in stage.allowed or ():
            if each.name not in catalogue.by_name and each.name != completion:
                lost.setdefault(each.name, []).append(each)
    for name, (first, *others) in lost.items():
        related = tuple(Related(other.at, "allowed here too") for other in others[:_SHOWN])
        near = _near(name, pipeline, catalogue)
        message = f"there is no tool {quote(name)} in {quote(catalogue.file)}{near}"
        yield Finding(first.at, message, related, guess(name, catalogue.names, *(each.at for each in others)))


def _near(name: str, pipeline: Pipeline, catalogue: Catalogue) -> str:
    known, bare = catalogue.names, name.partition("(")[0].strip()
    if bare != name and bare in known:
        return f"; a stage allows {quote(bare)} for all arguments or not at all"
    foreign = foreign_name(name, catalogue.servers)
    return _of_server(*foreign, pipeline, catalogue) if foreign is not None else hint(name, known) or hint(bare, known)


def _of_server(server: str, name: str, pipeline: Pipeline, catalogue: Catalogue) -> str:
    """Return what is meant by a name that begins with that of a server, as other programs write it."""
    own = (each.name for each in catalogue.tools if each.server == server)
    offered = pipeline.memo.once(("offered", server), lambda: NameIndex(own))
    near = f"; did you mean {quote(name)}?" if name in offered else hint(name, offered)
    called = f"the tools of MCP server {quote(server)} are called by their own names"
    return f": {called}{near}" if name.strip("*") else f": {called}, one by one"
