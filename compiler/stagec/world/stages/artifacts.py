"""Verify files that others may have put there, without a gap between the check and the use.

Every folder on the way is opened by its name in the folder before it, and the file in the last one. What is measured
and digested is what was opened, so a name that changes its meaning meanwhile changes nothing.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from stagec.core.disk import RefusedWriteError, open_folder
from stagec.core.folders import digest_file, open_file
from stagec.protocol.artifact_paths import is_contained, place_artifact
from stagec.protocol.manifest import ArtifactEntry, TrustLevel

MISSING_FILE = "missing-artifact"
LINKED = "linked-artifact"
ESCAPING = "escaping-artifact"
IRREGULAR = "irregular-artifact"
CHANGED_FILE = "changed-artifact"


class ArtifactError(Exception):
    """A file is not the one that was vouched for; `topic` is the rule that speaks of it, `facts` what it needs."""

    def __init__(self, topic: str, reason: str = "", **facts: object) -> None:
        super().__init__(topic, reason)
        self.topic = topic
        self.reason = reason
        self.facts = facts


def check_artifact(root: Path, entry: ArtifactEntry, trust: TrustLevel) -> None:
    """Raise `ArtifactError` unless a file below a folder is what a manifest says; the path has been found safe.

    From imported checkpoints on, no folder on the way may be a link. At every level the file may not be one, must be
    regular, and must lie inside the folder when all links are resolved.
    """
    found = digest_file(open_artifact(root, entry, trust)).sha256
    if found != entry.sha256.lower():
        raise ArtifactError(CHANGED_FILE, "digest", found=found, expected=entry.sha256)


def open_artifact(root: Path, entry: ArtifactEntry, trust: TrustLevel) -> int:
    """Return a file below a folder that is what a manifest says but perhaps for its content, open for reading."""
    descriptor = _open(os.path.realpath(root), entry.path, trust)
    size = os.fstat(descriptor).st_size
    if size == entry.size:
        return descriptor
    os.close(descriptor)
    raise ArtifactError(CHANGED_FILE, "size", found=size, expected=entry.size)


def _open(top: str, path: str, trust: TrustLevel) -> int:
    *folders, name = (part for part in place_artifact("/", path).split("/") if part)
    try:
        # the way to a folder without links; raise `ArtifactError` if it leads out
        if trust is TrustLevel.LOCAL:
            real = os.path.realpath(os.path.join(top, *folders))
            if not is_contained(real, top):
                raise ArtifactError(ESCAPING, target=real)
            way = [part for part in real.removeprefix(top).split(os.sep) if part]
        else:
            way = folders
        with open_folder(top) as opened:
            return open_file(opened, "/".join([*way, name]))
    except (FileNotFoundError, NotADirectoryError, UnicodeEncodeError) as error:
        raise ArtifactError(MISSING_FILE) from error
    except RefusedWriteError as error:
        raise _explain_refusal(top, [*folders, name]) from error
    except OSError as error:
        raise ArtifactError(IRREGULAR, "system", error=error.strerror or type(error).__name__) from error


def _explain_refusal(top: str, parts: Sequence[str]) -> ArtifactError:
    """Return why a file was not opened: because of the first link on the way, or because it is no regular file."""
    mode = 0
    with suppress(OSError):  # it is gone meanwhile
        for length in range(1, len(parts) + 1):
            mode = os.lstat(os.path.join(top, *parts[:length])).st_mode
            if stat.S_ISLNK(mode):
                is_folder = length < len(parts)
                return ArtifactError(LINKED, "folder" if is_folder else "file", link="/".join(parts[:length]))
    return ArtifactError(IRREGULAR, "folder" if stat.S_ISDIR(mode) else "special")
