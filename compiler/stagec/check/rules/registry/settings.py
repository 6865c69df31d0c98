"""Runners, permissions, sandboxes and the settings of an agent."""

from collections.abc import Collection, Iterator

from stagec.check.rules.registry import of_steps, rule
from stagec.core.diagnostic import Severity
from stagec.core.json import list_of
from stagec.core.nearest import NameIndex, guess, hint
from stagec.core.rule import Finding, Related
from stagec.core.words import listing, quote
from stagec.languages.registry.document import Registry, Step, StepKind
from stagec.languages.registry.generation import Generation
from stagec.languages.registry.supply import lacks_settings, list_arguments


@rule(since="0.1", origin=("rulings:R24", "steps-registry:beyond.subprocess"))
@of_steps
def stg229_runner_outside_closure(steps: Collection[Step]) -> Iterator[Finding]:
    """A step that is not a closure step has a `runner`.

    ## Why this matters
    Only closure steps can run a program instead of a prompt. Elsewhere the `runner` is not read and has no effect.

    ## How to fix
    Move the `runner` to a closure step, or give this step the kind `closure`.
    """
    for step in steps:
        if "runner" in step.body and not _may_run(step):
            what = "section" if step.is_section else "step" if step.kind is None else f"{step.kind.value} step"
            message = f"{what} {quote(step.key)} has a runner, which only closure steps may have"
            related = (Related(step.kind_at, "its kind follows from this"),) if step.kind is not None else ()
            yield Finding(step.at / "runner", message, related)


def _may_run(step: Step) -> bool:
    """Tell whether this is a closure step, or may be one because its kind is broken or missing."""
    unclear = step.kind is None and (step.states_kind or step.lacks_kind)
    return step.kind is StepKind.CLOSURE or (unclear and not step.is_section)


_SHOWN = 8


@rule(since="0.1", origin=("steps-registry:beyond.subprocess", "steps-registry:subproc.template"))
def stg233_unknown_runner_context(registry: Registry) -> Iterator[Finding]:
    """A runner's argument refers to a parameter that the agent does not have.

    ## Why this matters
    `${context.name}` in an argument of a closure step's `runner` is replaced by the agent's parameter of that name.
    When there is none, the step fails at the very end of a run.

    ## How to fix
    Correct the spelling, or declare the parameter in the agent definition.
    """
    if registry.agent is None:
        return
    known = registry.agent.parameters
    for step in registry.steps.values():
        given = list_arguments(step) if "runner" in step.body else ()
        lost = [each for each in given if each.name not in known]
        if lost and not registry.agent.declared:
            names = dict.fromkeys(each.name for each in lost)
            related = tuple(Related(each.at, "needed here") for each in lost[:_SHOWN])
            message = f"the runner of step {quote(step.key)} is given {listing(names)}, but the agent has no parameters"
            there = registry.agent.at / "parameters"
            yield Finding(there, message, related, causes=(there,))
            continue
        for each in lost:
            message = f"the runner of step {quote(step.key)} is given {quote(each.name)}, but the agent has no such"
            yield Finding(each.at, f"{message} parameter{hint(each.name, known)}", fix=guess(each.name, known))


@rule(since="0.1", origin=("climpt-1.14:agent.legacy-boundaries",), severity=Severity.WARNING)
def stg2037_legacy_boundaries(registry: Registry) -> Iterator[Finding]:
    """An agent of climpt 1.14 states its tools or its permission mode in `boundaries`.

    ## Why this matters
    Since climpt 1.14 both are in a settings file: `permissions.allow` and `permissions.defaultMode` of
    `.agent/climpt/config/claude.settings.climpt.agents.NAME.json`, or of `claude.settings.climpt.agents.json` for all
    agents. What `agent.json` says is ignored, so the agent may have fewer tools or more than it seems.

    ## How to fix
    Move `allowedTools` to `permissions.allow` and `permissionMode` to `permissions.defaultMode`. Only `sandbox` stays.
    """
    agent = registry.agent
    if agent is None or agent.generation is Generation.V1_13:
        return
    given = [name for name in ("allowedTools", "permissionMode") if name in (agent.conduct.boundaries or {})]
    if given:
        at = (agent.at / "runner" / "boundaries" / given[0]).key
        yield Finding(at, f"climpt 1.14 ignores {listing(given)} of 'boundaries': the settings file decides")


@rule(since="0.1", origin=("climpt-1.14:settings.missing", "AC-LOAD-001"))
def stg2038_missing_settings(registry: Registry) -> Iterator[Finding]:
    """An agent of climpt 1.14 has no settings file.

    ## Why this matters
    The settings file lists the tools that the agent may use, and its permission mode. climpt 1.14 reads it at the
    first step that asks a model, and ends the run where there is none.

    ## How to fix
    Write `.agent/climpt/config/claude.settings.climpt.agents.NAME.json`, or `claude.settings.climpt.agents.json` for
    all agents, such as `{"permissions": {"allow": ["Read", "Grep"], "defaultMode": "default"}}`.
    """
    agent = registry.agent
    if agent is not None and agent.conduct.has_folder and lacks_settings(registry):
        yield Finding(
            agent.at, f"agent {quote(agent.name)} has no settings file: there is no {quote(agent.conduct.tried[0])}"
        )


