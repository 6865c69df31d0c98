"""Files of Copilot, OpenCode, Cursor, Codex and workflows of GitHub."""

import posixpath
import re
from collections.abc import Iterator

from stagec.check.rules.agent_files import list_lost, list_misfits, list_repeated, rule
from stagec.core.diagnostic import Change, Edit, Fix, Severity
from stagec.core.json import Json, Object, kind_of, list_of, object_of, text_in
from stagec.core.nearest import NameIndex, hint
from stagec.core.place import Place
from stagec.core.rule import Finding, Related
from stagec.core.words import listing, quote, with_article
from stagec.languages.agent_files.document import AgentFile, AgentFiles
from stagec.languages.agent_files.known import CODEX, COPILOT, GH_AW, OPENCODE, Known
from stagec.languages.agent_files.loaders import LoadOutcome
from stagec.languages.agent_files.tool_names import list_tools
from stagec.languages.agent_files.values import Misfit, find_dropped_handoffs, find_misfits, list_handoff_targets
from stagec.languages.agent_files.workflows import LockState, find_lock

_UNSTARTABLE_CONFIGURATION_KINDS = {OPENCODE: {"opencode-config": "config"}, CODEX: {"codex-config": "config"}}


@rule(since="0.1", origin=("agent-files:unstartable-configuration",))
def stg3148_unstartable_configuration(files: AgentFiles) -> Iterator[Finding]:
    """A configuration has a value with which its program does not start.

    ## Why this matters
    OpenCode and Codex read their configuration before anything else. One value of a wrong type, or a `{file:…}` of
    OpenCode that is not there, and they end with an error.

    ## How to fix
    Write a value that the message names. The path of a `{file:…}` counts from the folder of the configuration.
    """
    yield from list_lost(
        files, {"content": "OpenCode does not start: beside its configuration there is no file {path}"}
    )
    for owner, kinds in _UNSTARTABLE_CONFIGURATION_KINDS.items():
        for _, wrong in list_misfits(files, kinds, owner):
            if wrong.cost == "program":
                yield Finding(wrong.at, f"{owner} does not start: {wrong}{_explain(wrong, owner, files.known)}")
    for file in files.of("codex-config"):
        faults = (each for each in file.reading.faults if each.topic == "unstartable-configuration")
        yield from (Finding(each.at, f"{CODEX} does not start: {each.facts['what']}") for each in faults)


def _explain(wrong: Misfit, owner: str, known: Known) -> str:
    """Say what in TOML most likely led to a value that stops Codex: a list of tables, or a key below a header."""
    key = wrong.key
    if owner != CODEX:
        return ""
    if wrong.expected == "a map" and any(isinstance(each, dict) for each in list_of(wrong.found)):
        return f"; '[[{key}]]' begins a list, '[{key}.NAME]' a map"
    name = key.removeprefix("features.")
    is_below = name != key and name in known.aliases("misplaced", CODEX)["keys"]
    return f"; {quote(name)} stands before the first table" if is_below else ""


_EVERY = "*"


@rule(since="0.1", origin=("agent-files:undone-permission",), severity=Severity.WARNING)
def stg3149_undone_permission(files: AgentFiles) -> Iterator[Finding]:
    """A later permission of OpenCode undoes an earlier one.

    ## Why this matters
    The last pattern that fits a call decides. `"*": allow` behind `"rm *": deny` allows everything.

    ## How to fix
    Write `"*"` first, and exceptions behind it.
    """
    for file in files.of("opencode-agent", "opencode-mode", "opencode-config"):
        yield from _judge_undone_permission(file.members.get("permission"), file.at / "permission")
        for name, agent in object_of(file.members.get("agent")).items():
            yield from _judge_undone_permission(
                object_of(agent).get("permission"), file.at / "agent" / name / "permission"
            )


