"""The page of one flow in the handbook: its picture, beginnings and ends, steps, bounds and findings."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from stagec.cli.commands.handbook.coverage import HandbookTests, TestSummary
from stagec.cli.commands.handbook.following import read_following
from stagec.cli.commands.handbook.steps import StepPage, StepWriter, UsedTool, describe_limits
from stagec.cli.figures import NAMES, describe_least, describe_most, explain_lack, list_shown
from stagec.cli.plans import Freezer, Refused
from stagec.cli.running.assumptions import CostBasis
from stagec.cli.wording import format_value
from stagec.core.diagnostic import Diagnostic
from stagec.core.value import NOTHING, replace, value
from stagec.core.words import visible
from stagec.emitters import forms_of
from stagec.frontends import Flow
from stagec.graph.bounds import bound
from stagec.graph.usage import Quantity
from stagec.model.flow import Concerns
from stagec.picture.document import Picture, Role
from stagec.picture.draw import draw
from stagec.picture.failures import Edges, draw_failures
from stagec.pipeline import Meaning
from stagec.plan import Plan
from stagec.plan.document import Input
from stagec.plan.loader import read_frame
from stagec.svg.shapes import Markup, element


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
        """What the flow is called."""
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
        made = self._freezer.freeze(meaning)
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
                    "; ".join(_EXPLAINED.get(each.kind) or explain_lack(each) for each in figure.lacks),
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
    from stagec.picture.layout import lay_out
    from stagec.svg.drawing import still
    from stagec.svg.style import heads

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
