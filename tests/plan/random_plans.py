"""Random plans: of every class of value, sound, and no larger than a failing test can show."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, TypeVar

from hypothesis import strategies as st

from stagec.core.canonical import MOST, digest, is_exact
from stagec.core.value import replace
from stagec.ir.plan import Plan
from stagec.ir.plan.act import (
    Act,
    Carried,
    Choice,
    Command,
    Converse,
    Each,
    Given,
    Hole,
    Path,
    Piece,
    Policy,
    Prompt,
    Provided,
    Supply,
    Template,
    Text,
)
from stagec.ir.plan.document import (
    Input,
    JudgeDefinition,
    Limits,
    LoopHook,
    Names,
    Server,
    Session,
    Success,
    System,
    Tool,
    Validator,
)
from stagec.ir.plan.facts import facts
from stagec.ir.plan.gate import (
    Admission,
    Among,
    Backoff,
    Check,
    Condition,
    Exists,
    ExitGate,
    Gate,
    IntentGate,
    JudgeGate,
    Reads,
    Retry,
    Term,
    Validation,
    VerdictGate,
)
from stagec.ir.plan.node import Chain, Edge, Fork, Go, Named, Node, Outcome, Pick, Schedule, Stop, Target

T = TypeVar("T")
Draw = st.DrawFn
Some = st.SearchStrategy


def builds(make: Callable[..., T], *given: Some[Any], **named: Some[Any]) -> Some[T]:
    """Build values like `st.builds`, which evaluates annotations again for each plan: that takes most of the time."""
    count = len(given)
    every = st.tuples(*given, *named.values())
    return every.map(lambda each: make(*each[:count], **dict(zip(named, each[count:], strict=True))))


TEXTS: Some[str] = st.text(max_size=4)
DIGESTS: Some[str] = st.binary(max_size=2).map(digest)
POSITIVE = st.integers(1, 5) | st.just(MOST)
JSON: Some[Any] = st.recursive(
    st.none() | st.booleans() | st.integers(-MOST, MOST) | st.floats().filter(is_exact) | TEXTS,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(TEXTS, inner, max_size=2),
    max_leaves=3,
)
PATHS: Some[Path] = st.lists(TEXTS | st.integers(0, MOST), max_size=2).map(tuple)
CALLS = st.sampled_from(["a:b", "hooks.review:é", ":"])


def some(each: Some[T]) -> Some[tuple[T, ...]]:
    """Return a strategy for none, one or two of something."""
    return st.lists(each, max_size=2).map(tuple)


def table(each: Some[T], least: int = 0) -> Some[dict[str, T]]:
    """Return a strategy for an object of up to three members."""
    return st.dictionaries(TEXTS, each, min_size=least, max_size=3)


TERMS: Some[tuple[Term, ...]] = some(
    builds(Among, PATHS, some(JSON)) | builds(Reads, PATHS, some(TEXTS)) | builds(Exists, PATHS, st.booleans())
)
RETRIES = builds(Retry, POSITIVE, builds(Backoff, st.sampled_from(["none", "fixed", "exponential"]), st.integers(0, 9)))
POLICIES = st.sampled_from(["retry-later", "skip", "fail", "ask"])
ADMISSIONS = builds(Admission, POLICIES, POLICIES, TERMS, TERMS)
HOOKS = builds(
    LoopHook,
    st.sampled_from(["RECEIVE_INPUT", "TOOL_CALL"]),
    st.sampled_from(["pre", "post"]),
    st.sampled_from(["transform", "guard", "observer"]),
    CALLS,
)
SESSIONS = builds(Session, st.none() | st.sampled_from(["ask", "allowlist", "yolo"]), some(HOOKS))
SERVERS = builds(
    Server,
    launch=st.none() | DIGESTS,
    command=TEXTS,
    args=some(TEXTS),
    cwd=st.none() | TEXTS,
    environment=some(TEXTS),
    url=st.none() | TEXTS,
    headers=some(TEXTS),
)
VALIDATORS = builds(
    Validator,
    TEXTS,
    builds(Success, st.sampled_from(["empty", "exit", "contains", "matches"]), TEXTS),
    TEXTS,
    table(TEXTS),
)


SCHEMAS = ("{}", "true", ' {"type": "object"}', '{"required":["b","a"]}', '{"$defs":{"a":{}},"$ref":"#/$defs/a"}')
"""Texts that are schemas, and not written in the way of anything else in a plan."""


class _Parts:
    """What the parts of one plan may name: its nodes, contents, tools and validators."""

    def __init__(self, draw: Draw) -> None:
        self.nodes = draw(st.lists(TEXTS, min_size=1, max_size=4, unique=True))
        self.texts = draw(st.lists(TEXTS, min_size=1, max_size=3, unique=True))
        self.schemas = draw(st.lists(st.sampled_from(SCHEMAS), min_size=1, unique=True))
        self.servers = draw(table(SERVERS))
        self.validators = draw(table(VALIDATORS))
        self.tools = draw(table(self.tool()))
        self.choices = draw(table(table(self.node(), least=1)))

    @property
    def contents(self) -> Mapping[str, str]:
        return {digest(text.encode()): text for text in (*self.texts, *self.schemas)}

    def node(self) -> Some[str]:
        return st.sampled_from(self.nodes)

    def content(self) -> Some[str]:
        return st.sampled_from(sorted(self.contents))

    def schema(self) -> Some[str]:
        return st.sampled_from(sorted(digest(text.encode()) for text in self.schemas))

    def tool(self) -> Some[Tool]:
        effects, schema = st.sampled_from(["read", "mutating", "unknown"]), st.none() | self.schema()
        origins = st.sampled_from(["bundled", "discovered", "unknown"])
        about = {"description": st.none() | TEXTS, "command": some(TEXTS)}
        own = builds(Tool, origins, effects, schema=schema, digest=st.none() | DIGESTS, **about)
        if not self.servers:
            return own
        servers, known = st.sampled_from(sorted(self.servers)), st.none() | DIGESTS
        return own | builds(Tool, st.just("mcp"), effects, servers, schema, digest=known, described=known)

    def used(self) -> Some[tuple[str, ...]]:
        return some(st.sampled_from(sorted(self.tools))) if self.tools else st.just(())

    def supply(self) -> Some[Supply]:
        return builds(Given, TEXTS) | builds(Provided, TEXTS) | builds(Carried, self.node(), TEXTS, st.booleans(), JSON)

    def template(self, *heads: Path) -> Some[Template]:
        """Return a strategy for templates whose holes are below some paths."""
        plain = builds(Text, self.content())
        leaf: Some[Piece] = plain | builds(Hole, _below(*heads))
        inside = some(plain | builds(Hole, _below(*heads, ("this",))))
        nested = leaf | builds(Each, _below(*heads), inside)
        return some(
            st.recursive(nested, lambda inner: builds(Choice, _below(*heads), some(inner), some(inner)), max_leaves=3)
        )

    def asked(self, draw: Draw) -> tuple[Template, Mapping[str, Supply]]:
        variables = draw(table(self.supply()))
        return draw(self.template(("stdin",), *(("variable", name) for name in variables))), variables

    def validation(self) -> Some[Validation]:
        known = sorted(self.validators)
        conditions = some(builds(Condition, st.sampled_from(known), table(JSON))) if known else st.just(())
        actions = st.sampled_from(["retry", "abort", "skip"])
        return builds(Validation, conditions, actions, POSITIVE, table(self.template(("failure",))))


def _below(*heads: Path) -> Some[Path]:
    return builds(lambda head, rest: (*head, *rest), st.sampled_from(heads), PATHS)


def _prompt(draw: Draw, parts: _Parts) -> Prompt:
    prompt, variables = parts.asked(draw)
    return Prompt(
        prompt=draw(st.none() | st.just(prompt)),
        builtin=draw(st.none() | TEXTS),
        variables=variables,
        needed=draw(some(st.sampled_from(sorted(variables))) if variables else st.just(())),
        schema=draw(st.none() | parts.schema()),
        tools=draw(st.none() | parts.used()),
        model=draw(st.none() | TEXTS),
        permission=draw(st.none() | TEXTS),
        policy=draw(st.none() | POLICIES),
    )


POLICIES = builds(
    Policy,
    st.none() | st.floats(0, 2) | st.integers(0, 2),
    st.none() | POSITIVE,
    st.none() | st.integers(1, 86_400_000),
    st.none() | st.integers(1, 1000),
)


def _converse(draw: Draw, parts: _Parts) -> Converse:
    return Converse(
        draw(parts.template(("ctx",))),
        draw(parts.used()),
        draw(TEXTS),
        draw(parts.schema()),
        draw(POSITIVE),
        draw(st.none() | parts.schema()),
        draw(st.none() | TEXTS),
        draw(st.none() | POLICIES),
        draw(st.integers(0, 1000)),
    )


def _intent(draw: Draw) -> IntentGate:
    intents = draw(st.lists(TEXTS, min_size=1, max_size=2).map(tuple))
    return IntentGate(
        draw(PATHS),
        intents,
        draw(st.booleans()),
        draw(st.sampled_from(intents)),
        draw(st.none() | PATHS),
        draw(some(PATHS)),
    )


def _judged(draw: Draw, parts: _Parts) -> tuple[Act, Gate, Sequence[str]]:
    """Make an act, a gate that can judge it, and the outcomes that must have edges."""
    kind = draw(st.integers(0, 3))
    if kind == 0:
        gate = _intent(draw)
        return _prompt(draw, parts), gate, gate.intents
    if kind == 1:
        return _prompt(draw, parts), JudgeGate(), ("next", "verdict")
    if kind == 2:
        check = builds(Check, st.sampled_from(["retry", "fail"]), TERMS, st.none() | TEXTS)
        return _converse(draw, parts), VerdictGate(draw(some(check))), ("ok", "fail")
    words = draw(st.lists(parts.template(("input",)), min_size=1, max_size=2).map(tuple))
    return Command(words, draw(POSITIVE)), ExitGate(), ("closing", "repeat")


@st.composite
def schedules(draw: Draw, node: Some[str]) -> Schedule:
    """Make a schedule of some nodes, each of which needs some of those before it."""
    names = draw(st.lists(node, min_size=1, max_size=3, unique=True))
    return Schedule({name: draw(_few(names[:at])) for at, name in enumerate(names)})


def _few(names: Sequence[str]) -> Some[tuple[str, ...]]:
    return st.lists(st.sampled_from(names), max_size=2, unique=True).map(tuple) if names else st.just(())


def targets(nodes: Sequence[str], choices: Collection[str], *, named: bool, scheduled: bool = True) -> Some[Target]:
    """Return a strategy for targets among some nodes, and choices of a plan where an answer may name one."""
    node = st.sampled_from(nodes)
    together = st.lists(node, min_size=1, max_size=2, unique=True).map(tuple)
    fork = builds(Fork, together, st.none() | node).map(
        lambda made: replace(made, join=None) if made.join in made.nodes else made
    )
    plain = (
        builds(Stop, st.sampled_from(Outcome))
        | builds(Go, node, st.none() | node)
        | fork
        | builds(Chain, st.lists(node, min_size=1, max_size=2).map(tuple))
        | (schedules(node) if scheduled else st.nothing())
    )
    picks = builds(Pick, st.sampled_from(sorted(choices))) if choices else st.nothing()
    return plain | builds(Named, table(node, least=1)) | picks if named else plain


def _node(draw: Draw, parts: _Parts) -> Node:
    act, gate, outcomes = _judged(draw, parts)
    target = targets(parts.nodes, parts.choices, named=isinstance(gate, IntentGate) and gate.target is not None)
    timed = builds(Edge, TEXTS, target, TERMS, wait=st.integers(0, 1000))
    others = timed.map(lambda made: replace(made, wait=0) if isinstance(made.target, Stop) else made)
    needed = [Edge(each, draw(target), draw(TERMS)) for each in outcomes]
    return Node(
        act,
        gate,
        (*needed, *draw(some(others))),
        kind=draw(st.none() | st.sampled_from(["work", "verification", "closure"])),
        title=draw(st.none() | TEXTS),
        admission=draw(st.none() | ADMISSIONS),
        retry=draw(st.none() | RETRIES),
        validation=draw(st.none() | parts.validation()),
        hooks=draw(st.dictionaries(st.sampled_from(["setup", "gate", "assert", "exit"]), CALLS, max_size=2)),
    )


@st.composite
def plans(draw: Draw) -> Plan:
    """Make a sound plan, with the facts that follow from it."""
    parts = _Parts(draw)
    entries = draw(table(parts.node() | schedules(parts.node()), least=1))
    plan = Plan(
        id=draw(TEXTS),
        names=draw(builds(Names, TEXTS, TEXTS)),
        entries=entries,
        choices=parts.choices,
        nodes={name: _node(draw, parts) for name in parts.nodes},
        contents=parts.contents,
        limits=Limits(
            draw(POSITIVE),
            draw(st.sampled_from([Outcome.DONE, Outcome.FAILED])),
            draw(POSITIVE),
            draw(st.integers(0, 1000)),
        ),
        entry=draw(st.none() | st.sampled_from(sorted(entries))),
        title=draw(st.none() | TEXTS),
        version=draw(st.none() | TEXTS),
        inputs=draw(table(builds(Input, st.booleans(), JSON, st.none() | parts.schema()))),
        system=draw(st.none() | st.just(System(*parts.asked(draw)))),
        judge=draw(st.none() | builds(JudgeDefinition, TEXTS, table(JSON))),
        validators=parts.validators,
        tools=parts.tools,
        servers=parts.servers,
        session=draw(st.none() | SESSIONS),
        sources=draw(table(DIGESTS)),
    )
    if not facts(plan).cycles and draw(st.booleans()):
        plan = replace(plan, limits=replace(plan.limits, executions=None))
    return replace(plan, facts=facts(plan))


@st.composite
def flows(draw: Draw, *, scheduled: bool = False) -> Plan:
    """Make a plan of nothing but up to five nodes and their edges; often without a way back, then without a bound."""
    names = [f"n{index}" for index in range(draw(st.integers(1, 5)))]
    is_onward = draw(st.booleans())
    known = st.sampled_from(names[1:] or names)
    choices = draw(st.dictionaries(TEXTS, table(known, least=1), max_size=2))
    acts: Some[Act] = st.sampled_from([Command(((),), 1), Prompt(), Converse((), (), "", "", 3)])
    nodes = {}
    for index, name in enumerate(names):
        ahead = names[index + 1 :] if is_onward else names
        usable = [name for name, each in choices.items() if {*each.values()} <= {*ahead}]
        target = (
            targets(ahead, usable, named=True, scheduled=scheduled) if ahead else builds(Stop, st.sampled_from(Outcome))
        )
        edges = some(builds(Edge, st.just("closing"), target))
        nodes[name] = Node(draw(acts), ExitGate(), draw(edges), retry=draw(st.none() | RETRIES))
    begun: Some[Any] = st.sampled_from(names)
    entries = draw(table(begun | schedules(st.sampled_from(names)) if scheduled else begun))
    bound = None if is_onward and draw(st.booleans()) else draw(st.integers(1, 12))
    return Plan("flow", Names("step", "intent"), entries, nodes, {}, Limits(bound), choices=choices)
