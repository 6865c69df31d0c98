"""The console entry: nothing heavy is imported before requests to end are obeyed."""

from __future__ import annotations

import os

_INTERRUPTED = 130
"""What shells show of a program that Ctrl-C ended."""


def main() -> None:
    """Run the command line and end the process with the exit status of the command."""
    status, interrupted = _INTERRUPTED, _INTERRUPTED.__int__
    try:
        from stagec.core import interrupts

        interrupted = interrupts.status
        interrupts.guard()
        from stagec.cli.app import main as run_command_line

        status = run_command_line()
    except KeyboardInterrupt:  # also while libraries are imported
        status = interrupted()
        os.write(2, b"stagec: interrupted\n")
    except BaseException as error:
        # what Python makes of a request while it makes a class is one
        status = interrupted() if isinstance(error.__cause__, KeyboardInterrupt) else 1
        # show what nobody expected, such as an installation without one of its libraries
        from traceback import print_exc

        print_exc()
    finally:
        os._exit(status)  # the system frees the memory at once; taking large trees apart takes a tenth of a run


if __name__ == "__main__":
    main()
