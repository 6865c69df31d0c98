"""Ends of commands: every kind of failure has one home and one exit status."""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import suppress

from stagec.cli.streams import discard, put_error, put_failure, redact, say
from stagec.core import interrupts
from stagec.core.clock import read_clock
from stagec.core.failure import Exit, Failure
from stagec.core.version import __version__
from stagec.core.words import visible


def run_guarded(action: Callable[[], int]) -> int:
    """Do something and return its exit status; nothing but that leaves this function."""
    try:
        return _run(action)
    except KeyboardInterrupt:
        return _report_interruption()
    except Exception as error:  # whatever nobody expected is a fault of stagec's own
        if interrupts.lies_behind(error):
            return _report_interruption()
        return _report_clock() if isinstance(error, OverflowError) and read_clock() is None else _report_internal(error)


def _report_interruption() -> int:
    with suppress(KeyboardInterrupt):  # the second of two
        say("stagec: interrupted")
    return interrupts.status()


def _report_clock() -> int:
    """Say that the clock is at fault: Python's own libraries fail after the year 2262."""
    say("stagec: error: the clock of this machine shows a time after the year 2262, which Python cannot read: set it")
    return Exit.USAGE


def _run(action: Callable[[], int]) -> int:
    try:
        return action()
    except Failure as failure:
        put_failure(failure)
        return failure.status
    except ImportError as missing:
        return _report_missing(missing)
    except BrokenPipeError:
        discard(sys.stdout)
    return Exit.CLEAN


_LIBRARIES = {
    "graphviz": "graphviz",
    "jinja2": "jinja2",
    "jiter": "jiter",
    "jsonschema": "jsonschema",
    "jsonschema_rs": "jsonschema-rs",
    "networkx": "networkx",
    "referencing": "referencing",
    "ruamel": "ruamel.yaml",
}
"""The libraries that commands import on demand, with the name of each distribution."""


def _report_missing(missing: ImportError) -> Exit:
    """Report a library that cannot be imported; any other import error is a fault of stagec's own."""
    library = _LIBRARIES.get((missing.name or "").partition(".")[0])
    if library is None:
        raise missing
    say(f"stagec: error: the library {library!r}, which this command needs, cannot be imported: {missing}")
    say(f"stagec: error: installing stagec installs it; 'python -m pip install {library}' adds it to this Python")
    return Exit.USAGE


def _report_internal(error: Exception) -> int:
    from traceback import format_exception

    lines = redact("".join(format_exception(error))).splitlines()
    python = ".".join(str(part) for part in sys.version_info[:3])
    put_error("".join(f"{visible(line)}\n" for line in lines))
    say(f"stagec: internal error: this is a fault of stagec {__version__} (Python {python}, {sys.platform}), not yours")
    say("stagec: please report it to the project, with the lines above and what you ran")
    return Exit.INTERNAL
