"""A migration for people: what changes in each file, and what is left to decide."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from stagec.core.place import Place, Pointer, Position, pointer_text
from stagec.core.words import format_count, visible
from stagec.migration import Migration
from stagec.sources.read import BOM

_PLACES = 3
"""How many places of the same change are named."""


def list_changes(found: Migration, name: Callable[[str], str]) -> str:
    """Return the certain changes by file, each with the places at which it is made."""
    lines: list[str] = []
    for file in dict.fromkeys(each.at.file for each in found.rewrites):
        lines.append(visible(name(file)))
        places: dict[str, list[Pointer]] = {}
        for each in found.rewrites:
            if each.at.file == file:
                places.setdefault(each.what, []).append(each.at.pointer)
        lines += [f"  {visible(what)}: {', '.join(_shorten(where))}" for what, where in places.items()]
    lines += [f"{visible(name(file))} (new)" for file in found.created]
    return "".join(f"{line}\n" for line in lines)


def _shorten(where: list[Pointer]) -> Iterator[str]:
    yield from (visible(pointer_text(each)) or "/" for each in where[:_PLACES])
    if len(where) > _PLACES:
        yield f"{len(where) - _PLACES} more"


def list_decisions(found: Migration, name: Callable[[str], str], *, is_written: bool) -> str:
    """Return what a person must decide: equal questions of a file together, each place with its line."""
    groups: dict[tuple[str, str, str], list[Place]] = {}
    for each in found.decisions:
        groups.setdefault((each.at.file, each.what, each.proposal), []).append(each.at)
    if not groups:
        return ""
    positions = find_positions(found, is_written=is_written)
    lines = ["to decide:"]
    for (file, what, proposal), places in groups.items():
        for at in places:
            row = f"{positions[at].line}:{positions[at].column} {visible(pointer_text(at.pointer))}"
            lines.append(f"  {visible(name(file))}:{row}".rstrip())
        lines += [f"    {visible(what)}", f"    proposal: {visible(proposal)}"]
    return "".join(f"{line}\n" for line in lines)


def find_positions(found: Migration, *, is_written: bool) -> dict[Place, Position]:
    """Return where the places of decisions are in their files, as they were or as they have been written."""
    wanted: dict[str, list[Place]] = {}
    for each in found.decisions:
        wanted.setdefault(each.at.file, []).append(each.at)
    positions: dict[Place, Position] = {}
    for file, places in wanted.items():
        tree = found.trees[file]
        data = found.after[file].removeprefix(BOM) if is_written and file in found.after else tree.data
        positions |= {at: span.start for at, span in tree.format.locate(data, places).items()}
    return positions


def count(found: Migration, *, is_written: bool) -> str:
    """Return one line about all of it."""
    if not (found.rewrites or found.decisions or found.unreadable):
        return "nothing to migrate: everything has the form of 1.14"
    verb = "made" if is_written else "to make"
    new = f", {format_count(len(found.created), 'new file')}" if found.created else ""
    made = f"{format_count(len(found.rewrites), 'change')} {verb} in {format_count(len(found.after), 'file')}{new}"
    return f"{made}; {format_count(len(found.decisions), 'decision')} left to you"
