"""Skills and commands: files in places where they are not found, and keys that nobody reads."""

import re
from collections.abc import Iterator

from stagec.check.rules.agent_files import SKILLS, list_misfits, list_names, rule
from stagec.core.diagnostic import Change, Edit, Fix, Severity
from stagec.core.place import Place
from stagec.core.rule import Finding, Related
from stagec.core.words import quote
from stagec.languages.agent_files.claude_reading import blank_fences
from stagec.languages.agent_files.document import AgentFile, AgentFiles
from stagec.languages.agent_files.known import COPILOT, is_off, is_on
from stagec.languages.agent_files.values import find_misfits, present


@rule(since="0.1", origin=("agent-files:unpreloadable-skill",), severity=Severity.WARNING)
def stg3120_unpreloadable_skill(document: AgentFiles) -> Iterator[Finding]:
    """An agent preloads a skill that only users can start.

    ## Why this matters
    `skills` gives an agent the texts of skills from the beginning. Claude Code leaves out those with
    `disable-model-invocation: true`, and the agent works without their text.

    ## How to fix
    Take the switch out of the skill, or write its text into the agent.
    """
    closed = {
        (skill.where.home, skill.where.name): skill
        for skill in document.of("claude-skill")
        if is_on(skill.members.get("disable-model-invocation")) and not skill.where.is_plugin
    }
    for file in document.of("claude-agent") if closed else ():
        for name, at in list_names(file, "skills"):
            skill = closed.get((file.where.home, name))
            if skill is not None:
                related = (Related(skill.at / "disable-model-invocation", "switched off here"),)
                yield Finding(at, f"the skill {quote(name)} is never preloaded: the model may not call it", related)


@rule(since="0.1", origin=("agent-files:misplaced-skill",))
def stg3121_misplaced_skill(document: AgentFiles) -> Iterator[Finding]:
    """A skill is where Claude Code does not look for it.

    ## Why this matters
    A skill is a folder in `.claude/skills` with a file `SKILL.md`, in capitals, directly in it. Claude Code finds no
    other: neither one in a folder further down, nor a file beside the folders, nor a `skill.md`.

    ## How to fix
    Move or rename the file to `.claude/skills/NAME/SKILL.md`.
    """
    for file in document.of("claude-misplaced-skill"):
        folder, _, rest = file.where.name.partition("/")
        is_other_format = file.at.file.endswith("skill.json")
        if is_other_format and not {"name", "description"} <= file.members.keys():
            continue
        if not (rest or {"name", "description"} & file.members.keys()):
            continue
        name = folder.removesuffix(".md") if not rest else file.where.name.split("/")[-2]
        inside = "skills" if file.where.is_plugin else ".claude/skills"
        home = f"{file.where.home}/" if file.where.home else ""
        yield Finding(file.at, f"Claude Code finds no skill here; it would find '{home}{inside}/{name}/SKILL.md'")


@rule(since="0.1", origin=("agent-files:unreachable-skill",))
def stg3122_unreachable_skill(document: AgentFiles) -> Iterator[Finding]:
    """A skill can be started neither by the user nor by the model.

    ## Why this matters
    `user-invocable: false` takes a skill from the menu of commands, and `disable-model-invocation: true` from the
    model. With both nobody can start it. In a plugin, a command of the same name runs in the place of the skill.

    ## How to fix
    Delete one of the two switches. Rename the command or the skill of a plugin, or delete the command.
    """
    for file in document.of("claude-skill"):
        switch = "disable-model-invocation"
        if is_on(file.members.get(switch)) and is_off(file.members.get("user-invocable")):
            related = (Related(file.at / "user-invocable", "the user may not start it either"),)
            yield Finding(file.at / switch, "nobody can start this skill: the model may not", related)
    for clash in document.claude.shadowed_skills:
        message = f"nobody can call this skill: the command {quote(clash.name)} of the plugin runs instead"
        related = (Related(Place(clash.other), "the command"),)
        yield Finding(clash.at, message, related, severity=Severity.WARNING)


