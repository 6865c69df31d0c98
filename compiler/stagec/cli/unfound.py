"""Explains an empty result: which files a folder has, and what to do."""

from __future__ import annotations

import os
import posixpath
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from shlex import join

from stagec import languages as frontends
from stagec.check.pipeline import Compilation, Project
from stagec.cli.files import name_from_here
from stagec.core.budgets import SearchScope
from stagec.core.failure import Exit, Failure
from stagec.core.nearest import NameIndex, hint, is_slip
from stagec.core.shelf import members
from stagec.core.words import format_count, listing, quote
from stagec.languages import AnyFrontEnd, Flow, FrontEnd
from stagec.languages.agent_files.known import read_data
from stagec.languages.stages.recognise import MARKDOWN
from stagec.sources.discover import Walk, resolve
from stagec.sources.read import Sources

NAMES = {
    "steps_registry.json": "a step registry",
    "pipeline.yaml": "a pipeline",
    "tools.yaml": "a tool catalogue",
    ".mcp.json": "a list of MCP servers",
}
"""The names by which stagec knows files, and what each is; other files are known by what they say."""
AGENT_FOLDERS = (".claude", ".github", ".cursor", ".opencode", ".agents/skills")
"""The folders below which stagec knows the files of other tools by their paths."""
PLANS = ".plan.json"
_MOST = 20_000
"""Files that are looked at; a newcomer who has more of them gets hints about these."""
_SHOWN = 3
_GLANCE = 2_000
"""Bytes of a Markdown file in which its name and its description have to be."""


def list_hints(project: Project) -> list[str]:
    """Return the hints of an empty result: what stagec looks for, similar files, and the next step."""
    survey = _Survey(project)
    others = (
        "orchestrator files '.agent/workflow.json', stage files with frontmatter, stage plans in JSON or YAML, "
        f"and agent files below {listing(AGENT_FOLDERS)}"
    )
    reads = f"stagec reads {listing(NAMES)}, {others}"
    unread = list_unread(project)
    seen = [f"seen and not read: {', '.join(unread)}"] if unread else []
    return [reads, *seen, *survey.hints(), "'stagec init DIR' makes a new project"]


def list_unread(project: Project) -> tuple[str, ...]:
    """Return the known files of other tools that stagec does not read, in the root and in the named folders."""
    name_file = name_from_here(project.root)
    return tuple(f"{quote(name_file(file))} of {owner}" for file, owner in _find_unread(project).items())


def _find_unread(project: Project) -> Mapping[str, str]:
    """Return the tool that owns each of these files."""
    sources = Sources(project.root, project.settings.budgets)
    named = (resolve(project.root, path, ())[0] for path in project.paths if os.path.isdir(path))
    folders = sorted({"", *("" if each == "." else each for each in named)})
    facts = read_data()
    by_tool = {owner: data.get("unread", ()) for owner, data in facts.items()} | facts["other tools"]["unread_by_tool"]
    known = ((owner, name) for owner, names in by_tool.items() for name in names)
    every = ((owner, posixpath.join(folder, name)) for owner, name in known for folder in folders)
    return {file: owner for owner, file in every if sources.exists(file)}


def explain_emptiness(project: Project) -> Failure:
    """Return the failure of a check where no file was found."""
    told = f"nothing to check: {_list_paths(project)} holds nothing that stagec reads"
    return Failure(told, Exit.NOTHING, list_hints(project))


def explain_missing_flow(verb: str, project: Project, compilation: Compilation) -> Failure:
    """Return the failure of a command that needs a flow where none can be read; `verb` says what it would do."""
    command = "stagec validate --no-baseline" if project.settings.baseline else "stagec validate"
    is_known = compilation.diagnostics or (compilation.acceptance is not None and compilation.acceptance.known)
    why = f"; {quote(command)} says why" if is_known else ""
    hints = () if compilation.trees else list_hints(project)
    return Failure(
        f"nothing to {verb}: {_list_paths(project)} holds no flow that can be read{why}", Exit.NOTHING, hints
    )


