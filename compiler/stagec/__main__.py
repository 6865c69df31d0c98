"""The console entry: nothing heavy is imported before requests to end are obeyed."""

from __future__ import annotations

import _signal  # built in, so that nothing is looked for
import os
import sys

_INTERRUPTED = 130
"""The exit status that shells show for a program that Ctrl-C ended."""


def main() -> None:
    """Run the command line and end the process with the exit status of the command."""
    status = _INTERRUPTED
    try:
        _end_at_once()
        status = _run()
    except KeyboardInterrupt:  # also while libraries are imported
        status = _find_interruption()
        os.write(2, b"stagec: interrupted\n")
    except BaseException as error:
        # what Python makes of a request while it makes a class is one
        status = _find_interruption() if isinstance(error.__cause__, KeyboardInterrupt) else 1
        _show_unexpected()
    finally:
        os._exit(status)  # the system frees the memory at once; taking large trees apart takes a tenth of a run


def _run() -> int:
    """Print what is known of the command line, or execute it, and return the exit status."""
    from stagec.cli.result_cache import print_known

    known = print_known(sys.argv[1:])
    if known is not None:
        return known
    from stagec.core import interrupts

    interrupts.guard()
    from stagec.cli.entry import main as run_command_line

    return run_command_line()


def _find_interruption() -> int:
    """Return the exit status of a process that was asked to end, as far as what knows it has been imported."""
    status: int = getattr(sys.modules.get("stagec.core.interrupts"), "status", _INTERRUPTED.__int__)()
    return status


def _show_unexpected() -> None:
    """Show what nobody expected, such as an installation without one of its libraries."""
    from traceback import print_exc

    print_exc()


def _end_at_once() -> None:
    """Let Ctrl-C end the process until requests are guarded: Python loses exceptions in callbacks of imports."""
    if _signal.getsignal(_signal.SIGINT) is _signal.default_int_handler:
        _signal.signal(_signal.SIGINT, _signal.SIG_DFL)


if __name__ == "__main__":
    main()