_MOST = {"name": 64, "description": 1_024, "compatibility": 500}


@rule(since="0.1", origin=("agent-files:oversized-skill-text",), severity=Severity.WARNING)
def stg3123_oversized_skill_text(document: AgentFiles) -> Iterator[Finding]:
    """A text of a skill is longer than the specification of skills allows.

    ## Why this matters
    Claude Code reads such a skill, or cuts the text. Codex skips a skill whose name or description is too long, and
    other tools refuse it.

    ## How to fix
    Shorten the text: 64 characters for `name`, 1,024 for `description`, 500 for `compatibility`. Details belong below
    the frontmatter.
    """
    for file in document.of(*SKILLS):
        for key, most in _MOST.items():
            given = file.members.get(key)
            if isinstance(given, str) and len(given) > most:
                message = f"{quote(key)} has {len(given)} characters, and skills allow {most}: Codex and others skip it"
                yield Finding(file.at / key, message)


_FORM = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")


@rule(since="0.1", origin=("agent-files:mismatched-skill-name",), severity=Severity.WARNING)
def stg3124_mismatched_skill_name(document: AgentFiles) -> Iterator[Finding]:
    """The name of a skill differs from that of its folder, or breaks the rules of the specification of skills.

    ## Why this matters
    Claude Code calls a skill by its folder, and its `name` is only shown. Other tools refuse a skill if the two
    differ, or if the name has other characters than lower-case letters, digits and single hyphens.

    ## How to fix
    Write the name of the folder, as `stagec validate --fix` does, or rename the folder.
    """
    for file in document.of(*SKILLS):
        name, folder = file.members.get("name"), file.where.name
        if not isinstance(name, str) or not name.strip() or (name == folder and _FORM.fullmatch(name)):
            continue
        is_other = name != folder
        what = f"differs from the folder {quote(folder)}" if is_other else "may have only a-z, 0-9 and single hyphens"
        edits = (Edit(Change.REPLACE, file.at / "name", folder),)
        fix = Fix(f"write {quote(folder)}", edits) if is_other and _FORM.fullmatch(folder) else None
        yield Finding(file.at / "name", f"the name {quote(name)} of this skill {what}", (), fix)


@rule(since="0.1", origin=("agent-files:undescribed-skill",), severity=Severity.WARNING)
def stg3125_undescribed_skill(document: AgentFiles) -> Iterator[Finding]:
    """A skill has no description.

    ## Why this matters
    The model chooses a skill by its description. Without one Claude Code takes the first paragraph of the text;
    OpenCode drops the skill, and the tools that install skills refuse it.

    ## How to fix
    Add a `description`: what the skill does, and when to use it.
    """
    for file in document.of(*SKILLS):
        given = file.members.get("description")
        is_blank = given is None or (isinstance(given, str) and not given.strip())
        if is_blank and (file.reading.is_whole or file.reading.is_bare):
            at = file.at / "description" if "description" in file.members else file.at
            yield Finding(at, "the skill has no 'description': OpenCode drops it, others refuse it")


_OF_COPILOT = re.compile(r"(?:^|/)\.github/skills/")


@rule(since="0.1", origin=("agent-files:mistyped-skill-value",), severity=Severity.WARNING)
def stg3126_mistyped_skill_value(files: AgentFiles) -> Iterator[Finding]:
    """A value of a skill or a command is of a kind that its tool drops or refuses, or has no effect.

    ## Why this matters
    Claude Code loads the file and leaves the value out, without telling: the description, the permission or the
    separate context that was asked for is not there. Copilot does not load a skill with such a value.

    ## How to fix
    Write a value that the message names. `agent` and `background` count only with `context: fork`.
    """
    for file in files.of("claude-skill", "claude-command"):
        for wrong in find_misfits(present(file.members), file.at, files.known, "skill"):
            is_label = wrong.key == "name" and file.kind.name == "claude-command"
            if not is_label:
                yield Finding(wrong.at, f"Claude Code drops this value: {wrong}")
        for wrong in find_misfits(file.members, file.at, files.known, "switches"):
            yield Finding(wrong.at, f"Claude Code reads this switch as off: {wrong}")
        for key in ("agent", "background"):
            if key in file.members and file.members.get("context") is None:
                yield Finding((file.at / key).key, f"{quote(key)} has no effect without 'context: fork'")
    for file, wrong in list_misfits(files, {"shared-skill": "skill"}, COPILOT):
        if _OF_COPILOT.search(file.at.file):  # other folders with such skills belong to other tools too
            yield Finding(wrong.at, f"Copilot does not load the skill: {wrong}")


