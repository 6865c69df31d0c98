"""Tools of stages: the allowed ones, and the completion tools."""

import posixpath
import re
from collections.abc import Iterator

from stagec.check.rules.stages import rule
from stagec.core.diagnostic import Change, Edit, Fix, Severity
from stagec.core.nearest import Guess, NameIndex, guess, hint, is_slip
from stagec.core.place import Mention, Place
from stagec.core.rule import Finding, Related
from stagec.core.words import listing, quote
from stagec.ir.catalogue import WELL_KNOWN, Catalogue, CatalogueTool, Effects, Origin, well_known_effects
from stagec.ir.catalogue.document import LabelBook, foreign_name
from stagec.ir.rights import Label
from stagec.languages.stages.document import IncomingKind, Pipeline, Profile, Stage
from stagec.sources.contract.conflict import are_alike
from stagec.sources.contract.schemas import Schema


@rule(since="0.1", origin=("stage-definitions:allowed-tools-duplicate",), severity=Severity.WARNING)
def stg309_repeated_allowed_tool(pipeline: Pipeline) -> Iterator[Finding]:
    """A stage allows a tool twice.

    ## Why this matters
    The second mention changes nothing. Often another tool was meant.

    ## How to fix
    Remove one of the two, or write the other tool.
    """
    for stage in pipeline.stages:
        first: dict[str, Mention] = {}
        for tool in stage.allowed or ():
            other = first.setdefault(tool.name, tool)
            if other is not tool:
                fix = Fix(f"remove the second {quote(tool.name)}", (Edit(Change.REMOVE, tool.at),))
                yield Finding(tool.at, f"{quote(tool.name)} is allowed twice", (Related(other.at, "first here"),), fix)


@rule(since="0.1", origin=("stage-definitions:body-omits-completion-tool",), severity=Severity.NOTE)
def stg311_unnamed_completion_tool(pipeline: Pipeline) -> Iterator[Finding]:
    """The prompt of a stage never names its completion tool.

    ## Why this matters
    A stage ends when the model calls the completion tool. A model that is not told so in the prompt talks on until it
    is reminded, and every reminder is a turn.

    ## How to fix
    End the prompt with what to hand in: "When you are done, call `submit_plan` with …".
    """
    for stage in pipeline.stages:
        if stage.completion is not None and stage.body.text.strip() and not _names(stage, stage.completion.name):
            message = f"the prompt never names {quote(stage.completion.name)}, by which the stage hands in its result"
            yield Finding(stage.completion.at, message)


def _names(stage: Stage, tool: str) -> bool:
    """Tell whether a prompt has the name of a tool in it as a word, or asks for it with a placeholder."""
    asked = any(each.path[:2] == ("stage", "completionTool") for each in stage.body.placeholders)
    return asked or _has_word(stage.body.text, tool)


def _has_word(text: str, word: str) -> bool:
    """Tell whether a text has a word in it; a pattern for each word would have to be compiled first."""
    at = text.find(word)
    while at >= 0:
        before, after = text[at - 1 : at] if at else "", text[at + len(word) : at + len(word) + 1]
        if not _PART.match(before) and not _PART.match(after):
            return True
        at = text.find(word, at + 1)
    return False


_PART = re.compile(r"[\w-]")


_MEMBER = NameIndex(("allowedTools",))


@rule(since="0.1", origin=("stage-definitions:allowed-tools-type", "rulings:tools"), severity=Severity.WARNING)
def stg312_unlimited_tools(pipeline: Pipeline) -> Iterator[Finding]:
    """A stage object may call every tool there is.

    ## Why this matters
    A stage object without `allowedTools` is given all tools of the session, those included that change things. In a
    Markdown stage the member is required.

    ## How to fix
    List the tools that the stage needs; `[]` allows none.
    """
    for stage in pipeline.stages:
        if stage.profile is not Profile.OBJECT or stage.id is None:
            continue
        if all(_MEMBER.nearest(key) is None for key in stage.members):
            yield Finding(stage.at, f"stage {quote(stage.name)} may call every tool: it has no 'allowedTools'")


