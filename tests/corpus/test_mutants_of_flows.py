"""Faults in the flow of a registry, made from the bases of the corpus: each is told where it is, and as one error."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from copy import deepcopy
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from campaigns import choose

from stagec.check.pipeline import Project, compile_project
from stagec.core.diagnostic import Diagnostic, Severity
from stagec.sources.project.settings import Settings

REGISTRY, AGENT = "steps_registry.json", "agent.json"
ROUTING = {"work", "verification"}
LEADS = {
    ("work", "next"): ROUTING,
    ("work", "jump"): ROUTING,
    ("work", "handoff"): {"closure"},
    ("verification", "escalate"): ROUTING,
    ("closure", "repeat"): {"work"},
}
ABLE = {
    "work": ["next", "repeat", "jump", "handoff"],
    "verification": ["next", "repeat", "jump", "escalate"],
    "closure": ["closing", "repeat"],
}
INTENTS = ("next", "repeat", "jump", "handoff", "closing", "escalate")
KINDS = ("work", "verification", "closure")
NULL = ("route.terminal-not-closing", "route.handoff-null", "route.escalate-invalid", "beyond.conditional-domain")
STUCK = ("flow.entry-no-closure", "flow.cycle-no-closure", "flow.no-closure", "beyond.livelock")
ORPHAN = ("flow.orphan-gated", "doc.R-B13")
DRIFT = ("gate.enum-drift", "flow.intent-without-transition", "flow.dead-transition", "doc.R-B4", "doc.R-D3")

Pointer = tuple[str | int, ...]


def bases() -> tuple[Path, ...]:
    folder = os.environ.get("STAGEC_CORPUS")
    return tuple(sorted(Path(folder, "mutants", "bases").iterdir())) if folder else ()


class Agent:
    """The documents of one agent, to be changed."""

    def __init__(self, base: Path) -> None:
        self.base = base
        self.files: dict[str, Any] = {name: json.loads(text) for name, text in texts(base).items()}

    @property
    def registry(self) -> Any:
        return self.files[REGISTRY]

    @property
    def steps(self) -> Any:
        return self.registry["steps"]

    @property
    def running(self) -> list[str]:
        return [key for key, step in self.steps.items() if "structuredGate" in step]

    def gate(self, key: str) -> Any:
        return self.steps[key]["structuredGate"]

    def kind(self, key: str) -> str:
        return str(self.steps[key].get("stepKind", ""))

    def output(self, key: str) -> tuple[str, Pointer, Any]:
        """Return the file, the pointer and the schema of a step's answer."""
        named = self.steps[key]["outputSchemaRef"]
        file = f"schemas/{named['file']}"
        path: Pointer = tuple(named["schema"][2:].split("/")) if named["schema"][:2] == "#/" else (named["schema"],)
        schema = self.files[file]
        for name in path:
            schema = schema[name]
        return file, path, schema

    def action(self, key: str) -> tuple[str, Pointer, Any]:
        """Return the file, the pointer and the schema of a step's intent."""
        file, path, schema = self.output(key)
        deeper = ("properties", "next_action", "properties", "action")
        return file, (*path, *deeper), schema["properties"]["next_action"]["properties"]["action"]

    def allow(self, key: str, *intents: str, **targets: Any) -> None:
        """Set the intents of a step in all three lists; `targets` are those of new transitions."""
        self.gate(key)["allowedIntents"] = list(intents)
        self.action(key)[2]["enum"] = list(intents)
        if self.gate(key).get("fallbackIntent") not in intents:
            self.gate(key).pop("fallbackIntent", None)
        old = self.steps[key]["transitions"]
        fresh = {intent: {"target": targets.get(intent)} for intent in intents}
        self.steps[key]["transitions"] = {each: old.get(each, fresh[each]) for each in intents if each != "abort"}


class Mutant(NamedTuple):
    """A change, the slugs by which it may be told and where; no slugs where the change is legal."""

    name: str
    agent: Agent
    slugs: tuple[str, ...]
    places: tuple[tuple[str, Pointer], ...]
    is_error: bool = True


@cache
def texts(base: Path) -> dict[str, bytes]:
    """Return the files of a base: reading them again and again is a tenth of the time that copies of values take."""
    names = (REGISTRY, AGENT, *(f"schemas/{each.name}" for each in sorted((base / "schemas").glob("*.json"))))
    return {name: (base / name).read_bytes() for name in names}


def at(*pointer: str | int) -> tuple[str, Pointer]:
    return REGISTRY, pointer


def targets(agent: Agent, key: str) -> Iterator[str | None]:
    """Yield every step that a step can lead to, and nothing for every way in which it completes a run."""
    if key not in agent.running:
        return
    gate, transitions = agent.gate(key), agent.steps[key].get("transitions", {})
    for intent, rule in transitions.items():
        if intent == "closing":
            yield None
        if intent in gate["allowedIntents"] and intent != "closing":
            yield from (each for each in (rule.get("target"), *rule.get("targets", {}).values()) if each)


