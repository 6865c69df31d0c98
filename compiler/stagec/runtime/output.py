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
    status, texts = given.get("exit"), (given.get("stdout"), given.get("stderr"))
    stdout, stderr = (each if isinstance(each, str) else "" for each in texts)
    return Output(status if type(status) is int else None, stdout, stderr)
