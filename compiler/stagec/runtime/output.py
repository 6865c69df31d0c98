"""What a program left behind."""

from __future__ import annotations

from stagec.core.json import Json
from stagec.core.value import value


@value
class Output:
    """The exit status of a program, None when it has none, and what it wrote."""

    status: int | None
    stdout: str
    stderr: str


def read_output(answer: Json) -> Output:
    """Return what the world says of a program; what it does not say is empty."""
    given = answer if isinstance(answer, dict) else {}
    texts = (given.get("stdout"), given.get("stderr"))
    stdout, stderr = (each if isinstance(each, str) else "" for each in texts)
    return Output(_whole(given.get("exit")), stdout, stderr)


def _whole(given: Json) -> int | None:
    """Return a whole number; 1.0 is one, as numbers are doubles."""
    if isinstance(given, float) and given.is_integer() and abs(given) <= _EXACT:
        return int(given)
    return given if type(given) is int else None


_EXACT = 2**53
"""Up to here every whole number is a double."""
