"""Freezing of pipelines: nodes, tools and the draft of a plan."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from stagec.core.canonical import MOST, as_text, is_exact, to_count
from stagec.core.json import MISSING, Json, Object, equal, follow, list_of, object_of, text_in
from stagec.core.value import NOTHING, replace
from stagec.ir import flow
from stagec.ir.catalogue import Catalogue, CatalogueTool, well_known_effects
from stagec.ir.flow import Flow
from stagec.ir.freeze import PlanTexts
from stagec.ir.plan import document
from stagec.ir.plan.act import Converse, Hole, Piece, Template, Text
from stagec.ir.plan.codec import Path
from stagec.ir.plan.document import Draft, Input, Limits, LoopHook, Names, Plan, Session
from stagec.ir.plan.gate import Admission, Among, Check, Exists, Term, VerdictGate
from stagec.ir.plan.node import Edge, Node
from stagec.ir.policies import read_policy
from stagec.languages.stages.document import (
    ELEMENT,
    RESERVED,
    Pipeline,
    PlaceholderForm,
    Profile,
    Stage,
    StageCheck,
    StageCondition,
)
from stagec.languages.stages.durations import read_deadline, retry
from stagec.languages.stages.elements import list_each, runs_elements
from stagec.languages.stages.inner import OuterNames, count_parallel, look_outside
from stagec.languages.stages.lower import list_inlined
from stagec.sources.contract.schemas import Miss, Schema
from stagec.sources.read import Sources

_DIGEST = "sha256:"


def list_allowed(pipeline: Pipeline, stage: Stage) -> tuple[str, ...]:
    """Return the tools that a stage may call, once each; a stage object that does not say may call all there are."""
    if stage.allowed is not None:
        return tuple(dict.fromkeys(each.name for each in stage.allowed))
    known = pipeline.catalogue.by_name if pipeline.catalogue is not None else ()
    return tuple(known) if stage.profile is Profile.OBJECT else ()


def tools(catalogue: Catalogue | None, names: Iterable[str], texts: PlanTexts) -> Mapping[str, document.Tool]:
    """Return the facts about tools, by name."""
    known = catalogue.by_name if catalogue is not None else {}
    return {
        name: _tool(known[name], texts) if name in known else document.Tool("unknown", well_known_effects(name).value)
        for name in dict.fromkeys(names)
    }


def _tool(tool: CatalogueTool, texts: PlanTexts) -> document.Tool:
    return document.Tool(
        origin=tool.origin.value,
        effects=tool.effects.value,
        server=tool.server,
        schema=texts.schema(tool.schema) if isinstance(tool.schema, Schema) else None,
        digest=_prefix(tool.digest),
        description=tool.description,
        command=tool.command,
        described=_prefix(tool.described),
    )


def _prefix(digest: str | None) -> str | None:
    return None if digest is None else f"{_DIGEST}{digest}"


def servers(catalogue: Catalogue | None, given: Iterable[document.Tool]) -> Mapping[str, document.Server]:
    """Return the servers that offer some tools, by name."""
    if catalogue is None:
        return {}
    names = dict.fromkeys(tool.server for tool in given)
    return {name: _server(catalogue, name) for name in names if name is not None}


def _server(catalogue: Catalogue, name: str) -> document.Server:
    """Return how a server is started; what its environment and its headers hold is nobody's business but its own."""
    server = catalogue.servers[name]
    locked = catalogue.lock.servers.get(name) if catalogue.lock is not None else None
    return document.Server(
        launch=None if locked is None else _prefix(locked.launch),
        command=server.command,
        args=server.args,
        cwd=server.cwd,
        environment=tuple(sorted(server.env)),
        url=server.url,
        headers=tuple(sorted(server.headers)),
    )


def files(catalogue: Catalogue) -> frozenset[str]:
    """Return the files that a catalogue was read from."""
    locked = catalogue.lock_file if catalogue.lock is not None else None
    return frozenset(file for file in (catalogue.file, catalogue.servers_file, locked) if file is not None)


