"""Write what a checkout says of many projects to a file, or compare it with the file of another checkout."""

from __future__ import annotations

import json
import posixpath
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterator
from importlib import import_module
from itertools import islice, takewhile, zip_longest
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from stagec.change.flow_tests.document import is_flow_test, read_flow_tests
from stagec.check.pipeline import Compilation, Project, compile_project
from stagec.cli.plans import Freezer, Frozen
from stagec.cli.running.inputs import read_scenario
from stagec.cli.testing import TestedFlows, read_files
from stagec.core.failure import Failure
from stagec.core.value import replace, value
from stagec.ir.flow import Concerns
from stagec.ir.graph import build
from stagec.ir.plan import Plan
from stagec.runtime.drivers.history import event_to_json
from stagec.runtime.drivers.local.drive import play
from stagec.runtime.machine import Event, Started, StepResult
from stagec.runtime.machine.exchange import read_agent_run, run_of
from stagec.runtime.machine.program import Program, load
from stagec.runtime.world.composed import script_world
from stagec.runtime.world.local_world import ClosedWorld
from stagec.runtime.world.request_json import dump_request
from stagec.runtime.world.scenario import Scenario
from stagec.sources.project.configuration import Configuration, configure
from stagec.views.emitters.json import EMITTER
from stagec.views.picture.draw import draw
from stagec_dev.checkout import ROOT
from stagec_dev.tools import DeveloperTool

_SCENARIO = "scenario.yaml"
_HEAD = "== "
"""The beginning of the first line of a part; the project and the kind of output follow."""
_DEPTH = 20
"""How many folders are above the cases: messages name what is outside by the way there."""
_SHOWN, _AROUND = 20, 120
"""Parts that differ of which a line is shown, and how many characters of it before and after the first difference."""


@value
class _Subject:
    """A project to tell everything of, judged by every rule."""

    folder: Path
    configuration: Configuration
    compilation: Compilation

    @classmethod
    def of(cls, folder: Path) -> _Subject:
        found = configure((), folder)
        settings = replace(found.settings, select=None, extend_select=("ALL",))
        configuration = replace(found, settings=settings)
        return cls(folder, configuration, compile_project(Project(configuration.root, (), settings)))

    def tell_findings(self) -> Iterator[str]:
        for each in self.compilation.diagnostics:
            related = [(also.at, also.message) for also in each.related]
            rest = f"{related} {each.folded} {each.origin} {each.fix!r}"
            yield f"{each.at} {each.span} {each.severity} {each.code} {each.message} {rest}"

    def tell_plans(self) -> Iterator[str]:
        if self.compilation.meanings:
            freezer = Freezer(self.configuration, ())
            for meaning in freezer.compilation.meanings:
                made = freezer.freeze(meaning)
                yield made.data.decode() if isinstance(made, Frozen) else f"{meaning.flow.id}: {made.reason}"

    def tell_drawings(self) -> Iterator[str]:
        flows, trees = self.compilation.flows, self.compilation.trees
        concerns = Concerns(flows, self.compilation.diagnostics)
        if flows:
            yield EMITTER.emit(tuple(draw(build(each), concerns.of(each), trees) for each in flows)).decode()

    def tell_traces(self) -> Iterator[str]:
        """Yield the runs of the project's flow tests, and of each scenario beside a flow."""
        if any(is_flow_test(path.name) for path in self.folder.rglob("*.flow-test.*")):
            flows = TestedFlows(self.configuration)
            for file in map(read_flow_tests, read_files(self.configuration, ())):
                program = load(flows.found[flows.load(file)].data)
                for test in file.tests:
                    yield f"{file.file} {test.name}"
                    yield from _trace(program, test.scenario)
        for path in sorted(self.folder.rglob(_SCENARIO)):
            beside = path.relative_to(self.folder).parent
            for data in self._freeze(beside.as_posix()):
                program = load(data)
                yield f"{beside / _SCENARIO} {program.plan.id}"
                yield from _trace(program, read_scenario(path, program.plan))

    def _freeze(self, beside: str) -> Iterator[bytes]:
        """Yield the plans of the flows in a folder."""
        freezer = Freezer(self.configuration, ())
        for meaning in freezer.compilation.meanings:
            made = freezer.freeze(meaning)
            if isinstance(made, Frozen) and (posixpath.dirname(meaning.flow.at.file) or ".") == beside:
                yield made.data


