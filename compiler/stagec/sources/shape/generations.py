"""Documents of another generation of their format, told apart before their shape is judged."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from stagec.core.json import Object
from stagec.core.place import Place
from stagec.sources.tree import Fault, Tree

_CONDITIONS = ("preflightConditions", "postLLMConditions")
_LEGACY = ("behavior", "prompts", "logging")


def other_generation(tree: Tree, schema: str) -> Fault | None:
    """Return the one fault that says everything about a document of another generation, or nothing."""
    recognise = _RECOGNISED.get(schema)
    if recognise is None or not isinstance(tree.value, dict):
        return None
    return next(recognise(tree.at, tree.value), None)


def _future(at: Place, root: Object) -> Iterator[Fault]:
    """Find members that only the later format of registries has."""
    for key, step in _objects(root, "steps"):
        if "address" in step or ("kind" in step and "c2" not in step):
            sign = "address" if "kind" not in step else "kind"
            yield _later(at / "steps" / key / sign, sign)
    for key, entry in _objects(root, "entryStepMapping"):
        if "initial" in entry:
            yield _later(at / "entryStepMapping" / key, "entry")
    for key, step in _objects(root, "validationSteps"):
        for sign in _CONDITIONS:
            if sign in step:
                yield _later(at / "validationSteps" / key / sign, sign)


def _later(at: Place, sign: str) -> Fault:
    return Fault("future-format", at, sign)


def _legacy(at: Place, root: Object) -> Iterator[Fault]:
    """Find agent definitions from before everything about running moved below `runner`."""
    signs = [name for name in _LEGACY if name in root]
    if "runner" not in root and signs:
        yield Fault("legacy-agent", at / signs[0], facts={"members": tuple(signs)})


def _objects(root: Object, name: str) -> Iterator[tuple[str, Object]]:
    members = root.get(name)
    for key, member in members.items() if isinstance(members, dict) else ():
        if isinstance(member, dict):
            yield key, member


_RECOGNISED: Mapping[str, Callable[[Place, Object], Iterator[Fault]]] = {"steps_registry": _future, "agent": _legacy}
