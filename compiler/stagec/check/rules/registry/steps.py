"""The names of steps, and the members that describe them."""

from collections.abc import Collection, Iterator

from stagec.check.rules.registry import of_steps, rule
from stagec.core.diagnostic import Change, Edit, Fix, Severity
from stagec.core.json import Object, object_of, text_in
from stagec.core.nearest import NameIndex, hint
from stagec.core.place import Place
from stagec.core.rule import Finding, Related
from stagec.core.words import listing, quote
from stagec.languages.registry.document import PHASES, Registry, Step, StepKind
from stagec.languages.registry.generation import Generation
from stagec.sources.contract.schemas import Schema


@rule(since="0.1", origin=("steps-registry:step.key-eq-id", "SR-VALID-004"))
def stg206_step_key_mismatch(registry: Registry) -> Iterator[Finding]:
    """A step's key differs from its `stepId`.

    ## Why this matters
    Transitions find steps by key, answers and logs name them by `stepId`. When the two differ, half of the tools look
    for a step that is not there.

    ## How to fix
    Make them equal. Where every transition uses one of the two names, the other is the mistake and `--fix` corrects
    it. Where two steps have the ids of each other, exchange the ids or the steps.
    """
    different = [step for step in registry.steps.values() if step.id is not None and step.id != step.key]
    mentioned = set(registry.mentions) if different else set()
    places = {step.key: at for at, step in enumerate(different)}
    for step in different:
        message = f"step {quote(step.key)} calls itself {quote(step.id)}"
        related = (Related(step.at.key, "its key"),)
        other = registry.steps.get(step.id) if step.id is not None else None
        if other is not None and other.id == step.key:
            if places[step.key] < places[other.key]:
                both = f"steps {quote(step.key)} and {quote(other.key)} have the ids of each other"
                yield Finding(step.at, both, _relate_ids(step, other), spoils=(step.at, other.at))
        elif other is None:
            yield Finding(step.at / "stepId", message, related, _fix(step, mentioned, registry))
        else:  # a copy is not finished, so whatever else is wrong with it follows from that
            found = (Related(step.at / "stepId", "its id"), Related(other.at.key, "the step of this id"))
            fix = _fix(step, mentioned, registry)
            yield Finding(step.at, f"{message}, which is another step", found, fix, spoils=(step.at,))


def _relate_ids(*steps: Step) -> tuple[Related, ...]:
    return tuple(Related(each.at / "stepId", "this is the id of the other step") for each in steps)


def _fix(step: Step, mentioned: set[str], registry: Registry) -> Fix | None:
    """Keep the name that others use; nothing is certain when they use both or neither."""
    if (step.key in mentioned) is (step.id in mentioned):
        return None
    if step.key in mentioned:
        return Fix(f"set stepId to {quote(step.key)}", (Edit(Change.REPLACE, step.at / "stepId", step.key),))
    if step.id in registry.steps:
        return None
    return Fix(f"rename the key to {quote(step.id)}", (Edit(Change.RENAME, step.at, step.id),))


@rule(
    since="0.1",
    origin=("steps-registry:boot.agentid-mismatch", "steps-registry:doc.R-A1", "SR-LOAD-002"),
)
def stg218_agent_id_mismatch(registry: Registry) -> Iterator[Finding]:
    """The registry belongs to another agent than the one whose definition lies beside it.

    ## Why this matters
    `agentId` and the `name` in `agent.json` are compared before an agent starts; when they differ it does not start.

    ## How to fix
    Make them equal. After copying an agent, both carry the new name.
    """
    agent, name = registry.agent, registry.body.get("agentId")
    if agent is None or not agent.name or not isinstance(name, str) or not name or name == agent.name:
        return
    message = f"the registry is that of agent {quote(name)}, but the agent beside it is {quote(agent.name)}"
    yield Finding(registry.at / "agentId", message, (Related(agent.at / "name", "the agent's name"),))


