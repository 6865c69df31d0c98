"""Faults put into the example pipelines, one at a time: each is told by its rule, where it is, and as nothing else."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

from stagec.check.pipeline import Project, compile_project
from stagec.core.diagnostic import Diagnostic, Severity
from stagec.sources.project.settings import Settings

EXAMPLES = Path(__file__).parents[2] / "registries"
REVIEW, REPAIR = "code-review", "docs-repair"
PIPELINE, TOOLS = "pipeline.yaml", "tools.yaml"
LEAST_MUTANTS, LEAST_OPERATORS, LEAST_CODES = 60, 12, 40

Files = dict[str, str]


class Mutant(NamedTuple):
    """A changed example: the operator, its files, the code it is told by, and the text in whose line it is told.

    Without a `mark` any line of the file will do.
    """

    operator: str
    name: str
    example: str
    files: Files
    code: str
    file: str
    mark: str = ""


@cache
def _texts(example: str) -> tuple[tuple[str, str], ...]:
    top = EXAMPLES / example
    found = sorted(path for path in top.rglob("*") if path.is_file() and path.name != "README.md")
    return tuple((path.relative_to(top).as_posix(), path.read_text(encoding="utf-8")) for path in found)


def texts(example: str) -> Files:
    return dict(_texts(example))


def swapped(operator: str, code: str, file: str, old: str, new: str, **more: str) -> Mutant:
    """Replace a text that must be there once; the new text marks the place unless another mark is given."""
    files = texts(more.get("example", REVIEW))
    assert files[file].count(old) == 1, (file, old)
    files[file] = files[file].replace(old, new)
    mark = more.get("mark", new.strip().split("\n", 1)[0])
    return Mutant(
        operator, f"{file}: {new[:40]!r}", more.get("example", REVIEW), files, code, more.get("at", file), mark
    )


def stage(name: str) -> str:
    return f"stages/{name}.md"


def dropped_fields() -> Iterator[Mutant]:
    for name in ("plan", "execute", "test", "lint", "review"):
        for field in ("name", "turnCap", "resolutionPolicy"):
            files = texts(REVIEW)
            files[stage(name)] = re.sub(rf"^{field}:.*\n", "", files[stage(name)], flags=re.MULTILINE)
            yield Mutant("drop", f"{name} without {field}", REVIEW, files, "STG170", stage(name))
    yield swapped("drop", "STG177", PIPELINE, "entry: plan\n", "", mark="")
    yield swapped("drop", "STG608", PIPELINE, "maxStageExecutions: 20\n", "", mark="")
    yield swapped("drop", "STG608", PIPELINE, "maxStageExecutions: 8\n", "", mark="", example=REPAIR)
    yield swapped("drop", "STG603", PIPELINE, ", join: review", "", mark="id: review", at=stage("review"))


def mistyped() -> Iterator[Mutant]:
    yield swapped("mistype", "STG171", stage("plan"), "turnCap: 20", "turnCap: twenty")
    yield swapped(
        "mistype", "STG171", stage("plan"), "[Read, Grep, Glob, list_directory]", "Read, Grep", mark="allowedTools"
    )
    yield swapped("mistype", "STG174", stage("plan"), "{maxAttempts: 2, backoff: none}", "3", mark="retryPolicy")
    yield swapped("mistype", "STG179", PIPELINE, "maxParallel: 2", "maxParallel: many")
    yield swapped("mistype", "STG175", PIPELINE, "plan: execute", "plan: 3")
    yield swapped("mistype", "STG176", PIPELINE, "execution: parallel", "execution: race")
    yield swapped("mistype", "STG161", stage("plan"), "type: array", "type: arry")
    yield swapped("mistype", "STG181", PIPELINE, "verdict: fail", "verdict: maybe", example=REPAIR)


def emptied() -> Iterator[Mutant]:
    yield swapped("empty", "STG172", stage("plan"), "completionTool: submit_plan", 'completionTool: ""')
    yield swapped("empty", "STG178", PIPELINE, '["stages/*.md"]', "[]", mark="stages: []")
    yield swapped("empty", "STG115", TOOLS, texts(REVIEW)[TOOLS], "\n", mark="")
    files = texts(REVIEW)
    files[stage("lint")] = files[stage("lint")].split("\n---\n")[0] + "\n---\n"
    yield Mutant("empty", "lint without a prompt", REVIEW, files, "STG310", stage("lint"))


def lowered() -> Iterator[Mutant]:
    yield swapped("lower", "STG173", stage("execute"), "turnCap: 40", "turnCap: 0")
    yield swapped("lower", "STG174", stage("execute"), "maxAttempts: 3", "maxAttempts: 0")
    yield swapped("lower", "STG607", PIPELINE, "maxStageExecutions: 20", "maxStageExecutions: 2")
    yield swapped("lower", "STG607", PIPELINE, "maxStageExecutions: 8", "maxStageExecutions: 1", example=REPAIR)


def renamed() -> Iterator[Mutant]:
    yield swapped("rename", "STG340", PIPELINE, "entry: plan", "entry: plam")
    yield swapped("rename", "STG341", PIPELINE, "plan: execute", "plan: exekute")
    yield swapped("rename", "STG341", PIPELINE, "[test, lint]", "[tests, lint]")
    yield swapped("rename", "STG341", PIPELINE, "repair: check", "repair: chek", example=REPAIR)
    yield swapped("rename", "STG342", PIPELINE, "join: review", "join: revue")
    yield swapped("rename", "STG355", PIPELINE, "  review:\n", "  revew:\n", mark="revew:")
    yield swapped("rename", "STG353", PIPELINE, '["stages/*.md"]', '["stages/*.md", "more/*.md"]', mark="more/*.md")
    yield swapped("rename", "STG377", PIPELINE, "tools: tools.yaml", "tools: toolz.yaml")
    yield swapped("rename", "STG370", stage("test"), "[Read, run_tests]", "[Read, run_test]")
    yield swapped("rename", "STG370", stage("plan"), "list_directory", "list_directories")
    files = texts(REVIEW)
    files[stage("lint")] = files[stage("lint")].replace("id: lint", "id: Lint_It")
    files[PIPELINE] = files[PIPELINE].replace("[test, lint]", "[test, Lint_It]")
    yield Mutant("rename", "an id that is not kebab case", REVIEW, files, "STG301", stage("lint"), "id: Lint_It")
    files = texts(REVIEW)
    files[stage("reviewing")] = files.pop(stage("review"))
    yield Mutant("rename", "a file that is not called like its stage", REVIEW, files, "STG306", stage("reviewing"))


def repeated() -> Iterator[Mutant]:
    files = texts(REVIEW)
    files[stage("test-again")] = files[stage("test")]
    yield Mutant("repeat", "two stages of one id", REVIEW, files, "STG303", "", "id: test")
    yield swapped("repeat", "STG109", stage("plan"), "turnCap: 20", "turnCap: 20\nturnCap: 30", mark="turnCap: 30")
    yield swapped("repeat", "STG309", stage("lint"), "[Read, run_linter]", "[Read, run_linter, Read]")
    yield swapped("repeat", "STG346", PIPELINE, "[test, lint]", "[test, lint, test]")
    yield swapped(
        "repeat", "STG354", stage("plan"), "turnCap: 20", "turnCap: 20\nstagec: {next: execute}", mark="", at=PIPELINE
    )


def misquoted() -> Iterator[Mutant]:
    old = "description: Makes the change."
    for new in (
        "description: Makes: the change.",
        "description: *changes",
        "description: [a] | [b]",
        'description: "Makes" the change.',
        "description: @change",
        "description: `change`",
    ):
        yield swapped("misquote", "STG107", stage("execute"), old, new)
    yield swapped("misquote", "STG107", stage("execute"), old, 'description: "Makes the change.', mark="")
    yield swapped("misquote", "STG108", stage("lint"), "\n---\n\nRun", "\n\nRun", mark="")
    files = texts(REVIEW)
    files[stage("lint")] = files[stage("lint")].removeprefix("---\n")
    yield Mutant("misquote", "no opening line", REVIEW, files, "STG169", stage("lint"))


def collided() -> Iterator[Mutant]:
    for real in ("Read", "run_tests", "list_directory"):
        files = texts(REVIEW)
        files[stage("review")] = files[stage("review")].replace("submit_review", real)
        if real == "Read":
            files[stage("review")] = files[stage("review")].replace("[Read, Grep, Glob]", "[Grep, Glob]")
        mark = f"completionTool: {real}"
        yield Mutant("collide", f"completion tool {real}", REVIEW, files, "STG371", stage("review"), mark)
    yield swapped("collide", "STG372", stage("lint"), "[Read, run_linter]", "[Read, run_linter, submit_lint_report]")
    files = texts(REVIEW)
    files[stage("lint")] = files[stage("lint")].replace("submit_lint_report", "submit_test_report")
    yield Mutant("collide", "one tool, two schemas", REVIEW, files, "STG373", "", "completionTool: submit_test_report")


def retargeted() -> Iterator[Mutant]:
    yield swapped("retarget", "STG343", PIPELINE, "join: review", "join: test")
    yield swapped("retarget", "STG345", PIPELINE, "[test, lint]", "[test]")
    yield swapped("retarget", "STG344", PIPELINE, "plan: execute", "plan: {stages: [execute], join: review}")
    yield swapped("retarget", "STG349", PIPELINE, "plan: execute", "plan: [{stages: [execute, lint]}]", mark="")
    yield swapped(
        "retarget", "STG348", PIPELINE, "  plan: execute\n", "  plan: execute\n  test: review\n", mark="test: review"
    )
    yield swapped("retarget", "STG604", PIPELINE, "stages: []", "stages: [repair]", example=REPAIR, mark="")


MISREAD = (
    ("STG327", "plan", "{{ctx.task}}", "{{ctx.taks}}"),
    ("STG321", "plan", "{{ctx.task}}", "{{env.TASK}}"),
    ("STG320", "plan", "{{ctx.task}}", "{{secrets.task}}"),
    ("STG322", "plan", "{{ctx.task}}", "{{ctx.attempts[0].reason}}"),
    ("STG323", "plan", "{{ctx.task}}", "{{ctx.host.name}}"),
    ("STG324", "plan", "{{ctx.task}}", "{{#if ctx.task}}"),
    ("STG325", "plan", "{{ctx.task}}", "{{ctx.}}"),
    ("STG325", "plan", "{{ctx.task}}", "{{ctx.task"),
    ("STG326", "plan", "{{ctx.task}}", "${ctx.task}"),
    ("STG329", "plan", "{{ctx.task}}", "{{ctx.upstream[0].reason}}"),
    ("STG330", "lint", "{{ctx.branch}}", "{{ctx.upstream[0].reason}}"),
    ("STG331", "execute", "{{ctx.upstream[0].parsed.steps}}", "{{ctx.upstream[1].parsed.steps}}"),
    ("STG331", "review", "{{ctx.upstream[1].parsed.findings}}", "{{ctx.upstream[2].parsed.findings}}"),
    ("STG331", "execute", "{{ctx.upstream[0].parsed.steps}}", "{{ctx.upstream}}"),
    ("STG332", "execute", "{{ctx.upstream[0].parsed.steps}}", "{{ctx.upstream[0].result}}"),
    ("STG333", "execute", "{{ctx.upstream[0].parsed.steps}}", "{{ctx.upstream[0].transcript}}"),
    ("STG334", "plan", "{{ctx.task}}", "{{stage.purpose}}"),
    ("STG335", "plan", "{{ctx.task}}", "{{stage.turnCap}}"),
    ("STG701", "review", "{{ctx.upstream[1].parsed.findings}}", "{{ctx.upstream[1].parsed.failures}}"),
    ("STG701", "execute", "{{ctx.upstream[0].parsed.steps}}", "{{ctx.upstream[0].parsed.summary.first}}"),
)


def misread() -> Iterator[Mutant]:
    for code, name, old, new in MISREAD:
        yield swapped("misread", code, stage(name), old, new)
    yield swapped(
        "misread", "STG702", stage("lint"), "required: [findings]", "required: []",
        at=stage("review"), mark="{{ctx.upstream[1].parsed.findings}}",
    )  # fmt: skip


def miscased() -> Iterator[Mutant]:
    yield swapped("miscase", "STG361", PIPELINE, "parsed.approved: true", "parsed.aproved: true")
    yield swapped("miscase", "STG361", PIPELINE, "[high, critical]", "[urgent]")
    yield swapped("miscase", "STG361", PIPELINE, "parsed.approved: true", 'parsed.approved: "yes"')
    yield swapped("miscase", "STG360", PIPELINE, "parsed.approved: true", "result.approved: true")
    yield swapped("miscase", "STG180", PIPELINE, "parsed.approved: true", "parsed.approved: {present: maybe}")
    yield swapped("miscase", "STG363", PIPELINE, "    - {stages: [execute]}\n", "", mark="")
    yield swapped(
        "miscase",
        "STG363",
        PIPELINE,
        "    - {when: {parsed.broken: true}, stages: [repair]}\n",
        "",
        example=REPAIR,
        mark="",
    )
    files = texts(REVIEW)
    lines = files[PIPELINE].splitlines(keepends=True)
    lines.insert(lines.index("  review:\n") + 1, lines.pop())
    files[PIPELINE] = "".join(lines)
    yield Mutant("miscase", "the case without conditions first", REVIEW, files, "STG362", PIPELINE)
    yield swapped("miscase", "STG364", PIPELINE, "capHit: true", "parsed.brokn: true", example=REPAIR)


def worsened() -> Iterator[Mutant]:
    yield swapped(
        "worsen",
        "STG375",
        TOOLS,
        "{name: run_linter, effects: read,",
        "{name: run_linter, effects: mutating,",
        mark="",
        at=stage("lint"),
    )
    yield swapped("worsen", "STG375", stage("lint"), "[Read, run_linter]", "[Read, run_linter, Edit]")
    yield swapped("worsen", "STG305", stage("lint"), "turnCap: 10", "turnCap: 10\nmodel: small", mark="model")
    yield swapped("worsen", "STG304", stage("lint"), "turnCap: 10", "turnCap: 10\nturn-cap: 30", mark="turn-cap")
    yield swapped("worsen", "STG307", stage("lint"), "backoff: none", "backoff: soon")
    yield swapped("worsen", "STG308", stage("lint"), "resolutionPolicy: fail", "resolutionPolicy: failing")
    yield swapped("worsen", "STG311", stage("lint"), "call `submit_lint_report` with", "say", mark="")
    yield swapped("worsen", "STG347", PIPELINE, "maxParallel: 2", "maxParallel: 1", mark="")
    yield swapped(
        "worsen", "STG328", PIPELINE, "branch: {type: string}", "branch: {type: string}\n  host: {}", mark="host"
    )


def referred() -> Iterator[Mutant]:
    for code, address in (
        ("STG314", "#/$defs/none"),
        ("STG314", "none.json"),
        ("STG162", "https://example.com/x.json"),
    ):
        yield swapped(
            "refer", code, stage("test"), "passed: {type: boolean}", f'passed: {{$ref: "{address}"}}', mark="passed: {"
        )
    yield swapped("refer", "STG703", stage("execute"), "required: [steps]", "required: [stepz]", mark="")


def hooked() -> Iterator[Mutant]:
    hooks = "hooks: {plan: {setup: 'not a callable'}}\nnext:"
    yield swapped("hook", "STG183", PIPELINE, "next:", hooks)
    guard = "loopHooks: [{stage: RENDER, when: pre, kind: guard, call: 'a.b:c'}]\nnext:"
    yield swapped("hook", "STG356", PIPELINE, "next:", guard)
    yield swapped("hook", "STG365", PIPELINE, "next:", "gate: {plan: {defer: {brunch: main}}}\nnext:")


OPERATORS = (
    dropped_fields, mistyped, emptied, lowered, renamed, repeated, misquoted, collided, retargeted, misread, miscased,
    worsened, referred, hooked,
)  # fmt: skip
MUTANTS = tuple(mutant for operator in OPERATORS for mutant in operator())


def told(mutant: Mutant, root: Path) -> list[Diagnostic]:
    for name, text in mutant.files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return list(compile_project(Project(root, (), Settings())).diagnostics)


def _is_there(mutant: Mutant, found: Diagnostic) -> bool:
    if found.code != mutant.code or (mutant.file and found.at.file != mutant.file):
        return False
    lines = mutant.files[found.at.file].splitlines()
    shown = lines[found.span.start.line - 1 : found.span.start.line]
    return mutant.mark in "".join(shown)


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda each: f"{each.operator}-{each.code}-{each.name}")
def test_a_fault_is_told_by_its_rule_and_by_no_other_error(mutant: Mutant, tmp_path: Path) -> None:
    found = told(mutant, tmp_path)
    shown = [(each.code, each.at.file, each.span.start.line, each.message) for each in found]
    assert [each for each in found if _is_there(mutant, each)], shown
    others = {each.code for each in found if each.severity is Severity.ERROR} - {mutant.code}
    assert others == set(), shown


def test_the_mutants_are_many_and_of_many_kinds() -> None:
    assert len(MUTANTS) >= LEAST_MUTANTS
    assert len({mutant.operator for mutant in MUTANTS}) >= LEAST_OPERATORS
    assert len({mutant.code for mutant in MUTANTS}) >= LEAST_CODES