_SHOWN = 8


@rule(since="0.1", origin=("stage-definitions:allowed-tools-unknown",))
def stg370_unknown_allowed_tool(pipeline: Pipeline) -> Iterator[Finding]:
    """A stage allows a tool that does not exist.

    ## Why this matters
    Names are compared exactly, also in their letter case. A tool that is not there is not offered to the model, and
    the stage is to do its work without it. Hosts find out when the stage starts.

    ## How to fix
    Write the name as the catalogue has it, without arguments such as those of `Bash(git *)`, or add the tool to the
    catalogue. If an MCP server offers it by now, run `stagec tools lock`.
    """
    catalogue, lost = pipeline.catalogue, dict[str, list[Mention]]()
    if catalogue is None or not catalogue.is_whole:
        return
    for stage in pipeline.stages:
        completion = stage.completion.name if stage.completion is not None else None
        for each in stage.allowed or ():
            if each.name not in catalogue.by_name and each.name != completion:
                lost.setdefault(each.name, []).append(each)
    for name, (first, *others) in lost.items():
        related = tuple(Related(other.at, "allowed here too") for other in others[:_SHOWN])
        near = _near(name, pipeline, catalogue)
        message = f"there is no tool {quote(name)} in {quote(catalogue.file)}{near}"
        yield Finding(first.at, message, related, guess(name, catalogue.names, *(each.at for each in others)))


def _near(name: str, pipeline: Pipeline, catalogue: Catalogue) -> str:
    known, bare = catalogue.names, name.partition("(")[0].strip()
    if bare != name and bare in known:
        return f"; a stage allows {quote(bare)} for all arguments or not at all"
    foreign = foreign_name(name, catalogue.servers)
    return _of_server(*foreign, pipeline, catalogue) if foreign is not None else hint(name, known) or hint(bare, known)


def _of_server(server: str, name: str, pipeline: Pipeline, catalogue: Catalogue) -> str:
    """Return the tool of a name that begins with a server's name, as other programs write it."""
    own = (each.name for each in catalogue.tools if each.server == server)
    offered = pipeline.memo.once(("offered", server), lambda: NameIndex(own))
    near = f"; did you mean {quote(name)}?" if name in offered else hint(name, offered)
    called = f"the tools of MCP server {quote(server)} are called by their own names"
    return f": {called}{near}" if name.strip("*") else f": {called}, one by one"


@rule(since="0.1", origin=("stage-definitions:completion-tool-collision",))
def stg371_completion_tool_collision(pipeline: Pipeline) -> Iterator[Finding]:
    """The completion tool of a stage has the name of a real tool.

    ## Why this matters
    The completion tool is not a tool but the channel through which the model hands in its result. Under the name of a
    tool that exists, nobody could tell whether the model means to call that tool or to end the stage. Hosts refuse
    such a stage.

    ## How to fix
    Choose a name that no tool has, such as `submit_` and the id of the stage.
    """
    tools = pipeline.catalogue.by_name if pipeline.catalogue is not None else {}
    for stage in pipeline.stages:
        tool = tools.get(stage.completion.name) if stage.completion is not None else None
        if stage.completion is not None and tool is not None:
            message = f"completion tool {quote(tool.name)} of {quote(stage.name)} has the name of {_which(tool)}"
            yield Finding(stage.completion.at, message, (Related(tool.at, "the tool"),))


def _which(tool: CatalogueTool) -> str:
    if tool.origin is Origin.MCP:
        return f"a tool of MCP server {quote(tool.server)}"
    return f"a {tool.origin} tool"