def _judge_undone_permission(given: Json, at: Place) -> Iterator[Finding]:
    for tool, patterns in object_of(given).items():
        actions = {key: each for key, each in object_of(patterns).items() if isinstance(each, str)}
        before = list(actions)[: list(actions).index(_EVERY)] if _EVERY in actions else []
        undone = [key for key in before if actions[key] != actions[_EVERY]]
        if undone:
            related = tuple(Related(at / tool / key, "has no effect") for key in undone)
            what = f"{quote(actions[_EVERY])} for '*' comes last and decides"
            yield Finding(at / tool / _EVERY, f"{what}: {listing(undone)} has no effect", related)


@rule(since="0.1", origin=("agent-files:unapplied-instructions",))
def stg3161_unapplied_instructions(files: AgentFiles) -> Iterator[Finding]:
    """The `applyTo` of Copilot's instructions is not a text, so nothing ever attaches them.

    ## Why this matters
    VS Code reads one text there, with commas between the globs. Any other value has no effect, and the instructions
    count only where somebody attaches them by hand.

    ## How to fix
    Write one text: `applyTo: '**/*.ts, **/*.tsx'`.
    """
    for file in files.of("copilot-instructions"):
        given, at = file.members.get("applyTo"), file.at / "applyTo"
        if given is not None and not isinstance(given, str):
            found = with_article(kind_of(given))
            message = (
                f"'applyTo' must be one text with commas between the globs, found {found}: nothing attaches the file"
            )
            yield Finding(at, message, fix=_join(given, at))
        elif given is None and file.reading.outcome in {LoadOutcome.READ, LoadOutcome.ABSENT}:
            where = (file.at / "globs").key if "globs" in file.members else file.at
            why = "'globs' is a key of Cursor" if "globs" in file.members else "it has no 'applyTo'"
            told = f"no path attaches this file, because {why}"
            yield Finding(where, told, severity=Severity.WARNING)


def _join(given: Json, at: Place) -> Fix | None:
    globs = [each for each in given if isinstance(each, str)] if isinstance(given, list) else []
    if not globs or not isinstance(given, list) or len(globs) < len(given) or any("," in each for each in globs):
        return None
    return Fix("join the globs with commas", (Edit(Change.REPLACE, at, ", ".join(globs)),))


@rule(since="0.1", origin=("agent-files:dropped-handoff",), severity=Severity.WARNING)
def stg3162_dropped_handoff(files: AgentFiles) -> Iterator[Finding]:
    """A handoff of a Copilot agent lacks a required member, and VS Code drops it.

    ## Why this matters
    The button that leads to the next agent is not there, and nothing says why.

    ## How to fix
    Give every entry of `handoffs` a `label`, an `agent` and a `prompt`, all of them texts.
    """
    for file in files.of("copilot-agent", "copilot-chat-mode"):
        given, at = file.members.get("handoffs"), file.at / "handoffs"
        if given is not None and not isinstance(given, list):
            yield Finding(at, f"'handoffs' must be a list, found {with_article(kind_of(given))}: there are none")
        for each in find_dropped_handoffs(given, at):
            lack = (
                f"it lacks {listing(each.missing)}" if each.missing else f"it is {with_article(each.kind)}, not a map"
            )
            yield Finding(each.at, f"VS Code drops this handoff: {lack}")


@rule(since="0.1", origin=("agent-files:dropped-handoff",), severity=Severity.WARNING)
def stg3163_unusable_subagents(files: AgentFiles) -> Iterator[Finding]:
    """A Copilot agent names subagents, and its tools lack the one that calls them.

    ## Why this matters
    VS Code lets an agent call others with the tool `agent` only. Without it the list `agents` does nothing.

    ## How to fix
    Add `agent` to `tools`, or remove `agents`.
    """
    for file in files.of("copilot-agent"):
        if file.members.get("agents") and file.members.get("tools") is not None and not _calls(file, files.known):
            yield Finding((file.at / "agents").key, "'agents' has no effect, because 'agent' is not among the tools")


def _calls(file: AgentFile, known: Known) -> bool:
    """Tell whether the tools of an agent have the one that calls other agents."""
    aliases = {each.lower() for each, meant in known.aliases("tool-aliases", COPILOT).items() if meant == "agent"}
    callers = {"*", "agent", "runsubagent", *aliases}
    names = (each.name.lower() for each in list_tools(file, known))
    return any(name in callers or name.startswith("agent/") or name.endswith("/runsubagent") for name in names)


