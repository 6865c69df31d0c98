"""The tools that stages may call, and the servers that offer them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from stagec.catalogue import Catalogue, Tool, well_known_effects
from stagec.contract.bundle import PlanTexts
from stagec.contract.schemas import Schema
from stagec.frontends.stages.document import Pipeline, Profile, Stage
from stagec.plan import surroundings

_DIGEST = "sha256:"


def list_allowed(pipeline: Pipeline, stage: Stage) -> tuple[str, ...]:
    """Return the tools that a stage may call, once each; a stage object that does not say may call all there are."""
    if stage.allowed is not None:
        return tuple(dict.fromkeys(each.name for each in stage.allowed))
    known = pipeline.catalogue.by_name if pipeline.catalogue is not None else ()
    return tuple(known) if stage.profile is Profile.OBJECT else ()


def tools(catalogue: Catalogue | None, names: Iterable[str], texts: PlanTexts) -> Mapping[str, surroundings.Tool]:
    """Return what is known of tools, by name."""
    known = catalogue.by_name if catalogue is not None else {}
    return {
        name: _tool(known[name], texts)
        if name in known
        else surroundings.Tool("unknown", well_known_effects(name).value)
        for name in dict.fromkeys(names)
    }


def _tool(tool: Tool, texts: PlanTexts) -> surroundings.Tool:
    return surroundings.Tool(
        origin=tool.origin.value,
        effects=tool.effects.value,
        server=tool.server,
        schema=texts.schema(tool.schema) if isinstance(tool.schema, Schema) else None,
        digest=_prefix(tool.digest),
        description=tool.description,
        command=tool.command,
        described=_prefix(tool.described),
    )


def _prefix(digest: str | None) -> str | None:
    return None if digest is None else f"{_DIGEST}{digest}"


def servers(catalogue: Catalogue | None, given: Iterable[surroundings.Tool]) -> Mapping[str, surroundings.Server]:
    """Return the servers that offer some tools, by name."""
    if catalogue is None:
        return {}
    names = dict.fromkeys(tool.server for tool in given)
    return {name: _server(catalogue, name) for name in names if name is not None}


def _server(catalogue: Catalogue, name: str) -> surroundings.Server:
    """Return how a server is started; what its environment and its headers hold is nobody's business but its own."""
    server = catalogue.servers[name]
    locked = catalogue.lock.servers.get(name) if catalogue.lock is not None else None
    return surroundings.Server(
        launch=None if locked is None else _prefix(locked.launch),
        command=server.command,
        args=server.args,
        cwd=server.cwd,
        environment=tuple(sorted(server.env)),
        url=server.url,
        headers=tuple(sorted(server.headers)),
    )


def files(catalogue: Catalogue) -> frozenset[str]:
    """Return the files that a catalogue was read from."""
    locked = catalogue.lock_file if catalogue.lock is not None else None
    return frozenset(file for file in (catalogue.file, catalogue.servers_file, locked) if file is not None)
