"""STG2xx and STG20xx: names, references and agreements inside one step registry."""

import posixpath
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import wraps

from stagec.core.nearest import NameIndex, guess, hint
from stagec.core.place import Mention, Place
from stagec.core.rule import Family, Finding, Related
from stagec.core.words import listing, quote
from stagec.languages.registry.answers import Reading, find_unsettled
from stagec.languages.registry.document import OutputSchema, Registry, Step
from stagec.languages.registry.inputs import JudgedInput
from stagec.languages.registry.prompts import FALLBACK_KEYS, PromptFile, Prompts
from stagec.languages.registry.supply import Optional
from stagec.sources.contract.promise import Presence, Promise
from stagec.sources.contract.schemas import Miss, Schema, absent

FAMILY = Family(__name__, (range(200, 300), range(2000, 2100)), Registry)
rule = FAMILY.rule

_StepJudge = Callable[[Collection[Step]], Iterator[Finding]]
_OF_STEPS: dict[str, _StepJudge] = {}
"""The checks of rules that look at nothing but steps."""


def of_steps(judge: _StepJudge) -> Callable[[Registry], Iterator[Finding]]:
    """Make the check of a rule from one that looks at nothing but steps.

    A step without a finding of its own must not change the findings of several: then only the others are given, and the
    next check of an editor need not examine it again.
    """
    _OF_STEPS[judge.__name__] = judge

    @wraps(judge)
    def check(registry: Registry) -> Iterator[Finding]:
        if not registry.keeps_steps:
            return judge(registry.steps.values())
        suspects = registry.memo.once("suspects", lambda: _find_suspects(registry.steps.values()))
        return judge(suspects.get(judge.__name__, ()))

    return check


def _find_suspects(steps: Collection[Step]) -> Mapping[str, list[Step]]:
    """Return the steps at which rules find something, by the rule; only steps that no check has judged are judged."""
    fresh = [step for step in steps if step.known.find("suspect") is None]
    found: dict[str, list[str]] = {step.key: [] for step in fresh}
    for name, judge in _OF_STEPS.items():
        if fresh and _finds(judge, fresh):  # most rules find nothing in any
            for step in fresh:
                found[step.key] += [name] if _finds(judge, (step,)) else []
    for step in fresh:
        step.known.put("suspect", tuple(found[step.key]))
    suspects: dict[str, list[Step]] = {}
    for step in steps:
        for name in step.known.once("suspect", tuple[str, ...]):
            suspects.setdefault(name, []).append(step)
    return suspects


def _finds(judge: _StepJudge, steps: Collection[Step]) -> bool:
    return next(iter(judge(steps)), None) is not None


def report_undeclared(
    registry: Registry, section: str, mentions: Sequence[Mention], names: NameIndex, sentence: Callable[[str], str]
) -> Iterator[Finding]:
    """Yield one finding for every name that a section does not declare, or one for all when the section is empty."""
    lost = [mention for mention in mentions if mention.name not in names]
    declared = registry.body.get(section, {})
    if declared and isinstance(declared, dict):
        yield from report_unknown(lost, names, lambda mention: sentence(mention.name))
    elif isinstance(declared, dict) and lost:
        related = tuple(Related(mention.at, "needed here") for mention in lost[:_SHOWN])
        wanted = tuple(dict.fromkeys(mention.name for mention in lost))
        verb = "is" if len(wanted) == 1 else "are"
        yield Finding(
            registry.at / section, f"{quote(section)} declares nothing, but {listing(wanted)} {verb} named", related
        )


MERGED = "climpt replaces the other part by this, and continues"
_SHOWN = 8
"""So many further mentions of a name are shown; the message counts the rest."""


def report_unknown(
    mentions: Iterable[Mention], names: NameIndex, sentence: Callable[[Mention], str]
) -> Iterator[Finding]:
    """Yield one finding for every name that does not exist, however often it is mentioned."""
    lost: dict[str, list[Mention]] = {}
    for mention in mentions:
        lost.setdefault(mention.name, []).append(mention)
    for name, (first, *others) in lost.items():
        related = tuple(Related(other.at, "mentioned here too") for other in others[:_SHOWN])
        more = f" (and {len(others) - _SHOWN} more mentions)" if len(others) > _SHOWN else ""
        meant = guess(name, names, *(other.at for other in others))
        yield Finding(first.at, f"{sentence(first)}{hint(name, names)}{more}", related, meant)


