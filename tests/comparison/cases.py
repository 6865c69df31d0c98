"""Changes of plans with the codes that they have, each with the plans that they are made of."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, NamedTuple

import handmade
import phased
import playable

from stagec.core.value import replace
from stagec.ir.plan import Plan
from stagec.ir.plan.act import Carried, Converse, Given, Hole, Policy, ProcessInput, Prompt, Text
from stagec.ir.plan.document import (
    Contents,
    Input,
    JudgeDefinition,
    Limits,
    LoopHook,
    Names,
    Server,
    Session,
    Success,
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
    IntentGate,
    Retry,
    Validation,
    VerdictGate,
)
from stagec.ir.plan.node import Edge, ForEach, Fork, Go, Named, Node, Outcome, Pick, Schedule, Stop

DONE, FAILED = Stop(Outcome.DONE), Stop(Outcome.FAILED)
Edit = Callable[[Plan], Plan]


class Case(NamedTuple):
    """A plan, what is changed in it, and the codes of that; of those that are not `is_walked` no state is looked for."""

    name: str
    old: Plan
    edit: Edit
    codes: str
    is_walked: bool = True

    @property
    def new(self) -> Plan:
        """The plan after the change."""
        made = self.edit(self.old)
        return replace(made, facts=facts(made))


def asks(text: str, schema: Any, contents: Contents, **more: Any) -> Prompt:
    """Make the act of a step."""
    return Prompt((Text(contents.add(text)),), schema=contents.add(json.dumps(schema)), **more)


ANSWER: Any = {
    "type": "object",
    "required": ["action"],
    "properties": {
        "action": {"enum": ["next", "repeat", "jump", "closing"]},
        "to": {"enum": ["check", "end"]},
        "note": {"type": "string", "maxLength": 5},
    },
    "additionalProperties": False,
}


def carrying() -> Plan:
    """Make three steps: the second needs what the first keeps, or jumps, or another step runs in the place of the last."""
    contents = Contents()
    keeps = {**ANSWER, "required": ["action", "note"]}
    jumps = {**ANSWER, "required": ["action", "to"]}
    note = {"note": Carried("first", "note")}
    plan = Plan(
        id="carrying",
        names=Names("step", "intent"),
        entries={"": "first", "late": "last"},
        entry="",
        contents=contents.texts,
        limits=Limits(12),
        nodes={
            "first": Node(
                asks("First.", keeps, contents),
                IntentGate(("action",), ("next", "repeat", "jump", "closing"), False, "next", handoff=(("note",),)),
                (
                    Edge("next", Go("check")),
                    Edge("repeat", Go("first")),
                    Edge("jump", Go("check")),
                    Edge("closing", Go("last", "end")),
                ),
            ),
            "check": Node(
                asks("Check.", jumps, contents, variables=note),
                IntentGate(("action",), ("next", "repeat", "jump", "closing"), target=("to",)),
                (
                    Edge("next", Go("end"), (Among(("answer", "note"), ("x",)),)),
                    Edge("next", Go("last", "end")),
                    Edge("repeat", Go("first")),
                    Edge("jump", Named({"check": "check", "end": "end"})),
                    Edge("closing", DONE),
                ),
            ),
            "last": Node(
                asks("Last.", ANSWER, contents, variables={"who": Given("who")}, needed=("who",)),
                IntentGate(("action",), ("next", "repeat", "jump", "closing"), False, "closing"),
                (*(Edge(each, Go("end")) for each in ("next", "repeat", "jump")), Edge("closing", DONE)),
            ),
            "end": Node(
                asks("End.", ANSWER, contents),
                IntentGate(("action",), ("closing",), False, "closing"),
                (Edge("closing", DONE),),
                validation=Validation((Condition("clean"), Condition("typed")), attempts=3),
            ),
            "alone": Node(asks("Alone.", ANSWER, contents), IntentGate(("action",), ("next",)), (Edge("next", DONE),)),
        },
        inputs={"who": Input(schema=contents.add('{"enum":["","me","you"]}'))},
        validators={
            "clean": Validator("clean", Success("exit", "0"), "dirty"),
            "typed": Validator("typed", Success("exit", "0"), "untyped"),
        },
    )
    return replace(plan, facts=facts(plan))


def talking() -> Plan:
    """Make stages with hooks of the message loop, and tools with schemas."""
    plan = playable.stages()
    contents = Contents()
    for text in plan.contents.values():
        contents.add(text)
    path = contents.add('{"type":"object","properties":{"path":{"type":"integer"}}}')
    words = contents.add('{"type":"object"}')
    nodes = {
        name: replace(each, act=replace(each.act, accepts=words))
        for name, each in plan.nodes.items()
        if isinstance(each.act, Converse)
    }
    hooks = (LoopHook("TOOL_CALL", "pre", "guard", "own:one"), LoopHook("TOOL_CALL", "pre", "transform", "own:two"))
    made = replace(
        plan,
        contents=contents.texts,
        nodes=nodes,
        tools={"Read": Tool("bundled", "read", schema=path)},
        session=Session(None, hooks),
    )
    return replace(made, facts=facts(made))


def polled() -> Plan:
    """Make a step of which the world is asked whether it is done."""
    made = playable.judged()
    return replace(
        made,
        judge=JudgeDefinition(
            "meta:composite", {"operator": "and", "conditions": [{"type": "poll:state"}, {"type": "meta:custom"}]}
        ),
    )


def scheduled() -> Plan:
    """Make conversations in a schedule, and behind an edge another one."""
    contents = Contents()
    schema = contents.add('{"type":"object"}')
    ends = (Edge("ok", DONE), Edge("fail", FAILED))

    def stage(text: str) -> Node:
        return Node(Converse((Text(contents.add(text)),), (), "submit", schema, 2), VerdictGate(), ends)

    nodes = {name: stage(name) for name in ("a", "b", "c", "d")}
    inner = Schedule({"c": (), "d": ("c",)})
    nodes["b"] = replace(nodes["b"], edges=(Edge("ok", inner), Edge("fail", FAILED)))
    plan = Plan(
        id="scheduled",
        names=Names("stage", "verdict"),
        entries={"": Schedule({"a": (), "b": ("a",)})},
        entry="",
        contents=contents.texts,
        limits=Limits(parallel=2),
        nodes=nodes,
    )
    return replace(plan, facts=facts(plan))


def listing_elements() -> Plan:
    """Make a stage that names things, and stages that run for each of them."""
    contents = Contents()
    lists = {"type": "array", "items": {"type": "string"}, "maxItems": 4}
    names = contents.add(json.dumps({"type": "object", "required": ["names"], "properties": {"names": lists}}))
    plain = contents.add('{"type":"object"}')

    def stage(schema: str, *ways: Edge) -> Node:
        act = Converse((Text(contents.add("Do it.")),), (), "submit", schema, 2)
        return Node(act, VerdictGate(), (*ways, Edge("fail", FAILED)))

    each = ForEach(("parsed", "names"), 6, ("one",), "all", 2)
    plan = Plan(
        id="listing",
        names=Names("stage", "verdict"),
        entries={"": "list"},
        entry="",
        contents=contents.texts,
        limits=Limits(20, Outcome.FAILED, 4),
        nodes={
            "list": stage(names, Edge("ok", each)),
            "one": stage(plain, Edge("ok", DONE)),
            "other": stage(plain, Edge("ok", DONE)),
            "all": stage(plain, Edge("ok", Go("free"))),
            "free": stage(plain, Edge("ok", Go("other"))),
        },
    )
    return replace(plan, facts=facts(plan))


def elements(**fields: Any) -> Edit:
    """Change how stages run for the elements of the list."""
    return edges(
        "list",
        lambda found: tuple(
            replace(each, target=replace(each.target, **fields)) if isinstance(each.target, ForEach) else each
            for each in found
        ),
    )


def waiting(milliseconds: int) -> Edit:
    """Change how long the list waits before its edges that lead on."""
    return edges(
        "list",
        lambda found: tuple(
            replace(each, wait=milliseconds) if isinstance(each.target, ForEach) else each for each in found
        ),
    )


def on(node: str, **fields: Any) -> Edit:
    """Change fields of a node."""
    return lambda plan: replace(plan, nodes={**plan.nodes, node: replace(plan.nodes[node], **fields)})


def act(node: str, **fields: Any) -> Edit:
    """Change fields of the act of a node."""
    return lambda plan: on(node, act=replace(plan.nodes[node].act, **fields))(plan)


def gate(node: str, **fields: Any) -> Edit:
    """Change fields of the gate of a node."""
    return lambda plan: on(node, gate=replace(plan.nodes[node].gate, **fields))(plan)


def edges(node: str, change: Callable[[tuple[Edge, ...]], tuple[Edge, ...]]) -> Edit:
    """Change the edges of a node."""
    return lambda plan: on(node, edges=change(plan.nodes[node].edges))(plan)


def validation(node: str, **fields: Any) -> Edit:
    """Change the validation of a node."""
    return lambda plan: on(node, validation=replace(plan.nodes[node].validation, **fields))(plan)


def schema(node: str, change: Callable[[Any], Any], member: str = "schema") -> Edit:
    """Change the schema of a node."""

    def edit(plan: Plan) -> Plan:
        contents = Contents()
        for text in plan.contents.values():
            contents.add(text)
        named = contents.add(json.dumps(change(json.loads(plan.contents[getattr(plan.nodes[node].act, member)]))))
        return act(node, **{member: named})(replace(plan, contents=contents.texts))

    return edit


def tool(**fields: Any) -> Edit:
    """Change the tool `Read`."""
    return lambda plan: replace(plan, tools={**plan.tools, "Read": replace(plan.tools["Read"], **fields)})


def within(text: str, use: Callable[[Plan, str], Plan]) -> Edit:
    """Change a plan with one more content."""

    def edit(plan: Plan) -> Plan:
        contents = Contents()
        for each in plan.contents.values():
            contents.add(each)
        name = contents.add(text)
        return use(replace(plan, contents=contents.texts), name)

    return edit


def inputs(**given: Any) -> Edit:
    """Add inputs or put them in the place of others."""
    return lambda plan: replace(plan, inputs={**plan.inputs, **given})


def without(table: str, name: str) -> Edit:
    """Take something out of a table of a plan."""
    return lambda plan: replace(
        plan, **{table: {key: each for key, each in getattr(plan, table).items() if key != name}}
    )


def limits(**fields: Any) -> Edit:
    """Change the limits."""
    return lambda plan: replace(plan, limits=replace(plan.limits, **fields))


def both(*edits: Edit) -> Edit:
    """Make several changes."""

    def edit(plan: Plan) -> Plan:
        for each in edits:
            plan = each(plan)
        return plan

    return edit


def only(given: Any, *keys: str) -> Any:
    """Return an object with some of its members."""
    return {key: given[key] for key in keys}


def phases(**fields: Any) -> Edit:
    """Change what holds of runs of phases."""
    return lambda plan: replace(plan, phases=replace(plan.phases, **fields))


def choices(**given: str) -> Edit:
    """Change what answers may name."""
    return lambda plan: replace(plan, choices={"any": given})


def needs(**given: Any) -> Edit:
    """Change what the nodes of the schedule of an entry need."""
    return lambda plan: replace(plan, entries={"": Schedule({**plan.entries[""].needs, **given})})


C, S, T, A, J, W, D, P = (
    carrying(),
    playable.steps(),
    playable.stages(),
    playable.asking(),
    polled(),
    talking(),
    scheduled(),
    handmade.processes(),
)
E = listing_elements()
COLLECTING = elements(collect=True)(E)
SLOW = waiting(5_000)(E)
G = replace(playable.command("a", "b"), limits=Limits(3, Outcome.DONE))
NEW_NODE = Node(Prompt(), IntentGate(("action",), ("closing",), False, "closing"), (Edge("closing", DONE),))
CHOOSING = edges(
    "check", lambda found: tuple(replace(each, target=Pick("any")) if each.on == "jump" else each for each in found)
)(choices(check="check", end="end")(C))
READING = edges(
    "check",
    lambda found: (
        Edge("next", Go("end"), (Exists(("handoff", "note"), present=True),)),
        Edge("next", Go("last", "end"), (Exists(("answer", "note"), present=False),)),
        *found[2:],
    ),
)(gate("check", handoff=(("note",),))(C))
"""Where `next` leads from `check` depends on the note that the step keeps."""
PHASED = phased.issue_flow()
CASES = (
    Case("an entry is gone", C, without("entries", "late"), "CHG102"),
    Case("an entry is renamed", C, lambda plan: replace(plan, entries={"": "first", "later": "last"}), "CHG102 CHG302"),
    Case("a schedule is a node", D, lambda plan: replace(plan, entries={"": "a"}), "CHG103"),
    Case(
        "a stage is gone from a schedule",
        P,
        both(
            lambda plan: replace(
                plan,
                entries={
                    "": Schedule(
                        {key: each for key, each in plan.entries[""].needs.items() if key != "S05_send_report"}
                    )
                },
            ),
            without("nodes", "S05_send_report"),
        ),
        "CHG104 CHG117",
    ),
    Case("a schedule of conversations has one more node", D, needs(c=()), "CHG105"),
    Case("a schedule of conversations has other needs", D, needs(b=()), "CHG105"),
    Case("a new input is required", C, inputs(where=Input(required=True)), "CHG106"),
    Case(
        "an input has become required",
        C,
        lambda plan: inputs(who=replace(plan.inputs["who"], required=True))(plan),
        "CHG107",
    ),
    Case(
        "an input takes fewer values",
        C,
        within('{"enum":["me","you"]}', lambda plan, name: inputs(who=Input(schema=name))(plan)),
        "CHG108",
    ),
    Case(
        "an input has a schema",
        A,
        within('{"const":true}', lambda plan, name: inputs(busy=Input(default=True, schema=name))(plan)),
        "CHG108 CHG206",
    ),
    Case("fewer executions", C, limits(executions=2), "CHG110"),
    Case("executions are limited", T, limits(executions=1), "CHG110"),
    Case("fewer elements may run than were promised", E, elements(most=3), "CHG149"),
    Case("as many elements may run as were promised", E, elements(most=4), "CHG246"),
    Case("more elements may run", E, elements(most=7), "CHG323"),
    Case("other elements run at the same time", E, elements(concurrency=None), "CHG246"),
    Case("failed elements are passed on", E, elements(collect=True), "CHG246"),
    Case("a failed element ends the run", COLLECTING, elements(collect=False), "CHG246"),
    Case("a stage waits before what follows", E, waiting(5_000), "CHG247"),
    Case("a stage waits longer before what follows", SLOW, waiting(6_000), "CHG247"),
    Case("a stage does not wait any more", SLOW, waiting(0), "CHG247"),
    Case("a stage has a deadline", E, act("free", deadline=5_000), "CHG249"),
    Case("runs have a deadline", E, limits(deadline=5_000), "CHG250"),
    Case("another stage runs for each element", E, elements(nodes=("other",)), "CHG225"),
    Case(
        "a stage runs for each element of a list that nobody promised",
        E,
        edges("free", lambda found: (Edge("ok", ForEach(("parsed", "names"), 3, ("other",))), *found[1:])),
        "CHG149",
    ),
    Case("the limit fails the run", G, limits(reached=Outcome.FAILED), "CHG111"),
    Case("the judge asks less", J, lambda plan: replace(plan, judge=JudgeDefinition("poll:state")), "CHG112"),
    Case(
        "a callable of the loop is gone",
        W,
        lambda plan: replace(plan, session=Session(None, plan.session.hooks[1:])),
        "CHG113",
    ),
    Case("the callables of the loop are gone", W, lambda plan: replace(plan, session=None), "CHG113"),
    Case(
        "a tool is gone",
        T,
        both(act("plan", tools=()), act("count", tools=()), act("spell", tools=()), without("tools", "Read")),
        "CHG114 CHG124 CHG124 CHG124",
    ),
    Case(
        "a tool takes fewer arguments",
        W,
        within(
            '{"type":"object","properties":{"path":{"type":"integer","maximum":0}}}',
            lambda plan, name: tool(schema=name)(plan),
        ),
        "CHG115",
    ),
    Case(
        "a node is gone",
        C,
        both(
            edges(
                "check",
                lambda found: tuple(
                    replace(each, target=DONE) if each.on == "next" and not each.when else each for each in found
                ),
            ),
            edges("first", lambda found: (*found[:3], Edge("closing", DONE))),
            lambda plan: replace(plan, entries={"": "first", "late": "first"}),
            without("nodes", "last"),
        ),
        "CHG117 CHG135 CHG135 CHG203",
    ),
    Case(
        "a step is a program",
        C,
        lambda plan: on("end", act=playable.command("a").nodes["work"].act)(within("a", lambda one, _: one)(plan)),
        "CHG118",
    ),
    Case("a gate judges", J, on("work", gate=IntentGate(("action",), ("next",), False, "next")), "CHG119"),
    Case(
        "an answer loses a word",
        C,
        schema(
            "check", lambda old: {**old, "properties": {**old["properties"], "action": {"enum": ["next", "closing"]}}}
        ),
        "CHG120",
    ),
    Case(
        "an answer must have a member", C, schema("last", lambda old: {**old, "required": ["action", "note"]}), "CHG120"
    ),
    Case(
        "a member has another type",
        C,
        schema("last", lambda old: {**old, "properties": {**old["properties"], "note": {"type": "integer"}}}),
        "CHG120",
    ),
    Case(
        "a text is shorter",
        C,
        schema(
            "last", lambda old: {**old, "properties": {**old["properties"], "note": {"type": "string", "maxLength": 4}}}
        ),
        "CHG120",
    ),
    Case(
        "a result must have a number of words",
        T,
        schema("plan", lambda old: {**old, "properties": {"words": {"type": "integer", "minimum": 3}}}),
        "CHG120",
    ),
    Case(
        "a member is named where any was allowed",
        T,
        schema("count", lambda old: {**old, "properties": {**old["properties"], "more": {"type": "string"}}}),
        "CHG120",
    ),
    Case(
        "a result of others is refused",
        replace(W, limits=Limits(20)),
        both(
            schema("plan", lambda old: {**old, "required": ["words", "more"]}),
            schema("count", lambda old: {**old, "properties": {"parsed": {"required": ["more"]}}}, "accepts"),
        ),
        "CHG120 CHG122",
    ),
    Case("a tool is taken from a stage", T, act("count", tools=()), "CHG124"),
    Case("a result is handed in otherwise", T, act("count", completion="hand_in"), "CHG125"),
    Case("fewer turns", T, act("count", turns=1), "CHG126"),
    Case("fewer attempts", T, on("spell", retry=Retry(1, Backoff())), "CHG127 CHG230"),
    Case("no attempts", T, on("spell", retry=None), "CHG127 CHG230"),
    Case(
        "an intent is gone",
        C,
        both(
            gate("check", intents=("next", "repeat", "closing")),
            edges("check", lambda found: tuple(each for each in found if each.on != "jump")),
        ),
        "CHG128 CHG224",
    ),
    Case("an intent stands elsewhere", C, gate("check", field=("note",)), "CHG129"),
    Case("an intent is demanded", C, gate("end", fail_fast=True), "CHG130"),
    Case("a jump stands elsewhere", C, gate("check", target=("note",)), "CHG131"),
    Case("an edge opens no schedule", D, edges("b", lambda found: (Edge("ok", DONE), *found[1:])), "CHG132"),
    Case("a way is gone", S, edges("close", lambda found: found[:1]), "CHG133"),
    Case(
        "a way has a condition",
        S,
        edges("close", lambda found: (found[0], replace(found[1], when=(Among(("answer", "why"), ("x",)),)))),
        "CHG133 CHG317",
    ),
    Case(
        "a jump leads to fewer nodes",
        C,
        edges(
            "check",
            lambda found: tuple(
                replace(each, target=Named({"end": "end"})) if each.on == "jump" else each for each in found
            ),
        ),
        "CHG134",
    ),
    Case(
        "nothing runs in the place of a node",
        C,
        edges("first", lambda found: (*found[:3], Edge("closing", Go("last")))),
        "CHG135",
    ),
    Case(
        "a value must not be empty",
        S,
        both(
            act("close", needed=("topic",)),
            within(
                '{"type":"string","maxLength":1}',
                lambda plan, name: inputs(topic=Input(required=True, schema=name))(plan),
            ),
        ),
        "CHG108 CHG136",
    ),
    Case(
        "a validator is put first", C, validation("end", conditions=(Condition("typed"), Condition("clean"))), "CHG137"
    ),
    Case("a validator is gone", C, validation("end", conditions=(Condition("clean"),)), "CHG137"),
    Case("nothing is validated", C, on("end", validation=None), "CHG138"),
    Case("fewer failures are allowed", C, validation("end", attempts=1), "CHG139"),
    Case("a failure ends the run", C, validation("end", action="abort"), "CHG140"),
    Case(
        "a failure is overlooked no more",
        validation("end", action="skip", attempts=1)(C),
        validation("end", action="retry"),
        "CHG140",
    ),
    Case("a failure is overlooked", C, validation("end", action="skip"), "CHG228"),
    Case(
        "a value was never kept",
        S,
        both(
            gate("draft", handoff=(("action",),)),
            lambda plan: act(
                "close", variables={**plan.nodes["close"].act.variables, "done": Carried("draft", "action")}
            )(plan),
            lambda plan: replace(plan, entries={"": "draft", "late": "draft"}),
            edges("close", lambda found: (found[0], Edge("repeat", Go("close")))),
        ),
        "CHG141 CHG203 CHG218 CHG222 CHG225",
    ),
    Case(
        "a node is put in between that keeps a value",
        S,
        both(
            lambda plan: replace(
                plan,
                entries={"": "draft", "late": "draft"},
                nodes={
                    **plan.nodes,
                    "between": replace(
                        plan.nodes["draft"], gate=IntentGate(("action",), ("next", "repeat"), handoff=(("action",),))
                    ),
                },
            ),
            edges("draft", lambda found: (Edge("next", Go("between")), found[1])),
            edges("close", lambda found: (found[0], Edge("repeat", Go("close")))),
            lambda plan: act(
                "close", variables={**plan.nodes["close"].act.variables, "done": Carried("between", "action")}
            )(plan),
        ),
        "CHG141 CHG203 CHG218 CHG225 CHG225 CHG310",
    ),
    Case(
        "a stage may not run again",
        P,
        lambda plan: on("S01_load_data", retry=None)(act("S01_load_data", retryable=False)(plan)),
        "CHG127 CHG142",
    ),
    Case(
        "another stage reads what was never left",
        P,
        both(
            act("S01_load_data", outputs={"table": "wine_df.csv", "more": "more.csv"}),
            lambda plan: act(
                "S03_explore_data",
                inputs={**plan.nodes["S03_explore_data"].act.inputs, "more": ProcessInput("more.csv", "S01_load_data")},
            )(plan),
        ),
        "CHG143 CHG233",
    ),
    Case("a title", T, lambda plan: replace(plan, title="Reader", version="2"), "CHG201 CHG201"),
    Case("another entry is the default", C, lambda plan: replace(plan, entry="late"), "CHG202"),
    Case("an entry begins elsewhere", C, lambda plan: replace(plan, entries={"": "first", "late": "end"}), "CHG203"),
    Case(
        "a stage is new",
        P,
        lambda plan: needs(S06_more=("S01_load_data",))(
            replace(plan, nodes={**plan.nodes, "S06_more": handmade.process()})
        ),
        "CHG204 CHG310",
    ),
    Case("a stage needs another one", P, needs(S05_send_report=("S03_explore_data", "S04_evaluate_model")), "CHG204"),
    Case("an input is gone", A, both(without("inputs", "busy"), on("plan", admission=None)), "CHG205 CHG229"),
    Case(
        "an input has another default",
        C,
        lambda plan: inputs(who=replace(plan.inputs["who"], default="me"))(plan),
        "CHG206",
    ),
    Case("the limit completes the run", C, limits(reached=Outcome.DONE), "CHG207"),
    Case("fewer stages run together", T, limits(parallel=1), "CHG208"),
    Case("more executions than any run has", D, limits(executions=10), "CHG234"),
    Case(
        "the judge judges otherwise",
        J,
        lambda plan: replace(
            plan,
            judge=JudgeDefinition(
                "meta:composite", {"operator": "or", "conditions": [{"type": "poll:state"}, {"type": "meta:custom"}]}
            ),
        ),
        "CHG209",
    ),
    Case(
        "one more callable of the loop",
        W,
        lambda plan: replace(
            plan,
            session=Session(
                None,
                (
                    *plan.session.hooks,
                    LoopHook("TOOL_CALL", "pre", "transform", "own:three"),
                    LoopHook("RENDER", "pre", "observer", "own:four"),
                ),
            ),
        ),
        "CHG210 CHG210",
    ),
    Case("a tool may do more", T, tool(effects="mutating"), "CHG212"),
    Case(
        "a tool comes from a server",
        T,
        lambda plan: replace(tool(origin="mcp", server="new")(plan), servers={"new": Server(command="x")}),
        "CHG213 CHG214",
    ),
    Case("a mode", T, lambda plan: replace(plan, session=Session("ask")), "CHG215"),
    Case("a node is gone that nobody comes to", C, without("nodes", "alone"), "CHG216"),
    Case("another prompt", C, within("Do it.", lambda plan, name: act("first", prompt=(Text(name),))(plan)), "CHG217"),
    Case(
        "a prompt with another variable",
        C,
        within(
            "Do it: ",
            lambda plan, name: act(
                "end",
                prompt=(Text(name), Hole(("variable", "it"))),
                variables={"it": Carried("first", "note", required=False)},
            )(plan),
        ),
        "CHG217 CHG218",
    ),
    Case("another model", C, act("first", model="opus", permission="plan"), "CHG219 CHG219"),
    Case("another temperature, and attempts", C, act("first", policy=Policy(0.5, attempts=2)), "CHG248 CHG248"),
    Case("tools are named", C, act("first", tools=()), "CHG220"),
    Case(
        "results are judged otherwise",
        T,
        gate("count", checks=(Check("fail", (Among(("parsed", "words"), (0,)),)),)),
        "CHG221",
    ),
    Case("more is kept", C, gate("first", handoff=(("note",), ("action",))), "CHG222"),
    Case("another fallback", C, gate("first", fallback="closing"), "CHG223"),
    Case("a way with a condition is gone", C, edges("check", lambda found: found[1:]), "CHG224"),
    Case("a way leads elsewhere", C, edges("last", lambda found: (Edge("next", DONE), *found[1:])), "CHG225"),
    Case(
        "a way goes first",
        C,
        edges("last", lambda found: (Edge("next", DONE, (Among(("answer", "note"), ("x",)),)), *found)),
        "CHG226",
    ),
    Case("ways in another order", C, edges("check", lambda found: (found[1], found[0], *found[2:])), "CHG226"),
    Case("a step is validated", C, on("last", validation=Validation((Condition("clean"),))), "CHG227"),
    Case(
        "one more validator",
        C,
        validation("end", conditions=(Condition("clean"), Condition("typed"), Condition("clean"))),
        "CHG228",
    ),
    Case(
        "a stage is admitted otherwise",
        A,
        on("plan", admission=Admission("skip", "fail", defer=(Among(("ctx", "busy"), (True,)),))),
        "CHG229",
    ),
    Case("a longer wait", T, on("spell", retry=Retry(2, Backoff("exponential", 1))), "CHG230"),
    Case("a callable", T, on("plan", hooks={"gate": "own_hooks:gate"}), "CHG231"),
    Case(
        "another program",
        G,
        within("x", lambda plan, name: act("work", words=((Text(name),),), milliseconds=5)(plan)),
        "CHG232 CHG232",
    ),
    Case(
        "a stage reads another page",
        P,
        lambda plan: act(
            "S04_evaluate_model",
            inputs={
                **plan.nodes["S04_evaluate_model"].act.inputs,
                "page": ProcessInput(url="https://example.org/else"),
            },
            checkpoint=False,
        )(plan),
        "CHG233 CHG233",
    ),
    Case("an act that nobody comes to", C, on("alone", act=playable.command("a").nodes["work"].act), "CHG236"),
    Case(
        "a schema in other words",
        C,
        schema("first", lambda old: {**old, "title": "Answer", "minProperties": 0}),
        "CHG238",
    ),
    Case(
        "a validator checks otherwise",
        C,
        lambda plan: replace(
            plan, validators={**plan.validators, "clean": Validator("other", Success("empty"), "dirty")}
        ),
        "CHG240",
    ),
    Case("an entry is new", C, lambda plan: replace(plan, entries={**plan.entries, "more": "end"}), "CHG302"),
    Case("an input may be given", C, inputs(where=Input(), when=Input(required=True, default=3)), "CHG303 CHG303"),
    Case(
        "an input may be left out",
        S,
        lambda plan: inputs(topic=replace(plan.inputs["topic"], default="x", required=False))(plan),
        "CHG206 CHG304",
    ),
    Case(
        "an answer may have more words",
        C,
        both(schema("end", lambda old: {**old, "properties": {**old["properties"], "action": {"type": "string"}}})),
        "CHG305",
    ),
    Case(
        "an answer may have more members",
        C,
        schema("last", lambda old: {**old, "properties": {**old["properties"], "more": True}}),
        "CHG305",
    ),
    Case(
        "an input takes more values",
        C,
        within('{"enum":["","me","you","us"]}', lambda plan, name: inputs(who=Input(schema=name))(plan)),
        "CHG305",
    ),
    Case("more executions", C, limits(executions=30), "CHG306"),
    Case("more stages run together", T, limits(parallel=9), "CHG307"),
    Case(
        "a tool is new",
        T,
        both(
            lambda plan: replace(plan, tools={**plan.tools, "Write": Tool("bundled", "mutating")}),
            act("count", tools=("Read", "Write")),
        ),
        "CHG308 CHG308",
    ),
    Case("a node is new", C, lambda plan: replace(plan, nodes={**plan.nodes, "new": NEW_NODE}), "CHG310"),
    Case("more turns", T, act("count", turns=9), "CHG313"),
    Case("more attempts", T, on("spell", retry=Retry(5, Backoff("fixed", 60_000))), "CHG314"),
    Case(
        "an intent is new",
        C,
        both(gate("alone", intents=("next", "repeat")), edges("alone", lambda found: (*found, Edge("repeat", DONE)))),
        "CHG315 CHG317",
    ),
    Case("a stage may run again", P, act("S05_send_report", retryable=True), "CHG318"),
    Case(
        "a validator is new",
        C,
        lambda plan: replace(plan, validators={**plan.validators, "more": Validator("x", Success("empty"), "y")}),
        "CHG319",
    ),
    Case(
        "a stage joins",
        T,
        lambda plan: edges("plan", lambda found: (Edge("ok", Fork(("count", "spell"), "end")), *found[1:]))(
            replace(plan, nodes={**plan.nodes, "end": replace(plan.nodes["count"], title="End")})
        ),
        "CHG225 CHG310",
    ),
    Case(
        "an input must match a pattern that nobody has tried",
        within('{"type":"string"}', lambda plan, name: inputs(who=Input(schema=name))(plan))(C),
        within(
            '{"type":"string","not":{"pattern":"^z"}}',
            lambda plan, name: inputs(who=Input(schema=name))(plan),
        ),
        "CHG109",
        is_walked=False,
    ),
    Case(
        "a tool has another digest",
        replace(T, tools={"Read": Tool("mcp", "read", digest=f"sha256:{'a' * 64}")}),
        tool(digest=f"sha256:{'b' * 64}"),
        "CHG116",
        is_walked=False,
    ),
    Case(
        "an answer must not match a pattern",
        C,
        schema("last", lambda old: {**old, "not": {"properties": {"note": {"pattern": "^zz"}}, "required": ["note"]}}),
        "CHG121",
        is_walked=False,
    ),
    Case(
        "a result must not match a pattern",
        W,
        schema(
            "count",
            lambda old: {**old, "not": {"properties": {"reason": {"pattern": "^zz"}}, "required": ["reason"]}},
            "accepts",
        ),
        "CHG123",
        is_walked=False,
    ),
    Case(
        "a tool is gone that no node uses",
        replace(T, tools={**T.tools, "Write": Tool("bundled", "mutating")}),
        without("tools", "Write"),
        "CHG211",
    ),
    Case("a jump that no edge takes stands elsewhere", C, gate("last", target=("to",)), "CHG235"),
    Case(
        "an intent is gone that has a fallback",
        C,
        both(gate("last", intents=("repeat", "jump", "closing")), edges("last", lambda found: found[1:])),
        "CHG224 CHG237",
    ),
    Case(
        "an intent is new that had a fallback",
        C,
        both(gate("end", intents=("closing", "next")), edges("end", lambda found: (*found, Edge("next", DONE)))),
        "CHG245 CHG317",
    ),
    Case(
        "an input must be given that has a default",
        replace(C, inputs={"who": replace(C.inputs["who"], default="me")}),
        lambda plan: inputs(who=replace(plan.inputs["who"], required=True))(plan),
        "CHG239",
    ),
    Case("another agent", PHASED, act("build", agent="reviewer"), "CHG144", is_walked=False),
    Case("fewer transitions", PHASED, phases(most=2, row=1), "CHG145 CHG145", is_walked=False),
    Case(
        "a phase waits",
        PHASED,
        both(phases(pause=5, ordering=(), labels={}), act("build", closes=False)),
        " ".join(["CHG241"] * 7),
        is_walked=False,
    ),
    Case("a comment is gone", PHASED, act("review", comments={}), "CHG241", is_walked=False),
    Case("outcomes of an agent", PHASED, gate("build", verdicts=True), "CHG242", is_walked=False),
    Case(
        "another agent where nobody comes",
        replace(PHASED, entries={"done": "done"}),
        act("build", agent="reviewer"),
        "CHG243",
        is_walked=False,
    ),
    Case("more transitions", PHASED, phases(most=9), "CHG320", is_walked=False),
    Case("edges read what is not kept any more", READING, gate("check", handoff=()), "CHG148"),
    Case("edges read what is kept from elsewhere", READING, gate("check", handoff=(("to", "note"),)), "CHG148"),
    Case("an answer may name fewer nodes", CHOOSING, choices(end="end"), "CHG146"),
    Case("a name means another node", CHOOSING, choices(check="last", end="end"), "CHG244"),
    Case("an answer may name more nodes", CHOOSING, choices(check="check", end="end", last="last"), "CHG321"),
    Case(
        "a jump names its own nodes",
        CHOOSING,
        edges(
            "check",
            lambda found: tuple(
                replace(each, target=Named({"check": "check"})) if each.on == "jump" else each for each in found
            ),
        ),
        "CHG134",
    ),
    Case(
        "a jump has other choices",
        CHOOSING,
        lambda plan: edges(
            "check",
            lambda found: tuple(replace(each, target=Pick("more")) if each.on == "jump" else each for each in found),
        )(replace(plan, choices={**plan.choices, "more": {"check": "check", "end": "end", "last": "last"}})),
        "CHG225",
    ),
    Case("repeats in a row are bounded", C, act("last", repeats=()), "CHG147", is_walked=False),
    Case("repeats in a row are not bounded", act("last", repeats=())(C), act("last", repeats=None), "CHG322"),
)
"""Every case; a breaking code has a state of a run that cannot go on."""
