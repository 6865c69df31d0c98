"""The program `dot`: asked to lay out a text, and never waited for without end."""

from __future__ import annotations

from subprocess import TimeoutExpired

from stagec.core.failure import Failure
from stagec.core.words import visible

_PATIENCE = 60.0
"""Seconds after which a layout is given up; what is not collapsed takes a few."""

MOST = 500
"""Boxes and lines that are laid out within a few seconds: a way of 130 steps with a label at every line."""

ABSENT = (
    "needs the program 'dot', which is not there: install Graphviz ('apt-get install graphviz'), "
    "or use --format svg or html"
)


def lay_out(text: str, form: str, patience: float = _PATIENCE) -> bytes:
    """Return a drawing as `svg` or `png`; raise `Failure` when the program is missing, fails or takes too long."""
    from graphviz import CalledProcessError, ExecutableNotFound
    from graphviz.backend.execute import run_check

    try:
        ended = run_check(["dot", f"-T{form}"], input=text.encode(), capture_output=True, quiet=True, timeout=patience)
    except ExecutableNotFound as error:
        raise Failure(f"--format {form} {ABSENT}") from error
    except TimeoutExpired as error:
        raise Failure(f"'dot' did not finish within {patience:.0f} seconds; --focus or --collapse draw less") from error
    except CalledProcessError as error:
        said = error.stderr.decode(errors="replace") if isinstance(error.stderr, bytes) else ""
        raise Failure(
            f"'dot' cannot draw this: {visible(said.strip()) or f'it ended with {error.returncode}'}"
        ) from error
    drawn: bytes = ended.stdout
    return drawn
