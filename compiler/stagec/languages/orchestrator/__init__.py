"""Orchestrator files: `.agent/workflow.json`, which leads an issue from phase to phase, with an agent for each."""

from __future__ import annotations

import posixpath
import re
from typing import TYPE_CHECKING

from stagec.core.value import replace
from stagec.languages import FindAgent, Flow, FlowRights, FrontEnd, Sources, Tree
from stagec.languages.orchestrator.document import Workflow

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from stagec.ir.flow import Occurrence
    from stagec.ir.plan.document import Draft

_FOLDER = ".agent"
_NAME = re.compile(r"workflow.*\.json")
_PATH = rf"(?:^|/){re.escape(_FOLDER)}/{_NAME.pattern}$"


class _Orchestrators(FrontEnd[Workflow]):
    name = "orchestrator"
    paths = (_PATH,)

    def claims(self, file: str) -> bool:
        folder, name = posixpath.split(file)
        return _NAME.fullmatch(name) is not None and posixpath.basename(folder) == _FOLDER

    def anchor(self, folder: str) -> tuple[str, str] | None:
        home, name = posixpath.split(folder)
        return (home, name) if name == _FOLDER else None

    def recognises(self, tree: Tree) -> bool:
        return isinstance(tree.value, dict) and "phases" in tree.value and "labelMapping" in tree.value

    def read(self, sources: Sources, files: tuple[str, ...]) -> tuple[Workflow, ...]:
        if not files:  # of most projects
            return ()
        from stagec.languages.orchestrator.read import read  # only a project with an orchestrator file needs it

        return read(sources, files)

    def connect(self, document: Workflow, find: FindAgent) -> Workflow:
        defined = {each.id: each.definition for each in document.agents.values() if each.definition is not None}
        found = {name: find(at.file) for name, at in defined.items()}
        return replace(document, called={name: agent for name, agent in found.items() if agent is not None})

    def lower(self, document: Workflow) -> Flow:
        from stagec.languages.orchestrator.lower import lower  # so here

        return lower(document)

    def freeze(self, document: Workflow, flow: Flow, sources: Sources) -> Draft:
        from stagec.languages.orchestrator.lower import freeze  # most runs only check

        return freeze(document, flow, sources)

    def grant(self, document: Workflow, flow: Flow | None, _sources: Sources) -> tuple[FlowRights, ...]:
        if flow is None:
            return ()
        nodes = flow.nodes

        def list_inner() -> Mapping[str, FlowRights]:
            known = {name: agent.access for name, agent in document.called.items() if agent.access is not None}
            return {name: known[node.agent] for name, node in nodes.items() if node.agent in known}

        return (FlowRights(flow, dict, list_inner),)

    def list_names(self, document: Workflow) -> Iterable[Occurrence]:
        from stagec.languages.orchestrator.document import list_names  # only editors ask for names

        return list_names(document)


FRONTEND = _Orchestrators()