def reachable(agent: Agent, without: str | None = None) -> set[str]:
    todo = [each for each in agent.registry.get("entryStepMapping", {}).values() if each != without]
    for key in todo:
        todo += [each for each in targets(agent, key) if each not in {None, without, *todo}]
    return set(todo)


def lacking(agent: Agent, key: str) -> Iterator[tuple[str, Pointer]]:
    """Yield the places of inputs that a step lacks if a run comes there from another, which it can enter first."""
    for reader in agent.running:
        for name, given in agent.steps[reader].get("inputs", {}).items():
            source = ".".join(given["from"].split(".")[:2])
            if given.get("required", True) and "default" not in given and key in reachable(agent, without=source):
                yield at("steps", reader, "inputs", name, "from")


def completing(agent: Agent) -> set[str]:
    found: set[str | None] = {None}
    while more := {key for key in agent.running if key not in found and found.intersection(targets(agent, key))}:
        found |= more
    return {key for key in found if key is not None}


def is_sound(agent: Agent) -> bool:
    return set(agent.running) == reachable(agent) == completing(agent)


def may_lead(agent: Agent, key: str, intent: str, target: str) -> bool:
    if (key == target and intent == "repeat") or (agent.kind(key), intent) not in LEADS:
        return True
    other_flow = target.startswith("initial.") and target.partition(".")[2] != key.partition(".")[2]
    return agent.kind(target) in LEADS[agent.kind(key), intent] or (intent == "handoff" and other_flow)


def slots(agent: Agent) -> Iterator[tuple[str, str, Pointer, Any, str]]:
    """Yield every place that names a target: its step, its intent, its pointer, its owner and its name there."""
    for key in agent.running:
        for intent, rule in agent.steps[key]["transitions"].items():
            there = ("steps", key, "transitions", intent)
            if "target" in rule:
                yield key, intent, (*there, "target"), rule, "target"
            for case in rule.get("targets", {}):
                yield key, intent, (*there, "targets", case), rule["targets"], case


def retargeted(base: Path) -> Iterator[Mutant]:
    first = Agent(base)
    for number, (key, intent, _, owner, name) in enumerate(slots(first)):
        for target in (*first.steps, None):
            if owner[name] == target:
                continue
            agent = Agent(base)
            _, _, pointer, mine, _ = list(slots(agent))[number]
            mine[name] = target
            yield Mutant(
                f"to {target}", agent, told_of_target(agent, key, intent, target), (at(*pointer), *unreached(agent))
            )


def told_of_target(agent: Agent, key: str, intent: str, target: str | None) -> tuple[str, ...]:
    if target is None:
        return NULL
    if intent == "closing":
        return ("doc.closing-null", "beyond.closing-null")
    if target not in agent.running:
        return ("flow.boundary", "beyond.jump-needs-target")
    if not may_lead(agent, key, intent, target):
        return ("flow.boundary", "flow.entry-no-closure")
    if set(agent.running) != completing(agent):
        return STUCK
    return () if is_sound(agent) else ORPHAN


def unreached(agent: Agent) -> tuple[tuple[str, Pointer], ...]:
    """Return the steps that nothing leads to: an orphan is told where it is, not where something once led to it."""
    return tuple(at("steps", key) for key in agent.running if key not in reachable(agent))


def without_transition(base: Path) -> Iterator[Mutant]:
    for key in Agent(base).running:
        for intent in Agent(base).steps[key]["transitions"]:
            agent = Agent(base)
            del agent.steps[key]["transitions"][intent]
            slugs = () if intent == "repeat" else ("flow.intent-without-transition", "doc.R-B4")
            yield Mutant("no transition", agent, slugs, (at("steps", key, "transitions", intent),))


def without_intent(base: Path) -> Iterator[Mutant]:
    """Yield every intent left out of one list, of two lists, and of all three."""
    for key in Agent(base).running:
        for intent in Agent(base).gate(key)["allowedIntents"]:
            for lists in ("g", "s", "gs", "gt", "st", "gst"):
                agent = Agent(base)
                yield Mutant(f"{intent} not in {lists}", agent, *left_out(agent, key, intent, lists))


def left_out(agent: Agent, key: str, intent: str, lists: str) -> tuple[tuple[str, ...], Any]:
    gate, transitions, (file, pointer, action) = agent.gate(key), agent.steps[key]["transitions"], agent.action(key)
    places = {
        "g": at("steps", key, "structuredGate", "allowedIntents"),
        "s": (file, (*pointer, "enum")),
        "t": at("steps", key, "transitions", intent),
    }
    if "g" in lists:
        gate["allowedIntents"].remove(intent)
    if "s" in lists:
        action["enum"].remove(intent)
    if "t" in lists:
        del transitions[intent]
    if lists == "gst":
        if gate.get("fallbackIntent") == intent:
            del gate["fallbackIntent"]
        stuck = set(agent.running) != completing(agent)
        slugs = STUCK if stuck else () if is_sound(agent) else ORPHAN
        return slugs, (*places.values(), *unreached(agent))
    if lists in {"gt", "st"} and intent == "repeat":  # no transition is needed, so the two other lists decide
        return ("gate.enum-drift", "doc.R-D3"), tuple(places.values())
    return DRIFT, tuple(places.values())