@rule(since="0.1", origin=("agent-files:forbidden-write-permission",))
def stg3165_forbidden_write_permission(files: AgentFiles) -> Iterator[Finding]:
    """A workflow of gh-aw asks for a permission to write that strict mode forbids.

    ## Why this matters
    Strict mode is the default. `gh aw compile` fails for `write` on `contents`, `issues` or `pull-requests`, and for
    `write-all`, so the workflow that runs is the old one or none.

    ## How to fix
    Let the workflow read, and write by `safe-outputs`. Or turn strict mode off with `strict: false`.
    """
    strict = files.known.names("strictly-read", GH_AW)
    for file in _list_judged_workflows(files):
        given, at = file.members.get("permissions"), file.at / "permissions"
        forbidden = [name for name, each in object_of(given).items() if name in strict and each == "write"]
        if file.members.get("strict") is False:
            continue
        if given == "write-all":
            yield Finding(at, "strict mode forbids the permission 'write-all': the workflow does not compile")
        for name in forbidden:
            message = f"strict mode forbids the permission to write {quote(name)}: the workflow does not compile"
            fix = Fix("write 'read'", (Edit(Change.REPLACE, at / name, "read"),))
            yield Finding(at / name, message, fix=fix if file.members.get("safe-outputs") else None)


def _list_judged_workflows(files: AgentFiles) -> Iterator[AgentFile]:
    """Yield the workflows that are compiled themselves, without those that gh-aw has compiled as they are."""
    for file in files.of("gh-aw-workflow"):
        if "on" in file.members and files.claude.locks.get(file.at.file) is not LockState.CURRENT:
            yield file


@rule(since="0.1", origin=("agent-files:missing-workflow-import",))
def stg3166_missing_workflow_import(files: AgentFiles) -> Iterator[Finding]:
    """A workflow of gh-aw imports a file that is not there.

    ## Why this matters
    `gh aw compile` fails, so the workflow that runs is the old one or none.

    ## How to fix
    Correct the path. It counts from the folder of the workflow; one that begins with `/` or `.github/` counts from the
    root of the repository.
    """
    return list_lost(files, {"workflow import": "the project has no file {path} to import"})


@rule(since="0.1", origin=("agent-files:untriggered-workflow",), severity=Severity.WARNING)
def stg3167_untriggered_workflow(files: AgentFiles) -> Iterator[Finding]:
    """Nothing starts a workflow of gh-aw, and no other workflow imports it.

    ## Why this matters
    A workflow without `on` is a part for others. If none imports it, it never runs.

    ## How to fix
    Add `on` with the events that start it. Move a part for others to the folder `shared`.
    """
    for file in files.of("gh-aw-workflow"):
        is_started = not file.reading.is_whole or not file.members.keys().isdisjoint({"on", "redirect"})
        if not is_started and file.at.file not in files.claude.imported:
            yield Finding(file.at, "the workflow has no 'on' and no other workflow imports it: it never runs")


_MISSHAPEN_OPENCODE_AGENT_KINDS = {"opencode-agent": "agent", "opencode-mode": "agent", "opencode-command": "command"}


@rule(since="0.1", origin=("agent-files:misshapen-opencode-agent",))
def stg3168_misshapen_opencode_agent(files: AgentFiles) -> Iterator[Finding]:
    """A value in an agent or a command of OpenCode is of a wrong type.

    ## Why this matters
    OpenCode reads all its files when it starts. One value of a wrong type ends the start with an error: nothing of the
    configuration is loaded.

    ## How to fix
    Write a value of the type that the message names. In OpenCode `tools` is a map of names with true and false.
    """
    for file, wrong in list_misfits(files, _MISSHAPEN_OPENCODE_AGENT_KINDS, OPENCODE):
        fix = _make_map(file, files.known) if wrong.key == "tools" else None
        yield Finding(wrong.at, f"OpenCode does not start: {wrong}", fix=fix)