def _freeze_nodes(
    pipeline: Pipeline, flow: Flow, texts: PlanTexts, prefix: str = "", around: OuterNames | None = None
) -> Iterator[tuple[str, Node]]:
    """Yield the nodes of a pipeline and of those in it; `around` has what its names are in the whole."""
    for name, stage in pipeline.by_id.items():
        within = stage.inner.pipeline if stage.inner is not None else None
        if within is not None:
            yield from _freeze_nodes(within, flow, texts, f"{prefix}{name}/", look_outside(stage, around))
            continue
        constants = around.constants if around is not None else NOTHING
        node = freeze_node(pipeline, stage, flow.nodes[f"{prefix}{name}"], texts, constants)
        yield f"{prefix}{name}", node if around is None else _rename(node, around.names)


def _rename(node: Node, around: Mapping[str, str]) -> Node:
    """Return a node of an inner pipeline in which the names of the context are those of the pipeline around it."""

    def of(path: Path) -> Path:
        is_name = path[:1] == (_CONTEXT,) and len(path) > 1 and path[1] in around
        return (_CONTEXT, around[str(path[1])], *path[2:]) if is_name else path

    act, gate = node.act, node.admission
    if isinstance(act, Converse):
        pieces = (replace(each, path=of(each.path)) if isinstance(each, Hole) else each for each in act.prompt)
        act = replace(act, prompt=tuple(pieces))
    if gate is not None:
        defer, block = (tuple(replace(each, path=of(each.path)) for each in when) for when in (gate.defer, gate.block))
        gate = replace(gate, defer=defer, block=block)
    return replace(node, act=act, admission=gate)


def freeze_node(
    pipeline: Pipeline, stage: Stage, meant: flow.FlowNode, texts: PlanTexts, constants: Object = NOTHING
) -> Node:
    """Return the node of a stage; `meant` is what the flow makes of it, `constants` what names of the context are."""
    policy = read_policy(stage.conduct.policy)
    converse = Converse(
        prompt=prompt(stage, texts, constants),
        tools=list_allowed(pipeline, stage),
        completion=stage.completion.name if stage.completion is not None else "",
        schema=_schema(stage.result, texts),
        turns=to_count(stage.members.get("turnCap")) or 1,
        accepts=None if stage.inputs is None else _schema(stage.inputs, texts),
        model=policy.model,
        policy=policy.written,
        deadline=read_deadline(stage.conduct.deadline),
    )
    return Node(
        act=converse,
        gate=VerdictGate(tuple(map(_freeze_check, stage.conduct.checks))),
        edges=freeze_edges(meant),
        title=text_in(stage.members, "name"),
        admission=admission(pipeline, stage, constants),
        retry=retry(stage),
        hooks=stage.conduct.calls,
    )


def _freeze_check(check: StageCheck) -> Check:
    return Check(check.verdict, tuple(each.term for each in check.when), check.reason)


def _schema(schema: Schema | Miss, texts: PlanTexts) -> str:
    """Return the name of a schema; what could not be read allows anything."""
    return texts.schema(schema) if isinstance(schema, Schema) else texts.text("true")


def prompt(stage: Stage, texts: PlanTexts, constants: Object = NOTHING) -> Template:
    """Return the prompt of a stage: what it reads of the context is a hole, what it says of itself is put in.

    Names of the context that are constants are put in as a run would fill them in.
    """
    pieces: list[Piece] = []
    body, gathered, end = stage.body, "", 0
    for each in body.placeholders:
        # where a placeholder begins in its body; in one that was read from JSON it is looked for
        if each.at.range is not None and body.at.range is not None:
            start = each.at.range[0] - body.at.range[0]
        else:
            start = body.text.index(each.text, end)
        gathered += body.text[end:start]
        end = start + len(each.text)
        if each.form is PlaceholderForm.PATH and each.path[0] == "ctx" and each.path[1] in constants:
            gathered += as_text(follow(constants, each.path[1:]))
        elif each.form is PlaceholderForm.PATH and each.path[0] == "ctx":
            pieces += [*_text(gathered, texts), Hole(each.path)]
            gathered = ""
        elif each.form is PlaceholderForm.PATH and each.path[0] == "stage":
            gathered += as_text(_member(stage.members, each.path[1:]))
        elif each.form is PlaceholderForm.ESCAPE:
            gathered += "{{"
        else:
            gathered += each.text
    return (*pieces, *_text(gathered + body.text[end:], texts))