@rule(since="0.1", origin=("steps-registry:prompt.c2-vs-id", "rulings:R21"), severity=Severity.WARNING)
@of_steps
def stg227_phase_prefix_mismatch(steps: Collection[Step]) -> Iterator[Finding]:
    """A step's name begins with another phase than its `c2` states.

    ## Why this matters
    The name tells readers which phase a step belongs to, `c2` tells where its prompt lies. When they differ, mostly a
    step was copied and the prompt of the other phase is sent.

    ## How to fix
    Correct `c2`, or rename the step.
    """
    for step in steps:
        prefix = step.key.partition(".")[0]
        if prefix not in PHASES or not step.phase or step.phase == prefix or step.lacks_kind or step.surplus:
            continue
        message = f"step {quote(step.key)} has the phase {quote(step.phase)}, but its name says {quote(prefix)}"
        yield Finding(step.address.at / "c2", message, (Related(step.at.key, "its name"),))


@rule(since="0.1", origin=("steps-registry:doc.R-E1", "rulings:R21"), severity=Severity.NOTE)
@of_steps
def stg228_unconventional_step_name(steps: Collection[Step]) -> Iterator[Finding]:
    """A step's name does not begin with a phase.

    ## Why this matters
    By convention names are `initial.X`, `continuation.X`, `closure.X`, `verification.X` or `section.X`. Other names
    work, but neither readers nor tools can tell the phase of a step from them, and `initial.X` continues with
    `continuation.X` only under these names.

    ## How to fix
    Rename the step and everything that mentions it, or leave it: nothing is broken.
    """
    for step in steps:
        if step.key.partition(".")[0] not in PHASES:
            example = f", as in '{step.phase}.{step.key}'" if step.phase in PHASES else ""
            yield Finding(step.at.key, f"the name of step {quote(step.key)} does not begin with a phase{example}")


_KNOWN = NameIndex(PHASES)


@rule(since="0.1", origin=("rulings:R25",))
@of_steps
def stg230_kindless_phase(steps: Collection[Step]) -> Iterator[Finding]:
    """A step with a gate has a phase of its own, and nothing says what kind of step it is.

    ## Why this matters
    The kind limits what a step may answer and where it may lead. It follows from the phases `initial`, `continuation`,
    `verification` and `closure`; from any other `c2` nothing follows.

    ## How to fix
    Add `stepKind`: `work`, `verification` or `closure`. Where `c2` is a misspelt phase, correct it.
    """
    for step in steps:
        if step.lacks_kind:
            near = hint(step.phase or "", _KNOWN)
            message = f"step {quote(step.key)} has a gate but no stepKind, and {quote(step.phase)} implies none"
            yield Finding(step.at / "stepKind", f"{message}{near}", (Related(step.address.at / "c2", "its phase"),))


@rule(since="0.1", origin=("steps-registry:prompt.c3-vs-id",), severity=Severity.WARNING)
def stg237_layer_name_mismatch(registry: Registry) -> Iterator[Finding]:
    """The second part of a step's name is another than its `c3`.

    ## Why this matters
    By convention a step is called `{c2}.{c3}`, and `c3` tells where its prompt lies. When they differ, mostly a step
    was copied, and the prompt of the other one is sent. Other runners warn of it as well.

    ## How to fix
    Correct `c3`, or rename the step and everything that mentions it. The name of a section is free.
    """
    prompts = registry.prompts.of_steps
    for step in registry.steps.values():
        prompt, layer = prompts.get(step.key), step.address.c3
        if not layer or layer in _name_layers(step):
            continue
        if prompt is None or prompt.file is not None or prompt.is_outside:  # one that is missing is told there
            message = f"step {quote(step.key)} has the layer {quote(layer)}, but its name says"
            told = f"{message} {quote(step.key.split('.')[1])}"
            yield Finding(step.address.at / "c3", told, (Related(step.at.key, "its name"),))


def _name_layers(step: Step) -> tuple[object, ...]:
    """Return the layers that a step may have by its key or its id; its own where these follow no convention."""
    parts = step.key.split(".")
    if step.is_section or parts[0] not in PHASES or step.phase != parts[0] or not parts[1:2]:
        return (step.address.c3,)
    return parts[1], *(step.id or "").split(".")[1:2]