def _make_map(file: AgentFile, known: Known) -> Fix | None:
    """Return the fix that writes a list of tools as a map, in which the names have small letters."""
    entries = list_tools(file, known)
    names = dict.fromkeys(entry.name.lower() for entry in entries)
    if not names or any(entry.text != entry.name or "*" in entry.name for entry in entries):
        return None
    return Fix("write a map of the tools", (Edit(Change.REPLACE, file.at / "tools", dict.fromkeys(names, True)),))


@rule(since="0.1", origin=("agent-files:missing-import",), severity=Severity.WARNING)
def stg3169_missing_import(files: AgentFiles) -> Iterator[Finding]:
    """`CLAUDE.md` imports a file that is not there.

    ## Why this matters
    Claude Code reads on without a word. The model does not get the text of the file.

    ## How to fix
    Correct the path, which counts from the folder of the file that names it, or write the name without `@`. In code,
    in backticks or behind a fence, `@` imports nothing.
    """
    return list_lost(files, {"import": "the import reads nothing: there is no file {path}"})


_MOST = 32 * 1024


@rule(since="0.1", origin=("agent-files:oversized-agents-file",), severity=Severity.NOTE)
def stg3170_oversized_agents_file(files: AgentFiles) -> Iterator[Finding]:
    """The files `AGENTS.md` on one path are longer together than Codex reads.

    ## Why this matters
    Codex joins the files from the root of the project down to the folder that it works in, and reads 32 KiB of them.
    The rest is cut off, which only its log tells.

    ## How to fix
    Shorten the files, move what only one folder needs into that folder, or raise `project_doc_max_bytes` in the
    configuration of Codex.
    """
    chosen: dict[str, AgentFile] = {}
    for file in files.of("agents-file"):
        folder = posixpath.dirname(file.at.file)
        if folder not in chosen or file.where.name.endswith("override"):
            chosen[folder] = file
    for folder, file in chosen.items():
        above = sum(len(chosen[each].tree.data) for each in _list_above(folder) if each in chosen)
        size = len(file.tree.data)
        if above <= _MOST < above + size:
            whole = f"has {size:,} bytes" if not above else f"and those above it have {above + size:,} bytes"
            yield Finding(file.at, f"the file {whole}; Codex reads {_MOST:,} and cuts off the rest")


def _list_above(folder: str) -> Iterator[str]:
    while folder:
        folder = posixpath.dirname(folder)
        yield folder


@rule(since="0.1", origin=("agent-files:refused-workflow",))
def stg3173_refused_workflow(files: AgentFiles) -> Iterator[Finding]:
    """A workflow of gh-aw has a key, an event, a permission or a safe output that does not exist, or a wrong value.

    ## Why this matters
    `gh aw compile` refuses the file, so the workflow that runs is the old one or none. A name that is like no other may
    be newer than stagec; this is a warning. A workflow that its compiled file belongs to has no such mistakes.

    ## How to fix
    Write the name that the message suggests, or delete the member. Add a key or an event that is newer to `agent-files`
    in the [configuration](../configuration.md#agent-files).
    """
    known = files.known
    for file in _list_judged_workflows(files):
        yield from _judge_names(file.members, file.at, known.keys(file.kind.keys, GH_AW), "key", known)
        for member, group, what in known.data[GH_AW]["closed"]:
            given = object_of(file.members.get(member))
            yield from _judge_names(given, file.at / member, known.names(group, GH_AW), what, known)
        for wrong in find_misfits(file.members, file.at, known, "workflow", GH_AW):
            yield Finding(wrong.at, f"gh aw does not compile the file: {wrong}")


def _judge_names(given: Object, at: Place, names: NameIndex, what: str, known: Known) -> Iterator[Finding]:
    former = known.names("former", GH_AW)
    for name in (each for each in given if each not in names and each not in former):
        meant, where = names.slip(name), (at / name).key
        if meant is None:
            message = f"{known.version(GH_AW)} has no {what} {quote(name)}"
            yield Finding(where, message, severity=Severity.WARNING)
            continue
        fix = None if meant in given else Fix("rename it", (Edit(Change.RENAME, where, meant),))
        yield Finding(where, f"gh aw compiles no {what} {quote(name)}; did you mean {quote(meant)}?", fix=fix)


