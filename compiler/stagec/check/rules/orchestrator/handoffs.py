"""Hand-offs and templates: the names that they use, and the values that they take."""

import re
from collections.abc import Iterator

from stagec.check.rules.orchestrator import rule
from stagec.core.diagnostic import Severity
from stagec.core.json import Json, list_of, object_of, text_in
from stagec.core.nearest import NameIndex, guess, hint
from stagec.core.rule import Finding, Related
from stagec.core.words import listing, quote
from stagec.languages.orchestrator.document import (
    ArtifactHandoff,
    Performer,
    Workflow,
    find_outcomes,
    list_template_keys,
)
from stagec.sources.contract.promise import Presence


@rule(since="0.1", origin=("climpt-1.14:wf.template-dead",), severity=Severity.WARNING)
def stg2147_dead_template(workflow: Workflow) -> Iterator[Finding]:
    """A comment has a key that no agent and outcome make.

    ## Why this matters
    climpt looks for the comment under the name of the agent, followed by `To` or nothing, and the outcome with its
    first letter in upper case. Hyphens stay: `handoff-detail` becomes `ArtifactHandoff-detail`. This comment is never
    written.

    ## How to fix
    Correct the key.
    """
    given = object_of(object_of(workflow.body.get("handoff")).get("commentTemplates"))
    every = (key for agent in workflow.agents.values() for key in list_template_keys(workflow, agent))
    known = NameIndex(every if given else ())
    # what is written about an agent that is not there, or that cannot be read, is that one's fault
    names = {each.agent for each in workflow.phases.values() if each.agent is not None} - workflow.agents.keys()
    doubtful = (*names, *(each.id for each in workflow.agents.values() if not each.is_whole))
    for key in given if isinstance(workflow.body.get("agents"), dict) else ():
        if key not in known and not key.startswith(doubtful):
            at = (workflow.at / "handoff" / "commentTemplates" / key).key
            yield Finding(at, f"comment {quote(key)} is never written: no agent has this outcome{hint(key, known)}")


@rule(since="0.1", origin=("climpt-1.14:wf.template-variable",), severity=Severity.WARNING)
def stg2148_unknown_template_variable(workflow: Workflow) -> Iterator[Finding]:
    """A comment uses a value that the agent does not hand over.

    ## Why this matters
    climpt leaves `{name}` as it is in the comment.

    ## How to fix
    Use the last part of a path in `handoffFields` of the closing step, or add the path there.
    """
    for agent in workflow.agents.values():
        called = workflow.called.get(agent.id)
        if called is None or not called.is_whole:
            continue
        handed = next((each.handed for each in called.closings if each.handed), ())
        known = NameIndex(path.rpartition(".")[2] for path in handed)
        for key, name in _list_used(workflow, agent):
            if name not in known:
                message = f"comment {quote(key)} uses {quote(name)}, which agent {quote(agent.id)} does not hand over"
                yield Finding(workflow.at / "handoff" / "commentTemplates" / key, f"{message}{hint(name, known)}")


def _list_used(workflow: Workflow, agent: Performer) -> Iterator[tuple[str, str]]:
    """Yield the values that comments about an agent use, with the key of the comment."""
    given = object_of(object_of(workflow.body.get("handoff")).get("commentTemplates"))
    for key in list_template_keys(workflow, agent) if given else ():
        yield from ((key, name) for name in dict.fromkeys(_VARIABLE.findall(text_in(given, key) or "")))


_VARIABLE = re.compile(r"\{(\w+)\}")


@rule(since="0.1", origin=("climpt-1.14:wf.template-ref", "W9"))
def stg2149_unknown_template(workflow: Workflow) -> Iterator[Finding]:
    """A hand-off takes a comment that does not exist.

    ## Why this matters
    climpt refuses to start.

    ## How to fix
    Correct the name after `templates.`, or add the comment to `handoff.commentTemplates`.
    """
    known = NameIndex(object_of(object_of(workflow.body.get("handoff")).get("commentTemplates")))
    for handoff in workflow.handoffs:
        for key, text in handoff.payload.items():
            name = text.removeprefix("templates.")
            if name != text and name not in known:
                message = f"{handoff.name} takes comment {quote(name)}, which does not exist{hint(name, known)}"
                yield Finding(handoff.at / "payloadFrom" / key, message)