@rule(since="0.1", origin=("stage-definitions:completion-tool-in-allowed",))
def stg372_allowed_completion_tool(pipeline: Pipeline) -> Iterator[Finding]:
    """A stage allows its own completion tool.

    ## Why this matters
    `allowedTools` names tools that exist. The completion tool is none: it is offered to the model in every case, and
    is never called. Named among the tools, it looks as if there were a tool of this name as well.

    ## How to fix
    Delete it from `allowedTools`. If a tool is meant that does exist, call the completion tool otherwise.
    """
    catalogue = pipeline.catalogue
    tools = catalogue.by_name if catalogue is not None else {}
    certain = catalogue is not None and catalogue.is_whole
    for stage in pipeline.stages:
        completion = stage.completion
        for each in stage.allowed or ():
            if completion is not None and each.name == completion.name and each.name not in tools:
                message = f"{quote(stage.name)} allows {quote(each.name)}, which is its completion tool"
                fix = Fix(f"remove {quote(each.name)}", (Edit(Change.REMOVE, each.at),)) if certain else None
                related = (Related(completion.at, "the completion tool"),)
                yield Finding(each.at, f"{message}{' and not a real tool' if certain else ''}", related, fix)


@rule(since="0.1", origin=("rulings:tools",), severity=Severity.WARNING)
def stg373_ambiguous_completion_tool(pipeline: Pipeline) -> Iterator[Finding]:
    """Two stages give one completion tool different schemas.

    ## Why this matters
    The name of the completion tool is all that prompts, logs and records of a run say about the form of a result.
    Under one name for two forms, a result can be taken for the other stage's. Most often the schema was changed in one
    stage only.

    ## How to fix
    Give the second stage a completion tool of its own, such as `submit_` and its id; or make the schemas equal. Words
    for people, such as a `description`, the order of names and shared parts may differ.
    """
    known: dict[str, tuple[Stage, Schema]] = {}
    for stage in pipeline.stages if pipeline.is_declared else ():
        completion, result = stage.completion, stage.result
        if completion is None or not isinstance(result, Schema):
            continue
        first, schema = known.setdefault(completion.name, (stage, result))
        if first is not stage and not are_alike(pipeline.schemas, schema, result):
            what = f"completion tool {quote(completion.name)} has another schema in {quote(stage.name)}"
            related = (Related(schema.at.key, "the other schema"),)
            yield Finding(completion.at, f"{what} than in {quote(first.name)}", related)


@rule(since="0.1", origin=("rulings:tools",), severity=Severity.NOTE)
def stg374_unused_tool(pipeline: Pipeline) -> Iterator[Finding]:
    """No stage uses some of the tools.

    ## Why this matters
    Tools that nobody is allowed to call are dead weight in the catalogue; a server is started for nothing. Sometimes
    the stage that was to use them has another name for them, or has lost it.

    ## How to fix
    Allow the tool in the stage that needs it, or take it out of the catalogue. Bundled tools are not meant: what the
    host brings along need not be used. Of the tools of an MCP server one is enough.
    """
    catalogue = pipeline.catalogue
    if catalogue is None or not pipeline.is_whole or any(stage.allowed is None for stage in pipeline.stages):
        return
    beside = posixpath.dirname(catalogue.file) == posixpath.dirname(pipeline.at.file)
    if pipeline.tools is None and not beside:
        return
    names = dict.fromkeys(each.name for stage in pipeline.stages for each in stage.allowed or ())
    allowed = {meant for name in names for meant in catalogue.guess_meant(name)}
    tools, servers = dict(_tools(catalogue, allowed)), dict(_servers(catalogue, allowed))
    what = [listing(tools, "or")] if tools else []
    what += [f"any tool of MCP server{'s' if len(servers) > 1 else ''} {listing(servers)}"] if servers else []
    for first, *others in [[*tools.values(), *servers.values()]] if what else ():
        related = tuple(Related(at, "not used either") for at in others[:_SHOWN])
        yield Finding(first, f"no stage of {quote(pipeline.id)} uses {' or '.join(what)}", related)