@rule(since="0.1", origin=("steps-registry:beyond.stepid-const",), severity=Severity.WARNING)
def stg255_foreign_step_id(registry: Registry) -> Iterator[Finding]:
    """The output schema of a step asks for the id of another step.

    ## Why this matters
    An answer that fits the schema calls itself by another step's name. Some runners rewrite it without a word, others
    take the answer for that of the other step. A schema that several steps share is not judged.

    ## How to fix
    Write the step's own id as the `const` of `stepId`, or refer to the schema that was meant.
    """
    askers: dict[Place, list[tuple[Step, str]]] = {}
    for users in _users(registry):
        if (asked := _find_asked(users[0])) is not None:
            askers.setdefault(asked[1], []).extend((step, asked[0]) for step in users)
    for at, ((step, wanted), *others) in askers.items():
        if not others and wanted not in {step.key, step.id}:  # what several steps share is not a step's own
            message = f"the output schema of step {quote(step.key)} requires the stepId {quote(wanted)}"
            yield Finding(at, message, (Related(step.at / "outputSchemaRef", "the step that answers so"),))


def _users(registry: Registry) -> Collection[list[Step]]:
    """Return the steps by output: in large registries many share one."""
    found: dict[int, list[Step]] = {}
    for step in registry.steps.values():
        if step.output is not None:
            found.setdefault(id(step.output), []).append(step)
    return found.values()


def _find_asked(step: Step) -> tuple[str, Place] | None:
    """Return the one value that a step's schema allows for `stepId`, and where it stands."""
    found = step.output.found if step.output is not None else None
    members = found.value.get("properties") if isinstance(found, Schema) and isinstance(found.value, dict) else None
    member = members.get("stepId") if isinstance(members, dict) else None
    if not isinstance(found, Schema) or not isinstance(member, dict) or not isinstance(member.get("const"), str):
        return None
    return str(member["const"]), found.at / "properties" / "stepId" / "const"


_FIRST, _NEXT = "initial.", "continuation."


@rule(
    since="0.1",
    origin=(
        "steps-registry:uv.prefix-missing-continuation",
        "steps-registry:route.no-continuation",
        "rulings:R23",
        "rulings:T4",
    ),
    severity=Severity.WARNING,
)
def stg296_stranded_step(registry: Registry) -> Iterator[Finding]:
    """Nothing follows a step without a gate.

    ## Why this matters
    A step without a gate continues with its continuation: `initial.issue` to `continuation.issue`, which repeats until
    the verdict of the agent is reached. Without one the agent has a single answer to reach its verdict; after any other
    the run fails, because nothing says where to go.

    ## How to fix
    Add the continuation, or correct its name; or give the step a gate and transitions that say where it leads.
    """
    going_on = [step for step in registry.steps.values() if step.key.startswith(_FIRST) and _follows(registry, step)]
    taken = {step.key.removeprefix(_FIRST) for step in going_on}
    names = (key.removeprefix(_NEXT) for key in registry.steps if key.startswith(_NEXT))
    free = [name for name in names if name not in taken]
    related = tuple(Related(step.at.key, "continues with its continuation") for step in going_on[:1])
    for step in registry.steps.values():
        if step.key.startswith(_FIRST) and _is_left_alone(step) and not _follows(registry, step):
            wanted = step.key.removeprefix(_FIRST)
            meant = NameIndex(free).nearest(wanted) if free else None
            near = f"; did you mean {quote(_NEXT + meant)}?" if meant is not None else ""
            message = f"nothing follows step {quote(step.key)}: it has no gate, and there is no {quote(_NEXT + wanted)}"
            yield Finding(step.at.key, f"{message}{near}", related)


def _follows(registry: Registry, step: Step) -> bool:
    return registry.has_step(_NEXT + step.key.removeprefix(_FIRST))


def _is_left_alone(step: Step) -> bool:
    """Tell whether a work step has nothing that says where it leads."""
    return (
        step.kind is StepKind.WORK
        and not step.is_section
        and "structuredGate" not in step.body
        and "next" not in (step.intents or ())
    )