@rule(since="0.1", origin=("climpt-1.14:settings.missing",), severity=Severity.NOTE)
def stg2039_unfound_settings(registry: Registry) -> Iterator[Finding]:
    """The project has no folder for the settings files of agents of climpt 1.14.

    ## Why this matters
    The tools and the permission mode of an agent are in a settings file in `.agent/climpt/config`. Without that
    folder, stagec sees only a part of the project, or `climpt init` was never run. The agent cannot run without the
    file.

    ## How to fix
    Check the whole project, or write the settings file.
    """
    agent = registry.agent
    if agent is not None and not agent.conduct.has_folder and lacks_settings(registry):
        yield Finding(agent.at, f"the settings of agent {quote(agent.name)} are unknown: there is no {quote(_FOLDER)}")


_FOLDER = ".agent/climpt/config"


@rule(
    since="0.1",
    origin=(
        "climpt-1.14:settings.permissions",
        "climpt-1.14:settings.allow",
        "climpt-1.14:settings.default-mode",
        "AC-LOAD-003",
    ),
)
def stg2040_malformed_settings(registry: Registry) -> Iterator[Finding]:
    """The settings file of an agent has another shape than climpt 1.14 reads.

    ## Why this matters
    climpt 1.14 reads the file at the first step that asks a model. It ends the run where `permissions` is not an
    object, `allow` is not a list of texts, or `defaultMode` is none of the modes.

    ## How to fix
    Write `{"permissions": {"allow": ["Read"], "defaultMode": "default"}}`. The modes are `default`, `plan`,
    `acceptEdits`, `bypassPermissions` and `dontAsk`.
    """
    settings = registry.agent.conduct.settings if registry.agent is not None else None
    if settings is None or not settings.is_readable:
        return
    if not isinstance(settings.content, dict) or not isinstance(settings.permissions, dict):
        at = settings.at if not isinstance(settings.content, dict) else settings.at / "permissions"
        yield Finding(at, "the settings of an agent must be an object with an object 'permissions'")
        return
    at, given = settings.at / "permissions", settings.permissions
    allow, mode = given.get("allow", []), given.get("defaultMode", _MODES[0])
    odd = next((index for index, each in enumerate(list_of(allow)) if not isinstance(each, str)), None)
    if not isinstance(allow, list) or odd is not None:
        yield Finding(
            at / "allow" if odd is None else at / "allow" / odd, "'permissions.allow' must be a list of texts"
        )
    if mode not in _MODES:
        what = f", found {quote(mode)}{hint(mode, NameIndex(_MODES))}" if isinstance(mode, str) else ""
        yield Finding(at / "defaultMode", f"'permissions.defaultMode' must be {listing(_MODES, 'or')}{what}")


_MODES = ("default", "plan", "acceptEdits", "bypassPermissions", "dontAsk")


@rule(since="0.1", origin=("climpt-1.14:settings.allow",), severity=Severity.WARNING)
def stg2041_agent_without_tools(registry: Registry) -> Iterator[Finding]:
    """The settings file of an agent allows no tool.

    ## Why this matters
    Since climpt 1.14 an agent may use exactly the tools in `permissions.allow`. Where the list is empty or missing,
    every tool is refused. In 1.13 a missing list allowed them all.

    ## How to fix
    List the tools that the agent needs, such as `["Read", "Grep", "Bash"]`.
    """
    settings = registry.agent.conduct.settings if registry.agent is not None else None
    given = settings.permissions if settings is not None and isinstance(settings.content, dict) else None
    if settings is not None and isinstance(given, dict) and given.get("allow", []) == []:
        at = settings.at / "permissions" / "allow"
        yield Finding(at, "agents with these settings may use no tool: 'permissions.allow' lists none")


@rule(since="0.1", origin=("climpt-1.14:settings.default-mode",), severity=Severity.WARNING)
def stg2042_ineffective_mode(registry: Registry) -> Iterator[Finding]:
    """The settings file of an agent has the permission mode `dontAsk`.

    ## Why this matters
    climpt 1.14 accepts the mode and acts as if `default` were written.

    ## How to fix
    Write the mode that is meant: `default`, `plan`, `acceptEdits` or `bypassPermissions`.
    """
    settings = registry.agent.conduct.settings if registry.agent is not None else None
    given = settings.permissions if settings is not None else None
    if settings is not None and isinstance(given, dict) and given.get("defaultMode") == "dontAsk":
        yield Finding(settings.at / "permissions" / "defaultMode", "the permission mode 'dontAsk' acts as 'default'")