def _tools(catalogue: Catalogue, allowed: set[str]) -> Iterator[tuple[str, Place]]:
    """Yield the project's own tools that no stage allows."""
    for tool in catalogue.tools:
        if tool.origin is Origin.DISCOVERED and tool.name not in allowed:
            yield tool.name, tool.at


def _servers(catalogue: Catalogue, allowed: set[str]) -> Iterator[tuple[str, Place]]:
    """Yield the servers of which no stage allows a tool, as far as their tools are known."""
    used = {tool.server for tool in catalogue.tools if tool.name in allowed}
    used |= allowed.intersection(catalogue.servers)
    used |= {server.name for server in (*catalogue.unlocked, *catalogue.stale)}
    yield from ((name, server.at.key) for name, server in catalogue.servers.items() if name not in used)


@rule(since="0.1", origin=("stage-definitions:parallel-mutating-sibling",), severity=Severity.WARNING)
def stg375_mutating_sibling(pipeline: Pipeline) -> Iterator[Finding]:
    """A stage that runs in parallel with others may change things.

    ## Why this matters
    Stages that run at the same time and change the same files get in each other's way. And when one of them fails, the
    others are cut off in the middle, and nothing takes back what they have changed.

    ## How to fix
    Prefer parallel stages that only read, and let a stage after the join act on their results. If one has to change
    something, keep it small, and so that doing it twice does no harm.
    """
    book = pipeline.memo.once("labels", lambda: LabelBook(pipeline.catalogue))
    for name, stage in pipeline.by_id.items():
        ways = [way for way in pipeline.incoming.get(name, ()) if way.kind is IncomingKind.SIBLING]
        mutating = [each for each in stage.allowed or () if ways and _changes(pipeline, book, each.name)]
        if mutating:
            names = listing(dict.fromkeys(each.name for each in mutating))
            message = f"{quote(name)} runs in parallel with others, and may change things with {names}"
            yield Finding(mutating[0].at, message, (Related(ways[0].at, "runs in parallel here"),))


def _changes(pipeline: Pipeline, book: LabelBook, name: str) -> bool:
    """Tell whether a tool may change something, as the catalogue says, else as its name does or its server is known."""
    tool = pipeline.catalogue.by_name.get(name) if pipeline.catalogue is not None else None
    effects = tool.effects if tool is not None else well_known_effects(name)
    return effects is Effects.MUTATING if effects is not Effects.UNKNOWN else Label.WRITE in book.find(name).labels


@rule(since="0.1", origin=("rulings:tools", "stage-definitions:allowed-tools-unknown"), severity=Severity.NOTE)
def stg376_missing_catalogue(pipeline: Pipeline) -> Iterator[Finding]:
    """There is no catalogue of the tools that exist.

    ## Why this matters
    Without one nobody can tell whether the tools that stages allow are there, or whether a completion tool has the
    name of one of them. These faults then come up when a run gets there.

    ## How to fix
    Write a `tools.yaml` beside the pipeline that names the tools of the host and of the project, and the MCP servers:

    ```yaml
    bundled: [Read, Grep, Glob]
    mcp:
      files: {command: npx, args: ["-y", "@modelcontextprotocol/server-filesystem", "."]}
    ```
    """
    allowing = [stage for stage in pipeline.stages if stage.allowed]
    is_sought = not pipeline.is_lost and pipeline.catalogue is None
    if is_sought and pipeline.tools is None and allowing:
        at = (allowing[0].at / "allowedTools").key
        where = "beside the pipeline" if pipeline.is_declared else "in the folder of the stage or above it"
        sentence = f"there is no 'tools.yaml' with 'bundled', 'discovered' or 'mcp' {where}"
        yield Finding(at, f"stagec cannot check whether these tools exist: {sentence}")