@rule(since="0.1", origin=("climpt-1.14:reg.legacy-step", "SR-VALID-005"))
@of_steps
def stg2020_legacy_step(steps: Collection[Step]) -> Iterator[Finding]:
    """A step of a registry of climpt 1.14 has members of the format of 1.13.

    ## Why this matters
    climpt 1.14 calls the kind of a step `kind`, and has the coordinates of its prompt in `address`. It refuses a
    registry in which a step still has `stepKind`, `c2`, `c3`, `edition` or `adaptation`, even beside the new members.

    ## How to fix
    Rename `stepKind` to `kind`, and move the coordinates into `address`, together with `c1` of the registry. `edition`
    was `default` where it was absent, and is required now.
    """
    for step in steps:
        if step.legacy:
            said = f"has {listing(step.legacy)} of the format of 1.13, which 1.14 refuses"
            yield Finding((step.at / step.legacy[0]).key, f"step {quote(step.key)} {said}")


@rule(since="0.1", origin=("climpt-1.14:entry.pair-shape", "SR-ENTRY-003", "AC-VERDICT-013"))
def stg2021_unpaired_entry(registry: Registry) -> Iterator[Finding]:
    """An entry of a registry of climpt 1.14 is not a pair of steps.

    ## Why this matters
    Since climpt 1.14 each verdict type has two steps: runs begin at `initial`, and the prompt of `continuation` serves
    later iterations. In 1.13 it had the name of one step. climpt 1.14 refuses an entry of that form, and one in which
    a step is missing or is not a text.

    ## How to fix
    Write both steps, such as `{"initial": "initial.issue", "continuation": "continuation.issue"}`. Where there is no
    second step, name the first one twice. `--fix` does so; it takes `continuation.X` for `initial.X`, as 1.13 does, if
    that exists.
    """
    if registry.generation is Generation.V1_13:
        return
    for verdict, given in object_of(registry.body.get("entryStepMapping")).items():
        at, what = registry.at / "entryStepMapping" / verdict, f"the entry of {quote(verdict)}"
        if isinstance(given, str):
            message = f"{what} is one step, {quote(given)}: 1.14 requires a pair of 'initial' and 'continuation'"
            yield Finding(at, message, fix=_pair(registry, at, given))
        elif not isinstance(given, dict):
            yield Finding(at, f"{what} must be a pair of 'initial' and 'continuation'")
        else:
            yield from _judge_pair(at, what, given)


def _judge_pair(at: Place, what: str, pair: Object) -> Iterator[Finding]:
    missing = [name for name in _STEPS if name not in pair]
    if missing:
        yield Finding(at / missing[0], f"{what} lacks {listing(missing)}")
    for name in _STEPS:
        if name in pair and not text_in(pair, name):
            yield Finding(at / name, f"{quote(name)} in {what} must name a step")


_STEPS = ("initial", "continuation")


def _pair(registry: Registry, at: Place, name: str) -> Fix | None:
    """Return the fix that writes the first step, and its continuation where there is one, as 1.13 means it."""
    following = f"continuation.{name.removeprefix('initial.')}" if name.startswith("initial.") else name
    second = following if following in registry.steps else name
    edit = Edit(Change.REPLACE, at, {"initial": name, "continuation": second})
    return Fix(f"write the pair of {quote(name)} and {quote(second)}", (edit,)) if name in registry.steps else None


@rule(since="0.1", origin=("climpt-1.14:step.address-c1",), severity=Severity.WARNING)
def stg2022_differing_c1(registry: Registry) -> Iterator[Finding]:
    """The `c1` in the address of a step is not that of the registry.

    ## Why this matters
    climpt 1.14 requires `c1` in every address and does not use it: the prompt is looked for under the `c1` of the
    registry. Who reads the address looks for the prompt in the wrong folder.

    ## How to fix
    Write the `c1` of the registry. To use other prompts, change `c1` of the registry, or `c2` and `c3` of the step.
    """
    used = text_in(registry.body, "c1")
    for step in registry.steps.values():
        own = step.address.c1
        if own and used and own != used:
            at = step.address.at / "c1"
            fix = Fix(f"write {quote(used)}", (Edit(Change.REPLACE, at, used),))
            message = f"the address of step {quote(step.key)} has the c1 {quote(own)}, but {quote(used)} is used"
            yield Finding(at, message, (Related(registry.at / "c1", "the c1 that is used"),), fix)
