"""Runs on one machine: the history of each in a file of its own, the world asked by one process."""

from stagec.runtime.drivers.history import History, JournalError, Reason
from stagec.runtime.drivers.local.drive import Observer, RunSession, drive, proceed, restore, run
from stagec.runtime.drivers.local.journal import Journal, create, open_journal, read_journal
from stagec.runtime.drivers.requests import Inbox, World

__all__ = [
    "History",
    "Inbox",
    "Journal",
    "JournalError",
    "Observer",
    "Reason",
    "RunSession",
    "World",
    "create",
    "drive",
    "open_journal",
    "proceed",
    "read_journal",
    "restore",
    "run",
]