@rule(since="0.1", origin=("climpt-1.14:wf.handoff-agent",), severity=Severity.WARNING)
def stg2150_unknown_handoff_agent(workflow: Workflow) -> Iterator[Finding]:
    """A hand-off waits for an agent that the file does not have.

    ## Why this matters
    The artifact is never written.

    ## How to fix
    Correct the name, or remove the hand-off.
    """
    known = NameIndex(object_of(workflow.body.get("agents")))
    for handoff in workflow.handoffs:
        name = handoff.agent
        if name is not None and name not in known:
            message = f"{handoff.name} waits for agent {quote(name)}, which this file does not have{hint(name, known)}"
            yield Finding(handoff.at / "when" / "fromAgent", message, fix=guess(name, known))


@rule(since="0.1", origin=("climpt-1.14:wf.handoff-outcome",), severity=Severity.WARNING)
def stg2151_impossible_handoff_outcome(workflow: Workflow) -> Iterator[Finding]:
    """A hand-off waits for an outcome that the agent cannot have.

    ## Why this matters
    The artifact is never written.

    ## How to fix
    Correct the outcome, or remove the hand-off.
    """
    for handoff in workflow.handoffs:
        agent = workflow.agents.get(handoff.agent or "")
        if agent is None or handoff.outcome is None or agent.role is None:
            continue
        outcomes = find_outcomes(workflow, agent)
        known = NameIndex(outcomes.names)
        if not outcomes.is_open and handoff.outcome not in known:
            what = f"{handoff.name} waits for {quote(handoff.outcome)}, but agent {quote(agent.id)} has no such outcome"
            at = handoff.at / "when" / "outcome"
            yield Finding(at, f"{what}{hint(handoff.outcome, known)}", fix=guess(handoff.outcome, known))


@rule(since="0.1", origin=("climpt-1.14:wf.handoff-expression",))
def stg2152_malformed_handoff_expression(workflow: Workflow) -> Iterator[Finding]:
    """A value of a hand-off is written as no expression, or uses a key that is not there.

    ## Why this matters
    climpt stops with an error when the hand-off is due.

    ## How to fix
    Write a text in single quotes, `$.agent.result.…`, `$.workflow.context.…`, `$.workflow.agents[id].…`, or a text
    with `${payload.key}`. Each key is one of `payloadFrom`.
    """
    for handoff in workflow.handoffs:
        yield from _judge(handoff)


_EXPRESSION = re.compile(r"'.*'|\$\.agent\.result\b.*|\$\.workflow\.(?:context\.|agents\[[^\]]+\]).+", re.DOTALL)
_KEY = re.compile(r"\$\{payload\.([^}]*)\}")


def _judge(handoff: ArtifactHandoff) -> Iterator[Finding]:
    texts = [(key, text, handoff.at / "payloadFrom" / key) for key, text in handoff.payload.items()]
    for _, text, at in texts:
        is_told = text.startswith("templates.")  # which has a rule of its own
        if not is_told and _EXPRESSION.fullmatch(text) is None and _KEY.search(text) is None:
            message = f"{quote(text)} in {handoff.name} is not an expression; write a text in single quotes"
            yield Finding(at, message)
    if handoff.path is not None:
        texts.append(("", handoff.path, handoff.at / "emit" / "path"))
    for own, text, at in texts:
        others = NameIndex(key for key in object_of(handoff.body.get("payloadFrom")) if key != own)
        for name in dict.fromkeys(_KEY.findall(text)):
            if name not in others and _EXPRESSION.fullmatch(text) is None:
                message = (
                    f"{handoff.name} uses key {quote(name)}, which 'payloadFrom' does not have{hint(name, others)}"
                )
                yield Finding(at, message)


@rule(since="0.1", origin=("climpt-1.14:wf.handoff-source",), severity=Severity.WARNING)
def stg2153_undeclared_handoff_source(workflow: Workflow) -> Iterator[Finding]:
    """A hand-off takes a value that no answer of the agent declares.

    ## Why this matters
    The value is absent when the hand-off is due, or has another name.

    ## How to fix
    Correct the path, or declare the member in the schema of the closing answer.
    """
    for handoff in workflow.handoffs:
        called = workflow.called.get(handoff.agent or "")
        closings = called.closings if called is not None and called.is_whole else ()
        for key, text in handoff.payload.items() if closings else ():
            path = text.removeprefix("$.agent.result.")
            if path == text or not path:
                continue
            found = {each.look_up(path) if each.look_up is not None else Presence.UNKNOWABLE for each in closings}
            if found <= {Presence.UNDECLARED, Presence.IMPOSSIBLE}:
                what = f"{handoff.name} takes {quote(path)}"
                message = f"{what}, which no closing answer of agent {quote(handoff.agent)} declares"
                related = tuple(Related(each.at, "the schema of the answer") for each in closings)
                yield Finding(handoff.at / "payloadFrom" / key, message, related)


