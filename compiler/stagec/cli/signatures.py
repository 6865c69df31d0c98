"""Signatures beside plans, the trusted keys of a user, and the signatures that a project requires."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from stagec.cli.files import STDIN, read_file
from stagec.core.clock import read_clock
from stagec.core.failure import Failure
from stagec.core.value import NOTHING
from stagec.core.words import listing, quote
from stagec.sources.project.configuration import Configuration
from stagec.sources.project.find import find_inside

if TYPE_CHECKING:
    from stagec.ir.signing import TrustedKey, Vouching

ENVELOPE, SSH = ".dsse.json", ".sig"
"""The endings of the files beside a plan that `stagec sign` and `ssh-keygen -Y sign` write."""
SIGNATURE = "signature"
"""The fact under which a journal keeps the signature of its plan."""
_BUDGET = "file-size"


def locate_signature(plan: Path) -> Path | None:
    """Return the file beside a plan that has its signature, if there is one."""
    beside = (plan.with_name(f"{plan.name}{ending}") for ending in (ENVELOPE, SSH))
    return None if plan == STDIN else next((path for path in beside if os.path.lexists(path)), None)


def read_signature(path: Path) -> str:
    """Return the text of a signature."""
    return read_file(path, _BUDGET).decode("utf-8", "replace")


def read_keys(files: Iterable[Path]) -> tuple[TrustedKey, ...]:
    """Return the keys in some files, or raise `Failure`."""
    from stagec.ir.signing import read_trusted_keys

    return tuple(key for file in files for key in read_trusted_keys(read_file(file, _BUDGET), str(file)))


def vouch(signature: str, data: bytes, keys: tuple[TrustedKey, ...]) -> Vouching:
    """Return the signer of a plan, or raise `RefusedSignatureError`."""
    from stagec.ir.signing import check_signature

    now = read_clock()
    if now is None:
        raise Failure(
            "the clock of this machine shows a time after the year 2262: set it, to check dates of signatures"
        )
    return check_signature(signature, data, keys, datetime.fromtimestamp(now / 1e9, UTC))


def describe_missing(plan: Path) -> str:
    """Return why a plan has no signature that can be looked at."""
    if plan == STDIN:
        return "a plan from standard input has no signature beside it"
    names = listing([str(plan.with_name(f"{plan.name}{ending}")) for ending in (ENVELOPE, SSH)], "or")
    return f"it has no signature: there is no {names}"


def demand_signature(plan: Path, data: bytes, configuration: Configuration) -> Mapping[str, str]:
    """Return the record of a plan's signature for the journal; raise `Failure` if the project refuses it.

    A project that demands no signature keeps none.
    """
    if not configuration.settings.require_signature:
        return NOTHING
    path = locate_signature(plan)
    if path is None:
        raise Failure(f"{quote(plan)} is refused: {describe_missing(plan)}{_explain_policy(configuration)}")
    text = read_signature(path)
    refuse_unsigned(text, data, configuration, quote(plan))
    return {SIGNATURE: text}


def refuse_unsigned(signature: str | None, data: bytes, configuration: Configuration, named: str) -> None:
    """Raise `Failure` for a plan that nobody vouches for whom a project trusts, if the project demands somebody."""
    if not configuration.settings.require_signature:
        return
    from stagec.ir.signing import RefusedSignatureError

    why = _explain_policy(configuration)
    if signature is None:
        raise Failure(f"{named} is refused: its journal keeps no signature, and --plan names no plan that has one{why}")
    keys = configuration.settings.trusted_keys
    files = [find_inside(configuration.root, file, "run.trusted-keys") for file in keys]
    if not files:
        raise Failure(
            f"'run.require-signature' in {configuration.file} requires signatures: 'run.trusted-keys' names no file"
        )
    try:
        vouch(signature, data, read_keys(files))
    except RefusedSignatureError as error:
        raise Failure(f"{named} is refused: {error}{why}") from error


def _explain_policy(configuration: Configuration) -> str:
    return f"; 'run.require-signature' in {configuration.file} requires one of a trusted key"
