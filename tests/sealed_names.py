"""Where messages to runs are: the names of answers follow from the secret of the user."""

from __future__ import annotations

from pathlib import Path

from stagec.runtime.drivers.local.mailbox import SUFFIX, Mailbox, make_seal


def find_file(mailbox: Mailbox, name: str) -> Path:
    """Return the file of a message of a name."""
    seal, journal = make_seal(), mailbox.path.name.removesuffix(SUFFIX)
    return mailbox.path / (f"answer-{seal.mark}-{seal.name(journal, name)}" if name.startswith("answer-") else name)