@rule(since="0.1", origin=("climpt-1.14:wf.handoff-schema",))
def stg2154_missing_handoff_schema(workflow: Workflow) -> Iterator[Finding]:
    """A hand-off names a schema that is not there.

    ## Why this matters
    climpt reads `agents/common/schemas/NAME.json` when the hand-off is due, and stops with an error.

    ## How to fix
    Add the schema, or correct the name.
    """
    if not workflow.artifacts.has_folder:
        return
    for handoff in workflow.handoffs:
        if handoff.schema is not None and workflow.artifacts.schemas.get(handoff.schema) is None:
            file = f"{handoff.schema}.json"
            message = f"there is no schema {quote(file)} in {quote(workflow.artifacts.folder)} for {handoff.name}"
            yield Finding(handoff.at / "emit" / "schemaRef", message)


@rule(since="0.1", origin=("climpt-1.14:wf.handoff-schema",), severity=Severity.NOTE)
def stg2155_unjudged_handoff_schema(workflow: Workflow) -> Iterator[Finding]:
    """The schemas of hand-offs cannot be found.

    ## Why this matters
    climpt looks for them in `agents/common/schemas`, below the folder in which it runs. This project has no such
    folder, so stagec does not judge what hand-offs write.

    ## How to fix
    Nothing is wrong if the schemas are elsewhere when climpt runs.
    """
    named = [each for each in workflow.handoffs if each.schema is not None]
    if named and not workflow.artifacts.has_folder:
        lost = f"the project has no folder {quote(workflow.artifacts.folder)}"
        message = f"{lost}: stagec does not check the schemas of hand-offs"
        yield Finding(named[0].at / "emit" / "schemaRef", message)


@rule(since="0.1", origin=("climpt-1.14:wf.handoff-required",))
def stg2156_unfit_handoff_payload(workflow: Workflow) -> Iterator[Finding]:
    """The payload of a hand-off does not satisfy its schema.

    ## Why this matters
    climpt judges the artifact when the hand-off is due, and stops with an error.

    ## How to fix
    Add the missing keys to `payloadFrom`, and correct the texts.
    """
    for handoff in workflow.handoffs:
        schema = object_of(workflow.artifacts.schemas.get(handoff.schema or ""))
        given, at = object_of(handoff.body.get("payloadFrom")), handoff.at / "payloadFrom"
        wanted = [each for each in list_of(schema.get("required")) if isinstance(each, str)]
        missing = [each for each in wanted if each not in given]
        if missing and "payloadFrom" in handoff.body:
            yield Finding(at, f"{handoff.name} does not write {listing(missing)}, which its schema requires")
        for key, text in handoff.payload.items():
            if (
                len(text) > 1
                and text[0] == text[-1] == "'"
                and not _fits(text[1:-1], object_of(schema.get("properties")).get(key))
            ):
                yield Finding(at / key, f"{text} does not satisfy the schema of {quote(key)}")


def _fits(text: str, schema: Json) -> bool:
    """Tell whether a text satisfies a schema, as far as one of the plain keywords says so."""
    rules = object_of(schema)
    kinds, options = rules.get("type", "string"), rules.get("enum", [text])
    is_kind = "string" in kinds if isinstance(kinds, str | list) else True
    return is_kind and rules.get("const", text) == text and (not isinstance(options, list) or text in options)


@rule(since="0.1", origin=("climpt-1.14:wf.payload-schema",))
def stg2157_unresolved_payload_schema(workflow: Workflow) -> Iterator[Finding]:
    """The schema of payloads is not there.

    ## Why this matters
    climpt reads the file when it writes the first payload, and stops with an error.

    ## How to fix
    Correct the path, which begins at the root of the project.
    """
    name = text_in(object_of(workflow.body.get("payloadSchema")), "$ref")
    if name is not None and not workflow.artifacts.has_payload:
        message = f"there is no file {quote(name)} in the project"
        yield Finding(workflow.at / "payloadSchema" / "$ref", message)
