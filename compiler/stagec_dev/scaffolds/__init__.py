"""Templates for new members: the files of each shelf."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Callable, Mapping

from stagec.check.pipeline import list_families
from stagec.core.failure import Failure
from stagec.core.rule import AnyFamily
from stagec.core.shelf import names
from stagec.core.templates import render
from stagec.core.value import value
from stagec.core.version import __version__
from stagec.core.words import listing, quote
from stagec.ir.catalogue import Catalogue
from stagec.ir.flow import SearchedFlow
from stagec.ir.graph import Graph
from stagec.ir.policies import UnmatchedPattern
from stagec.ir.protocol.checkpoint import JudgedCheckpoint
from stagec.ir.protocol.markers import MarkedLine
from stagec.ir.rights import FlowRights
from stagec.languages.agent_files.document import AgentFiles
from stagec.languages.envelopes.document import StagePlan
from stagec.languages.orchestrator.document import Workflow
from stagec.languages.registry.document import Registry
from stagec.languages.stages.document import Pipeline
from stagec.sources.suppression import JudgedSuppression
from stagec.sources.tree import Tree

MARK = "PLACEHOLDER"
"""Stands wherever a contributor has something to write; a law refuses it in the project."""


@value
class Addition:
    """A text for the end of a module, with its imports: names by modules. `head` begins a new module."""

    text: str
    imports: Mapping[str, str]
    head: str

    def extend(self, module: str | None) -> str:
        """Return the text of a module, or of a new one, with the addition."""
        written = f"{self.head}\n" if module is None else module
        for home, name in sorted(self.imports.items()):
            written = _add_import(written, home, name)
        return f"{written.rstrip()}\n\n\n{self.text}"


_WIDTH = 120
"""Columns of a line of code."""


def _add_import(text: str, home: str, name: str) -> str:
    """Return the text of a module that imports a name, sorted as linters want it."""
    lines = text.split("\n")
    imports = [each for each in ast.parse(text).body if isinstance(each, ast.ImportFrom)]
    known = next((each for each in imports if each.module == home), None)
    names = {name} if known is None else {name, *(each.name for each in known.names)}
    wanted = sorted(names, key=_sort_by_kind)
    line = f"from {home} import {', '.join(wanted)}"
    if len(line) > _WIDTH:
        line = f"from {home} import (\n" + "".join(f"    {each},\n" for each in wanted) + ")"
    if known is not None and known.end_lineno is not None:
        lines[known.lineno - 1 : known.end_lineno] = [line]
        return "\n".join(lines)
    own = [each for each in imports if each.module is not None and each.module.startswith("stagec")]
    before = [each.end_lineno or 0 for each in own if each.module is not None and each.module < home]
    other = [each.end_lineno or 0 for each in imports if each not in own]
    at = max(before or other or [1])
    lines[at:at] = [line] if before else ["", line]
    return "\n".join(lines)


def _sort_by_kind(name: str) -> tuple[bool, bool, str]:
    return not name.isupper(), not name[0].isupper(), name


@value
class Scaffold:
    """The template of a member of a shelf.

    `files(words)` returns its files, by path from the top of the checkout, from the words of its name; `takes` tells a
    contributor which words those are. An addition becomes the end of a file that may be there already.
    """

    takes: str
    files: Callable[[tuple[str, ...]], Mapping[str, str | Addition]]


def identifier(words: tuple[str, ...], takes: str) -> str:
    """Return the one word of a name as it is written in Python, or raise `Failure`."""
    if len(words) != 1 or not re.fullmatch(r"[a-z][a-z0-9]*([-_][a-z0-9]+)*", words[0]):
        raise Failure(f"expected {takes} in lower case, got {quote(' '.join(words))}")
    return words[0].replace("-", "_")


def fill(template: str, **values: str) -> str:
    """Return a template of the shelf with its variables filled in, and the mark wherever something is to be written."""
    return render("stagec_dev.scaffolds", template, mark=MARK, **values)


def make_one_word_scaffold(takes: str, templates: Mapping[str, str]) -> Scaffold:
    """Return the scaffold of a member whose name is one word: `templates` are its files, by paths with `{name}`."""

    def files(words: tuple[str, ...]) -> Mapping[str, str | Addition]:
        name = identifier(words, takes)
        values = {"name": name, "suffix": name.replace("_", "-")}
        return {path.format(name=name): fill(template, **values) for path, template in templates.items()}

    return Scaffold(takes, files)


COMMAND = make_one_word_scaffold(
    "the name of a command",
    {
        "compiler/stagec/cli/commands/{name}.py": "command.py.jinja",
        "tests/cli/commands/test_{name}.py": "test_command.py.jinja",
    },
)


EMITTER = make_one_word_scaffold(
    "the name of a drawing format",
    {
        "compiler/stagec/views/emitters/{name}.py": "emitter.py.jinja",
        "tests/emitters/test_{name}.py": "test_emitter.py.jinja",
    },
)


FORMAT = make_one_word_scaffold(
    "the name of a syntax",
    {
        "compiler/stagec/sources/formats/{name}.py": "format.py.jinja",
        "tests/sources/formats/test_{name}.py": "test_format.py.jinja",
    },
)


FRONT_END = make_one_word_scaffold(
    "the name of a system",
    {
        "compiler/stagec/languages/{name}/__init__.py": "frontend.py.jinja",
        "tests/frontends/{name}/test_{name}.py": "test_frontend.py.jinja",
    },
)


REPORTER = make_one_word_scaffold(
    "the name of a report format",
    {
        "compiler/stagec/check/reporters/{name}.py": "reporter.py.jinja",
        "tests/reporters/test_{name}.py": "test_reporter.py.jinja",
    },
)


_TAKES = "a code, a name and a topic of its family, such as STG218 unknown-step references"


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


_PATTERN = f"""```toml stagec.toml
[node-policies]
"plna" = {{ temperature = 0 }}
```

