"""Drawings of the flows of two sides: each side is read once, and one drawing shows the differences of two flows."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from itertools import zip_longest
from pathlib import Path

from stagec.change.comparison.change import Action, PlanChange, find_renames
from stagec.change.comparison.compare import compare_flow
from stagec.change.comparison.kind import Grade
from stagec.change.comparison.situation import JudgedChange, judge_flow
from stagec.check.acceptance import Acceptance
from stagec.check.pipeline import Compilation
from stagec.cli.agent_rights import AgentRights, list_agent_rights, list_project_grants
from stagec.cli.baselines import load_configured_baseline
from stagec.cli.differences import SIGNS, describe_change
from stagec.cli.limits import load_configuration
from stagec.cli.plans import Freezer, Frozen
from stagec.cli.sides import UNREAD, find_beside, is_plan, locate_side, read_plans
from stagec.core.diagnostic import Diagnostic
from stagec.core.failure import Exit, Failure
from stagec.core.memo import KeptAnswers
from stagec.core.nearest import NameIndex, hint
from stagec.core.value import replace, value
from stagec.core.words import format_count, quote
from stagec.ir.flow import Concerns
from stagec.ir.graph import build
from stagec.ir.plan import Plan
from stagec.ir.plan.loader import load_agents
from stagec.languages.agent_files.rights import ProjectGrant
from stagec.sources.project.baseline import Baseline
from stagec.views.picture.document import Box, Fate, Picture
from stagec.views.picture.draw import draw
from stagec.views.picture.overlay import Told, lay_over
from stagec.views.picture.plan_flow import make_flow


@value
class DrawnFlow:
    """A flow, its drawing, and its plan, None where it has errors; whether the drawing is made of nothing but it."""

    id: str
    picture: Picture
    plan: Plan | None
    is_plan: bool = False


@value
class DrawnSide:
    """One of two sides: what the user calls it, its flows, and what was found wrong; whether all could be read.

    `acceptance` is the effect of the baseline. Both sides use the baseline of the new side: to accept a finding is not
    to fix it. `agents` are the rights of agent files that belong to no flow, and `files` counts all files that were
    read.
    """

    label: str
    flows: tuple[DrawnFlow, ...]
    diagnostics: tuple[Diagnostic, ...] = ()
    is_whole: bool = True
    acceptance: Acceptance | None = None
    agents: tuple[AgentRights, ...] = ()
    grants: tuple[ProjectGrant, ...] = ()
    files: int = 0


@value
class FlowPair:
    """A flow of two sides, None where a side has none; what has changed, None where a side has no plan."""

    id: str
    old: DrawnFlow | None
    new: DrawnFlow | None
    changes: tuple[JudgedChange, ...] | None = None


@value
class DrawnChanges:
    """Two sides, their flows in pairs, and a drawing of each pair."""

    old: DrawnSide
    new: DrawnSide
    pairs: tuple[FlowPair, ...]
    pictures: tuple[Picture, ...]


def draw_sides(against: str, path: str, flow: str | None = None, *, needs_flow: bool = True) -> DrawnChanges:
    """Return the flows of two sides that a user names; `flow` is the id of the only one that is wanted.

    Raise `Failure` when no side has a flow, or none of the wanted id. Where none is needed, files without a flow do.
    """
    baseline = _find_baseline(path)
    kept = KeptAnswers()
    old = _read_side(against, find_beside(path), baseline, kept)
    new = _read_side(path, Path(), baseline, kept)
    pairs = tuple(_judge_pair(each) for each in match_flows(old, new) if flow in {None, each.id})
    if not pairs and (needs_flow or flow is not None or not (old.files or new.files)):
        either = "flow" if needs_flow else "flow or agent file"
        named = either if flow is None else f"flow {quote(flow)}"
        near = hint(flow or "", NameIndex(sorted({each.id for each in (*old.flows, *new.flows)})))
        raise Failure(f"neither {quote(against)} nor {quote(path)} has a {named}{near}", Exit.NOTHING)
    return DrawnChanges(old, new, pairs, tuple(draw_pair(each, old, new) for each in pairs))


def _find_baseline(text: str) -> Baseline | None:
    """Return the baseline that the project of a side configures."""
    with locate_side(text, Path()) as path:
        return None if is_plan(path) else load_configured_baseline(load_configuration((path,)))


def _read_side(text: str, beside: Path, baseline: Baseline | None, kept: KeptAnswers) -> DrawnSide:
    """Return the named side: the file of a plan, a project, or a revision of the project `beside`."""
    with locate_side(text, beside) as path:
        if is_plan(path):
            return DrawnSide(text, tuple(each for plan in read_plans(path) for each in _draw_plans(plan)))
        freezer = Freezer(load_configuration((path,)), (path,), kept)
        compilation = freezer.judge_as_configured(baseline)
        flows = tuple(_draw_project(compilation, freezer))
        found = compilation.diagnostics
        is_whole = not any(each.code.startswith(UNREAD) for each in found)
        agents = list_agent_rights(compilation)
        grants = list_project_grants(compilation)
        return DrawnSide(text, flows, found, is_whole, compilation.acceptance, agents, grants, len(compilation.trees))


def _draw_plans(plan: Plan) -> Iterator[DrawnFlow]:
    """Yield a plan and those of the agents that it runs."""
    inside = [loaded.plan for loaded in load_agents(plan).values()] if plan.plans else []
    yield from (DrawnFlow(each.id, _draw_plan(each), each, is_plan=True) for each in (plan, *inside))


def _draw_plan(plan: Plan) -> Picture:
    return draw(build(make_flow(plan)), (), {})


def _draw_project(compilation: Compilation, freezer: Freezer) -> Iterator[DrawnFlow]:
    concerns = Concerns(compilation.flows, compilation.diagnostics)
    made = [(meaning.flow.at, freezer.freeze(meaning, proves=False)) for meaning in compilation.meanings]
    plans = {at: frozen.plan for at, frozen in made if isinstance(frozen, Frozen)}
    for meaning in compilation.meanings:
        flow = meaning.flow
        picture = draw(meaning.graph, concerns.of(flow), compilation.trees)
        yield DrawnFlow(flow.id, picture, plans.get(flow.at))


def match_flows(old: DrawnSide, new: DrawnSide) -> tuple[FlowPair, ...]:
    """Return the flows of both sides by name, those of one name in their order."""
    named: dict[str, tuple[list[DrawnFlow], list[DrawnFlow]]] = {}
    for at, side in enumerate((old, new)):
        for each in side.flows:
            named.setdefault(each.id, ([], []))[at].append(each)
    return tuple(FlowPair(name, *pair) for name in sorted(named) for pair in zip_longest(*named[name]))


def _judge_pair(pair: FlowPair) -> FlowPair:
    old, new = (None if each is None else each.plan for each in (pair.old, pair.new))
    if old is None or new is None:
        return pair
    return replace(pair, changes=judge_flow(compare_flow(pair.id, old, new)).changes)


def draw_pair(pair: FlowPair, old: DrawnSide, new: DrawnSide) -> Picture:
    """Return both sides of a flow in one drawing."""
    before, after = pair.old, pair.new
    if before is None or after is None:
        side = old if before is None else new
        drawn = lay_over(_picture_of(before), _picture_of(after), Told(), old.label)
        unread = f"{side.label} has files that cannot be read: the flow may be in one of them"
        return drawn if side.is_whole else replace(drawn, remarks=(*drawn.remarks, unread))
    is_plan = (before.is_plan or after.is_plan) and before.plan is not None and after.plan is not None
    # a plan does not know all that sources say of lines: then both sides are drawn as plans are
    shown = [_draw_plan(each.plan) if is_plan and each.plan else each.picture for each in (before, after)]
    drawn = lay_over(shown[0], shown[1], _tell_changes(pair), old.label)
    return replace(drawn, title=after.picture.title, found=after.picture.found, boxes=_enrich(drawn, after.picture))


def _picture_of(flow: DrawnFlow | None) -> Picture | None:
    return None if flow is None else flow.picture


def _enrich(drawn: Picture, source: Picture) -> dict[str, Box]:
    """Return the boxes of a drawing with what its project knows of them beyond their plan."""
    known = source.boxes
    return {
        name: replace(box, details=known[name].details, found=known[name].found)
        if name in known and box.fate is not Fate.REMOVED
        else box
        for name, box in drawn.boxes.items()
    }


_DRAWN = frozenset({"edge", "choice", "needs", "scheduled-node", "node"})
"""Topics of changes that boxes and lines themselves show."""


def _tell_changes(pair: FlowPair) -> Told:
    """Return the notes of a flow's changes in its drawing; those that break runs in flight come first."""
    old, new = (None if each is None else each.plan for each in (pair.old, pair.new))
    if old is None or new is None or pair.changes is None:
        return Told(is_known=False)
    by_node: dict[str, list[str]] = {}
    by_move: dict[str, list[str]] = {}
    flow: list[str] = []
    judged, renamed = pair.changes, find_renames(old, new)
    for each in judged:
        change = each.change
        if change.node is None:
            flow.append(_tell(each, f"{SIGNS[change.action]} "))
        elif each.kind.grade is Grade.BREAKING or change.topic not in _DRAWN:
            by_node.setdefault(change.node, []).append(_tell(each))
        elif change.topic != "node" and not _is_renaming(change, renamed):
            by_move.setdefault(change.node, []).append(_tell(each))
    breaking = sum(each.kind.grade is Grade.BREAKING for each in judged)
    breaks = "breaks" if breaking == 1 else "break"
    remarks = (f"✗ {format_count(breaking, 'change')} {breaks} runs in flight",) if breaking else ()
    return Told(_freeze(by_node), tuple(flow), by_move=_freeze(by_move), renamed=renamed, remarks=remarks)


def _is_renaming(change: PlanChange, renamed: Mapping[str, str]) -> bool:
    """Tell whether nothing differs but what nodes are called."""
    before, after = json.dumps(change.before), json.dumps(change.after)
    for one, other in renamed.items():
        before = before.replace(json.dumps(one), json.dumps(other))
    return before == after


def _freeze(given: dict[str, list[str]]) -> dict[str, tuple[str, ...]]:
    return {name: tuple(some) for name, some in given.items()}


def _tell(judged: JudgedChange, lead: str = "") -> str:
    """Return a change in words, which name no node: it is drawn there."""
    change = judged.change
    if change.topic in {"node", "scheduled-node"} and change.action is Action.REMOVED:
        told = "a run in flight may stand here"
    else:
        told = describe_change(replace(change, node=None), "→")
    sign = f"✗ {judged.kind.code} " if judged.kind.grade is Grade.BREAKING else lead
    return "\n".join((f"{sign}{told}", *change.lines))