@rule(since="0.1", origin=("agent-files:uncompiled-workflow",), severity=Severity.WARNING)
def stg3174_uncompiled_workflow(files: AgentFiles) -> Iterator[Finding]:
    """A workflow of gh-aw is not compiled, or its frontmatter has changed since.

    ## Why this matters
    GitHub runs the compiled file that ends with `.lock.yml`, and no Markdown. The compiled file has a digest of the
    frontmatter. Its first job compares them, and ends the run if they differ. stagec does not compare them where a
    workflow imports others, because versions of gh-aw differ there.

    ## How to fix
    Run `gh aw compile`, and commit the file that it writes.
    """
    for name, state in files.claude.locks.items():
        if state is LockState.MISSING:
            yield Finding(Place(name), f"the workflow never runs: there is no file {quote(find_lock(name))}")
        elif state is LockState.STALE:
            yield Finding(Place(name), f"the frontmatter has changed since {quote(find_lock(name))} was compiled")


@rule(since="0.1", origin=("agent-files:repeated-copilot-agent",), severity=Severity.WARNING)
def stg3176_repeated_copilot_agent(files: AgentFiles) -> Iterator[Finding]:
    """Two files of Copilot are one agent.

    ## Why this matters
    Copilot calls an agent by its file without `.agent.md` or `.md`. Of two files with the same name it takes one.

    ## How to fix
    Rename or delete one of the files.
    """
    agents = (((file.where.home, file.where.name), file) for file in files.of("copilot-agent"))
    for file, other in list_repeated(agents):
        if other.real_path != file.real_path:
            message = f"another file defines the agent {quote(file.where.name)} too: Copilot loads one of the two"
            yield Finding(file.at, message, (Related(other.at, "the other file"),))


_SECRET = re.compile(r"\$\{\{\s*(?:secrets|vars)\.(?!COPILOT_MCP_)(\w+)\s*\}\}")


@rule(since="0.1", origin=("agent-files:unreadable-secret",), severity=Severity.WARNING)
def stg3177_unreadable_secret(files: AgentFiles) -> Iterator[Finding]:
    """A server of a Copilot agent needs a secret that Copilot does not give it.

    ## Why this matters
    Copilot passes on secrets and variables whose names begin with `COPILOT_MCP_`. The server starts without any other.

    ## How to fix
    Rename the secret in the settings of the repository, and here.
    """
    for file in files.of("copilot-agent"):
        for text, at in _list_texts(file.members.get("mcp-servers"), file.at / "mcp-servers"):
            for name in _SECRET.findall(text):
                yield Finding(at, f"Copilot passes {quote(name)} to no server: the name must begin with 'COPILOT_MCP_'")


def _list_texts(given: Json, at: Place) -> Iterator[tuple[str, Place]]:
    waiting = [(given, at)]
    for each, place in waiting:
        if isinstance(each, str):
            yield each, place
        members = each if isinstance(each, dict) else dict(enumerate(list_of(each)))
        waiting += [(inner, place / key) for key, inner in members.items()]


_BUILT_IN = ("agent", "ask", "edit", "plan", "Agent", "Ask", "Edit", "Plan")


@rule(since="0.1", origin=("agent-files:unknown-handoff-target",), severity=Severity.NOTE, groups=("pedantic",))
def stg3181_unknown_handoff_target(files: AgentFiles) -> Iterator[Finding]:
    """A handoff of a Copilot agent leads to an agent that is not in the project.

    ## Why this matters
    VS Code also knows agents of the user and of extensions, which are not in the project. On another machine the agent
    may not be there, and then the button leads nowhere.

    ## How to fix
    Correct the name. It is the `name` of the other agent, or what its file is called.
    """
    agents = tuple(files.of("copilot-agent", "copilot-chat-mode", "claude-agent"))
    named = (name for each in agents if (name := text_in(each.members, "name")) is not None)
    known = NameIndex((*_BUILT_IN, *(each.where.name for each in agents), *named))
    for file in agents:
        for target in list_handoff_targets(file.members.get("handoffs"), file.at / "handoffs"):
            if target.name not in known:
                yield Finding(
                    target.at, f"no agent of the project is called {quote(target.name)}{hint(target.name, known)}"
                )