def with_intent(base: Path) -> Iterator[Mutant]:
    """Yield every intent that is not there added to one list, to two, and to all three."""
    for key in Agent(base).running:
        for intent in INTENTS:
            if intent not in Agent(base).gate(key)["allowedIntents"]:
                for lists in ("g", "s", "t", "gs", "gt", "st", "gst"):
                    agent = Agent(base)
                    yield Mutant(f"{intent} in {lists}", agent, *added(agent, key, intent, lists))


def added(agent: Agent, key: str, intent: str, lists: str) -> tuple[tuple[str, ...], Any]:
    gate, transitions, (file, pointer, action) = agent.gate(key), agent.steps[key]["transitions"], agent.action(key)
    gate["allowedIntents"] += [intent] if "g" in lists else []
    action["enum"] += [intent] if "s" in lists else []
    target = fitting(agent, key, intent)
    if "t" in lists:
        transitions[intent] = {"target": target}
    places = {
        "g": at("steps", key, "structuredGate", "allowedIntents", len(gate["allowedIntents"]) - 1),
        "s": (file, (*pointer, "enum")),
        "t": at("steps", key, "transitions", intent),
    }
    foreign = intent not in ABLE[agent.kind(key)]
    wrong = ("step.kind-intents", "flow.intent-kind-transition", "flow.escalate-kind")
    if foreign and "g" in lists:
        return wrong, (places["g"],)
    if foreign and "t" in lists:
        return wrong, (places["t"],)
    if lists == "gst":
        if intent == "jump":
            return ("doc.R-B14",), (at("steps", key, "structuredGate", "targetField"),)
        fits = target is not None and may_lead(agent, key, intent, target)
        return ("flow.boundary",) * (not fits), (places["t"],)
    if intent == "jump" and lists in {"g", "gs", "gt"}:
        return (*DRIFT, "doc.R-B14"), (*places.values(), at("steps", key, "structuredGate", "targetField"))
    return DRIFT, tuple(places.values())


def fitting(agent: Agent, key: str, intent: str) -> str | None:
    """Return a step that an intent of a step may lead to, where there is one."""
    found = [each for each in agent.running if may_lead(agent, key, intent, each)]
    return None if intent == "closing" else next(iter(found), key)


def without_step(base: Path) -> Iterator[Mutant]:
    for key in Agent(base).running:
        agent = Agent(base)
        del agent.steps[key]
        if not agent.steps:
            continue
        others = [pointer for _, _, pointer, owner, name in slots(agent) if owner[name] == key]
        mapping = agent.registry["entryStepMapping"]
        entered = [("entryStepMapping", verdict) for verdict, each in mapping.items() if each == key]
        guarded = [("validationSteps", key)] if key in agent.registry.get("validationSteps", {}) else []
        places = tuple(at(*each) for each in (*others, *entered, *guarded, ("steps", key)))
        slugs = ("xref.transition-target", "xref.entry-mapping", "flow.dangling-target")
        yield Mutant("no step", agent, slugs, places)


def entries(base: Path) -> Iterator[Mutant]:
    first = Agent(base)
    mapping, chosen = first.registry["entryStepMapping"], first.files[AGENT]["runner"]["verdict"]["type"]
    for verdict in mapping:
        agent = Agent(base)
        del agent.registry["entryStepMapping"][verdict]
        place = at("entryStepMapping", verdict)
        if len(mapping) == 1:
            yield Mutant("no entry", agent, ("boot.entry-missing",), (at("entryStepMapping"),))
        elif verdict == chosen:
            yield Mutant("no entry", agent, ("boot.entry-for-verdict", "doc.R-A3"), (place,))
        else:
            yield Mutant("no entry", agent, ORPHAN, (place, *unreached(agent)))
        yield from entered_elsewhere(base, verdict)
        yield from renamed_entry(base, verdict, is_chosen=verdict == chosen)
    yield from single_entries(base)


def entered_elsewhere(base: Path, verdict: str) -> Iterator[Mutant]:
    first = Agent(base)
    for target in first.steps:
        if target != first.registry["entryStepMapping"][verdict]:
            agent = Agent(base)
            agent.registry["entryStepMapping"][verdict] = target
            slugs = ("flow.boundary",) if target not in agent.running else () if is_sound(agent) else ORPHAN
            yield Mutant(f"entered at {target}", agent, slugs, (at("entryStepMapping", verdict), *unreached(agent)))


def renamed_entry(base: Path, verdict: str, *, is_chosen: bool) -> Iterator[Mutant]:
    for name in (f"{verdict}s", verdict.upper(), "nope"):
        agent = Agent(base)
        mapping = agent.registry["entryStepMapping"]
        mapping[name] = mapping.pop(verdict)
        slugs = ("boot.entry-for-verdict", "doc.R-A3", "beyond.unused-defs")
        yield Mutant(f"entry {name}", agent, slugs, (at("entryStepMapping", name),), is_chosen)


