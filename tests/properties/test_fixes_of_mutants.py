"""No fix adds a finding or touches more than its place, whatever the mistake and the layout."""

from __future__ import annotations

import difflib
import json
import os
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from random import Random

import pytest
from campaigns import choose, sample
from properties.mutants.judge import Bench
from properties.mutants.projects import EXAMPLES, PLAN, list_projects
from properties.test_mutants import MUTATIONS

from stagec.check.fixes import FixedProject, fix_project
from stagec.check.pipeline import Project, compile_project
from stagec.core.diagnostic import Diagnostic
from stagec.sources.project.settings import Settings

OPERATORS = choose(1, whole=12)
EACH = choose(1, whole=2)
CORPUS = os.environ.get("STAGEC_CORPUS")
MISTAKES = json.loads((Path(CORPUS) / "mutants" / "mutants.json").read_bytes()) if CORPUS else []


def count(diagnostics: Sequence[Diagnostic]) -> Counter[tuple[str, str]]:
    return Counter((each.code, each.at.file) for each in diagnostics)


def check_fixes(project: Project) -> FixedProject:
    """Make every fix of a project, and refuse a fix that adds a finding, is not needed, or leaves another to do."""
    before = compile_project(project).diagnostics
    fixed = fix_project(project, guesses=True)
    after = fixed.compilation.diagnostics
    assert Counter(each.code for each in after) - Counter(each.code for each in before) == Counter()
    told = {(each.code, each.message) for each in before}
    assert count([each for each in after if (each.code, each.message) not in told]) - count(before) == Counter()
    assert bool(fixed.after) is bool(fixed.settled)
    rest = Project(project.root, project.paths, project.settings, {**project.overlay, **fixed.after})
    assert fix_project(rest, guesses=True).after == {}
    for file, after in fixed.after.items():
        edits = sum(len(each.fix.edits) for each in before if each.fix)
        assert count_lines(fixed.before[file], after) <= 2 * edits + fixed.settled
    return fixed


def count_lines(before: bytes, after: bytes) -> int:
    """Count the lines of a file that are no longer there as they were."""
    old, new = (data.decode(errors="surrogateescape").split("\n") for data in (before, after))
    return sum(row.startswith("-") for row in difflib.unified_diff(old, new, n=0))


