"""What must still be there after a power cut."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path


def synchronised(folder: Path) -> None:
    """See to it that the names in a folder are on the disk."""
    with suppress(OSError):  # not every system can
        opened = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(opened)
        finally:
            os.close(opened)
