"""The files of a stage: inputs that must not change, and outputs that must be regular files."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager

from stagec.core.bounded import open_to_read
from stagec.core.disk import OpenedFolder, RefusedWriteError, leads_out, open_folder
from stagec.core.failure import Failure
from stagec.core.folders import FileDigest, digest_file, enter_folder, make_below, make_fresh, open_file, split_path
from stagec.core.json import Json, object_of
from stagec.core.value import value
from stagec.core.words import quote
from stagec.ir.plan.act import ProcessInput
from stagec.ir.protocol.stage_ids import find_segment_fault
from stagec.runtime.machine.exchange import read_key

REPORTS = "reports"
ATTEMPTS = ".attempts"
CHECKPOINTS = "checkpoints"
LOG = "run.log"
_MOST = 1000
"""The number that keeps the attempts of several visits apart."""


class RunFolder:
    """The directory of a run below the root of a project; its folders are made when they are first needed."""

    def __init__(self, root: str | os.PathLike[str], title: str, run: str) -> None:
        self.root = os.path.realpath(root)
        self.title, self.run = check_name(title, "report"), check_name(run, "run")
        self._way = f"{REPORTS}/{title}/{run}"
        self.path = os.path.join(self.root, self._way)

    @property
    def log(self) -> str:
        """The path of the file that has the output of the stages."""
        return os.path.join(self.path, LOG)

    @contextmanager
    def enter(self, path: str = "", *, make: bool = False) -> Iterator[OpenedFolder]:
        """Open a folder of the run by its path in it; with `make` those that are missing are made (0700)."""
        with open_folder(self.root) as root, enter_folder(root, f"{self._way}/{path}", make=make) as opened:
            yield opened

    def make(self) -> None:
        """Make the directory; raise `Failure` where that is not possible."""
        try:
            with self.enter(make=True):
                return
        except OSError as error:
            raise Failure(f"cannot make {quote(self.path)}: {error.strerror or error}") from error


def check_name(name: str, kind: str) -> str:
    """Return a name that can be one part of a path; raise `Failure` for another."""
    fault = find_segment_fault(name)
    if fault is not None:
        raise Failure(f"the {kind} {quote(name)} cannot have a folder: its name {fault.words}")
    return name


def number_attempt(key: str) -> int:
    """Return the number of the attempt that a request belongs to: 2, and on a second visit of the stage 1002."""
    parts = read_key(key)
    return (parts.visit - 1) * _MOST + parts.attempt


def name_attempt(key: str) -> str:
    """Return the name of the attempt that a request belongs to: `S01_load_data-2`."""
    return f"{check_name(read_key(key).node, 'stage')}-{number_attempt(key)}"


class InputTroubleError(OSError):
    """An input that a stage cannot begin with, as a sentence."""


@value
class StageInputs:
    """The places of a stage's inputs, by name: an absolute path or a URL; and the digest of each file."""

    places: Mapping[str, str]
    digests: Mapping[str, FileDigest]


Published = Mapping[str, Mapping[str, Json]]
"""The published outputs of stages, by their ids: `{"path", "sha256", "sizeBytes"}` by the name of the output."""


def find_inputs(inputs: Mapping[str, ProcessInput], run: RunFolder, published: Published) -> StageInputs:
    """Find the inputs of a stage.

    Raise `InputTroubleError` for one that is no regular file, lies elsewhere, or is not what a stage has published.
    """
    places: dict[str, str] = {}
    digests: dict[str, FileDigest] = {}
    for name, each in inputs.items():
        if each.url is not None:
            places[name] = each.url
            continue
        places[name] = os.path.join(*((run.path, each.node) if each.node else (run.root,)), each.path or "")
        try:
            digests[name] = _digest_input(each, run)
            _refuse_other(digests[name], each, published)
        except OSError as error:
            told = f"the input {quote(name)}, {quote(each.path)}, cannot be read: {explain(error)}"
            raise InputTroubleError(told) from error
    return StageInputs(places, digests)


def _refuse_other(found: FileDigest, given: ProcessInput, published: Published) -> None:
    for each in published.get(given.node or "", {}).values():
        told = object_of(each)
        if told.get("path") == given.path and told.get("sha256") != found.sha256:
            raise RefusedWriteError("it has changed since it was published")


def find_changed(inputs: Mapping[str, ProcessInput], before: StageInputs, run: RunFolder) -> list[str]:
    """Return the names of the inputs that do not hold any more what they held."""
    changed = []
    for name, digest in before.digests.items():
        try:
            now: FileDigest | None = _digest_input(inputs[name], run)
        except OSError:
            now = None
        if now != digest:
            changed.append(name)
    return changed


def _digest_input(given: ProcessInput, run: RunFolder) -> FileDigest:
    path = given.path or ""
    split_path(path)
    if given.node is not None:
        with run.enter(given.node) as folder:
            return digest_file(open_file(folder, path))
    if leads_out(run.root, path):
        raise RefusedWriteError("it is reached through a link that leads out of the project")
    opened = open_to_read(os.path.realpath(os.path.join(run.root, path)))
    if stat.S_ISREG(os.fstat(opened).st_mode):
        return digest_file(opened)
    os.close(opened)
    raise RefusedWriteError("it is not a regular file")


def prepare_attempt(attempts: OpenedFolder, name: str, outputs: Iterable[str]) -> None:
    """Make a fresh directory for an attempt, and in it the folders in which the outputs will be."""
    make_fresh(attempts, name)
    with enter_folder(attempts, name) as attempt:
        for path in outputs:
            make_below(attempt, "/".join(split_path(path)[:-1]))


def collect_outputs(
    attempt: OpenedFolder, outputs: Mapping[str, str], *, sync: bool = False
) -> tuple[dict[str, Json], dict[str, str]]:
    """Return the digest of each output, and the faults of the others; with `sync` all found files are on the disk."""
    found: dict[str, Json] = {}
    faults: dict[str, str] = {}
    for name, path in outputs.items():
        try:
            digest = digest_file(open_file(attempt, path), sync=sync)
        except OSError as error:
            faults[name] = explain(error)
        else:
            found[name] = {"path": path, "sha256": digest.sha256, "sizeBytes": digest.size}
    return found, faults


def find_other_outputs(folder: OpenedFolder, outputs: Mapping[str, Json], *, sync: bool = False) -> dict[str, str]:
    """Return why outputs of a folder are not the recorded ones, by name; nothing where all of them are."""
    paths = {name: str(object_of(each).get("path")) for name, each in outputs.items()}
    found, faults = collect_outputs(folder, paths, sync=sync)
    return faults | {name: "its content has changed" for name, each in found.items() if each != outputs[name]}


def explain(error: OSError) -> str:
    """Return the words of the system, or of stagec, for an error."""
    return error.strerror or str(error)
