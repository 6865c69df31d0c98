"""One drawing of two versions of a flow: added, removed, changed and unchanged parts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from stagec.core.value import NOTHING, replace, value
from stagec.core.words import quote
from stagec.views.picture.document import Box, Fate, Line, Picture, Role, box_of, list_fates
from stagec.views.picture.draw import keep_near


@value
class Told:
    """Notes on changes beyond the drawings: sentences of nodes by name, and those of the whole flow.

    `by_move` are sentences of the moves from a node, which its lines show where they can. `is_known` is false where the
    flow could not be compared: then the details of nodes tell what they can. `renamed` are the new names of nodes that
    are called otherwise and are else as they were.
    """

    by_node: Mapping[str, tuple[str, ...]] = NOTHING
    flow: tuple[str, ...] = ()
    by_move: Mapping[str, tuple[str, ...]] = NOTHING
    is_known: bool = True
    renamed: Mapping[str, str] = NOTHING
    remarks: tuple[str, ...] = ()


def lay_over(old: Picture | None, new: Picture | None, told: Told, against: str) -> Picture:
    """Return one drawing of two, one of which may be absent; `against` is what people call the older side."""
    if old is None or new is None:
        return _draw_alone(old, new, against)
    before = _rename(old, new, told.renamed)
    lines = tuple(_merge_lines(before.lines, new.lines))
    seen = {end for line in lines if line.fate is not Fate.SAME for end in (line.source, line.target)}
    unseen = {name: said for name, said in told.by_move.items() if box_of(name) not in seen}
    boxes = dict(_merge_boxes(before, new, replace(told, by_move=unseen)))
    drawn = replace(new, boxes=boxes, lines=lines, changes=told.flow)
    drawn = replace(drawn, fate=Fate.CHANGED if told.flow or list_fates([drawn]) else Fate.SAME)
    return replace(drawn, remarks=(*_sum_up(drawn, against, told), *new.remarks))


def focus_changes(picture: Picture, depth: int) -> Picture:
    """Return the surroundings of changed boxes and lines; a drawing without any stays as it is."""
    lines = (each for each in picture.lines if each.fate is not Fate.SAME)
    ends = (name for line in lines for name in (line.source, line.target))
    changed = dict.fromkeys((*(name for name, box in picture.boxes.items() if box.fate is not Fate.SAME), *ends))
    return keep_near(picture, changed, depth, "all changes") if changed else picture


def _draw_alone(old: Picture | None, new: Picture | None, against: str) -> Picture:
    fate = Fate.ADDED if old is None else Fate.REMOVED
    picture = new or old or Picture("", "", {}, ())
    return replace(
        picture,
        boxes={name: replace(box, fate=fate) for name, box in picture.boxes.items()},
        lines=tuple(replace(line, fate=fate) for line in picture.lines),
        fate=fate,
        remarks=(f"compared with {against}: the flow is {fate}", *picture.remarks),
    )


def _sum_up(picture: Picture, against: str, told: Told) -> Iterator[str]:
    """Yield the summary of all boxes and lines together."""
    nodes = [box.fate for box in picture.boxes.values() if box.role is Role.NODE]
    lines = [line.fate for line in picture.lines]
    fates = (Fate.ADDED, Fate.REMOVED, Fate.CHANGED)
    counted = [", ".join(f"{some.count(fate)} {fate}" for fate in fates if fate in some) for some in (nodes, lines)]
    counted = [f"{noun} {told}" if told else "" for noun, told in zip(("nodes", "lines"), counted, strict=True)]
    summary = "; ".join(filter(None, counted)) or ("see below" if told.flow else "nothing has changed")
    yield f"compared with {against}: {summary}"
    yield from told.remarks
    if not told.is_known:
        yield "a side has errors, or no plan: what differs inside of nodes is not all known"


def _rename(old: Picture, new: Picture, renamed: Mapping[str, str]) -> Picture:
    """Return the older drawing with the ids that its boxes have in the newer one."""
    ids = {box_of(one): box_of(other) for one, other in renamed.items()}
    ids |= {f"start:{one}": f"start:{other}" for one, other in renamed.items()}
    ids |= _match_choices(old, new, ids)
    boxes = {ids.get(name, name): replace(box, id=ids.get(name, name)) for name, box in old.boxes.items()}
    lines = (
        replace(each, source=ids.get(each.source, each.source), target=ids.get(each.target, each.target))
        for each in old.lines
    )
    return replace(old, boxes=boxes, lines=tuple(lines))


def _match_choices(old: Picture, new: Picture, ids: Mapping[str, str]) -> Mapping[str, str]:
    """Return the ids that choices have now: numbers say nothing, what is around them does."""
    around = [_find_beside(each) for each in (old, new)]
    found: dict[str, str] = {}
    left = set(around[1])
    for at, (name, beside) in enumerate(around[0].items()):
        known = {ids.get(each, each) for each in beside}
        best = max(sorted(left), key=lambda each: len(around[1][each] & known), default=None)
        if best is not None and around[1][best] & known:
            left.remove(best)
            found[name] = best
        else:
            found[name] = f"{name}:old:{at}"
    return found


def _find_beside(picture: Picture) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {name: set() for name, box in picture.boxes.items() if box.role is Role.CHOICE}
    for line in picture.lines:
        for one, other in ((line.source, line.target), (line.target, line.source)):
            if one in found:
                found[one].add(other)
    return found


def _merge_boxes(old: Picture, new: Picture, told: Told) -> Iterator[tuple[str, Box]]:
    """Yield every box, in the order of the newer side; what is gone stands behind what it stood behind."""
    gone: dict[str | None, list[str]] = {}
    last: str | None = None
    for name in old.boxes:
        if name in new.boxes:
            last = name
        else:
            gone.setdefault(last, []).append(name)
    for at in (None, *new.boxes):
        if at is not None:
            yield at, _judge(old.boxes.get(at), new.boxes[at], told)
        for name in gone.get(at, ()):
            box = old.boxes[name]
            yield name, replace(box, fate=Fate.REMOVED, found=(), changes=told.by_node.get(box.name, ()))


def _judge(old: Box | None, new: Box, told: Told) -> Box:
    if old is None:
        return replace(new, fate=Fate.ADDED, changes=told.by_node.get(new.name, ()))
    changes: list[str] = []
    if new.role is Role.NODE and old.name != new.name:
        changes += [f"renamed from {quote(old.name)}", *told.by_node.get(old.name, ())]
    if new.role is Role.NODE:
        changes += (*told.by_node.get(new.name, ()), *told.by_move.get(new.name, ()))
    if not told.is_known:
        changes += _compare_details(old, new)
    if new.role is not Role.NODE and old.name != new.name:
        changes.append(f"was {quote(old.name)}")
    if new.is_join != old.is_join:
        changes.append("waits for all now" if new.is_join else "waits for all no longer")
    if new.is_reached != old.is_reached:
        changes.append("reached now" if new.is_reached else "never reached any more")
    return replace(new, fate=Fate.CHANGED if changes else Fate.SAME, changes=tuple(changes))


def _compare_details(old: Box, new: Box) -> Iterator[str]:
    """Yield the parts of a node that both sides know and that differ."""
    if old.kind != new.kind:
        yield f"kind {old.kind or 'none'} → {new.kind or 'none'}"
    for heading, given in new.details.items():
        if heading in old.details and old.details[heading] != given:
            yield f"{heading} changed"


def _merge_lines(old: Iterable[Line], new: Iterable[Line]) -> Iterator[Line]:
    """Yield every line; parallel ones of one stroke are the same line."""
    before = {_key(each): each for each in old}
    for line in new:
        was = before.pop(_key(line), None)
        if was is None:
            yield replace(line, fate=Fate.ADDED)
        elif set(was.labels) == set(line.labels):
            yield replace(line, fate=Fate.SAME)
        else:
            yield replace(line, fate=Fate.CHANGED, before=was.labels)
    yield from (replace(each, fate=Fate.REMOVED, found=()) for each in before.values())


def _key(line: Line) -> tuple[object, ...]:
    return line.source, line.target, line.stroke, line.is_guess