@rule(since="0.1", origin=("agent-files:shadowed-command",))
def stg3127_shadowed_command(document: AgentFiles) -> Iterator[Finding]:
    """A command has the name of a skill, and never runs.

    ## Why this matters
    Claude Code calls skills and commands with `/NAME`. Of the same name in a project it takes the skill, and does not
    tell that there is a command. In a plugin it takes the command, which `STG3122` reports for the skill.

    ## How to fix
    Rename one of the two, or delete the command.
    """
    for clash in document.claude.shadowed_commands:
        related = (Related(Place(clash.other), "the skill"),)
        yield Finding(clash.at, f"the command never runs: a skill is called {quote('/' + clash.name)} too", related)


@rule(since="0.1", origin=("agent-files:ignored-command-name",), severity=Severity.NOTE)
def stg3128_ignored_command_name(document: AgentFiles) -> Iterator[Finding]:
    """A command has a key that counts only in skills.

    ## Why this matters
    Claude Code calls a command by the path of its file: `sub/inner.md` is `/sub:inner`. It ignores `name`, so the name
    in the file does not work, and it ignores `paths`.

    ## How to fix
    Delete the key, as `stagec validate --fix` does, or rename the file.
    """
    for file in document.of("claude-command"):
        called = file.where.name.replace("/", ":")
        name = file.members.get("name")
        told = {"paths": "'paths' does not limit a command"} if "paths" in file.members else {}
        if name is not None and name != called:
            told["name"] = f"the command is called {quote('/' + called)}, whatever its 'name' is"
        for key, message in told.items():
            fix = Fix(f"delete {quote(key)}", (Edit(Change.REMOVE, file.at / key),))
            yield Finding((file.at / key).key, message, (), fix)


@rule(since="0.1", origin=("agent-files:missing-preloaded-skill",), severity=Severity.WARNING, groups=("pedantic",))
def stg3130_missing_preloaded_skill(document: AgentFiles) -> Iterator[Finding]:
    """An agent preloads a skill that the project does not have.

    ## Why this matters
    Claude Code leaves out skills that it does not find. stagec sees only the project: the skill may be the user's own,
    so this rule is an opinion.

    ## How to fix
    Correct the name, or add the skill to `.claude/skills`.
    """
    found = {(skill.where.home, skill.where.name) for skill in document.of("claude-skill")}
    for file in document.of("claude-agent"):
        names = [] if file.where.is_plugin else list_names(file, "skills")
        for name, at in names:
            if ":" not in name and (file.where.home, name) not in found:
                yield Finding(at, f"the project has no skill {quote(name)}")


_USED = re.compile(r"\$(?:ARGUMENTS|\d|\{)")


@rule(since="0.1", origin=("agent-files:unused-argument-hint",), severity=Severity.NOTE, groups=("pedantic",))
def stg3135_unused_argument_hint(document: AgentFiles) -> Iterator[Finding]:
    """A command or a skill shows a hint for arguments that its text does not use.

    ## Why this matters
    The user is told to write arguments. Without `$ARGUMENTS` in the text they are added at its end, where the author
    may not expect them.

    ## How to fix
    Write `$ARGUMENTS` or `$0` where the arguments belong, or delete the hint.
    """
    for file in document.of("claude-command", "claude-skill"):
        is_named = "arguments" in file.members
        if "argument-hint" in file.members and not is_named and not _USED.search(file.text):
            yield Finding((file.at / "argument-hint").key, f"the text of this {file.title} uses no argument")