@rule(since="0.1", origin=("agent-files:legacy-chatmode",), severity=Severity.NOTE, groups=("pedantic",))
def stg3182_legacy_chatmode(files: AgentFiles) -> Iterator[Finding]:
    """A chat mode of VS Code is written in the old form.

    ## Why this matters
    Chat modes are called agents now. VS Code still reads the old files, and GitHub and Copilot CLI do not.

    ## How to fix
    Move the file to `.github/agents`, and end its name with `.agent.md`.
    """
    for file in files.of("copilot-chat-mode"):
        meant = f".github/agents/{file.where.name}.agent.md"
        yield Finding(file.at, f"chat modes are called agents now: this one belongs in {quote(meant)}")


@rule(since="0.1", origin=("agent-files:legacy-prompt-mode",), severity=Severity.NOTE, groups=("pedantic",))
def stg3183_legacy_prompt_mode(files: AgentFiles) -> Iterator[Finding]:
    """A prompt of VS Code names its agent under the old key `mode`.

    ## Why this matters
    The key is called `agent` now. VS Code still reads the old one; where both are written, the new one counts.

    ## How to fix
    Rename the key to `agent`.
    """
    for file in files.of("copilot-prompt"):
        if "mode" in file.members:
            at = (file.at / "mode").key
            fix = Fix("rename it to 'agent'", (Edit(Change.RENAME, at, "agent"),))
            yield Finding(at, "'mode' is called 'agent' now", fix=None if "agent" in file.members else fix)


_GLOBS = re.compile(r"^globs:[ \t]*(?P<mark>['\"\[])[^\r\n]*", re.MULTILINE)


@rule(since="0.1", origin=("agent-files:quoted-cursor-globs",), severity=Severity.NOTE, groups=("pedantic",))
def stg3184_quoted_cursor_globs(files: AgentFiles) -> Iterator[Finding]:
    """The `globs` of a Cursor rule are in quotes or brackets.

    ## Why this matters
    The frontmatter of a Cursor rule is not valid YAML. The part of Cursor that matches files takes quotes and brackets
    for parts of the globs, and then no file matches.

    ## How to fix
    Write the globs bare, with commas between them: `globs: *.ts,*.tsx`.
    """
    for file in files.of("cursor-rule"):
        found = _GLOBS.search(file.text) if "globs" in file.members else None
        if found is not None:
            at = Place(file.at.file, range=found.span())
            yield Finding(at, f"Cursor reads {found['mark']} as a part of the globs, and no file matches them")


@rule(since="0.1", origin=("agent-files:renamed-copilot-tool",), severity=Severity.NOTE, groups=("pedantic",))
def stg3185_renamed_copilot_tool(files: AgentFiles) -> Iterator[Finding]:
    """An agent or a prompt of VS Code names a tool by its old name.

    ## Why this matters
    VS Code still knows the old name. Other programs that read the file do not.

    ## How to fix
    Write the new name, which begins with the set that the tool is in.
    """
    renamed = files.known.aliases("renamed-tools", COPILOT)
    for file in files.of("copilot-agent", "copilot-chat-mode", "copilot-prompt"):
        for entry in list_tools(file, files.known):
            meant = renamed.get(entry.name)
            if meant is not None:
                is_alone = len(entry.at.pointer) > 1
                fix = Fix(f"write {quote(meant)}", (Edit(Change.REPLACE, entry.at, meant),)) if is_alone else None
                yield Finding(entry.at, f"the tool {quote(entry.name)} is called {quote(meant)} now", fix=fix)
