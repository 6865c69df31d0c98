"""From the text of a Markdown file to the mapping of its frontmatter."""

from __future__ import annotations

from stagec.core.budgets import Budgets
from stagec.core.place import Place
from stagec.core.value import replace
from stagec.sources.formats.markdown.fences import Fenced, split
from stagec.sources.formats.markdown.trivial import trivial
from stagec.sources.tree import Fault, Parsed

LONGEST = 20_000
"""Characters of a frontmatter; reading a file full of it would take many seconds."""


def read(file: str, text: str, budgets: Budgets) -> Parsed:
    """Return the frontmatter of a text (`{}` when empty, None when there is none) and where its body lies."""
    fenced = split(text)
    if fenced is None:
        return Parsed(body=(0, len(text)))
    body = (fenced.body, len(text))
    if not fenced.closed:
        return Parsed(faults=(Fault("invalid-frontmatter", Place(file, range=(0, 3)), "unclosed"),), body=body)
    if fenced.end - fenced.start > LONGEST:
        return Parsed(faults=(_fault(file, "long", (0, 3), {"limit": LONGEST}),), body=body)
    inside = text[fenced.start : fenced.end]
    quick = trivial(inside)
    if quick is not None:
        return Parsed(quick, body=body)
    parsed = _read_yaml(file, inside, budgets)
    moved = tuple(_moved(fault, fenced.start) for fault in parsed.faults)
    return _judged(file, replace(parsed, faults=moved, body=body), fenced)


def _read_yaml(file: str, inside: str, budgets: Budgets) -> Parsed:
    from stagec.sources.yaml_text.reading import read as read_yaml

    parsed = read_yaml(file, inside, budgets)
    if any(fault.topic == "empty-file" for fault in parsed.faults):
        return Parsed({})
    refused = () if parsed.value is None else _refused(file, inside, budgets)
    return Parsed(None, refused) if refused else parsed


def _refused(file: str, inside: str, budgets: Budgets) -> tuple[Fault, ...]:
    """Return a fault for the first anchor, alias or tag: frontmatter does without them."""
    if not any(mark in inside for mark in "&*!"):
        return ()
    from stagec.sources.yaml_text.compose import compose, nodes_of

    root = compose(inside, budgets).root
    for node in nodes_of(root) if root else ():
        if node.anchor or node.kind == "alias" or node.tag:
            reason = "tag" if node.tag and not node.anchor else "anchor"
            return (_fault(file, reason, (node.start, node.start + 1), {"character": inside[node.start]}),)
    return ()


def _judged(file: str, parsed: Parsed, fenced: Fenced) -> Parsed:
    if parsed.faults or isinstance(parsed.value, dict):
        return parsed
    fault = _fault(file, "not-a-mapping", (fenced.start, fenced.end), {"value": parsed.value})
    return Parsed(None, (fault,), parsed.body)


def _fault(file: str, reason: str, where: tuple[int, int], facts: dict[str, object]) -> Fault:
    return Fault("invalid-frontmatter", Place(file, range=where), reason, facts)


def _moved(fault: Fault, by: int) -> Fault:
    related = tuple((_shifted(place, by), why) for place, why in fault.related)
    return replace(fault, at=_shifted(fault.at, by), related=related)


def _shifted(place: Place, by: int) -> Place:
    return replace(place, range=(place.range[0] + by, place.range[1] + by)) if place.range else place