def report_unresolved(registry: Registry, outputs: Iterable[tuple[str, Place, OutputSchema]]) -> Iterator[Finding]:
    """Say of schemas which steps name that they cannot be found; each comes with its step and where it is named."""
    lost: list[Mention] = []
    for step, at, output in outputs:
        if output.found is Miss.NO_FILE:
            lost.append(Mention(output.file, at / "file"))
        elif output.found is Miss.OUTSIDE:
            yield Finding(at / "file", f"schema file {quote(output.file)} lies outside the project")
        elif output.found is Miss.NO_MEMBER:
            names = registry.schemas.names(output.file)
            message = f"{quote(output.file)} has no schema {quote(output.name)} for {step}{hint(output.name, names)}"
            causes = list_headers(posixpath.normpath(posixpath.join(registry.schemas.path, output.file)))
            yield Finding(at / "schema", message, fix=guess(output.name, names), causes=causes)
    where = f"under {quote(registry.schemas.path)}"
    yield from report_unknown(
        lost, registry.schemas.files, lambda each: f"there is no schema file {quote(each.name)} {where}"
    )


_HEADERS = ("$schema", "$id", "$defs", "definitions", "title", "description")


def list_headers(file: str) -> tuple[Place, ...]:
    """Return the members of a file of schemas that are none; where one is wrong, a schema was written in its place."""
    return tuple(Place(file, (each,)) for each in _HEADERS)


def list_grounds(step: Step) -> tuple[Place, ...]:
    """Return the grounds of facts about a step's answers: the reference to the output schema, and the schema."""
    found = step.output.found if step.output is not None else None
    return (step.at / "outputSchemaRef", *((found.at,) if isinstance(found, Schema) else ()))


_USES = {
    "intentField": "reads its intent from",
    "targetField": "reads the target of a jump from",
    "handoffFields": "hands over",
}


def report_broken_paths(
    registry: Registry, presence: Presence, fault: str, *, merged: bool = False
) -> Iterator[Finding]:
    """Report the gate paths that lead to nothing, once for each place where they break off.

    `merged` are those that lead somewhere in what climpt makes of `allOf`; they are told apart from the others.
    """
    same: dict[tuple[object, ...], list[tuple[Step, Reading]]] = {}
    leading = (step for step in registry.steps.values() if step.output is not None)
    for step in (each for each in leading if each.output is not None and presence in each.output.presences):
        for each in find_unsettled(registry, step, presence):
            if _leads_on_merged(step, each) is merged:
                same.setdefault(_break_of(each), []).append((step, each))
    for (step, first), *others in same.values():
        related = tuple(Related(each.at, "ends there too") for _, each in others[:_SHOWN])
        yield _report_broken_path(step, first, fault, related)


def _leads_on_merged(step: Step, reading: Reading) -> bool:
    """Tell whether parts of a schema contradict each other of which climpt takes only the step's own."""
    if reading.promised.clash is None or reading.member != "handoffFields":
        return False
    return find_merged(step, reading.path.split(".")[0], (part.at for part in reading.promised.clash)) is not None


def find_merged(step: Step, name: str, parts: Iterable[Place]) -> Place | None:
    """Return the one of two contradicting parts that climpt takes alone: it puts own properties in place of bases'."""
    found = step.output.found if step.output is not None else None
    if not isinstance(found, Schema) or not isinstance(found.value, dict) or "allOf" not in found.value:
        return None
    own = found.at / "properties" / name
    size = len(own.pointer)
    inside = [each for each in parts if each.file == own.file and each.pointer[:size] == own.pointer]
    return inside[0] if len(inside) == 1 else None


def _break_of(reading: Reading) -> tuple[object, ...]:
    """Return the common break of several paths: the schemas there, and the name if it is the wrong one."""
    promised = reading.promised
    if promised.clash is not None:
        return tuple(part.at for part in promised.clash)
    there = tuple(each.at for each in promised.broken)
    name = reading.path.split(".")[promised.followed]
    return there if _is_plain(promised, name) else (*there, name)


def _is_plain(promised: Promise, name: str) -> bool:
    """Tell whether a path breaks off at a value that is not an object, so that no member name can follow."""
    return promised.presence is Presence.IMPOSSIBLE and (not promised.near or name in promised.near)


def _report_broken_path(step: Step, reading: Reading, fault: str, also: tuple[Related, ...]) -> Finding:
    """Say that a gate's path leads to nothing, at which member it breaks off, and the nearest path."""
    parts, promised = reading.path.split("."), reading.promised
    name = parts[promised.followed]
    message = f"step {quote(step.key)} {_USES[reading.member]} {quote(reading.path)}, which its output schema {fault}"
    near, meant = ("", None) if name in promised.near else (hint(name, promised.near), guess(name, promised.near))
    inside = f": {_break(promised, '.'.join(parts[: promised.followed]), name)}" if promised.followed else ""
    related = (*_relate_broken(step, reading.path, promised), *also)
    return Finding(reading.at, f"{message}{inside}{near}", related, meant, tuple(_causes_of(step, reading)))