def single_entries(base: Path) -> Iterator[Mutant]:
    first = Agent(base)
    mapping = first.registry["entryStepMapping"]
    for verdict, key in mapping.items():
        agent = Agent(base)
        agent.registry["entryStep"] = key
        yield Mutant(f"entryStep besides {verdict}", agent, (), (), is_error=False)
    agent = Agent(base)
    del agent.registry["entryStepMapping"]
    yield Mutant("no mapping", agent, ("boot.entry-missing",), (at("entryStepMapping"),))
    agent = Agent(base)
    agent.registry["entryStepMapping"] = {}
    yield Mutant("empty mapping", agent, ("boot.entry-missing",), (at("entryStepMapping"),))
    agent = Agent(base)
    agent.registry["entryStep"] = "initial.nope"
    slugs = ("boot.entry-step-unknown", "doc.R-A6", "xref.entry-mapping")
    yield Mutant("entryStep nope", agent, slugs, (at("entryStep"),))
    if len(mapping) == 1:
        agent = Agent(base)
        agent.registry["entryStep"] = agent.registry.pop("entryStepMapping").popitem()[1]
        yield Mutant("entryStep alone", agent, (), ())


def agents(base: Path) -> Iterator[Mutant]:
    first = Agent(base)
    verdicts = ("count:check", "detect:keyword", "detect:graph", *first.registry["entryStepMapping"])
    for verdict in verdicts:
        agent = Agent(base)
        settings = {"maxIterations": 500, "maxChecks": 9, "verdictKeyword": "DONE", "registryPath": REGISTRY}
        agent.files[AGENT]["runner"]["verdict"] = {"type": verdict, "config": settings}
        slugs = () if verdict in agent.registry["entryStepMapping"] else ("boot.entry-for-verdict", "doc.R-A3")
        places = (at("entryStepMapping"), (AGENT, ("runner", "verdict", "type")))
        yield Mutant(f"verdict {verdict}", agent, slugs, places)
    named = (at("agentId"), (AGENT, ("name",)))
    for file, member in ((REGISTRY, "agentId"), (AGENT, "name")):
        agent = Agent(base)
        agent.files[file][member] = "somebody"
        yield Mutant(f"{member} differs", agent, ("boot.agentid-mismatch", "doc.R-A1"), named)


def shapes_of_steps(base: Path) -> Iterator[Mutant]:
    """Yield steps that lack one of gate, transitions and output schema, or have a wrong kind or phase."""
    for key in Agent(base).running:
        lacks = {
            "structuredGate": ("boot.flow-steps-incomplete", "doc.R-B6"),
            "transitions": ("step.gate-needs-transitions", "boot.flow-steps-incomplete", "doc.R-B6"),
            "outputSchemaRef": ("boot.flow-steps-incomplete", "doc.R-B6"),
        }
        only = len(Agent(base).running) == 1
        for member, slugs in lacks.items():
            agent = Agent(base)
            del agent.steps[key][member]
            silent = only and member == "structuredGate"
            yield Mutant(f"no {member}", agent, () if silent else slugs, (at("steps", key, member),))
        agent = Agent(base)
        agent.steps[key]["transitions"] = {}
        slugs = ("flow.intent-without-transition", "step.gate-needs-transitions", "doc.R-B4", "doc.R-B6")
        yield Mutant("empty transitions", agent, slugs, (at("steps", key, "transitions"),))
        yield from kinds(base, key)


def kinds(base: Path, key: str) -> Iterator[Mutant]:
    first = Agent(base)
    for kind in (*KINDS, None):
        if kind == first.kind(key):
            continue
        agent = Agent(base)
        agent.steps[key]["stepKind"] = kind
        if kind is None:
            del agent.steps[key]["stepKind"]
            yield Mutant("no kind", agent, (), ())
            continue
        foreign = any(each not in ABLE[kind] for each in agent.gate(key)["allowedIntents"])
        wrong = [slot for slot in slots(agent) if not _leads(agent, slot)]
        slugs = ("step.kind-intents", "doc.R-B2", "flow.boundary", "flow.intent-kind-transition", "flow.escalate-kind")
        fine = not foreign and not wrong and not agent.registry.get("validationSteps", {}).get(key)
        yield Mutant(f"kind {kind}", agent, () if fine else slugs, (at("steps", key, "stepKind"),))
    for phase in ("initial", "continuation", "verification", "closure"):
        agent = Agent(base)
        agent.steps[key]["c2"] = phase
        yield Mutant(f"phase {phase}", agent, (), ())


def _leads(agent: Agent, slot: tuple[str, str, Pointer, Any, str]) -> bool:
    key, intent, _, owner, name = slot
    return owner[name] is None or may_lead(agent, key, intent, owner[name])


