"""A rule: its file in the family its code belongs to, and its specification."""

from __future__ import annotations

import re
from collections.abc import Mapping

from stagec.catalogue import Catalogue
from stagec.core.failure import Failure
from stagec.core.rule import AnyFamily
from stagec.core.value import value
from stagec.core.version import __version__
from stagec.core.words import listing, quote
from stagec.frontends.agent_files.document import AgentFiles
from stagec.frontends.envelopes.document import StagePlan
from stagec.frontends.orchestrator.document import Workflow
from stagec.frontends.registry.document import Registry
from stagec.frontends.stages.document import Pipeline
from stagec.graph import Graph
from stagec.model.rights import FlowRights
from stagec.model.witness import SearchedFlow
from stagec.pipeline import list_families
from stagec.protocol.checkpoint import JudgedCheckpoint
from stagec.protocol.marked_line import MarkedLine
from stagec.sources.suppression import JudgedSuppression
from stagec.sources.tree import Tree
from stagec_dev.scaffold import Scaffold, fill

_TAKES = "a code and a name, such as STG218 unknown-step"

_REGISTRY = """```json steps_registry.json
{"agentId": "demo", "version": "1.0.0", "c1": "steps", "entryStep": "initial.issue",
 "steps": {
  "initial.issue": {"stepId": "initial.issue", "name": "Issue", "c2": "initial", "c3": "issue"}}}
```"""

_FAULTY = """```json steps_registry.json
{"agentId": "demo"}
```"""
"""Of a file without any fault no rule is asked."""

_PIPELINE = """```yaml pipeline.yaml
entry: plan
```

```markdown plan.md
---
id: plan
name: Plan
allowedTools: []
completionTool: submit_plan
completionSchema: {type: object}
retryPolicy: {maxAttempts: 2, backoff: none}
turnCap: 5
resolutionPolicy: fail
---
Plan, then call `submit_plan`.
```"""

_CATALOGUE = """```yaml tools.yaml
bundled: [Read]
```"""

_STAGE_PLAN = """```yaml plan.yaml
reportTitle: wine-quality
stages:
  - stageId: S01_load_data
    goal: Load the wine dataset
    inputs: {dataset: data/wine.csv}
    outputs: {df: wine_df.parquet}
    maxDurationSec: 60
```"""

_WORKFLOW = """```json .agent/workflow.json
{"version": "1.0.0", "issueSource": {"kind": "ghRepoIssues"}, "labelMapping": {"ready": "todo", "done": "done"},
 "phases": {"todo": {"type": "actionable", "priority": 1, "agent": "worker"}, "done": {"type": "terminal"}},
 "agents": {"worker": {"role": "transformer", "outputPhase": "done", "fallbackPhase": "done"}}}
```"""

_CHECKPOINT = """```json reports/wine/run-001/checkpoints/ckpt-S01_load_data.json
{}
```"""

_LOG = """```log run.log
[STAGE:begin:id=S01_load_data]
```"""

_AGENT_FILE = """```markdown .claude/agents/reviewer.md
---
name: reviewer
description: Reviews changes.
---
Review the change.
```"""

_SUPPRESSION = """```yaml pipeline.yaml
entry: plan # stagec: ignore[STG125]
```"""


@value
class _Subject:
    """What a rule is about: the package it is imported from, the place of all of it, and a project with one."""

    home: str
    at: str
    project: str


_SUBJECTS: Mapping[type, _Subject] = {
    Tree: _Subject("stagec.sources.tree", "tree.at", _FAULTY),
    Registry: _Subject("stagec.frontends.registry.document", "registry.at", _REGISTRY),
    Pipeline: _Subject("stagec.frontends.stages.document", "pipeline.at", _PIPELINE),
    Catalogue: _Subject("stagec.catalogue", "catalogue.at", _CATALOGUE),
    Graph: _Subject("stagec.graph", "graph.flow.at", _REGISTRY),
    FlowRights: _Subject("stagec.model.rights", "flowrights.flow.at", _REGISTRY),
    SearchedFlow: _Subject("stagec.model.witness", "searchedflow.flow.at", _PIPELINE),
    StagePlan: _Subject("stagec.frontends.envelopes.document", "stageplan.at", _STAGE_PLAN),
    AgentFiles: _Subject("stagec.frontends.agent_files.document", "agentfiles.files[0].at", _AGENT_FILE),
    Workflow: _Subject("stagec.frontends.orchestrator.document", "workflow.at", _WORKFLOW),
    JudgedSuppression: _Subject("stagec.sources.suppression", "judgedsuppression.suppression.at", _SUPPRESSION),
    JudgedCheckpoint: _Subject("stagec.protocol.checkpoint", "judgedcheckpoint.at", _CHECKPOINT),
    MarkedLine: _Subject("stagec.protocol.marked_line", "markedline.at", _LOG),
}


def _files(words: tuple[str, ...]) -> Mapping[str, str]:
    code, name = _identity(words)
    family = _family(code)
    stem = f"{code.lower()}_{name.replace('-', '_')}"
    known = _SUBJECTS[family.subject]
    subject = family.subject.__name__
    shown = {
        "code": code,
        "name": name,
        "since": __version__.rpartition(".")[0],
        "imports": _imports(family, known.home),
        "type": subject,
        "subject": subject.lower(),
        "at": known.at,
        "project": known.project,
    }
    return {
        f"compiler/{family.package.replace('.', '/')}/{stem}.py": fill("rule.py.jinja", **shown),
        f"tests/rules/{family.name}/{stem}.md": fill("rule.md.jinja", **shown),
    }


def _imports(family: AnyFamily, home: str) -> str:
    """Return the lines that import what a rule of a family needs, sorted as linters want them."""
    needed = {"stagec.core.rule": "Finding", family.package: "rule", home: family.subject.__name__}
    return "\n".join(f"from {module} import {name}" for module, name in sorted(needed.items()))


def _identity(words: tuple[str, ...]) -> tuple[str, str]:
    match = re.fullmatch(r"(STG\d{3,4}) ([a-z0-9]+(?:-[a-z0-9]+)*)", " ".join(words))
    if match is None:
        raise Failure(f"expected {_TAKES}, got {quote(' '.join(words))}")
    code, name = match.groups()
    for rule in (rule for family in list_families() for rule in family.rules()):
        if code == rule.code or name == rule.name:
            raise Failure(f"{rule.code} is {quote(rule.name)} already")
    return code, name


def _family(code: str) -> AnyFamily:
    for family in list_families():
        if family.owns(int(code.removeprefix("STG"))):
            return family
    known = listing([f"STG{each[0]}-{each[-1]}" for family in list_families() for each in family.numbers])
    raise Failure(f"{code} belongs to no family; there are {known}")


RULE = Scaffold(_TAKES, _files)
