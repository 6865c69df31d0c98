"""From the text of a Markdown file to the mapping of its frontmatter."""

from __future__ import annotations

from stagec.core.budgets import Budgets
from stagec.core.place import Place
from stagec.core.value import replace
from stagec.sources.formats.markdown.fences import Fenced, nearly_closing, split
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
        return Parsed(faults=(_unclosed(file, text, fenced.start),), body=body)
    if fenced.end - fenced.start > LONGEST:
        return Parsed(faults=(_fault(file, "long", (0, 3), {"limit": LONGEST}),), body=body)
    inside = text[fenced.start : fenced.end]
    parsed = _read_yaml(file, inside, budgets)
    if isinstance(parsed.value, str) and not parsed.faults:
        return _judged_text(file, inside, fenced, len(text))
    moved = tuple(_moved(fault, fenced.start) for fault in _one(parsed.faults))
    if any(fault.topic == "invalid-yaml" for fault in moved):
        return Parsed(None, moved, body)
    return _judged(file, replace(parsed, faults=moved, body=body), fenced)


def _unclosed(file: str, text: str, start: int) -> Fault:
    nearly = nearly_closing(text, start)
    related = ((Place(file, range=nearly), text[slice(*nearly)]),) if nearly else ()
    return Fault("invalid-frontmatter", Place(file, range=(0, 3)), "unclosed", related=related)


def _judged_text(file: str, inside: str, fenced: Fenced, length: int) -> Parsed:
    """Tell keys that lack a space from prose between two separating lines, which is no frontmatter."""
    from stagec.sources.yaml_text.mistakes import misspelt
    from stagec.sources.yaml_text.outline import Outline

    found = misspelt(Outline(inside), len(inside) - len(inside.lstrip()))
    if found is None:
        return Parsed(body=(0, length))
    _, start, end, facts = found
    fault = _fault(file, "misspelt", (start + fenced.start, end + fenced.start), dict(facts))
    return Parsed(None, (fault,), (fenced.body, length))


def _one(faults: tuple[Fault, ...]) -> tuple[Fault, ...]:
    """Return the faults with the first that is about syntax in place of all such: the others are related to it."""
    order = ("invalid-yaml", "repeated-key")
    told = sorted((fault for fault in faults if fault.topic in order), key=lambda fault: order.index(fault.topic))
    if len(told) < len("ab"):
        return faults
    related = (*told[0].related, *((fault.at, "again") for fault in told[1:]))
    return (replace(told[0], related=related), *(fault for fault in faults if fault.topic not in order))


def _read_yaml(file: str, inside: str, budgets: Budgets) -> Parsed:
    from stagec.sources.yaml_text.quick import quick

    given = quick(inside, budgets.depth) if inside.strip("\r\n ") else {}
    if isinstance(given, dict):
        return Parsed(given)
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
    from stagec.sources.yaml_text.outline import Outline

    root = compose(inside, budgets).root
    for node in nodes_of(root) if root else ():
        if node.anchor or node.kind == "alias" or node.tag:
            reason = "tag" if node.tag and not node.anchor else "anchor"
            return (_fault(file, reason, (node.start, node.start + 1), Outline(inside).facts(node.start)),)
    return ()


def _judged(file: str, parsed: Parsed, fenced: Fenced) -> Parsed:
    if parsed.faults or isinstance(parsed.value, dict):
        return parsed
    fault = _fault(file, "not-a-mapping", (fenced.start, fenced.end), {"value": parsed.value})
    return Parsed(None, (fault,), parsed.body)


def _fault(file: str, reason: str, where: tuple[int, int], facts: dict[str, object]) -> Fault:
    return Fault("invalid-frontmatter", Place(file, range=where), reason, facts)


def _moved(fault: Fault, by: int) -> Fault:
    related = tuple((shifted(place, by), why) for place, why in fault.related)
    return replace(fault, at=shifted(fault.at, by), related=related)


def shifted(place: Place, by: int) -> Place:
    """Return a place whose range, if it has one, begins so many characters further on."""
    return replace(place, range=(place.range[0] + by, place.range[1] + by)) if place.range else place