def orphans(base: Path) -> Iterator[Mutant]:
    """Yield steps that nothing leads to: alone, in a chain, in a cycle, and without a gate."""
    first = Agent(base)
    for model in first.running:
        for name in ("initial.orphan", "continuation.orphan", "closure.orphan", "orphan"):
            agent = Agent(base)
            agent.steps[name] = {**deepcopy(agent.steps[model]), "stepId": name}
            yield Mutant(f"orphan {name} like {model}", agent, ORPHAN, (at("steps", name),))
        yield from groups(base, model)
    yield from harmless(base)


def harmless(base: Path) -> Iterator[Mutant]:
    """Yield steps that nothing leads to and that no flow needs."""
    for name in ("initial.idle", "continuation.idle", "verification.idle", "closure.idle"):
        agent = Agent(base)
        phase = name.partition(".")[0]
        agent.steps[name] = {"stepId": name, "name": "x", "c2": phase, "c3": "idle", "edition": "default"}
        yield Mutant(f"idle {name}", agent, ("flow.orphan-ungated",), (at("steps", name),), is_error=False)
    agent = Agent(base)
    agent.steps["section.more"] = {"stepId": "section.more", "name": "x", "c2": "section", "c3": "more"}
    yield Mutant("one more section", agent, (), ())


def groups(base: Path, model: str) -> Iterator[Mutant]:
    """Yield two steps like another that nothing leads to: one behind the other, and in a cycle that is left or not."""
    if Agent(base).kind(model) == "closure":
        return
    copies = ("initial.lost", "continuation.lost")
    intent = next(iter(Agent(base).steps[model]["transitions"]))
    for name, pairs in (("chain", (copies,)), ("cycle", (copies, copies[::-1]))):
        agent = Agent(base)
        for each in copies:
            agent.steps[each] = {**deepcopy(agent.steps[model]), "stepId": each}
        for each, other in pairs:
            agent.steps[each]["transitions"][intent] = {"target": other}
        places = (at("steps", copies[0]), at("steps", copies[1]))
        yield Mutant(f"{name} like {model}", agent, ORPHAN, places[: len(pairs)])
    yield closed_cycle(base, model, copies)


def closed_cycle(base: Path, model: str, copies: tuple[str, str]) -> Mutant:
    """Return an unreachable cycle that nothing leaves."""
    agent = Agent(base)
    for name, other in (copies, copies[::-1]):
        agent.steps[name] = {**deepcopy(agent.steps[model]), "stepId": name}
        agent.steps[name]["transitions"] = {
            each: {"target": other} for each in agent.steps[name]["transitions"] if each != "handoff"
        }
        file, _, schema = agent.output(model)
        fresh = deepcopy(schema)
        allowed = [each for each in agent.gate(model)["allowedIntents"] if each != "handoff"]
        fresh["properties"]["next_action"]["properties"]["action"]["enum"] = allowed
        agent.files[file][f"own.{name}"] = fresh
        agent.steps[name]["outputSchemaRef"]["schema"] = f"own.{name}"
        agent.gate(name)["allowedIntents"] = list(allowed)
    places = tuple(at("steps", name) for name in copies)
    return Mutant(f"closed cycle like {model}", agent, (*ORPHAN, *STUCK), places)


def closures(base: Path) -> Iterator[Mutant]:
    """Yield closure steps that cannot close, or close elsewhere."""
    for key in Agent(base).running:
        if Agent(base).kind(key) != "closure":
            continue
        for intents in (("repeat",), ("repeat", "abort")):
            agent = Agent(base)
            agent.allow(key, *intents)
            where = at("steps", key, "structuredGate", "allowedIntents")
            yield Mutant(f"only {intents}", agent, STUCK, (where,))
        agent = Agent(base)
        agent.allow(key, "closing")
        yield Mutant("only closing", agent, (), ())
        work = [each for each in agent.running if agent.kind(each) == "work"]
        if work and not any("targetField" in agent.gate(each) for each in work):  # else answers may lead out of it
            agent = Agent(base)
            agent.allow(key, "repeat")
            agent.steps[key]["transitions"]["repeat"]["target"] = work[0]
            places = (at("steps", key, "structuredGate", "allowedIntents"), at("steps", key, "transitions", "closing"))
            slugs = STUCK if reachable(agent) - completing(agent) else ()
            yield Mutant("only back to work", agent, slugs, places)


def transitions(base: Path) -> Iterator[Mutant]:
    for key in Agent(base).running:
        for name in ("fallback", "nxt", "continue", "default", "Next"):
            agent = Agent(base)
            agent.steps[key]["transitions"][name] = {"target": key}
            slugs = ("flow.unknown-intent-key", "doc.R-B12")
            yield Mutant(f"transition {name}", agent, slugs, (at("steps", key, "transitions", name),))
        for intent in Agent(base).steps[key]["transitions"]:
            if intent == "repeat":
                continue
            for name in (f"{intent}x", intent.upper()):
                agent = Agent(base)
                rules = agent.steps[key]["transitions"]
                rules[name] = rules.pop(intent)
                slugs = ("flow.unknown-intent-key", "flow.intent-without-transition")
                yield Mutant(f"{intent} as {name}", agent, slugs, (at("steps", key, "transitions", name),))
        for target in Agent(base).running:
            agent = Agent(base)
            intent = next(iter(agent.steps[key]["transitions"]))
            agent.steps[key]["transitions"][intent]["fallback"] = target
            yield Mutant(f"falls back to {target}", agent, (), ())


