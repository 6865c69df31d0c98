"""The rights of the steps of a registry: the tools of their agent, permission modes, and the programs they run."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cached_property

from stagec.core.json import Object, list_of, object_of, text_in, whole_of
from stagec.core.place import Place
from stagec.ir.agent import CalledAgent, ClosingStep
from stagec.ir.catalogue.document import LabelBook, is_agent, list_scripts
from stagec.ir.catalogue.read import find_nearby
from stagec.ir.flow import Flow
from stagec.ir.plan.node import list_targets
from stagec.ir.rights import PermissionMode, Right, Rights, ShellText
from stagec.languages.registry.document import Intent, Registry, Step, StepKind
from stagec.languages.registry.freezing import AgentDefaults, definition
from stagec.languages.registry.generation import Generation
from stagec.languages.registry.prompts import read_fallback
from stagec.sources.contract.promise import Presence
from stagec.sources.contract.schemas import Schema
from stagec.sources.read import Sources

_VERDICT = "verdict"


def describe(registry: Registry, flow: Flow) -> CalledAgent | None:
    """Return an agent as others see it; None for a registry without one."""
    agent = registry.agent
    if agent is None:
        return None
    return CalledAgent(
        at=agent.at,
        flow=flow,
        entry=agent.verdict if agent.verdict is not None and agent.verdict in flow.entries else "",
        closings=tuple(_list_closings(registry, flow)),
        is_whole=flow.exact,
        limit=whole_of(agent.settings.get("maxIterations")),
        limit_at=agent.at / "runner" / "verdict" / "config" / "maxIterations",
        parameters=agent.declared,
    )


def _list_closings(registry: Registry, flow: Flow) -> Iterator[ClosingStep]:
    """Yield the steps that can be reached and that can end the work."""
    for name in _list_reached(flow):
        step = registry.steps.get(name)
        if step is None or step.kind is not StepKind.CLOSURE:
            continue
        if step.program is not None or step.gate is None or Intent.CLOSING in step.gate.allowed:
            yield _describe_closing(step)


def _describe_closing(step: Step) -> ClosingStep:
    output = step.output
    found = output.found if output is not None else None
    narrow = output.narrow if output is not None else None
    handed = step.gate.handoff or () if step.gate is not None else ()
    if step.program is not None or narrow is None or not isinstance(found, Schema):
        return ClosingStep(step.key, step.at, handed=handed)
    promised, values = narrow(_VERDICT, Intent.CLOSING)
    known = tuple(each for each in values if isinstance(each, str)) if isinstance(values, tuple) else None
    return ClosingStep(
        step=step.key,
        at=found.at,
        verdicts=() if promised.presence is Presence.IMPOSSIBLE else known,
        verdict=promised.presence,
        look_up=lambda path: narrow(path, Intent.CLOSING)[0].presence,
        handed=handed,
    )


def _list_reached(flow: Flow) -> tuple[str, ...]:
    """Return the nodes that runs may come to; where an answer may name any node, these are all."""
    found = list(dict.fromkeys(entry.node for entry in flow.entries.values()))
    known = set(found)
    for name in found:  # grows while it is read
        if name in flow.open:
            return tuple(flow.nodes)
        for edge in flow.nodes[name].edges:
            fresh = [each for each in list_targets(edge.target) if each not in known and each in flow.nodes]
            found.extend(fresh)
            known.update(fresh)
    return tuple(found)


_CONTEXT = re.compile(r"\$\{context\.([^}]*)\}")
_UNABLE = frozenset({"number", "integer", "boolean"})
"""Types of parameters in which no program can be written."""


def read_rights(registry: Registry, sources: Sources) -> Mapping[str, Rights]:
    """Return the rights of each step that is no section."""
    reading = _Reading(registry, sources)
    return {step.key: reading.of_step(step) for step in registry.steps.values() if not step.is_section}


class _Reading:
    """The common rights of the steps of a registry."""

    def __init__(self, registry: Registry, sources: Sources) -> None:
        self._registry = registry
        self._sources = sources
        self._agent = registry.agent
        self._body = definition(registry, sources)
        self._defaults = AgentDefaults(self._body, registry.agent)
        self._book = LabelBook(find_nearby(sources, registry.at.file))
        self._tools: dict[tuple[str, ...] | None, tuple[Right, ...]] = {}
        self._places = dict(self._list_places())
        self._texts: dict[str, str | None] = {}

    def of_step(self, step: Step) -> Rights:
        """Return the rights of a step: those of its program, or the tools of its model."""
        if step.program is not None:
            return self._of_program(step, step.program)
        allowed = self._defaults.tools(step)
        if allowed not in self._tools:
            named = [(each, self._places[each]) for each in allowed or () if each in self._places]
            self._tools[allowed] = tuple(Right(each, at, self._book.find(each)) for each, at in named)
        return Rights(self._tools[allowed], allowed is None, self._mode(step), self._general, self._prompts(step))

    def _list_places(self) -> Iterator[tuple[str, Place]]:
        """Yield the tools that the agent lists, with the first place of each; a rule counts as the tool it is about."""
        if self._agent is None:
            return
        conduct, at = self._agent.conduct, self._agent.at / "runner" / "boundaries" / "allowedTools"
        listed = object_of(conduct.boundaries).get("allowedTools")
        if self._agent.generation is not Generation.V1_13 and conduct.settings is not None:
            at = conduct.settings.at / "permissions" / "allow"
            listed = object_of(conduct.settings.permissions).get("allow")
        for index, each in reversed([*enumerate(list_of(listed))]):
            if isinstance(each, str):
                yield each.partition("(")[0], at / index

    @cached_property
    def _general(self) -> PermissionMode | None:
        """The mode that is written for the agent as a whole."""
        mode = self._agent.conduct.permission_mode if self._agent is not None else None
        if self._agent is None or mode is None:
            return None
        settings = self._agent.conduct.settings
        if self._agent.generation is Generation.V1_13 or settings is None:
            return PermissionMode(mode, self._agent.at / "runner" / "boundaries" / "permissionMode")
        return PermissionMode(mode, settings.at / "permissions" / "defaultMode")

    def _mode(self, step: Step) -> PermissionMode | None:
        mode = self._defaults.permission(step)
        if mode is None or text_in(step.body, "permissionMode"):
            return PermissionMode(mode, step.at / "permissionMode") if mode is not None else None
        general = self._general
        return general if step.kind is None and general is not None else PermissionMode(mode)

    def _prompts(self, step: Step) -> tuple[str, ...] | None:
        """Return the prompts of the model of a step: that of the agent, its own, and those of its repeats."""
        found = self._registry.prompts.of_steps.get(step.key)
        own = self._read(found.file) if found is not None and found.file is not None else None
        own = own or read_fallback(text_in(step.body, "fallbackKey") or "")
        system = self._agent.system_prompt if self._agent is not None else None
        repeats = self._registry.prompts.of_repeats.get(step.key, ())
        files = [system.path if system is not None else None, *(each.file for each in repeats if each is not None)]
        others = [text for file in files if file is not None and (text := self._read(file)) is not None]
        return None if own is None else (own, *others)

    def _read(self, file: str) -> str | None:
        if file not in self._texts:
            tree = self._sources.tree(file, "prompt")
            text = tree.data.decode(errors="replace") if tree is not None and tree.readable else None
            is_cut = text is not None and tree is not None and tree.body is not None
            self._texts[file] = text[slice(*tree.body)] if is_cut and text and tree and tree.body else text
        return self._texts[file]

    def _of_program(self, step: Step, runs: Object) -> Rights:
        at, arguments = step.at / "runner", list_of(runs.get("args"))
        words = (text_in(runs, "command") or "", *(each if isinstance(each, str) else "" for each in arguments))
        right = Right(words[0], at / "command", self._book.find_program(words), is_program=True)
        shell = tuple(self._list_shell_texts(at, words))
        return Rights((right,), shell=shell, is_fixed=not is_agent(words))

    def _list_shell_texts(self, at: Place, words: tuple[str, ...]) -> Iterator[ShellText]:
        """Yield the texts of whoever starts a run that become a part of a program."""
        parameters = object_of(self._body.get("parameters"))
        for index in list_scripts(words):
            for found in _CONTEXT.finditer(words[index]):
                name = found[1].strip()
                if text_in(object_of(parameters.get(name)), "type") not in _UNABLE:
                    yield ShellText(name, at / "args" / (index - 1), words[0])