@rule(since="0.1", origin=("rulings:tools",))
def stg377_missing_tools_file(pipeline: Pipeline) -> Iterator[Finding]:
    """A pipeline names a tool catalogue that is not there.

    ## Why this matters
    Nothing can be said about the tools that its stages allow, and names that are wrong go unnoticed.

    ## How to fix
    Write the path relative to the pipeline, of a file within the project; or leave `tools` out, then `tools.yaml`
    beside the pipeline counts.
    """
    if pipeline.tools is not None and pipeline.catalogue is None:
        path = posixpath.normpath(posixpath.join(posixpath.dirname(pipeline.at.file), pipeline.tools.name))
        yield Finding(pipeline.tools.at, f"the project has no tool catalogue {quote(path)}")


@rule(
    since="0.1",
    origin=("stage-definitions:completion-tool-collision", "stage-definitions:completion-tool-in-allowed"),
)
def stg380_borrowed_completion_tool(pipeline: Pipeline) -> Iterator[Finding]:
    """A stage allows the completion tool of another stage.

    ## Why this matters
    `allowedTools` names tools that exist, and a completion tool is none: it is the channel through which one stage
    hands in its result. Either the stage is allowed a tool that does not exist, or the other stage calls its
    completion tool by the name of a real one; hosts refuse both.

    ## How to fix
    Delete the name from `allowedTools`. If a tool of that name exists, give the completion tool another name, such as
    `submit_` and the id of its stage.
    """
    catalogue = pipeline.catalogue
    if not pipeline.is_declared or (catalogue is not None and catalogue.is_whole):
        return  # a file by itself belongs to no pipeline; with all tools known, the two are told apart
    owners: dict[str, tuple[Stage, Place]] = {}
    for stage in pipeline.stages:
        if stage.completion is not None:
            owners.setdefault(stage.completion.name, (stage, stage.completion.at))
    real = catalogue.by_name if catalogue is not None else {}
    found: dict[str, list[Mention]] = {}
    for stage in pipeline.stages:
        own = stage.completion.name if stage.completion is not None else None
        for each in stage.allowed or ():
            if each.name in owners and each.name not in real and each.name != own:
                found.setdefault(each.name, []).append(each)
    for name, (first, *others) in found.items():
        owner, completion = owners[name]
        also = (Related(each.at, "here too") for each in others[:_SHOWN])
        message = f"{quote(name)} is allowed as a tool, but is the completion tool of {quote(owner.name)}"
        yield Finding(first.at, message, (Related(completion, "the completion tool"), *also))


@rule(since="0.1", origin=("stage-definitions:allowed-tools-unknown", "rulings:tools"), severity=Severity.WARNING)
def stg381_nearly_known_tool(pipeline: Pipeline) -> Iterator[Finding]:
    """A stage allows a tool that differs by one slip from a known one.

    ## Why this matters
    Not all tools are known: there is no catalogue, or a server is not locked. A name that differs from a known one by
    one slip is most likely that one. Names are compared exactly, so the model is not offered the tool.

    ## How to fix
    Correct the name, or add the tool to the catalogue; `stagec tools lock` adds those of MCP servers.
    """
    catalogue = pipeline.catalogue
    if catalogue is not None and catalogue.is_whole:
        return  # then every unknown name is told
    servers = catalogue.servers if catalogue is not None else {}
    known = catalogue.names if catalogue is not None else NameIndex(WELL_KNOWN)
    found: dict[str, list[Mention]] = {}
    for stage in pipeline.stages:
        for each in stage.allowed or ():
            if each.name not in known and foreign_name(each.name, servers) is None:
                found.setdefault(each.name, []).append(each)
    for name, (first, *others) in found.items():
        near = known.nearest(name)
        if near is not None and is_slip(name, near):
            related = tuple(Related(each.at, "allowed here too") for each in others[:_SHOWN])
            message = f"no tool {quote(name)} is known; did you mean {quote(near)}?"
            yield Finding(first.at, message, related, Guess(name, near, tuple(each.at for each in others)))