def gates(base: Path) -> Iterator[Mutant]:
    for key in Agent(base).running:
        gate = ("steps", key, "structuredGate")
        slugs: tuple[str, ...]
        for field in ("next_action.reason", "status", "action"):
            agent = Agent(base)
            agent.gate(key)["intentField"] = field
            slugs = ("beyond.field-ref-agree", "beyond.closure-intentfield")
            yield Mutant(f"reads {field}", agent, slugs, (at(*gate, "intentField"),))
        for pointer in ("#/properties/status", "#/properties/next_action", "#/properties/nope"):
            agent = Agent(base)
            agent.gate(key)["intentSchemaRef"] = pointer
            slugs = ("beyond.field-ref-agree", "gate.ref-not-enum", "gate.enum-drift", "doc.R-D3")
            yield Mutant(f"points at {pointer}", agent, slugs, (at(*gate, "intentSchemaRef"),))
        yield from failing(base, key)
        yield from handoff_fields(base, key)


def failing(base: Path, key: str) -> Iterator[Mutant]:
    """Yield every way of going on, or not, when an answer has no intent."""
    gate = ("steps", key, "structuredGate")
    agent = Agent(base)
    agent.gate(key)["failFast"] = False
    yield Mutant("fails slow", agent, *slow(agent, key))
    for intent in agent.gate(key)["allowedIntents"]:
        agent = Agent(base)
        agent.gate(key).update(failFast=False, fallbackIntent=intent)
        yield Mutant(f"fails slow, {intent}", agent, (), ())
        agent = Agent(base)
        if agent.gate(key).get("fallbackIntent") == intent:
            continue
        agent.gate(key)["fallbackIntent"] = intent
        slugs = ("doc.no-fallback-when-failfast",)
        yield Mutant(f"fast, {intent}", agent, slugs, (at(*gate, "fallbackIntent"),), is_error=False)


def slow(agent: Agent, key: str) -> tuple[tuple[str, ...], Any]:
    has = agent.gate(key).get("fallbackIntent") in agent.gate(key)["allowedIntents"]
    return () if has else ("doc.failfast-prod",), (at("steps", key, "structuredGate", "failFast"),)


def handoff_fields(base: Path, key: str) -> Iterator[Mutant]:
    gate = ("steps", key, "structuredGate", "handoffFields")
    for index, path in enumerate(Agent(base).gate(key).get("handoffFields", ())):
        for wrong in (f"{path}x", f"nope.{path}", f"{path[:-1]}"):
            agent = Agent(base)
            agent.gate(key)["handoffFields"][index] = wrong
            yield Mutant(f"hands over {wrong}", agent, ("doc.R-D4",), (at(*gate, index),), is_error=False)
    if "handoff" in Agent(base).gate(key)["allowedIntents"]:
        agent = Agent(base)
        del agent.gate(key)["handoffFields"]
        yield Mutant("hands over nothing", agent, ("doc.R-B15",), (at(*gate),), is_error=False)


def requirements(base: Path) -> Iterator[Mutant]:
    """Yield answers that need not hold their intent."""
    for key in Agent(base).running:
        for outer in (True, False):
            agent = Agent(base)
            file, path, schema = agent.output(key)
            inner = ("properties", "next_action")
            if not outer and "allOf" in schema:
                continue  # the schema that it extends requires it too
            owner = schema if outer else schema["properties"]["next_action"]
            owner["required"].remove("next_action" if outer else "action")
            where = (file, path if outer else (*path, *inner))
            places = (where, at("steps", key, "structuredGate", "intentField"))
            yield Mutant(f"intent optional, {outer}", agent, ("beyond.intent-required",), places, is_error=False)


def jumps(base: Path) -> Iterator[Mutant]:
    first = Agent(base)
    for key in first.running:
        if first.kind(key) == "closure":
            continue
        field = at("steps", key, "structuredGate", "targetField")
        listed = [each for each in first.running if may_lead(first, key, "jump", each)]
        for name, schema, default in (
            ("enum", {"enum": listed}, None),
            ("enum", {"enum": listed}, listed[0]),
            ("const", {"const": listed[0]}, None),
            ("open", {"type": "string"}, None),
            ("open", {"type": "string"}, listed[0]),
            ("stranger", {"enum": [*listed, "nope"]}, None),
            ("stranger", {"enum": [*listed, "nope"]}, listed[0]),
            ("section", {"enum": [*listed, "section.projectcontext"]}, None),
            ("closure", {"enum": [each for each in first.running if each not in listed]}, None),
            ("undeclared", None, None),
            ("undeclared", None, listed[0]),
        ):
            agent = Agent(base)
            slugs = jumping(agent, key, schema, default, name)
            if slugs is None:
                continue
            lost = [*lacking(agent, key)] if name == "open" and not slugs else []
            if lost:
                yield Mutant(f"jump {name} {default}", agent, ("beyond.input-dominance",), tuple(lost))
                continue
            yield Mutant(f"jump {name} {default}", agent, slugs, (field, at("steps", key, "transitions", "jump")))


