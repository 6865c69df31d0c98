"""Ask all servers of some catalogues, show how far they are, and fail as a whole when one does not answer."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from stagec.catalogue import Catalogue, Lock, LockedServer
from stagec.cli.commands.tools.display import Display
from stagec.cli.commands.tools.project import ToolProject, refuse_faults
from stagec.core.failure import Failure
from stagec.core.place import Place
from stagec.core.words import counted, quote
from stagec.world.mcp import Answer, Question, ask
from stagec.world.trouble import Trouble


def live_locks(project: ToolProject, catalogues: tuple[Catalogue, ...], timeout: float) -> Mapping[str, Lock]:
    """Return what the servers of each catalogue offer now, as locks by the file of the catalogue."""
    for each in catalogues:
        refuse_faults(each, lock=False)
    asked = [(each, server) for each in catalogues for server in each.servers.values()]
    questions = [Question(server, project.folder_of(server.at.file), timeout) for _, server in asked]
    with Display([server for _, server in asked]) as display:
        answers = ask(questions, display.update, display.finish)
    _refuse_troubles(answers)
    found: dict[str, dict[str, LockedServer]] = {each.file: {} for each in catalogues}
    for (catalogue, server), answer in zip(asked, answers, strict=True):
        if isinstance(answer, LockedServer):
            found[catalogue.file][server.name] = answer
    return {file: Lock(Place(file), servers) for file, servers in found.items()}


def _refuse_troubles(answers: tuple[Answer, ...]) -> None:
    troubles = [each for each in answers if isinstance(each, Trouble)]
    if troubles:
        lines = [line for each in troubles for line in _lines(each)]
        raise Failure("\n".join((*lines, f"{counted(len(troubles), 'server')} of {len(answers)} did not answer")))


def _lines(trouble: Trouble) -> Iterator[str]:
    server = trouble.server
    yield f"MCP server {quote(server.name)} of {quote(server.at.file)} {trouble.what}"
    if trouble.said:
        yield "  the end of its standard error:"
        yield from (f"  | {line}" for line in trouble.said)
