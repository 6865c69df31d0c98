"""The baseline of a project: its file and its entries."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from stagec.check.acceptance import Acceptance
from stagec.cli.streams import say
from stagec.core.bounded import OversizedError
from stagec.core.failure import Failure
from stagec.core.observations import is_file, read_whole, resolve
from stagec.core.value import value
from stagec.core.words import format_count, quote
from stagec.sources.project.baseline import Baseline, BaselineEntry, BaselineError, read_baseline
from stagec.sources.project.configuration import Configuration

USUAL = "stagec-baseline.json"
"""The file of a baseline that nobody named."""
_LARGEST = 100_000_000
"""Bytes of a baseline."""
_SIGN = b'"fingerprints"'
"""A text among the first bytes of every baseline."""
_HEAD = 4096


@value
class BaselineFile:
    """The file of a baseline: a folder, and its name in it.

    If a user `named` it, the folder is its own; otherwise it is the root of the project, which the file cannot leave.
    """

    folder: Path
    name: str
    named: bool

    @property
    def path(self) -> Path:
        """The path of the file."""
        return self.folder / self.name

    @property
    def shown(self) -> str:
        """The file as somebody in the current folder calls it."""
        return str(self.path) if self.named else os.path.relpath(self.path)

    def fetch(self) -> bytes:
        """Return the bytes of the file; raise `Failure` where there are none to read."""
        try:
            path = resolve(self.path)
            top = resolve(self.folder)
            if not self.named and os.path.commonpath([path, top]) != top:
                raise Failure(f"the baseline {quote(self.shown)} lies outside the project")
            if is_file(path):
                return read_whole(path, _LARGEST)
            reason = "it is not a regular file" if os.path.lexists(path) else "there is no such file"
        except OversizedError as error:
            reason = f"it {error}"
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or str(error)
        raise Failure(f"cannot read the baseline {quote(self.shown)}: {reason}; 'stagec baseline write' makes it")

    def refuse_others(self) -> None:
        """Raise `Failure` when the file is there and was never a baseline, not even one with conflicts in it."""
        if is_file(self.path) and (data := self.fetch()) and _SIGN not in data[:_HEAD]:
            raise Failure(f"{quote(self.shown)} is not a baseline, so stagec does not replace it: name another file")

    def load(self, data: bytes) -> Baseline:
        """Return the baseline in the bytes of a file; raise `Failure` if they hold none."""
        try:
            return read_baseline(data)
        except BaselineError as error:
            raise Failure(f"the baseline {quote(self.shown)} {error}") from error


def find_baseline(configuration: Configuration, named: Path | None) -> BaselineFile:
    """Return the file of a baseline: the one that a user named, that of the configuration, or the usual one."""
    if named is not None:
        return BaselineFile(named.parent, named.name, named=True)
    return BaselineFile(configuration.root, configuration.settings.baseline or USUAL, named=False)


def load_baseline(configuration: Configuration, named: Path | None, *, leave_out: bool) -> Baseline | None:
    """Return the baseline that a user named or that is configured, if there is one and nobody leaves it out."""
    if named is not None and leave_out:
        raise Failure("--baseline and --no-baseline exclude each other")
    if leave_out or (named is None and configuration.settings.baseline is None):
        return None
    file = find_baseline(configuration, named)
    return file.load(file.fetch())


def load_configured_baseline(configuration: Configuration) -> Baseline | None:
    """Return the baseline of the configuration, None where it names none."""
    return load_baseline(configuration, None, leave_out=False)


def report_stale(acceptance: Acceptance) -> None:
    """Say how many findings of a baseline are fixed."""
    gone = count_findings(acceptance.stale)
    if gone:
        say(f"{format_count(gone, 'finding')} of the baseline fixed: 'stagec baseline update' removes what is fixed")


def report_kept(entries: Iterable[BaselineEntry], subject: str) -> None:
    """Say how many findings a baseline keeps although nobody could find them, and what they are of."""
    count = count_findings(entries)
    if count:
        say(f"{format_count(count, 'finding')} of {subject} {_be(count)} kept")


UNJUDGED, UNASKED = "files that were not judged", "rules that are not selected"


def count_findings(entries: Iterable[BaselineEntry]) -> int:
    """Return how many findings some entries of a baseline are."""
    return sum(each.count for each in entries)


def report_known(acceptance: Acceptance | None) -> None:
    """Say how many findings of a project are not shown because its baseline accepts them."""
    count = 0 if acceptance is None else acceptance.known
    if count:
        them = "it" if count == 1 else "them"
        accepted = f"{format_count(count, 'finding')} in the baseline {_be(count)} not shown"
        say(f"stagec: note: {accepted}: 'stagec validate --no-baseline' shows {them}")


def _be(count: int) -> str:
    return "is" if count == 1 else "are"