def jumping(agent: Agent, key: str, schema: Any, default: str | None, name: str) -> tuple[str, ...] | None:
    allowed = [each for each in agent.gate(key)["allowedIntents"] if each != "jump"]
    agent.allow(key, *allowed, "jump", jump=default)
    agent.gate(key)["targetField"] = "goal"
    if default is None:
        del agent.steps[key]["transitions"]["jump"]
    else:
        agent.steps[key]["transitions"]["jump"]["target"] = default
    output = agent.output(key)[2]
    if schema is not None:
        output["properties"]["goal"] = schema
        output["required"].append("goal")
    if not is_sound(agent) and default is not None:
        return None
    illegal = {"open", "stranger", "section", "undeclared"} if default is None else set()
    if name == "section" and "section.projectcontext" in agent.steps:
        return ("beyond.jump-needs-target", "flow.boundary")
    if name == "closure":
        fine = agent.kind(key) == "verification" or schema == {"enum": []}
        return None if schema == {"enum": []} else () if fine else ("flow.boundary",)
    return ("beyond.jump-needs-target",) if name in illegal else ()


def conditions(base: Path) -> Iterator[Mutant]:
    first = Agent(base)
    for key in first.running:
        if first.kind(key) == "closure":
            continue
        for intent in first.gate(key)["allowedIntents"]:
            yield from conditional(base, key, intent)


def conditional(base: Path, key: str, intent: str) -> Iterator[Mutant]:
    target = Agent(base).steps[key]["transitions"][intent].get("target")
    if target is None:
        return
    rule = ("steps", key, "transitions", intent)
    both = {"yes": target, "no": target}
    cases: tuple[tuple[str, dict[str, Any], tuple[str, ...], tuple[str, ...]], ...] = (
        ("covered", both, (), ()),
        ("default", {"yes": target, "default": target}, (), ()),
        ("uncovered", {"yes": target}, ("doc.conditional-default", "beyond.conditional-domain"), ("targets",)),
        ("impossible", {**both, "never": target}, (), ()),
        ("null", {"yes": target, "no": None}, NULL, ("targets", "no")),
        ("null default", {"yes": target, "default": None}, NULL, ("targets", "default")),
        ("nope", {"yes": target, "no": "nope"}, ("xref.conditional-target",), ("targets", "no")),
        ("empty", {}, ("doc.conditional-default", "beyond.conditional-domain"), ("targets",)),
    )
    for name, each, slugs, inside in cases:
        agent = Agent(base)
        choosing(agent, key, intent, "choice", each)
        yield Mutant(f"{intent} by choice, {name}", agent, slugs, (at(*rule, *inside),))
    yield from chosen(base, key, intent, target)


def chosen(base: Path, key: str, intent: str, target: str) -> Iterator[Mutant]:
    """Yield choices by what is not handed over, need not be there, can be anything, or is not text."""
    rule, both = ("steps", key, "transitions", intent), {"yes": target, "no": target}
    agent = Agent(base)
    choosing(agent, key, intent, "nope", {**both, "default": target})
    yield Mutant(f"{intent} by nope", agent, ("beyond.conditional-domain",), (at(*rule, "condition"),))
    agent = Agent(base)
    choosing(agent, key, intent, "choice", both)
    agent.output(key)[2]["required"].remove("choice")
    slugs = ("doc.conditional-default", "beyond.conditional-domain")
    yield Mutant(f"{intent} by optional choice", agent, slugs, (at(*rule, "targets"),))
    agent = Agent(base)
    choosing(agent, key, intent, "choice", both)
    agent.output(key)[2]["properties"]["choice"] = {"type": "string"}
    yield Mutant(f"{intent} by any choice", agent, slugs, (at(*rule, "targets"),))
    agent = Agent(base)
    choosing(agent, key, intent, "choice", {"true": target, "false": target})
    agent.output(key)[2]["properties"]["choice"] = {"type": "boolean"}
    yield Mutant(f"{intent} by boolean", agent, (), ())


def choosing(agent: Agent, key: str, intent: str, condition: str, cases: dict[str, Any]) -> None:
    """Let a step choose by a required value that is `yes` or `no`."""
    agent.steps[key]["transitions"][intent] = {"condition": condition, "targets": cases}
    agent.gate(key).setdefault("handoffFields", []).append("choice")
    schema = agent.output(key)[2]
    schema["properties"]["choice"] = {"enum": ["yes", "no"]}
    schema["required"].append("choice")


def sections(base: Path) -> Iterator[Mutant]:
    first = Agent(base)
    members = ("structuredGate", "transitions", "outputSchemaRef", "stepKind")
    for section in [key for key, step in first.steps.items() if step["c2"] == "section"]:
        for model in first.running:
            for member in members:
                agent = Agent(base)
                agent.steps[section][member] = deepcopy(agent.steps[model][member])
                yield Mutant(f"{member} of {model}", agent, ("doc.R-B11",), (at("steps", section, member),))


