"""The console entry: nothing heavy is imported before requests to end are obeyed."""

from __future__ import annotations

import os

from stagec.core import interrupts


def main() -> None:
    """Run the command line and end the process with the exit status of the command."""
    status = 1
    try:
        interrupts.guard()
        status = _command_line()
    except KeyboardInterrupt:  # also while libraries are imported
        status = interrupts.status()
        os.write(2, b"stagec: interrupted\n")
    except SystemExit as ended:
        status = ended.code if isinstance(ended.code, int) else int(ended.code is not None)
    except BaseException:
        _report()
    finally:
        os._exit(status)  # the system frees the memory at once; taking large trees apart takes a tenth of a run


def _command_line() -> int:
    from stagec.cli.app import main as run_command_line

    return run_command_line()


def _report() -> None:
    """Show what nobody expected, such as an installation without one of its libraries."""
    from traceback import print_exc

    print_exc()


if __name__ == "__main__":
    main()