def _text(gathered: str, texts: PlanTexts) -> list[Piece]:
    return [Text(texts.text(gathered))] if gathered else []


def _member(members: Object, path: Path) -> Json:
    """Return the member of a stage at a path, null without any."""
    found: Json = members
    for key in path:
        if isinstance(found, dict):
            found = found.get(str(key))
        elif isinstance(found, list) and isinstance(key, int) and key < len(found):
            found = found[key]
        else:
            return None
    return found


_POLICIES = frozenset({"retry-later", "skip", "fail", "ask"})
_REFUSED = "fail"


def admission(pipeline: Pipeline, stage: Stage, constants: Object = NOTHING) -> Admission | None:
    """Return the conditions that delay a stage, with their policies; None without a gate and a hook for it."""
    gate, names = stage.conduct.gate, pipeline.context
    defer, block = (_settle(of_context(gate.get(answer, ()), names), constants) for answer in ("defer", "block"))
    if not (defer or block or "gate" in stage.conduct.calls):
        return None
    # what happens on `defer` and on `block`; one word means both
    given = stage.members.get("resolutionPolicy")
    if isinstance(given, dict):
        said = object_of(given)
        on_defer, on_block = _policy(said.get("defer")), _policy(said.get("block"))
    else:
        on_defer, on_block = _policy(given), _policy(given)
    return Admission(on_defer, on_block, defer, block)


def _policy(given: Json) -> str:
    return given if isinstance(given, str) and given in _POLICIES else _REFUSED


def _settle(when: tuple[Term, ...], constants: Object) -> tuple[Term, ...]:
    """Return the rest of a conjunction if some names of the context are constants; None if it never holds."""
    known = [each for each in when if len(each.path) > 1 and each.path[1] in constants]
    if not known:
        return when
    if not all(_holds(each, constants) for each in known):
        return ()
    left = tuple(each for each in when if each not in known)
    return left or (Exists((_CONTEXT,), present=True),)  # a run always has a context


def _holds(term: Term, constants: Object) -> bool:
    """Tell whether a condition of a gate on a constant holds."""
    found = follow(constants, term.path[1:])
    if isinstance(term, Exists):
        return (found is not MISSING) is term.present
    return found is not MISSING and isinstance(term, Among) and any(equal(found, each) for each in term.values)


_VERDICT, _FAIL = ("verdict",), "fail"


def freeze_edges(node: flow.FlowNode) -> tuple[Edge, ...]:
    """Return the edges of a node in their order.

    A case for results of any verdict is one edge of the flow; a runner, which first asks for the outcome, needs two.
    """
    found: list[Edge] = []
    for each in node.edges:
        found.append(each.edge)
        if each.on != _FAIL and any(map(_allows_failure, each.when)):
            found.append(replace(each.edge, on=_FAIL))
    return tuple(found)


def _allows_failure(term: Term) -> bool:
    if isinstance(term, Among):
        return term.path == _VERDICT and _FAIL in term.values
    return term == Exists(_VERDICT, present=True)


_CONTEXT = "ctx"


def of_context(when: Iterable[StageCondition], names: Iterable[str] | None) -> tuple[Term, ...]:
    """Return conditions on the context; `names` are those that it declares."""
    return tuple(replace(each.term, path=(_CONTEXT, *inside(each.path, names))) for each in when)


def inside(path: tuple[str, ...], names: Iterable[str] | None) -> tuple[str, ...]:
    """Return the path inside the context that a gate asks for; it may begin with the word that templates begin with."""
    spelt_out = path[:1] == (_CONTEXT,) and len(path) > 1 and _CONTEXT not in (names or ())
    return path[1:] if spelt_out else path


