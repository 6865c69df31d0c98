"""STG850 to STG899: checkpoints of stages: their manifests, and the artifacts that these vouch for."""

from collections.abc import Iterator

from stagec.core.place import Key, Place, spell_path
from stagec.core.rule import Family, Finding
from stagec.core.words import quote
from stagec.ir.protocol.checkpoint import CheckpointFault, JudgedCheckpoint

FAMILY = Family(__name__, (range(850, 900),), JudgedCheckpoint)
rule = FAMILY.rule


def place_of(checkpoint: JudgedCheckpoint, fault: CheckpointFault) -> Place:
    """Return where a fault stands in its manifest."""
    return Place(checkpoint.file, fault.pointer)


def name_member(pointer: tuple[Key, ...]) -> str:
    """Return what people call a member of a manifest: `'artifacts[0].sha256'`."""
    if not pointer:
        return "the manifest"
    return quote(spell_path(pointer))


def report(checkpoint: JudgedCheckpoint, topic: str, sentence: str) -> Iterator[Finding]:
    """Say a sentence of every fault with a topic; it is filled with the facts, and texts among them are quoted."""
    for fault in checkpoint.about(topic):
        facts = {name: quote(given) if isinstance(given, str) else given for name, given in fault.facts.items()}
        yield Finding(place_of(checkpoint, fault), sentence.format(**facts))
