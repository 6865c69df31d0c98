"""The open projects of an editor, with unsaved texts, and the thread that checks them after each change."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from threading import Condition, Lock, Thread

from stagec.change.flow_tests.document import is_flow_test
from stagec.change.flow_tests.witness import search_briefly
from stagec.check.pipeline import Compilation, Project, compile_project, judge_again
from stagec.core.change_watch import ChangeWatch
from stagec.core.collector import collect_above
from stagec.core.diagnostic import Diagnostic, Severity
from stagec.core.failure import Failure
from stagec.core.memo import KeptAnswers, Memo, OutwornError
from stagec.core.observations import Recording, is_file, read_whole, resolve
from stagec.core.value import replace, value
from stagec.ir.flow import Flow, SearchedFlow
from stagec.ir.plan import Plan
from stagec.lsp.positions import TextChange, TextLines, change_text
from stagec.sources.discover import FileWish, discover
from stagec.sources.project.find import configuration_in
from stagec.sources.read import Sources
from stagec.sources.tree import Tree

LoadProject = Callable[[Path], Project]
"""Returns the project of a folder or a file, with its configuration and its baseline."""

_BOM = "\ufeff"
_LARGEST = 100_000_000
"""Bytes of a file that is compared with the text of an editor."""


class SupersededError(Exception):
    """A check was given up, because it would answer a question that nobody asks any more."""


def _continue() -> None:
    pass


class CheckedProject:
    """One project and what came of its last check; `failure` says why it cannot be checked at all."""

    def __init__(self, root: str, project: Project | None, failure: str = "") -> None:
        self.root = root
        self.project = project
        self.failure = failure
        self.compilation: Compilation | None = None
        self.overlay: Mapping[str, bytes] = {}
        self.watch: ChangeWatch | None = None
        self.memo = Memo()
        self.kept = KeptAnswers()
        self._searched: dict[str, tuple[Plan, SearchedFlow]] = {}
        self._searched_before: Mapping[str, tuple[Plan, SearchedFlow]] = {}
        self._lines: dict[str, TextLines] = {}

    def find_tree(self, file: str) -> Tree | None:
        """Return a file as it was read for the project; of flow tests those that its flows have."""
        known = {} if self.compilation is None else self.compilation.trees
        return known.get(file) or self.memo.once("flow tests", self._read_flow_tests).get(file)

    def list_flow_tests(self) -> tuple[Tree, ...]:
        """Return the files of flow tests of the project."""
        return tuple(self.memo.once("flow tests", self._read_flow_tests).values())

    def _read_flow_tests(self) -> Mapping[str, Tree]:
        if self.project is None or self.compilation is None:
            return {}
        project = self.as_open()
        try:
            found = discover(project.root, (), project.settings.scope, (FileWish(is_flow_test),), project.overlay)
        except Failure:  # such as a root that is not there any more
            return {}
        sources = Sources(project.root, project.settings.budgets, project.overlay)
        trees = (sources.tree(file, "flow test") for file in found.claimed[0])
        return {tree.file: tree for tree in trees if tree is not None}

    def lines(self, file: str) -> TextLines:
        """Return the lines of a file as it was read; of one that was not read those of an empty text."""
        if file not in self._lines:
            tree = self.find_tree(file)
            data = b"" if tree is None else tree.data
            self._lines[file] = TextLines(data.decode(errors="replace"))
        return self._lines[file]

    def path(self, file: str) -> str:
        """Return the path of a file of the project."""
        return os.path.join(self.root, file)

    def holds(self, path: str) -> bool:
        """Tell whether a path lies below the root of the project."""
        return path.startswith(self.root.rstrip(os.sep) + os.sep)

    def name(self, path: str) -> str:
        """Return a path as the project calls the file."""
        return os.path.relpath(path, self.root).replace(os.sep, "/")

    def as_open(self) -> Project:
        """Return the project with the texts of the editor, as they were checked."""
        if self.project is None:
            raise Failure(self.failure)
        return replace(self.project, overlay=self.overlay)

    def is_like(self, other: CheckedProject) -> bool:
        """Tell whether another one is the same project with the same configuration."""
        return (self.root, self.project, self.failure) == (other.root, other.project, other.failure)

    def has_read(self, path: str) -> bool:
        """Tell whether a file was read for the project."""
        return self.compilation is not None and self.holds(path) and self.name(path) in self.compilation.trees

    def find_overlay(self, texts: Mapping[str, str], untouched: frozenset[str]) -> Mapping[str, bytes]:
        """Return the texts of a project that differ from what is on the disk, by file."""
        return {
            self.name(path): text.encode(errors="replace")
            for path, text in texts.items()
            if self.holds(path) and not _is_on_disk(path, text, is_untouched=path in untouched)
        }

    def compile(
        self,
        overlay: Mapping[str, bytes],
        pause: Callable[[], None],
        tell: Callable[[CheckedProject], None] | None = None,
    ) -> CheckedProject:
        """Return the project as it is with some texts in place of files.

        `tell` gets the project with the findings of rules before the slow searches for runs and swapped values, unless
        the last search found something: a finding that stays must not vanish for a moment.
        """
        fresh = CheckedProject(self.root, self.project, self.failure)
        if self.project is None:
            return fresh
        fresh.overlay, fresh.kept, fresh._searched_before = overlay, self.kept, self._searched
        has_lost = any(found.lost for _, found in self._searched.values())
        has_lost = has_lost or (self.compilation is not None and self.compilation.has_swap)
        is_told = tell is not None and self.compilation is not None and not has_lost
        fresh.kept.begin()
        with Recording() as seen:
            try:
                try:
                    fresh._compile(pause, tell if is_told else None)
                except OutwornError:
                    fresh.kept.forget_work()
                    fresh.kept.begin()
                    fresh._compile(pause)
            except Failure as failure:  # such as a root of the configuration that is not there
                fresh.failure = str(failure)
        fresh.kept.finish()
        fresh.watch = ChangeWatch(seen.observations)
        return fresh

    def _compile(self, pause: Callable[[], None], tell: Callable[[CheckedProject], None] | None = None) -> None:
        """Compile the project, and tell what the rules have found before runs and swaps are searched."""
        project = self.as_open()
        if tell is None:
            self.compilation = compile_project(project, self._search, pause, self.kept)
        else:
            self.compilation = compile_project(project, None, pause, self.kept, folds_swaps=False)
            tell(self)
            pause()
            self.compilation = judge_again(project, self.compilation, self._search, pause)

    def _search(self, flow: Flow, plan: Plan) -> SearchedFlow:
        """Search the runs of a flow, unless that was done for the same plan."""
        known = self._searched_before.get(flow.at.file)
        found = known[1] if known is not None and known[0] == plan else search_briefly(flow, plan)
        self._searched[flow.at.file] = plan, found
        return replace(found, flow=flow)

    def has_changed(self) -> bool:
        """Tell whether something that was looked at is another one now."""
        if self.watch is not None and self.watch.has_changed():
            self.watch = None  # the watch tells it only once
        return self.watch is None and self.project is not None

    @property
    def has_configuration(self) -> bool:
        """Whether a configuration lies in the root, be it a wrong one."""
        try:
            return configuration_in(self.root) is not None
        except Failure:
            return True

    @property
    def errors(self) -> tuple[Diagnostic, ...]:
        """The findings that are errors."""
        return tuple(each for each in self.found if each.severity is Severity.ERROR)

    @property
    def found(self) -> tuple[Diagnostic, ...]:
        """The findings of the project."""
        return () if self.compilation is None else self.compilation.diagnostics


class Workspace:
    """Folders and texts that an editor has open. One thread may change them while another one checks.

    Each folder is a project, as `stagec validate` finds it when it is started there; so is the nearest configuration of
    each open text. `last` are the projects as they were checked last.
    """

    def __init__(self, load: LoadProject) -> None:
        self._load = load
        self._folders: tuple[str, ...] = ()
        self._texts: dict[str, str] = {}
        self._untouched: set[str] = set()
        self._checking = Lock()
        self._starts: tuple[str, ...] | None = None
        self._start_watch: ChangeWatch | None = None
        self._projects: tuple[CheckedProject, ...] = ()
        self._readable: dict[str, CheckedProject] = {}
        self.last: tuple[CheckedProject, ...] = ()

    def open_folders(self, folders: Iterable[str]) -> None:
        """Take the place of the folders that were open."""
        self._folders = tuple(dict.fromkeys(resolve(each) for each in folders))

    @property
    def folders(self) -> tuple[str, ...]:
        """The open folders."""
        return self._folders

    def open_text(self, path: str, text: str) -> None:
        """Take the text of an editor for the text of a file."""
        real = find_real(path)
        self._texts[real] = text.removeprefix(_BOM)
        self._untouched.add(real)

    def change_text(self, path: str, changes: Sequence[TextChange]) -> None:
        """Change an open text."""
        real = find_real(path)
        self._texts[real] = change_text(self._texts.get(real, ""), changes)
        self._untouched.discard(real)

    def save_text(self, path: str) -> None:
        """Note that an open text is now on the disk."""
        self._untouched.add(find_real(path))

    def close_text(self, path: str) -> None:
        """Take the text on the disk for the text of a file again."""
        real = find_real(path)
        self._texts.pop(real, None)
        self._untouched.discard(real)

    def find_text(self, path: str) -> str | None:
        """Return the text of a file: of the editor, else of the disk; None where there is none."""
        real = find_real(path)
        if real in self._texts:
            return self._texts[real]
        data = _read(real)
        return None if data is None else data.decode(errors="replace").removeprefix(_BOM)

    def check(
        self,
        pause: Callable[[], None] = _continue,
        tell: Callable[[tuple[CheckedProject, ...]], None] | None = None,
    ) -> tuple[CheckedProject, ...]:
        """Check what has changed since the last check, and return all projects.

        `pause` is called again and again; what it raises ends the check, and the next one does its work. `tell` is
        given all projects as soon as the rules have judged, before the runs of flows are searched.
        """
        with self._checking:
            texts, untouched = dict(self._texts), frozenset(self._untouched)
            self._load_projects(texts)
            for index, each in enumerate(self._projects):
                overlay = each.find_overlay(texts, untouched)
                if each.compilation is None or overlay != each.overlay or each.has_changed():
                    begin, end = self._projects[:index], self._projects[index + 1 :]
                    early = None if tell is None else partial(_tell_among, tell, begin, end)
                    self._projects = (*begin, each.compile(overlay, pause, early), *end)
            self.last = self._projects
            self._note_readable(texts)
            return self.last

    def find_readable(self, path: str) -> CheckedProject | None:
        """Return the project of a file as it was when the file could be read last, else as it is."""
        return self._readable.get(find_real(path)) or self.find_project(path)

    def _note_readable(self, texts: Mapping[str, str]) -> None:
        self._readable = {path: each for path, each in self._readable.items() if path in texts}
        for path in texts:
            project = self.find_project(path)
            tree = None if project is None else project.find_tree(project.name(path))
            if project is not None and tree is not None and tree.readable:
                self._readable[path] = project

    def has_changed_outside(self) -> bool:
        """Tell whether something that was looked at has changed on the disk since the last check."""
        with self._checking:
            return self._have_starts_changed() or any(each.has_changed() for each in self._projects)

    def find_project(self, path: str) -> CheckedProject | None:
        """Return the innermost project that holds a file, as it was checked last."""
        return choose_project(self.last, find_real(path))

    def _have_starts_changed(self) -> bool:
        if self._start_watch is not None and self._start_watch.has_changed():
            self._starts = None  # the watch tells it only once
        return self._starts is None

    def _load_projects(self, texts: Mapping[str, str]) -> None:
        folders = self._folders
        starts = (*folders, *sorted({os.path.dirname(path) for path in texts}))
        if starts == self._starts and not self._have_starts_changed():
            return
        with Recording() as seen:
            found = tuple(self._list_projects(starts, len(folders)))
        self._projects = tuple(next(filter(each.is_like, self._projects), each) for each in found)
        self._start_watch = ChangeWatch(seen.observations)
        self._starts = starts

    def _list_projects(self, starts: Iterable[str], folders: int) -> Iterator[CheckedProject]:
        """Yield the projects of so many folders, and of the folders of texts that belong to none of these."""
        found: list[CheckedProject] = []
        for number, start in enumerate(starts):
            try:
                project = self._load(Path(start))
                each = CheckedProject(resolve(project.root), project)
            except Failure as failure:
                each = CheckedProject(start, None, str(failure))
            # a text without a nearer configuration belongs to the folder that holds it
            is_held = any(start == other.root or other.holds(start) for other in found)
            is_own = not is_held or (each.project is not None and each.has_configuration)
            is_new = not any(each.root == other.root for other in found)
            if number < folders or (is_own and is_new):
                found.append(each)
                yield each


def _tell_among(
    tell: Callable[[tuple[CheckedProject, ...]], None],
    begin: tuple[CheckedProject, ...],
    end: tuple[CheckedProject, ...],
    fresh: CheckedProject,
) -> None:
    tell((*begin, fresh, *end))


def choose_project(projects: Iterable[CheckedProject], path: str) -> CheckedProject | None:
    """Return the innermost of some projects that holds a path; of several the first that has read it."""
    held = [each for each in projects if each.holds(path)]
    return max(held, key=lambda each: (len(each.root), each.has_read(path)), default=None)


@value
class FileFindings:
    """The findings in one file, with the project whose lines the places count."""

    project: CheckedProject
    file: str
    found: tuple[Diagnostic, ...]


def list_findings(projects: Sequence[CheckedProject]) -> Mapping[str, FileFindings]:
    """Return the findings of each file by its path; of nested projects the inner one counts."""
    files: dict[str, FileFindings] = {}
    for each in projects:
        by_file: dict[str, list[Diagnostic]] = {}
        for diagnostic in each.found:
            by_file.setdefault(diagnostic.at.file, []).append(diagnostic)
        for file, found in by_file.items():
            path = each.path(file)
            inner = choose_project(projects, path)
            if inner is None or inner.root != each.root:
                continue
            told = files[path].found if path in files else ()
            files[path] = FileFindings(each, file, (*told, *(one for one in found if one not in told)))
    return files


def find_real(path: str) -> str:
    """Return a path without links on the way; a link at its end stays."""
    folder, name = os.path.split(os.path.abspath(path))
    return os.path.join(resolve(folder), name)


def _is_on_disk(path: str, text: str, *, is_untouched: bool) -> bool:
    data = _read(path)
    if data is None:
        return False
    try:
        return data.decode().removeprefix(_BOM) == text
    except UnicodeDecodeError:  # an editor shows something else than the bytes of the file
        return is_untouched


def _read(path: str) -> bytes | None:
    try:
        return read_whole(resolve(path), _LARGEST) if is_file(path) else None
    except (OSError, ValueError):
        return None


QUIET = 0.002
"""Seconds without a change before a check begins."""
_LOOK = 1.0
"""Seconds between two looks at the disk."""
_LONGEST = 2.0
"""Seconds after which a check is finished although the texts change: who types on and on sees findings, too."""

_FEW, _MANY = 10_000, 300_000
"""New objects after which memory is freed: while nobody waits for findings, and at last between two checks."""

Told = Callable[[Sequence[CheckedProject]], None]


class Checker:
    """Checks a workspace whenever somebody asks, and when something has changed outside of the editor.

    `tell` is given the projects when the rules have judged them, and after each complete check, in the thread of the
    checker. A check is given up when somebody asks again. `blame` gets each unexpected exception; the next
    check begins from the start.
    """

    def __init__(
        self, workspace: Workspace, tell: Told, blame: Callable[[Exception], None], quiet: float = QUIET
    ) -> None:
        self._workspace = workspace
        self._tell = tell
        self._blame = blame
        self._quiet = quiet
        self._changed = Condition()
        self._asked = 0
        self._done = 0
        self._asked_at = 0.0
        self._is_ended = False
        self.given_up = 0
        self._thread = Thread(target=self._work, name="checker", daemon=True)

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def ask(self) -> None:
        """Ask for a check of what is open now."""
        with self._changed:
            if self._done == self._asked:
                self._asked_at = time.monotonic()
            self._asked += 1
            self._changed.notify_all()

    def end(self) -> None:
        """End the thread, and what it does."""
        with self._changed:
            self._is_ended = True
            self._changed.notify_all()
        if self._thread.is_alive():
            self._thread.join()

    def _work(self) -> None:
        while not self._is_ended:
            try:
                asked = self._wait()
                if asked is not None:
                    self._check(asked)
            except Exception as error:  # the editor has to go on, whatever a text makes the compiler raise
                self._done = self._asked
                self._blame(error)

    def _wait(self) -> int | None:
        """Wait until a check is due, and return for which question; None when there is nothing to do yet."""
        with self._changed:
            if self._done == self._asked and not self._is_ended:
                self._changed.wait(_LOOK)
            is_idle = self._done == self._asked
            if self._done != self._asked:
                self._settle()
                return self._asked
        if is_idle:
            collect_above(_FEW)
        if self._workspace.has_changed_outside():
            self.ask()
        return None

    def _settle(self) -> None:
        """Wait until nobody asks again for a moment."""
        begin = time.monotonic()
        while time.monotonic() - begin < _LONGEST and not self._is_ended:
            before = self._asked
            self._changed.wait(self._quiet)
            if self._asked == before:
                return

    def _check(self, asked: int) -> None:
        is_late = time.monotonic() - self._asked_at > _LONGEST

        def pause() -> None:
            if self._is_ended or (self._asked != asked and not is_late):
                raise SupersededError

        try:
            found = self._workspace.check(pause, self._tell)
        except SupersededError:
            self.given_up += 1
            return
        self._done = asked
        self._asked_at = time.monotonic()
        self._tell(found)
        collect_above(_MANY)