def choose_flows(wanted: str | None, flows: Iterable[Flow]) -> tuple[Flow, ...]:
    """Return the flows with an id, or all; raise `Failure` when none has it."""
    known = tuple(flows)
    chosen = tuple(flow for flow in known if wanted is None or flow.id == wanted)
    if not chosen:
        names = sorted({flow.id for flow in known})
        near = hint(wanted or "", NameIndex(names)) or f"; there are {listing(names)}"
        raise Failure(f"no flow is called {quote(wanted)}{near}")
    return chosen


def _list_paths(project: Project) -> str:
    paths = project.paths or tuple(project.root / each for each in project.settings.scope.roots)
    return listing([os.path.relpath(path) for path in paths])


class _Survey:
    """The files below the paths that were named, whatever is configured of them."""

    def __init__(self, project: Project) -> None:
        self._sources = Sources(project.root, project.settings.budgets)
        self._name = name_from_here(project.root)
        self._unread = _find_unread(project)
        self._ends: tuple[AnyFrontEnd, ...] = members(frontends, FrontEnd)
        root = project.root.resolve()
        walk = Walk(root, SearchScope(gitignore=False), lambda _: True, lambda _: False)
        paths = project.paths or tuple(root / each for each in project.settings.scope.roots)
        walk.folders(resolve(root, path, ())[0] for path in paths if os.path.isdir(path))
        self._files = list(islice(sorted(walk.files), _MOST))

    def hints(self) -> Iterator[str]:
        """Yield a sentence for each sort of files that somebody may have meant."""
        yield from self._explain_ignored()
        yield from self._explain_near_names()
        yield from self._explain_agents()
        yield from self._explain_plans()

    def _explain_ignored(self) -> Iterator[str]:
        ignored = [file for file in self._files if self._is_read(file)]
        if ignored:
            names = [self._name(file) for file in ignored]
            verb = "is" if len(names) == 1 else "are"
            yield f"{listing(names[:_SHOWN])} {verb} left out by a .gitignore or the configuration"
            yield f"'{_command('validate', names[0])}' checks it all the same; 'stagec config show' prints the settings"

    def _is_read(self, file: str) -> bool:
        return any(
            (each.claims(file) or each.considers(file)) and each.sees(self._sources, file) for each in self._ends
        )

    def _explain_near_names(self) -> Iterator[str]:
        files = (each for each in self._files if each not in self._unread)  # those have their own right name
        near = ((file, known) for file in files for known in NAMES if _is_near(posixpath.basename(file), known))
        for file, known in islice(near, _SHOWN):
            yield f"{quote(self._name(file))} is not read: {NAMES[known]} is called {quote(known)}"

    def _explain_agents(self) -> Iterator[str]:
        found = [file for file in self._files if file.endswith(MARKDOWN) and self._is_agent(file)]
        folders = Counter(posixpath.dirname(file) for file in found)
        for folder, number in folders.most_common(_SHOWN):
            here = self._name(folder or ".")
            command = _command("init", "--from", here, "DIR")
            files = format_count(number, "Markdown file")
            yield f"{quote(here)} has {files} with a name or a description, as agents have: '{command}' converts them"

    def _is_agent(self, file: str) -> bool:
        begin = self._sources.glance(file, _GLANCE).replace(b"\r\n", b"\n")
        return begin.startswith(b"---\n") and (b"\nname:" in begin or b"\ndescription:" in begin)

    def _explain_plans(self) -> Iterator[str]:
        for file in islice((each for each in self._files if each.endswith(PLANS)), _SHOWN):
            named = self._name(file)
            yield f"{quote(named)} is a plan, which is compiled already: '{_command('verify', named)}' checks it"


def _is_near(name: str, known: str) -> bool:
    """Tell whether a name is another with a slip in it, or with another suffix."""
    if name == known:
        return False
    stem, suffix = posixpath.splitext(name)
    return is_slip(name, known) or (
        suffix in {".json", ".yaml", ".yml", ".toml"} and stem.replace("-", "_") == posixpath.splitext(known)[0]
    )


def _command(*words: str) -> str:
    return join(["stagec", *words])