def _causes_of(step: Step, reading: Reading) -> Iterator[Place]:
    """Yield the causes of a broken path: the reference to the schema, the schema where it breaks off, the intents."""
    yield step.at / "outputSchemaRef"
    yield from (each.at for each in reading.promised.broken)
    found = step.output.found if step.output is not None else None
    if reading.member == "intentField" and isinstance(found, Schema):
        yield step.gate_at / "intentSchemaRef"
        yield absent(found, tuple(part for name in reading.path.split(".") for part in ("properties", name)))


def _break(promised: Promise, there: str, name: str) -> str:
    if promised.clash is not None:
        return f"two parts of it require different types of {quote(there)}"
    if _is_plain(promised, name):
        return f"{quote(there)} is not an object and can have no members"
    return f"there is no {quote(name)} in {quote(there)}"


def _relate_broken(step: Step, path: str, promised: Promise) -> Iterator[Related]:
    found = step.output.found if step.output is not None else None
    if promised.clash is not None:
        yield from (Related(part.at, "this part contradicts another one") for part in promised.clash)
        merged = find_merged(step, path.partition(".")[0], (part.at for part in promised.clash))
        yield from () if merged is None else (Related(merged, MERGED),)
    elif isinstance(found, Schema):
        yield Related(found.at, "the output schema")


def describe_lost_path(prompts: Prompts, prompt: PromptFile, unused: NameIndex) -> tuple[str, str | None]:
    """Name the missing prompt, the nearest one, and the coordinate in which an unused prompt differs."""
    which = quote(prompt.tried[-1])
    there = f"there is no {which}" if len(prompt.tried) == 1 else f"there is neither {listing(prompt.tried, 'nor')}"
    near = unused.nearest(prompt.tried[-1])
    other = near or prompts.files.nearest(prompt.tried[-1])
    nearest = f"; the nearest prompt is {quote(other)}" if other is not None else ""
    return f"{there}{nearest}", None if near is None else prompts.differing(prompt, near)


def promptless(registry: Registry, *, replaced: bool) -> dict[PromptFile, list[Step]]:
    """Return the steps whose prompt is not there, by that prompt: those with a built-in one instead, or the others."""
    found: dict[PromptFile, list[Step]] = {}
    for key, prompt in registry.prompts.of_steps.items():
        if prompt.file is None and not prompt.is_outside:
            step = registry.steps[key]
            key_of_fallback = step.body.get("fallbackKey")
            if (isinstance(key_of_fallback, str) and key_of_fallback in FALLBACK_KEYS) is replaced:
                found.setdefault(prompt, []).append(step)
    return found


def describe_optional(given: Optional) -> str:
    """Say that a run may be started without a parameter, and which steps cannot do without."""
    first, *others = given.steps
    also = f" and {len(others)} more need" if others else " needs"
    why = "its default is empty" if given.is_empty else "it has no default"
    return f"step {quote(first.name)}{also} the parameter {quote(given.name)}, which is not required, and {why}"


def relate_optional(given: Optional) -> tuple[Related, ...]:
    """Return the places where steps require a parameter."""
    return tuple(Related(each.at, "needed here") for each in given.steps[:_SHOWN])


def describe_lost_source(lost: JudgedInput) -> str:
    """Say that an input comes from no step, and from which it was most likely meant to come."""
    given = lost.given
    what = f"input {quote(given.name)} of step {quote(lost.step.key)} comes from step {quote(given.step)}"
    if lost.source is not None:
        return f"{what}, which is a section and hands nothing over"
    near = f"; did you mean {quote(lost.near)}?" if lost.near is not None else ""
    return f"{what}, which does not exist{near}"


def describe_unhanded(lost: JudgedInput) -> str:
    """Say that a step does not hand over the value that an input takes, and name the nearest one."""
    given = lost.given
    what = f"step {quote(given.step)} does not hand over {quote(given.key)}"
    near = f"; did you mean {quote(lost.near)}?" if lost.near is not None else ""
    return f"{what}, but input {quote(given.name)} of step {quote(lost.step.key)} needs it{near}"


def relate_unhanded(lost: JudgedInput) -> tuple[Related, ...]:
    """Return the other end of an input that nothing is handed over for."""
    taken = lost.given.at / "from"
    if lost.at != taken:
        return (Related(taken, "taken here"),)
    source = lost.source
    return () if source is None else (Related(source.gate_at / "handoffFields", "its hand-over"),)
