"""The tools of `stagec mcp`, each with its arguments and its answer."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from stagec.cli.agent_tools import answers, documents, findings, flows
from stagec.cli.agent_tools.arguments import Argument, read_arguments, write_schema
from stagec.cli.agent_tools.documents import Invoke, Printer
from stagec.cli.agent_tools.open_project import OpenProject
from stagec.core.json import Object
from stagec.runtime.world.tool_server import ServedTool

INSTRUCTIONS = """stagec checks declarative agent workflows: step registries, stage definitions and pipelines.
Call `validate` first. For a finding that you do not understand, call `explain` with its rule. `validate` with
`details` tells the lines that each fix changes. Try an edit with `texts` before you write it, and call `validate`
again afterwards, until there are no errors. `describe_flow` tells how the steps are connected. No tool writes files.
"""
Answer = Callable[[Mapping[str, Any]], Object]


def make_tools(folder: Path, invoke: Invoke) -> tuple[ServedTool, ...]:
    """Return the tools for the project of a folder, which is the working directory when they are called."""
    project, printer = OpenProject(folder), Printer(invoke)
    return (*_make_readers(project), *_make_printers(project, printer))


def _make_readers(project: OpenProject) -> tuple[ServedTool, ...]:
    return (
        _make(
            "validate",
            "Check the project as `stagec validate` does: how much is wrong, and the first findings with their places.",
            (findings.VALIDATE, answers.FINDINGS),
            partial(findings.validate, project),
        ),
        _make(
            "explain",
            "The page of a rule: why it exists, how to fix its findings, and examples.",
            (findings.EXPLAIN, answers.PAGE),
            findings.explain,
        ),
        _make(
            "search_rules",
            "Find rules by words, to learn what stagec checks.",
            (findings.SEARCH, answers.RULES),
            findings.search_rules,
        ),
        _make(
            "describe_flow",
            "List the flows of the project, the nodes of one flow and where each leads, or all about one node.",
            (flows.DESCRIBE, answers.FLOWS),
            partial(flows.describe_flow, project),
        ),
    )


def _make_printers(project: OpenProject, printer: Printer) -> tuple[ServedTool, ...]:
    return (
        _make(
            "draw",
            "Draw flows with their findings as a flowchart in the language of Mermaid.",
            (documents.DRAW, answers.DRAWING),
            partial(documents.draw, printer),
        ),
        _make(
            "bounds",
            "The steps, model turns, calls, tokens, dollars and milliseconds that a run uses at most and at least.",
            (documents.BOUNDS, answers.BOUNDS),
            partial(documents.bounds, printer),
        ),
        _make(
            "paths",
            "A small set of runs that covers each flow, or the shortest run to a node.",
            (documents.PATHS, answers.PATHS),
            partial(documents.paths, printer),
        ),
        _make(
            "permissions",
            "The tools that each node may call, and those of them that no test calls.",
            (documents.PERMISSIONS, answers.PERMISSIONS),
            partial(documents.permissions, printer),
        ),
        _make(
            "compare",
            "What has changed in the meaning of the flows since a revision of git, a plan or a copy in another folder.",
            (documents.COMPARE, answers.CHANGES),
            partial(documents.compare, project, printer),
        ),
    )


def _make(name: str, description: str, form: tuple[Sequence[Argument], Object], answer: Answer) -> ServedTool:
    """Return a tool; the form has its arguments, and the schema of its answer."""
    arguments, schema = form

    def answer_given(given: Object) -> Object:
        return answer(read_arguments(arguments, given))

    return ServedTool(name, description, write_schema(arguments), schema, answer_given)
