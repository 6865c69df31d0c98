"""Whether processes that others have started are still there."""

from __future__ import annotations

import time
from pathlib import Path


def is_alive(pid: int) -> bool:
    """Tell whether a process runs; one that ended but whose new parent does not care does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def gone(pid: int) -> bool:
    """Tell whether a process ends soon."""
    for _ in range(200):
        if not is_alive(pid):
            return True
        time.sleep(0.05)
    return False


KILLS_ITS_SUPERVISOR = """
import os, pathlib, signal, subprocess, sys, time
child = subprocess.Popen(["sleep", "600"])
note = pathlib.Path(sys.argv[1])
note.with_name("new").write_text(f"{os.getppid()} {os.getpid()} {child.pid}")
note.with_name("new").rename(note)
os.kill(os.getppid(), signal.SIGKILL)
time.sleep(600)
"""
"""A program that writes to a file which processes there are, the supervisor first, and kills that."""


def await_orphans(note: Path) -> list[int]:
    """Wait until a program has killed its supervisor; return the processes that may be left."""
    while not note.exists():
        time.sleep(0.01)
    supervisor, *others = map(int, note.read_text(encoding="utf-8").split())
    assert gone(supervisor)
    return others