def guards(base: Path) -> Iterator[Mutant]:
    first = Agent(base)
    for key in first.registry.get("validationSteps", {}):
        for target in (*first.steps, "closure.nope", "poll:state"):
            if target == key:
                continue
            agent = Agent(base)
            given = agent.registry["validationSteps"]
            given[target] = given.pop(key)
            slugs = () if target in agent.steps and agent.kind(target) == "closure" else ("beyond.validation-step-key",)
            yield Mutant(f"guards {target}", agent, slugs, (at("validationSteps", target),))


FAMILIES: tuple[Callable[[Path], Iterator[Mutant]], ...] = (
    retargeted,
    without_transition,
    without_intent,
    with_intent,
    without_step,
    entries,
    agents,
    shapes_of_steps,
    orphans,
    closures,
    transitions,
    gates,
    requirements,
    jumps,
    conditions,
    sections,
    guards,
)


def prompts(agent: Agent) -> Iterator[str]:
    """Yield where the prompt of every step is looked for: whether it is there is another fault's affair."""
    for step in agent.steps.values():
        yield f"prompts/{agent.registry['c1']}/{step['c2']}/{step['c3']}/f_{step.get('edition', 'default')}.md"


def compiled(agent: Agent) -> tuple[Diagnostic, ...]:
    old = Agent(agent.base).files
    overlay = {name: json.dumps(given).encode() for name, given in agent.files.items() if given != old[name]}
    overlay |= dict.fromkeys(prompts(agent), b"Whatever is to be done.\n")
    return compile_project(Project(agent.base, (agent.base,), Settings(), overlay)).diagnostics


@cache
def known(base: Path) -> frozenset[tuple[str, str]]:
    return frozenset((one.code, one.message) for one in compiled(Agent(base)))


def meets(one: Diagnostic, place: tuple[str, Pointer]) -> bool:
    """Tell whether a diagnostic stands at a place, inside it, or one level above."""
    file, path = place
    return one.at.file == file and (one.at.pointer == path[:-1] or one.at.pointer[: len(path)] == path)


PART = choose(16, whole=4)
"""Of so many mutants one is tried; which one turns with the base."""


def mentioned(agent: Agent, key: str) -> set[str]:
    """Return every step that a step leads to in any way: by a transition, a fallback, or an answer that may name it."""
    step = agent.steps[key]
    rules = [rule for rule in step.get("transitions", {}).values() if isinstance(rule, dict)]
    found = {rule.get(name) for rule in rules for name in ("target", "fallback")}
    found.update(each for rule in rules for each in rule.get("targets", {}).values())
    goal = agent.output(key)[2]["properties"].get("goal", {})
    return {each for each in (*found, *goal.get("enum", ()), goal.get("const")) if each in agent.running}


def is_starved(agent: Agent) -> bool:
    """Tell whether a run can come to a step that needs an input without the step that it comes from."""
    for key, step in agent.steps.items():
        for given in step.get("inputs", {}).values():
            source = given["from"].rpartition(".")[0]
            found = [each for each in agent.registry.get("entryStepMapping", {}).values() if each != source]
            for each in found:  # grows while it is walked
                found += [] if each not in agent.running else mentioned(agent, each) - {source, *found}
            if given.get("required") and key in found:
                return True
    return False


COORDINATES = "STG287"
"""True of steps that a mutant adds and the C3L configuration of its agent does not list, and not what it is about."""


def complaint(mutant: Mutant) -> tuple[str, list[Diagnostic]]:
    """Return what is wrong with the diagnostics of a mutant, and the added diagnostics."""
    added = [one for one in compiled(mutant.agent) if (one.code, one.message) not in known(mutant.agent.base)]
    errors = [one for one in added if one.severity is Severity.ERROR and one.code != COORDINATES]
    if any(one.code == "STG705" for one in errors) and is_starved(mutant.agent):
        errors = [one for one in errors if one.code != "STG705"]  # true, and not what the mutant is about
    if not mutant.slugs:
        return ("false alarm" if errors else ""), added
    if len(errors) > 1:
        return "several errors", added
    told = [one for one in added if {f"steps-registry:{slug}" for slug in mutant.slugs}.intersection(one.origin)]
    if not told:
        return "not told", added
    if not any(meets(one, place) for one in told for place in mutant.places):
        return "elsewhere", added
    return "", added


CASES = [(family, base) for family in FAMILIES for base in bases()]


@pytest.mark.parametrize(("family", "base"), CASES, ids=[f"{each.__name__}-{base.name}" for each, base in CASES])
def test_a_single_fault_of_a_flow_is_told_where_it_is_and_a_legal_change_is_not(
    family: Callable[[Path], Iterator[Mutant]], base: Path
) -> None:
    mutants = islice(family(base), bases().index(base) % PART, None, PART)
    wrong = {mutant.name: (what, added) for mutant in mutants for what, added in (complaint(mutant),) if what}
    assert wrong == {}
