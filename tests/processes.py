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