def _trace(program: Program, scenario: Scenario) -> Iterator[str]:
    """Yield the requests, answers and reports of a run in memory, a line of JSON each, and its end."""
    lines: list[str] = []

    def observe(event: Event, step: StepResult) -> None:
        lines.append(_dump(event_to_json(event)))
        lines.extend(_dump({"event": each.name, **each.facts}) for each in step.trace)
        lines.extend(_dump(dump_request(_plan_of(program, each.key), each)) for each in step.effects)

    started = Started("run", scenario.entry, scenario.inputs)
    try:
        state = play(program, script_world(scenario, program.agents, ClosedWorld()), started, observe)
    except Failure as failure:  # the scenario has no answer
        lines.append(str(failure))
    else:
        lines.append(f"{state.ended} {state.reason}")
    yield from lines


def _plan_of(program: Program, key: str) -> Plan:
    """Return the plan that makes a request: that of the run, or of an agent in it."""
    inside = read_agent_run(run_of(key))
    return program.plan if inside is None else program.agents[inside.agent].plan


def _dump(given: object) -> str:
    return json.dumps(given, ensure_ascii=False, sort_keys=True)


_PARTS: tuple[tuple[str, Callable[[_Subject], Iterator[str]]], ...] = (
    ("findings", _Subject.tell_findings),
    ("plans", _Subject.tell_plans),
    ("drawings", _Subject.tell_drawings),
    ("traces", _Subject.tell_traces),
)


def tell(name: str, folder: Path) -> Iterator[str]:
    """Yield all that there is to say of a project, in parts that each begin with a line of their own."""
    subject: _Subject | None = None
    for part, describe in _PARTS:
        yield f"{_HEAD}{name}: {part}\n"
        try:
            subject = subject or _Subject.of(folder)
            told = "\n".join(describe(subject))
        except Exception as error:  # what crashes has to crash alike
            told = f"{type(error).__name__} {error}"
        told = told.replace(str(folder), "").strip()
        yield f"{told}\n" if told else ""


def _list_projects(root: Path, folders: list[Path]) -> Iterator[tuple[str, Path]]:
    """Yield the cases of all specifications, the examples, and what lies in the folders that were named."""
    if not folders:
        yield from _lay_specifications(root)
        folders = [ROOT / "registries"]
    for top in folders:
        yield from ((f"{top.name}/{each.name}", each) for each in sorted(top.iterdir()) if each.is_dir())


def _lay_specifications(root: Path) -> Iterator[tuple[str, Path]]:
    if str(ROOT / "tests") not in sys.path:
        sys.path.append(str(ROOT / "tests"))
    specifications: Any = import_module("rules.conftest")
    below = root.joinpath(*["deep"] * (_DEPTH - len(root.parts)))
    for page in sorted((ROOT / "tests" / "rules").glob("*/*.md")):
        for number, section in enumerate(specifications.read_sections(page)):
            folder = below / page.stem / str(number)
            folder.mkdir(parents=True)
            specifications.write_inputs(folder, section.inputs)
            yield f"{page.stem}/{number}", folder


def compare(old: str, new: str) -> Iterator[str]:
    """Yield the name of each part that differs, with its first difference."""
    before, after = _split(old), _split(new)
    for name in dict.fromkeys((*before, *after)):
        if before.get(name) != after.get(name):
            lines = zip_longest(before.get(name, ()), after.get(name, ()), fillvalue="")
            one, other = next(pair for pair in lines if pair[0] != pair[1])
            same = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))
            at = max(0, same - _AROUND)
            yield f"{name}\n- {one[at : at + 2 * _AROUND]}\n+ {other[at : at + 2 * _AROUND]}"


def _split(text: str) -> dict[str, list[str]]:
    parts: dict[str, list[str]] = {}
    lines: list[str] = []
    for line in text.splitlines():
        if line.startswith(_HEAD):
            lines = parts.setdefault(line, [line])
        else:
            lines.append(line)
    return parts


def _declare(parser: ArgumentParser) -> None:
    parser.add_argument("output", type=Path, metavar="OUT", help="the file to write")
    parser.add_argument(
        "folders",
        type=Path,
        nargs="*",
        metavar="FOLDER",
        help="each folder in it is a project; default: the cases of all specifications, and the examples",
    )
    parser.add_argument("--against", type=Path, metavar="FILE", help="print what differs from the output in this file")


def _run(options: Namespace) -> int:
    before = options.against.read_text(encoding="utf-8") if options.against is not None else None
    with TemporaryDirectory() as root, options.output.open("w", encoding="utf-8", newline="\n") as file:
        for name, folder in _list_projects(Path(root).resolve(), [each.resolve() for each in options.folders]):
            file.writelines(tell(name, folder))
    if before is None:
        return 0
    found = compare(before, options.output.read_text(encoding="utf-8"))
    shown = [*islice(found, _SHOWN)]
    print("\n".join(shown) if shown else "the same output")
    more = sum(1 for _ in found)
    if more:
        print(f"and {more} more")
    return int(bool(shown))


OUTPUTS = DeveloperTool(_declare, _run)
