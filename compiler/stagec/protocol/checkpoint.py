"""Checkpoints as found: a manifest at a path, how far it is trusted, and everything that is wrong with it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime

from stagec.core.place import Place
from stagec.core.value import value
from stagec.protocol.manifest import MISPLACED, NAMES, Manifest, TrustLevel
from stagec.protocol.manifest_shape import CheckpointFault


@value
class JudgedCheckpoint:
    """One manifest and what verification found.

    `file` is the path as messages show it, `data` the bytes of the manifest, `trust` the level of verification.
    """

    file: str
    trust: TrustLevel
    data: bytes = b""
    manifest: Manifest | None = None
    faults: tuple[CheckpointFault, ...] = ()

    @property
    def at(self) -> Place:
        """The place of the whole manifest."""
        return Place(self.file)

    @property
    def is_valid(self) -> bool:
        """Whether nothing is wrong with the manifest and the artifacts that it names."""
        return self.manifest is not None and not self.faults

    def about(self, topic: str) -> Iterable[CheckpointFault]:
        """Return the faults that one rule speaks of."""
        return (fault for fault in self.faults if fault.topic == topic)


def find_place_faults(manifest: Manifest, path: str) -> tuple[CheckpointFault, ...]:
    """Return where the ids in a manifest and its path, absolute and with `/`, disagree."""
    names = _read_place(path.split("/"), native=manifest.native)
    if not names:
        return (CheckpointFault(MISPLACED, (), "layout", {"native": manifest.native}),)
    said = {member: getattr(manifest, NAMES[member]) for member in names}
    return tuple(
        CheckpointFault(MISPLACED, (member,), "path", {"found": said[member], "expected": name})
        for member, name in names.items()
        if said[member] != name
    )


_NATIVE_DEPTH, FOREIGN_DEPTH = 4, 6
"""How many of the last parts of a path say which checkpoint it is."""


def _read_place(parts: Sequence[str], *, native: bool) -> dict[str, str]:
    """Return what the path of a manifest says about its ids; nothing for a path of another layout."""
    if native:
        report, run, folder, name = parts[-_NATIVE_DEPTH:] if len(parts) >= _NATIVE_DEPTH else [""] * _NATIVE_DEPTH
        stem = name.removesuffix(".json")
        is_right = folder == "checkpoints" and stem != name
        return {"checkpointId": stem, "runId": run, "reportTitle": report} if is_right else {}
    if len(parts) < FOREIGN_DEPTH:
        return {}
    reports, report, folder, run, stem, name = parts[-FOREIGN_DEPTH:]
    is_right = (reports, folder, name) == ("reports", "checkpoints", "checkpoint.json")
    return {"checkpointId": stem, "runId": run, "reportTitle": report} if is_right else {}


def find_newest(manifests: Iterable[Manifest]) -> Manifest | None:
    """Return the manifest that was created last; of several the first."""
    return max(manifests, key=lambda each: read_instant(each.created), default=None)


def read_instant(text: str) -> tuple[str, int]:
    """Return what sorts times in UTC: the minute as text, and milliseconds."""
    clock, _, fraction = text.removesuffix("Z").partition(".")
    return clock[:16], int(clock[17:] or "0") * 1000 + int(fraction[:3].ljust(3, "0"))


def format_instant(seconds: float) -> str:
    """Return a time in seconds since 1970 as manifests write it."""
    moment = datetime.fromtimestamp(seconds, UTC)
    return f"{moment:%Y-%m-%dT%H:%M:%S}.{moment.microsecond // 1000:03}Z"
