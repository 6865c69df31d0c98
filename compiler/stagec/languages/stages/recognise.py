"""Recognise pipelines and stage definitions, by name, by the beginning of their text and by their members."""

from __future__ import annotations

import posixpath
import re

from stagec.core.json import Json, Object, list_of, object_of
from stagec.sources.read import BOM, Sources, legible
from stagec.sources.tree import Tree

PIPELINES = ("pipeline.yaml", "pipeline.yml", "pipeline.json")
MARKDOWN = (".md", ".markdown")
CONFIGURATION = ".config.json"
"""The ending of the file of a state machine's configuration, behind the name of the machine."""

PATHS = (
    rf"(?:^|/)(?:{'|'.join(map(re.escape, PIPELINES))})$",
    rf"(?:{'|'.join(map(re.escape, (*MARKDOWN, CONFIGURATION)))})$",
)
_OBJECTS = ".json"
_TELLING = ("id", "allowedTools", "completionTool", "completionSchema", "turnCap", "resolutionPolicy")
_WORDS = tuple(each.encode() for each in _TELLING)
_ENOUGH = 3
_GLANCE = 24_000
"""Bytes of a file in which its frontmatter, or the members of its first stage, have to lie to be noticed."""
_TELLTALE = re.compile(
    rb"""(?:^(?:[ \t]+(?=["']))?|[{,][ \t]*)["']?(%s)["']?[ \t]*:""" % "|".join(_TELLING).encode(), re.MULTILINE
)
_MARKER = re.compile(rb"\A<{7}[^\r\n]*(?:\r\n|\n|\r)")
"""The first line of a conflict; of a stage that cannot be merged one has to hear."""
_END = re.compile(rb"^(?:---|\.\.\.)[ \t]*$", re.MULTILINE)
_ENTRIES = ("entry", "entryStage")


def says_nothing_of_a_stage(members: Object) -> bool:
    """Tell whether a frontmatter has no member that only stages have: it is an agent file, say, of another program."""
    return members.keys().isdisjoint(_TELLING)


def claims(file: str) -> bool:
    """Tell whether a file is a pipeline by its name, or may be a stage definition."""
    return posixpath.basename(file) in PIPELINES or file.endswith(MARKDOWN)


def considers(file: str) -> bool:
    """Tell whether a file of any other name may hold stage objects."""
    return file.endswith(_OBJECTS)


def sees(sources: Sources, file: str) -> bool:
    """Tell whether a file that nobody named has a stage, as frontmatter or as JSON; a pipeline's name says enough."""
    if posixpath.basename(file) in PIPELINES:
        return True
    data = _MARKER.sub(b"", legible(sources.glance(file, _GLANCE)).removeprefix(BOM), count=1)
    if not file.endswith(MARKDOWN):
        is_likely = sum(word in data for word in _WORDS) >= _ENOUGH  # of most files this look tells enough
        return is_likely and data.lstrip()[:1] in {b"{", b"["} and _tells_enough(data) and _has_objects(sources, file)
    data = data.lstrip()  # a stage with blank lines before its frontmatter is wrong, and one has to hear of it
    if not data.startswith(b"---"):
        return False
    lines = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    end = _END.search(lines, len(b"---\n"))
    inside = lines if end is None else lines[: end.start()]
    return _tells_enough(inside)


def _tells_enough(text: bytes) -> bool:
    return len(set(_TELLTALE.findall(text))) >= _ENOUGH


def _has_objects(sources: Sources, file: str) -> bool:
    """Tell whether a file with the words of stages has stages, or is broken; any other is forgotten."""
    tree = sources.tree(file, "file")
    has_any = tree is not None and (recognises(tree) if tree.readable else bool(tree.data))
    if not has_any:
        sources.forget(file)
    return has_any


def recognises(tree: Tree) -> bool:
    """Tell whether a file reads like a pipeline, like stage objects, or like a state machine's configuration."""
    return is_pipeline(tree.value) or has_stages(tree.value) or is_configuration(tree)


def is_pipeline(given: Json) -> bool:
    """Tell whether a document joins stages: it lists them, or says what comes first and what comes next."""
    body = object_of(given)
    if any(name in body for name in _ENTRIES) and ("stages" in body or "next" in body):
        return True
    stages = list_of(body.get("stages"))
    return any(is_stage(each) or (isinstance(each, str) and each.endswith(MARKDOWN)) for each in stages)


def is_stage(given: Json) -> bool:
    """Tell whether an object has enough members that only stages have."""
    return len(object_of(given).keys() & set(_TELLING)) >= _ENOUGH


def has_stages(given: Json) -> bool:
    """Tell whether a document is a stage object, or a list in which there is one."""
    return is_stage(given) or any(is_stage(each) for each in list_of(given))


def is_configuration(tree: Tree) -> bool:
    """Tell whether a file is a state machine's configuration, by its name and by what every configuration says."""
    return tree.file.endswith(CONFIGURATION) and "entry" in object_of(tree.value)