@pytest.fixture(scope="module", params=[*list_projects(), EXAMPLES / PLAN], ids=lambda root: root.name)
def bench(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Bench:
    return Bench(request.param, tmp_path_factory.mktemp("mutants"))


def list_mutants(bench: Bench) -> Iterator[tuple[str, Mapping[str, bytes]]]:
    chance = Random(f"fixes of {bench.base.name}")
    names = [name for name in MUTATIONS if "misspelt" in name or "case" in name]
    for name in chance.sample(names, len(names)):
        every = [each for each in MUTATIONS[name](bench.base, chance) if None not in each.files.values()]
        for change in chance.sample(every, min(EACH, len(every))):
            yield name, {file: data for file, data in change.files.items() if data is not None}


def test_a_fix_of_a_misspelt_name_brings_back_what_was_there_byte_for_byte(bench: Bench) -> None:
    top = bench.root.resolve()
    base = Project(top, (top,), Settings())
    known = count(compile_project(base).diagnostics)
    texts = {file: (top / file).read_bytes() for file in bench.base.files}
    for name, overlay in islice(list_mutants(bench), OPERATORS * EACH):
        fixed = check_fixes(Project(top, (top,), Settings(), overlay))
        rest = {**overlay, **fixed.after}
        if fixed.after and all(json_of(rest[file]) == json_of(texts[file]) for file in rest):
            assert {file: rest[file] for file in rest if rest[file] != texts[file]} == {}, name
            assert count(fixed.compilation.diagnostics) - known == Counter()


def json_of(data: bytes) -> object:
    try:
        return json.loads(data)
    except ValueError:
        return data


@pytest.mark.parametrize("row", sample(MISTAKES, 4), ids=lambda row: row["id"])
def test_no_fix_of_a_mutant_of_the_corpus_adds_a_finding(row: dict[str, object], tmp_path: Path) -> None:
    root = Path(str(CORPUS)) / "mutants" / "bases" / str(row["base"])
    changes = row["changes"]
    assert isinstance(changes, dict)
    overlay = {file: text.encode() for file, text in changes.items() if text is not None}
    check_fixes(Project(root.resolve(), (root.resolve(),), Settings(), overlay))


YAML = """\
# what the flow is
id: flow
name: 'A flow'   # its name
version: 1.0.0
entry: write
maxStageExecutions: 8
next:
  write: {target}   # who checks
  check:
    - {{when: {{parsed.broken: false}}, stages: []}}   # the end
    - when: {{ parsed.broken: true }}
      {stages}: [ write ]

"""
STAGE = """\
---
# a stage
id: {id}
name: "Stage {id}"
{tools}
completionTool: done_{id}
completionSchema: {{type: object, properties: {{broken: {{type: boolean}}}}, required: [broken]}}
{cap}: 3   # turns
retryPolicy: {{maxAttempts: 1, backoff: {backoff}}}
resolutionPolicy: {policy}
---
Call `done_{id}`.
"""
RIGHT = {
    "target": "check",
    "stages": "stages",
    "tools": "allowedTools: [Read, Grep]",
    "cap": "turnCap",
    "backoff": "none",
    "policy": "fail",
}
WRONG = {
    "target": ["chekc", '"chekc"', "'chekc'"],
    "stages": ["stagse", '"stagse"'],
    "tools": [
        "allowedTools: [Read, Grep, Read]",
        "allowedTools:\n  - Read\n  - Grep   # search\n  - Read",
        "allowedTool: [Read, Grep]",
    ],
    "cap": ["turncap", '"turnCapp"'],
    "backoff": ["nnone", '"nnone"'],
    "policy": ["Fail", "faill", "'FAIL'"],
}
LAYOUTS: dict[str, Callable[[str], bytes]] = {
    "plain": str.encode,
    "carriage returns": lambda text: text.replace("\n", "\r\n").encode(),
    "byte order mark": lambda text: b"\xef\xbb\xbf" + text.encode(),
    "no line feed at the end": lambda text: text.rstrip("\n").encode(),
    "trailing blanks": lambda text: text.replace("\n", "  \n").replace("---  \n", "---\n").encode(),
    "other letters": lambda text: text.replace("# a stage", "# ein Schritt \u2013 \U0001f600").encode(),
}


def write(layout: Callable[[str], bytes], words: Mapping[str, str]) -> dict[str, bytes]:
    files = {"pipeline.yaml": YAML.format(**words)}
    files |= {f"{each}.md": STAGE.format(**{**RIGHT, "id": each}) for each in ("write",)}
    files |= {"check.md": STAGE.format(**words, id="check")}
    return {file: layout(text) for file, text in files.items()}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize(("part", "wrong"), [(part, wrong) for part in WRONG for wrong in WRONG[part]])
def test_every_layout_stays_as_it_is(layout: str, part: str, wrong: str, tmp_path: Path) -> None:
    right, broken = (write(LAYOUTS[layout], {**RIGHT, **words}) for words in ({}, {part: wrong}))
    project = Project(tmp_path, (tmp_path / "pipeline.yaml",), Settings(), broken)
    settings = Settings(ignore=("byte-order-mark",))
    fixed = check_fixes(Project(tmp_path, project.paths, settings, broken))
    rest = {**broken, **fixed.after}
    assert {file for file in rest if strip_quotes(rest[file]) != strip_quotes(right[file])} == set()


def strip_quotes(data: bytes) -> str:
    """Return a text in which the spellings of a fixture are one: with and without quotes, of a list in two ways."""
    text = data.decode().replace("'", "").replace('"', "")
    return re.sub(r"allowedTools:[ \r\n]+- Read[ \r\n]+- Grep   # search", "allowedTools: [Read, Grep]", text)
