"""Apply fixes: select those that do not conflict, edit the texts of the files, and keep the edits that help.

A fix is made only if the project has fewer findings with it, and none that it did not have before. A file that could
not be read is an exception: what was hidden in it may show.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from stagec.check.findings import MOST
from stagec.check.pipeline import Compilation, Project, compile_project, judge_again
from stagec.core.diagnostic import Change, Diagnostic, Edit
from stagec.core.value import NOTHING, replace, value
from stagec.sources.read import BOM, revise
from stagec.sources.tree import Tree

_TRIES = 200
"""How often a project is judged with some of its fixes, before those that are left are given up."""


@value
class FixedProject:
    """A project with its fixes made: what remains wrong, each changed file before and after, and counts of findings.

    `settled` have gone. `refused` have a fix that was not made, because more or other findings would be there with it;
    in the compilation they have none. `guessable` have a fix that is not safe, where nobody asked for such.
    """

    compilation: Compilation
    before: Mapping[str, bytes]
    after: Mapping[str, bytes]
    settled: int
    refused: int
    guessable: int


def fix_project(project: Project, *, guesses: bool = False, file: str | None = None) -> FixedProject:
    """Make every fix of a project that leaves it better, again and again until none is left; nothing is written.

    With `file`, only the findings in this file are fixed.
    """
    rounds = _Rounds(project, guesses=guesses, file=file)
    rounds.make_all()
    return rounds.conclude()


def choose_fixes(diagnostics: Iterable[Diagnostic], trees: Mapping[str, Tree]) -> list[Diagnostic]:
    """Return the diagnostics whose fixes can be made together; of two that touch each other it is the first."""
    chosen: list[Diagnostic] = []
    taken = _Taken()
    for each in diagnostics:
        edits = each.fix.edits if each.fix else ()
        if not edits or any(edit.at.file not in trees for edit in edits):
            continue
        fresh = [edit for edit in edits if not taken.has(edit)]
        if not any(taken.touches(edit) for edit in fresh):
            chosen.append(each)
            for edit in fresh:
                taken.add(edit)
    return chosen


def list_edits(diagnostics: Iterable[Diagnostic]) -> Mapping[str, list[Edit]]:
    """Return the edits of all fixes by file, each once."""
    edits = {_identify(edit): edit for each in diagnostics if each.fix for edit in each.fix.edits}
    files: dict[str, list[Edit]] = {}
    for edit in edits.values():
        files.setdefault(edit.at.file, []).append(edit)
    return files


def make_edits(edits: Mapping[str, Sequence[Edit]], trees: Mapping[str, Tree]) -> dict[str, tuple[bytes, bytes]]:
    """Return the bytes of every file that edits change, before and after; raises ValueError for what cannot be made."""
    files: dict[str, tuple[bytes, bytes]] = {}
    for file, wanted in edits.items():
        tree, rest = trees[file], [edit for edit in wanted if not _is_of_mark(edit)]
        text = tree.data.decode(errors="surrogateescape")
        after = (tree.format.apply(text, rest) if rest else text).encode(errors="surrogateescape")
        mark = BOM if any(tree.about("byte-order-mark")) else b""
        before = mark + tree.data
        after = after if any(map(_is_of_mark, wanted)) else mark + after
        if after != before:
            files[file] = before, after
    return files


def _is_of_mark(edit: Edit) -> bool:
    """Tell whether an edit takes the byte order mark of a file away."""
    return edit.change is Change.REMOVE and edit.at.range == (0, 0)


@value
class _Standing:
    """A project at one moment: the findings that are shown, and all findings, also of rules that are not selected."""

    project: Project
    shown: Compilation
    known: tuple[Diagnostic, ...]

    @classmethod
    def of(cls, project: Project) -> _Standing:
        shown, settings = compile_project(project), project.settings
        if settings.selects_nothing:
            return cls(project, shown, shown.diagnostics)
        declared = replace(settings, select=None, extend_select=(), ignore=(), severity=NOTHING)
        every = judge_again(replace(project, settings=declared), shown)
        return cls(project, shown, (*shown.diagnostics, *every.diagnostics))

    def is_better(self, after: _Standing, settled: Sequence[Diagnostic]) -> bool:
        """Tell whether every rule says less by what was settled, of each file and in all, or as much where nothing was.

        What is said in the same words may have moved to another file. A file that becomes readable shows its own
        errors, and those of its users, for the first time.
        """
        if any(_is_of_broken_file(each, self.shown.trees) for each in settled):
            return True
        told = {(each.code, each.message) for each in self.known}
        fresh = [each for each in after.known if (each.code, each.message) not in told]
        return _is_within(after.known, self.known, settled, by_file=False) and _is_within(
            fresh, self.known, settled, by_file=True
        )


class _Rounds:
    """Makes fixes round by round; each round takes as many as can be made together."""

    def __init__(self, project: Project, *, guesses: bool, file: str | None) -> None:
        self._guesses = guesses
        self._file = file
        self._now = _Standing.of(project)
        self._before: dict[str, bytes] = {}
        self._after: dict[str, bytes] = {}
        self._settled = 0
        self._tries = _TRIES

    def make_all(self) -> None:
        """Make fixes until none leaves the project better: of broken files first, for these hide what else is wrong."""
        while step := self._find_step():
            for file, (old, new) in step.files.items():
                self._before.setdefault(file, old)
                self._after[file] = new
            self._settled += len(step.made)
            self._now = step.standing

    def conclude(self) -> FixedProject:
        """Return the fixed project."""
        shown = self._now.shown
        told = Counter(self._is_asked_for(each) for each in shown.diagnostics if each.fix)
        left = tuple(replace(each, fix=None) if self._is_asked_for(each) else each for each in shown.diagnostics)
        compilation = replace(shown, diagnostics=left)
        return FixedProject(compilation, self._before, self._after, self._settled, told[True], told[False])

    def _is_asked_for(self, each: Diagnostic) -> bool:
        is_near = self._file is None or each.at.file == self._file
        return is_near and each.fix is not None and (each.fix.is_safe or self._guesses)

    def _find_step(self) -> _Step | None:
        """Return as many fixes as leave the project better together; what they touch is tried if none of them does."""
        trees = self._now.shown.trees
        wanted = [each for each in self._now.shown.diagnostics if self._is_asked_for(each)]
        waiting = sorted(wanted, key=lambda each: not _is_of_broken_file(each, trees))
        while chosen := choose_fixes(waiting, trees):
            broken = [each for each in chosen if _is_of_broken_file(each, trees)]
            step = self._search(broken or chosen)
            if step is not None:
                return step
            tried = {id(each) for each in broken or chosen}
            waiting = [each for each in waiting if id(each) not in tried]
        return None

    def _search(self, chosen: Sequence[Diagnostic]) -> _Step | None:
        whole = self._try(chosen)
        if whole is not None or len(chosen) <= 1:
            return whole
        middle = len(chosen) // 2
        first, second = self._search(chosen[:middle]), self._search(chosen[middle:])
        if first is None or second is None:
            return first or second
        return self._try([*first.made, *second.made]) or first

    def _try(self, chosen: Sequence[Diagnostic]) -> _Step | None:
        """Return the project with some fixes made, if it is better for it."""
        if not (chosen and self._tries):
            return None
        self._tries -= 1
        now, edits = self._now, list_edits(chosen)
        try:
            files = make_edits(edits, now.shown.trees)
            if files.keys() != edits.keys():
                return None
            overlay = {**now.project.overlay, **{file: new for file, (_, new) in files.items()}}
            after = _Standing.of(replace(now.project, overlay=overlay))
            is_exact = all(_is_exact(edits[file], now.shown.trees[file], after.shown.trees.get(file)) for file in files)
        except ValueError:  # a text in which these places cannot be changed alone
            return None
        return _Step(chosen, files, after) if is_exact and now.is_better(after, chosen) else None


@value
class _Step:
    """Fixes that were made together, the files with them, and the project as it then is."""

    made: Sequence[Diagnostic]
    files: Mapping[str, tuple[bytes, bytes]]
    standing: _Standing


def _is_exact(edits: Iterable[Edit], before: Tree, after: Tree | None) -> bool:
    """Tell whether a file means what it meant before but for the edits; of a broken file, whether it is whole now."""
    if after is None or not before.readable:
        return after is not None and after.readable
    return after.value == revise(before.value, (edit for edit in edits if edit.at.range is None))


def _is_within(
    after: Iterable[Diagnostic], before: Iterable[Diagnostic], settled: Iterable[Diagnostic], *, by_file: bool
) -> bool:
    room = _count_findings(before, by_file=by_file)
    room.subtract((each.code, each.at.file if by_file else "") for each in settled)
    return all(number <= room[subject] for subject, number in _count_findings(after, by_file=by_file).items())


def _is_of_broken_file(each: Diagnostic, trees: Mapping[str, Tree]) -> bool:
    return each.fix is not None and any(not trees[edit.at.file].readable for edit in each.fix.edits)


def _count_findings(diagnostics: Iterable[Diagnostic], *, by_file: bool) -> Counter[tuple[str, str]]:
    """Return how often each rule speaks of each file, or in all; of a crowd those count that are left out, too."""
    every = tuple(diagnostics)
    shown = Counter((each.code, each.at.file if by_file else "") for each in every)
    for each in every:
        subject = each.code, each.at.file if by_file else ""
        if each.folded and shown[subject] >= MOST:
            shown[subject] += each.folded
    return shown


class _Taken:
    """The edits chosen so far, indexed for the question whether another one touches any of them."""

    def __init__(self) -> None:
        self._edits: set[tuple[object, ...]] = set()
        self._places: set[tuple[object, ...]] = set()
        self._ancestors: set[tuple[object, ...]] = set()

    def has(self, edit: Edit) -> bool:
        """Tell whether the very same edit was chosen already."""
        return _identify(edit) in self._edits

    def touches(self, edit: Edit) -> bool:
        """Tell whether a chosen edit lies at, inside or around a place that this one needs."""
        return any(self._near(place) for place in _list_places(edit))

    def add(self, edit: Edit) -> None:
        """Remember an edit as chosen."""
        self._edits.add(_identify(edit))
        for place in _list_places(edit):
            self._places.add(place)
            self._ancestors.update(place[:length] for length in range(1, len(place)))

    def _near(self, place: tuple[object, ...]) -> bool:
        around = any(place[:length] in self._places for length in range(1, len(place) + 1))
        return around or place in self._ancestors


def _list_places(edit: Edit) -> Iterable[tuple[object, ...]]:
    """Yield the place of an edit and, where a member is renamed, the place it will have."""
    place = (edit.at.file, *edit.at.pointer)
    yield (edit.at.file, edit.change, edit.at.range) if edit.change is Change.WRITE else place
    if edit.change is Change.RENAME:
        yield (*place[:-1], edit.value)


def _identify(edit: Edit) -> tuple[object, ...]:
    return edit.change, edit.at.file, edit.at.pointer, edit.at.range, repr(edit.value)
