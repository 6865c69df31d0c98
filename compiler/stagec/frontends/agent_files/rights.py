"""What agents of other tools may do, each alone: the tools that their frontmatter lists, and its permission mode."""

from __future__ import annotations

import re
from collections.abc import Iterator

from stagec.catalogue.labels import LabelBook
from stagec.catalogue.nearby import find_nearby
from stagec.core.json import text_in
from stagec.core.place import Place
from stagec.core.value import replace
from stagec.frontends.agent_files.denials import Denials
from stagec.frontends.agent_files.document import AgentFile, AgentFiles
from stagec.frontends.agent_files.tool_names import list_tools
from stagec.model.rights import FlowRights, PermissionMode, Right, Rights, ShellText, stand_alone
from stagec.sources.read import Sources

_LISTING = {
    "claude-agent": "tools",
    "copilot-agent": "tools",
    "claude-command": "allowed-tools",
    "claude-skill": "allowed-tools",
}
_SCRIPT = re.compile(r"!`([^`\n]*)`")
_ARGUMENT = re.compile(r"\$(?:ARGUMENTS\b|\d\b)")


def list_accesses(files: AgentFiles, sources: Sources) -> Iterator[FlowRights]:
    """Yield what each agent, command and skill may do that lists its tools, or has shell commands in its text."""
    books: dict[str, LabelBook] = {}
    for file in files.of(*_LISTING):
        home = file.where.home
        if home not in books:
            books[home] = LabelBook(find_nearby(sources, f"{home}/." if home else "."))
        rights = _read_rights(files, file, books[home])
        name = text_in(file.members, "name") or file.where.name
        yield stand_alone(name, file.at, rights, file.title)


def _read_rights(files: AgentFiles, file: AgentFile, book: LabelBook) -> Rights:
    key = _LISTING[file.kind.name]
    settings = [each for home, each in files.claude.settings if home == file.where.home]
    denials = Denials((rule for each in settings for rule in each.list_denied()), files.known)
    taken = {each.name for each in list_tools(file, files.known, "disallowedTools")}
    tools: dict[str, Right] = {}
    for each in list_tools(file, files.known, key):
        if each.name not in taken and denials.find(each.name) is None:
            tools.setdefault(each.name, Right(each.name, each.at, book.find(each.name)))
    given = text_in(file.members, "permissionMode") if file.kind.name == "claude-agent" else None
    mode = PermissionMode(given, file.at / "permissionMode") if given is not None else None
    shell = tuple(_list_shell_texts(file)) if key == "allowed-tools" else ()
    # what the agent is told, and what others are told of it
    text = file.tree.data.decode(errors="replace")
    prompts = (text_in(file.members, "description") or "", text[slice(*(file.tree.body or (0, len(text))))])
    return Rights(tuple(tools.values()), key not in file.members, mode, prompts=prompts, shell=shell)


def _list_shell_texts(file: AgentFile) -> Iterator[ShellText]:
    """Yield what the user of a command writes and a shell reads before the model does."""
    for found in _SCRIPT.finditer(file.text):
        named = _ARGUMENT.search(found[1])
        if named is not None:
            at = replace(Place(file.tree.file), range=found.span(1))
            yield ShellText(named[0], at, "the shell")
