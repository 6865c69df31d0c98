"""A terminal at which a test types: what is asked for there is answered there."""

from __future__ import annotations

import os
import pty
import select
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

_PATIENCE = 60


def type_at_terminal(
    folder: Path, words: Sequence[str], typed: Sequence[tuple[str, str]], environment: Mapping[str, str] | None = None
) -> tuple[int, str]:
    """Run stagec at a terminal; type each text once its prompt is there. Return the status and what was shown."""
    terminal, own = pty.openpty()
    command = (sys.executable, "-m", "stagec", *words)
    variables = {**os.environ, "TERM": "dumb", **(environment or {})}
    process = subprocess.Popen(command, cwd=folder, stdin=own, stdout=own, stderr=own, env=variables)
    os.close(own)
    shown, seen, left, end = "", 0, [*typed], time.monotonic() + _PATIENCE
    while time.monotonic() < end:
        ready, _, _ = select.select([terminal], [], [], 0.2)
        if ready:
            try:
                shown += os.read(terminal, 65536).decode(errors="replace")
            except OSError:
                break
        if left and left[0][0] in shown[seen:]:
            seen = len(shown)
            os.write(terminal, left.pop(0)[1].encode())
        if process.poll() is not None and not ready:
            break
    os.close(terminal)
    return process.wait(_PATIENCE), shown
