"""Write the pages of a project's handbook, or say which are out of date."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from stagec.change.flow_tests.coverage import describe_missing, measure_coverage
from stagec.check.pipeline import Compilation, Meaning
from stagec.cli.baselines import load_configured_baseline
from stagec.cli.commands.handbook.steps import StepPage, StepWriter, UsedTool, describe_limits, read_following
from stagec.cli.figures import NAMES, describe_least, describe_most, explain_lack, list_shown
from stagec.cli.files import read_file, update_folder
from stagec.cli.limits import load_configuration
from stagec.cli.plans import Freezer, Refused
from stagec.cli.running.assumptions import CostBasis, CostOptions, assume
from stagec.cli.streams import put, say, show_progress
from stagec.cli.testing import RunTest, TestedFlows, read_files, run_tests
from stagec.cli.unfound import explain_missing_flow
from stagec.cli.wording import format_value
from stagec.core.diagnostic import Diagnostic, Severity
from stagec.core.failure import Exit, Failure
from stagec.core.place import Place
from stagec.core.value import NOTHING, replace, value
from stagec.core.words import format_count, listing, quote, visible
from stagec.ir.flow import Concerns
from stagec.ir.graph.bounds import bound
from stagec.ir.graph.usage import Quantity
from stagec.ir.plan import Plan
from stagec.ir.plan.document import Input
from stagec.ir.plan.loader import read_frame
from stagec.languages import Flow
from stagec.sources.project.configuration import Configuration
from stagec.views.picture.document import Picture, Role, forms_of
from stagec.views.picture.draw import Edges, draw, draw_failures
from stagec.views.svg.drawing import Markup, element


@value
class TestSummary:
    """Tests of one flow by name, each with its complaints; the percentage of the flow that they run; the rest."""

    tests: tuple[tuple[str, tuple[str, ...]], ...]
    percent: float
    missing: tuple[str, ...]


class HandbookTests:
    """The tests of a project, run once. `troubles` has the reasons why files of tests cannot be run."""

    def __init__(self, configuration: Configuration) -> None:
        self.troubles: list[str] = []
        self._run: list[RunTest] = []
        try:
            trees = read_files(configuration, ())
        except Failure as failure:
            if failure.status is not Exit.NOTHING:
                self.troubles.append(str(failure))
            return
        flows = TestedFlows(configuration)
        for tree in trees:
            try:
                self._run += run_tests([tree], flows, None, None)
            except Failure as failure:  # its flow has errors, or there is none
                self.troubles.append(str(failure))

    def summarize(self, flow: str, at: Place) -> TestSummary | None:
        """Return a summary of the tests of a flow; None if it has none."""
        own = [each for each in self._run if each.flow.meaning.flow.id == flow and each.flow.meaning.flow.at == at]
        if not own:
            return None
        plan = own[0].flow.plan
        coverage = measure_coverage(plan, (each.found for each in own))
        tests = tuple((each.test.name, tuple(told for _, told in each.list_complaints())) for each in own)
        return TestSummary(tests, coverage.percent, tuple(describe_missing(plan, coverage)))


@value
class Cost:
    """The cost of a run from one entry: for each measure its name, the least, the most, and why there is no bound."""

    entry: str
    rows: tuple[tuple[str, str, str, str], ...]


@value
class Chapter:
    """A flow of the project, and the name of its page. Without a plan there are only its picture and its findings."""

    flow: Flow
    file: str
    picture: Picture
    found: tuple[Diagnostic, ...]
    refusal: Refused | None = None
    plan: Plan | None = None
    digest: str = ""
    beginnings: tuple[str, ...] = ()
    inputs: Mapping[str, str] = NOTHING
    costs: tuple[Cost, ...] = ()
    steps: tuple[StepPage, ...] = ()
    tools: tuple[tuple[UsedTool, tuple[str, ...]], ...] = ()
    """Each tool with the steps that may call it."""
    tests: TestSummary | None = None

    @property
    def title(self) -> str:
        """The name of the flow."""
        title = None if self.plan is None else self.plan.title
        return self.flow.id if title in {None, self.flow.id} else f"{self.flow.id}: {title}"

    @property
    def anchors(self) -> Mapping[str, str]:
        """The places of steps on the page, by their names, which may hold any character."""
        return {each.name: f"step-{number}" for number, each in enumerate(self.steps, 1)}


class ChapterWriter:
    """Writes the chapters of a project."""

    def __init__(self, freezer: Freezer, found: Iterable[Diagnostic], basis: CostBasis, tests: HandbookTests) -> None:
        self._freezer = freezer
        self._basis = basis
        self._rights = {(each.flow.at, each.flow.id): each.rights for each in freezer.compilation.list_accesses()}
        self._tests = tests
        self._concerns = Concerns(freezer.compilation.flows, found)

    def write(self, meaning: Meaning, file: str) -> Chapter:
        """Return the chapter of a flow."""
        flow = meaning.flow
        found = self._concerns.of(flow)
        picture = draw_failures(draw(meaning.graph, found, self._freezer.compilation.trees), Edges.ONCE)
        made = self._freezer.freeze(meaning, proves=False)
        if isinstance(made, Refused):
            return Chapter(flow, file, picture, found, made)
        rights = self._rights.get((flow.at, flow.id), NOTHING)
        chapter = Chapter(flow, file, picture, found, plan=made.plan, digest=read_frame(made.data)[0])
        following = read_following(flow)
        writer = StepWriter(made.plan, rights, following)
        steps = writer.write_all()
        return replace(
            chapter,
            beginnings=tuple(describe_limits(made.plan, following)),
            inputs={name: _describe_need(each) for name, each in made.plan.inputs.items()},
            costs=tuple(self._list_costs(made.plan)),
            steps=steps,
            tools=tuple(_list_tools(writer, steps)),
            tests=self._tests.summarize(flow.id, flow.at),
        )

    def _list_costs(self, plan: Plan) -> Iterator[Cost]:
        for entry in bound(plan, self._basis.assumptions).entries:
            figures = [(measure, entry.figures[measure]) for measure in list_shown(entry)]
            rows = (
                (
                    NAMES[measure],
                    *(
                        (_UNKNOWN, _UNKNOWN)
                        if measure is Quantity.COST and figure.lacks
                        else (describe_least(measure, figure), describe_most(measure, figure))
                    ),
                    "; ".join(_EXPLAINED.get(each.what) or explain_lack(each) for each in figure.lacks),
                )
                for measure, figure in figures
            )
            yield Cost(entry.entry, tuple(rows))


_UNKNOWN = "not known"
"""Of money, where a price lacks."""


def _list_tools(writer: StepWriter, steps: tuple[StepPage, ...]) -> Iterator[tuple[UsedTool, tuple[str, ...]]]:
    users: dict[str, dict[str, None]] = {}
    for step in steps:
        for tool in step.tools:
            users.setdefault(tool.name, {})[step.name] = None
    for name in writer.plan.tools:
        yield writer.describe_tool(name), tuple(users.get(name, ()))


def _describe_need(given: Input) -> str:
    if given.required:
        return "must be given"
    return "can be left out" if given.default is None else f"{format_value(given.default)} if nothing is given"


_EXPLAINED = {
    "model": "a turn of a model may take any time",
    "calls": "a model may call any number of tools in a response",
    "input": "a model may read any number of tokens",
    "output": "a model may write any number of tokens",
    "model-name": "the flow names no model",
    "price": "the price of the model is not known",
}
"""Why there is no bound, for readers who do not know the options."""


def draw_linked(chapter: Chapter) -> Markup:
    """Return the picture of a flow, in which each step is a link to its part of the page."""
    from stagec.views.picture.layout import lay_out
    from stagec.views.svg.drawing import heads, still

    layout = lay_out(chapter.picture)
    steps = {box.name: layout.frames[name] for name, box in chapter.picture.boxes.items() if box.role is Role.NODE}
    links = [
        element(
            "a",
            {"href": f"#{anchor}", "aria-label": visible(name)},
            element(
                "rect", {"class": "hold", "x": frame.x, "y": frame.y, "width": frame.width, "height": frame.height}
            ),
        )
        for name, anchor in chapter.anchors.items()
        if (frame := steps.get(name)) is not None
    ]
    size: dict[str, str | float] = {"width": layout.width, "height": layout.height}
    size["viewBox"] = f"0 0 {layout.width:.1f} {layout.height:.1f}"
    return element(
        "svg", {**size, "role": "group"}, heads(), *still(chapter.picture, layout, forms_of((chapter.picture,))), *links
    )


MARK = b'<meta name="generator" content="stagec handbook">'
"""The text that tells a page of the handbook from other files."""


def name_pages(flows: Iterable[str]) -> list[str]:
    """Return the names of the pages of flows: those that every file system has, of ids that hold any character."""
    names: list[str] = []
    for flow in flows:
        plain = re.sub(r"[^a-z0-9]+", "-", flow.lower()).strip("-")[:_LONGEST]
        name, number = f"flow-{plain}.html", 1
        while name in names:
            number += 1
            name = f"flow-{plain}-{number}.html"
        names.append(name)
    return names


_LONGEST = 80
"""Characters of the name of a page."""


def write_site(shown: Compilation, troubles: Sequence[str], chapters: Sequence[Chapter]) -> dict[str, bytes]:
    """Return every page: the first one, and one for each flow. `troubles` is why files of tests cannot be run."""
    site = _Site(shown, troubles, chapters)
    return {"index.html": site.write_index(), **{each.file: site.write_chapter(each) for each in chapters}}


class _Site:
    """The parts that all pages share."""

    def __init__(self, shown: Compilation, troubles: Sequence[str], chapters: Sequence[Chapter]) -> None:
        from base64 import b64encode
        from hashlib import sha256

        from stagec.core.templates import render
        from stagec.views.svg.drawing import read_style

        self._chapters = chapters
        self._found = shown.diagnostics
        self._accepted = 0 if shown.acceptance is None else shown.acceptance.known
        self._troubles = troubles
        self._style = read_style() + render(__package__, "page.css.jinja")
        self._digest = f"sha256-{b64encode(sha256(self._style.encode()).digest()).decode()}"

    def write_index(self) -> bytes:
        """Return the first page."""
        flows = [
            {
                "chapter": each,
                "nodes": len(each.flow.nodes),
                "found": _count_severities(each.found),
            }
            for each in self._chapters
        ]
        return self._render(
            "index.html.jinja",
            "index.html",
            "Handbook",
            flows=flows,
            found=_sort(self._found),
            accepted=format_count(self._accepted, "finding") if self._accepted else "",
            troubles=self._troubles,
        )

    def write_chapter(self, chapter: Chapter) -> bytes:
        """Return the page of a flow."""
        from stagec.views.svg.sheet import legend

        pictures = (chapter.picture,)
        pages = {each.flow.id: each.file for each in self._chapters}
        return self._render(
            "flow.html.jinja",
            chapter.file,
            chapter.title,
            chapter=chapter,
            drawing=draw_linked(chapter),
            legend=tuple(legend(pictures, forms_of(pictures))),
            anchors=chapter.anchors,
            pages=pages,
            found=_sort(chapter.found),
            sources=chapter.plan.sources if chapter.plan is not None else {},
        )

    def _render(self, template: str, file: str, title: str, **values: Any) -> bytes:
        from stagec.core.templates import render

        ids = Counter(each.flow.id for each in self._chapters)
        values |= {"file": file, "title": visible(title), "style": self._style, "digest": self._digest}
        values |= {"chapters": self._chapters, "repeated": {name for name, count in ids.items() if count > 1}}
        return render(__package__, template, **values).encode("utf-8", "replace")


def _sort(found: Sequence[Diagnostic]) -> list[Diagnostic]:
    """Return findings, the heaviest first."""
    return sorted(found, key=lambda each: -each.severity.weight)


def _count_severities(found: Sequence[Diagnostic]) -> str:
    counts = Counter(each.severity for each in found)
    told = [format_count(counts[each], each.value) for each in Severity if counts[each]]
    return ", ".join(told) or "none"


@value
class HandbookRequest:
    """The arguments and options as given; None where one is absent."""

    paths: tuple[Path, ...] = ()
    root: Path | None = None
    output: Path = Path("handbook")
    check: bool = False

    def make_pages(self) -> dict[str, bytes]:
        """Return the pages by the name of their file."""
        configuration = load_configuration(self.paths, self.root)
        freezer = Freezer(configuration, self.paths)
        meanings = freezer.compilation.meanings
        if not meanings:
            raise explain_missing_flow("describe", freezer.project, freezer.compilation)
        shown = freezer.judge_as_configured(load_configured_baseline(configuration))
        tests = HandbookTests(configuration)
        writer = ChapterWriter(freezer, shown.diagnostics, assume(CostOptions(), configuration), tests)
        names = name_pages(each.flow.id for each in meanings)
        return write_site(
            shown,
            tests.troubles,
            [writer.write(each, name) for each, name in zip(meanings, names, strict=True)],
        )


def run(request: HandbookRequest) -> Exit:
    """Write the site, and return the exit status."""
    with show_progress("writing …"):
        pages = request.make_pages()
    before = _read_earlier(request.output, pages)
    changed = {name: data for name, data in pages.items() if before.get(name) != data}
    stale = sorted(before.keys() - pages.keys())
    if request.check:
        for name in (*changed, *stale):
            say(f"stagec: {quote(str(request.output / name))} is out of date: 'stagec handbook' writes it")
        return Exit.FINDINGS if changed or stale else Exit.CLEAN
    update_folder(request.output, changed, before, stale)
    put(f"Wrote {format_count(len(pages), 'page')}: open {request.output / 'index.html'}\n")
    return Exit.CLEAN


def _read_earlier(folder: Path, pages: dict[str, bytes]) -> dict[str, bytes]:
    """Return the pages of an earlier handbook; refuse a folder in which a page would replace something else."""
    paths = [path for path in sorted(folder.glob("*.html")) if path.is_file()]
    found = {path.name: read_file(path) for path in paths}
    foreign = [name for name in found if name in pages and MARK not in found[name]]
    if foreign:
        raise Failure(
            f"{listing(foreign)} in {quote(str(folder))} was not written by 'stagec handbook': name another folder"
        )
    return {name: data for name, data in found.items() if MARK in data}