@rule(since="0.1", origin=("agent-files:unportable-skill-key",), severity=Severity.NOTE, groups=("pedantic",))
def stg3136_unportable_skill_key(document: AgentFiles) -> Iterator[Finding]:
    """A skill has a key that the specification of skills does not have.

    ## Why this matters
    Tools that check skills by the specification refuse other keys. Claude Code reads more of them, so this rule is an
    opinion.

    ## How to fix
    Keep to `name`, `description`, `license`, `compatibility`, `metadata` and `allowed-tools`.
    """
    keys = document.known.keys("skill", "Agent Skills")
    for file in document.of(*SKILLS):
        for key in file.members:
            if key not in keys:
                yield Finding((file.at / key).key, f"the specification of skills has no key {quote(key)}")


@rule(since="0.1", origin=("agent-files:accidental-command",), severity=Severity.NOTE, groups=("pedantic",))
def stg3137_accidental_command(document: AgentFiles) -> Iterator[Finding]:
    """A page about commands is a command itself.

    ## Why this matters
    Every Markdown file below `.claude/commands` is a command: `README.md` is `/README`, and stands in the menu.

    ## How to fix
    Move the page out of the folder.
    """
    for file in document.of("claude-command"):
        name = file.where.name.rpartition("/")[2]
        if name.upper() in {"README", "CHANGELOG", "CONTRIBUTING", "LICENSE"}:
            command = quote("/" + file.where.name.replace("/", ":"))
            yield Finding(file.at, f"Claude Code loads this page as the command {command}")


_ARGUMENT = re.compile(r"(?<![\\$\w])\$[0-2](?![\w}])")
_MONEY = re.compile(r"(?<![\\$\w])\$[0-2](?=[.,]\d)")
"""Nobody calls a skill with so many arguments that higher numbers count."""
_AWK = re.compile(r"\bawk\b[^\n{]{0,80}\{[^}\n]{0,80}?(?<!\\)(?P<field>\$[0-2])(?!\d)")
_STUCK = re.compile(r"(?<=[\w=(:\"'>])!`[^`\n]{1,400}`")


@rule(since="0.1", origin=("agent-files:misread-text",), severity=Severity.WARNING)
def stg3140_misread_text(files: AgentFiles) -> Iterator[Finding]:
    r"""Claude Code changes a text of a skill or a command in another way than its author means.

    ## Why this matters
    `$0` to `$9` are the arguments of a call, also in code and in amounts of money. A command in backticks behind `!`
    runs only at the beginning of a line or behind a blank; elsewhere the model sees its text.

    ## How to fix
    Write `\$1` for a dollar sign that stays. Put a blank before `!`.
    """
    for file in files.of("claude-skill", "claude-command"):
        start = (file.tree.body or (0, 0))[0]
        found = _find_dollar(file, start)
        if found is not None:
            text = quote(file.text[slice(*found)])
            message = f"a call with arguments replaces {text} by one of them"
            yield Finding(Place(file.at.file, range=found), message)
        for stuck in _STUCK.finditer(blank_fences(file.text), start):
            at = Place(file.at.file, range=stuck.span())
            yield Finding(at, "the command does not run: '!' must follow a blank or begin a line")


def _find_dollar(file: AgentFile, start: int) -> tuple[int, int] | None:
    """Return the first dollar sign that is certainly no argument: of an amount, of awk, or in code of a skill."""
    if {"argument-hint", "arguments"} & file.members.keys() or "$ARGUMENTS" in file.text:
        return None
    prose = blank_fences(file.text)
    of_awk = _AWK.search(file.text, start)
    spans = [of_awk.span("field")] if of_awk else []
    spans += [found.span() for found in _MONEY.finditer(file.text, start)][:1]
    if file.kind.name == "claude-skill":
        coded = (each.span() for each in _ARGUMENT.finditer(file.text, start))
        spans += [span for span in coded if prose[slice(*span)].isspace()][:1]
    return min(spans, default=None)
