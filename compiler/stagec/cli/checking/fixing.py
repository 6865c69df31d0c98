"""The fixes of a project: written to its files, or shown as a patch."""

from __future__ import annotations

from pathlib import Path

from stagec.check.fixes import FixedProject, fix_project
from stagec.check.pipeline import Compilation, Project
from stagec.cli.files import name_from_here, write_files
from stagec.cli.patch import print_patch
from stagec.cli.streams import say, show_progress
from stagec.core.failure import Exit
from stagec.core.words import format_count, visible


def fix_files(project: Project, *, guesses: bool, quiet: bool) -> Compilation:
    """Write the fixes of a project to its files, say which these are, and return what is left."""
    fixed = _fix(project, guesses=guesses)
    write_files(project.root, fixed.after, fixed.before)
    if not quiet:
        _say_what_changed(fixed, project.root, "Fixed")
    return fixed.compilation


def show_changes(project: Project, *, guesses: bool, quiet: bool) -> Exit:
    """Print the changes that fixes make as a patch, and return whether there are any."""
    fixed = _fix(project, guesses=guesses)
    print_patch({file: (fixed.before[file], after) for file, after in fixed.after.items()})
    if not quiet:
        _say_what_changed(fixed, project.root, "Would fix")
    return Exit.FINDINGS if fixed.after else Exit.CLEAN


def _fix(project: Project, *, guesses: bool) -> FixedProject:
    with show_progress("checking …"):
        return fix_project(project, guesses=guesses)


def _say_what_changed(fixed: FixedProject, root: Path, what: str) -> None:
    named = [visible(file) for file in sorted(map(name_from_here(root), fixed.after))]
    where = f" in {named[0]}" if len(named) == 1 else " in:" if named else ""
    lines = [f"{what} {format_count(fixed.settled, 'finding')}{where}"]
    lines += [f"  {file}" for file in named if len(named) > 1]
    if fixed.refused:
        lines.append(f"Left {format_count(fixed.refused, 'finding')} whose fix would lead to others")
    if fixed.guessable:
        lines.append(f"--unsafe-fixes would fix {format_count(fixed.guessable, 'finding')} more")
    for line in lines:
        say(line)