def freeze(pipeline: Pipeline, flow: Flow, sources: Sources) -> Draft:
    """Return the draft of the plan of a pipeline without errors."""
    texts, catalogue = PlanTexts(pipeline.schemas), pipeline.catalogue
    members = tuple(_list_members(pipeline))
    allowed = {name: None for each in members for stage in each.stages for name in list_allowed(each, stage)}
    called = tools(catalogue, allowed, texts)
    most = pipeline.max_executions
    limits = Limits(
        None if most is None else min(most, MOST),
        parallel=min(count_parallel(pipeline), MOST),
        deadline=read_deadline(pipeline.deadline),
    )
    plan = Plan(
        id=pipeline.id,
        names=Names("stage", "verdict"),
        entries={name: entry.node for name, entry in flow.entries.items()},
        nodes=dict(_freeze_nodes(pipeline, flow, texts)),
        limits=limits,
        entry=next(iter(flow.entries), None),
        title=text_in(pipeline.body, "name"),
        version=text_in(pipeline.body, "version"),
        inputs=inputs(pipeline, texts),
        tools=called,
        servers=servers(catalogue, called.values()),
        session=session(pipeline),
        contents=texts.texts,
    )
    read = {each.at.file for each in members} | texts.files
    read |= {stage.at.file for each in members for stage in each.stages}
    read |= files(catalogue) if catalogue is not None and called else set()
    return Draft(plan, frozenset(file for file in read if sources.find_tree(file) is not None))


def _list_members(pipeline: Pipeline) -> Iterator[Pipeline]:
    """Yield a pipeline and those in it."""
    yield pipeline
    for stage in pipeline.inner:
        if stage.inner is not None and stage.inner.pipeline is not None:
            yield from _list_members(stage.inner.pipeline)


def inputs(pipeline: Pipeline, texts: PlanTexts) -> Mapping[str, Input]:
    """Return the inputs of a run: the names that the context declares, else those that prompts and gates read.

    A run cannot begin without them, unless they have a default, or each stage whose prompt reads them has a setup hook,
    which may provide them.
    """
    context, required = pipeline.context, find_required(pipeline)
    if context is None:
        return {name: Input(each) for name, each in required.items()}
    return {name: _input(context[name], texts, required=each) for name, each in required.items()}


def find_required(pipeline: Pipeline) -> Mapping[str, bool]:
    """Return the names that a run may be given, and whether it needs them where they have no default."""
    stages, context = pipeline.by_id.values(), pipeline.context
    given = (*RESERVED, *ELEMENT) if runs_elements(pipeline) else RESERVED
    told = [stage for stage in stages if "setup" not in stage.conduct.hooks]
    needed = {name for stage in told for name in _list_prompted(stage)}
    needed |= {each.path[1] for _, case in list_each(pipeline) if (each := case.each) and each.path[0] == "ctx"}
    for stage in list_inlined(pipeline).values():
        within = stage.inner.pipeline if stage.inner is not None else None
        inside, around = {} if within is None else find_required(within), look_outside(stage)
        read = (name for name, is_needed in inside.items() if is_needed and name not in around.constants)
        needed |= {around.names.get(name, name) for name in read}
    names = context if context is not None else [name for stage in stages for name in _list_read(stage)]
    return {name: name in needed or len(told) == len(stages) for name in names if name not in given}


def _input(schema: Schema, texts: PlanTexts, *, required: bool) -> Input:
    name = None if schema.value in ({}, True) else texts.schema(schema)
    default = object_of(schema.value).get("default")
    if default is not None and is_exact(default):
        return Input(default=default, schema=name)
    return Input(required, schema=name)


def _list_prompted(stage: Stage) -> Iterator[str]:
    """Yield the names of the context that the prompt of a stage reads."""
    placeholders = (each.path for each in stage.body.placeholders if each.form is PlaceholderForm.PATH)
    return (str(path[1]) for path in placeholders if path[0] == "ctx")


def _list_read(stage: Stage) -> Iterator[str]:
    """Yield the names of the context that the prompt and the gate of a stage read."""
    yield from _list_prompted(stage)
    yield from (inside(each.path, None)[0] for when in stage.conduct.gate.values() for each in when)


def session(pipeline: Pipeline) -> Session | None:
    """Return the security mode and the callables of the message loop, None if the pipeline says neither."""
    found: list[LoopHook] = []
    for each in list_of(pipeline.body.get("loopHooks")):
        stage, when, kind, call = (text_in(object_of(each), member) for member in ("stage", "when", "kind", "call"))
        if stage and when and kind and call:
            found.append(LoopHook(stage, when, kind, call))
    mode, hooks = text_in(pipeline.body, "securityMode"), tuple(found)
    return Session(mode, hooks) if mode is not None or hooks else None