{_PIPELINE}"""


@value
class _Subject:
    """The subject of a rule: the package it is imported from, the place of all of it, and a project with one."""

    home: str
    at: str
    project: str


_SUBJECTS: Mapping[type, _Subject] = {
    Tree: _Subject("stagec.sources.tree", "tree.at", _FAULTY),
    Registry: _Subject("stagec.languages.registry.document", "registry.at", _REGISTRY),
    Pipeline: _Subject("stagec.languages.stages.document", "pipeline.at", _PIPELINE),
    Catalogue: _Subject("stagec.ir.catalogue", "catalogue.at", _CATALOGUE),
    Graph: _Subject("stagec.ir.graph", "graph.flow.at", _REGISTRY),
    FlowRights: _Subject("stagec.ir.rights", "flowrights.flow.at", _REGISTRY),
    SearchedFlow: _Subject("stagec.ir.flow", "searchedflow.flow.at", _PIPELINE),
    StagePlan: _Subject("stagec.languages.envelopes.document", "stageplan.at", _STAGE_PLAN),
    AgentFiles: _Subject("stagec.languages.agent_files.document", "agentfiles.files[0].at", _AGENT_FILE),
    Workflow: _Subject("stagec.languages.orchestrator.document", "workflow.at", _WORKFLOW),
    UnmatchedPattern: _Subject("stagec.ir.policies", "unmatchedpattern.at", _PATTERN),
    JudgedSuppression: _Subject("stagec.sources.suppression", "judgedsuppression.suppression.at", _SUPPRESSION),
    JudgedCheckpoint: _Subject("stagec.ir.protocol.checkpoint", "judgedcheckpoint.at", _CHECKPOINT),
    MarkedLine: _Subject("stagec.ir.protocol.markers", "markedline.at", _LOG),
}


def _files(words: tuple[str, ...]) -> Mapping[str, str | Addition]:
    code, name = _identity(words[:2])
    family = _family(code)
    module = _find_topic(family, words[2:])
    stem = f"{code.lower()}_{name.replace('-', '_')}"
    known = _SUBJECTS[family.subject]
    subject = family.subject.__name__
    shown = {
        "code": code,
        "name": name,
        "since": __version__.rpartition(".")[0],
        "function": stem,
        "type": subject,
        "subject": subject.lower(),
        "at": known.at,
        "project": known.project,
    }
    imports = {
        "collections.abc": "Iterator",
        "stagec.core.rule": "Finding",
        known.home: subject,
        family.package: "rule",
    }
    imports.pop(module, None)  # a family of one module declares the decorator there
    head = f'"""{MARK}: what the rules of this topic are about."""\n\nfrom collections.abc import Iterator'
    return {
        f"compiler/{module.replace('.', '/')}.py": Addition(fill("rule.py.jinja", **shown), imports, head),
        f"tests/rules/{family.name}/{stem}.md": fill("rule.md.jinja", **shown),
    }


def _find_topic(family: AnyFamily, words: tuple[str, ...]) -> str:
    """Return the module of a topic, be it there or new; a family that is one module has no other."""
    package = sys.modules[family.package]
    if not hasattr(package, "__path__"):
        return family.package
    if len(words) != 1:
        raise Failure(f"expected {_TAKES}; topics of {family.name} are {listing(names(package))}")
    return f"{family.package}.{identifier(words, 'a topic')}"


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


SCAFFOLDS: Mapping[str, Scaffold] = {
    "command": COMMAND,
    "emitter": EMITTER,
    "format": FORMAT,
    "frontend": FRONT_END,
    "reporter": REPORTER,
    "rule": Scaffold(_TAKES, _files),
}
"""How members begin, by what each is called."""
