"""stagec in a process that ends at one of its calls that change the disk, and otherwise says how many there were.

Its first word is the number of the last call that happens; the others are those of a command of stagec.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import Any

import stagec.core.disk  # noqa: F401  it looks at what the functions can do that are replaced here

MODULES = {"stagec.core.disk", "stagec.core.folders", "stagec.runtime.world.supervised_program"}
CALLS = ("open", "mkdir", "fsync", "fchmod", "rename", "replace", "link", "unlink", "rmdir", "write")


class Count:
    """Counts calls, and ends the process at one."""

    def __init__(self, last: int) -> None:
        self._last, self._leave, self._own = last, os._exit, os.getpid()
        self.calls = 0

    def wrap(self, real: Callable[..., Any]) -> Callable[..., Any]:
        """Return a function that is counted where stagec calls it."""

        def call(*given: Any, **named: Any) -> Any:
            if sys._getframe(1).f_globals["__name__"] in MODULES:
                self.calls += 1
                if self.calls > self._last:
                    self._leave(9)
            return real(*given, **named)

        return call

    def tell(self, status: int) -> None:
        """End the process, and say how many calls there were."""
        try:
            if os.getpid() == self._own:  # stagec has a helper, which ends here, too
                sys.stderr.write(f"{self.calls}\n")
                sys.stderr.flush()
        finally:
            self._leave(status)


if __name__ == "__main__":
    count = Count(int(sys.argv.pop(1)))
    for name in CALLS:
        setattr(os, name, count.wrap(getattr(os, name)))
    os._exit = count.tell  # type: ignore[assignment]
    from stagec.__main__ import main

    main()
