"""A command: what a user types behind `stagec`."""

from __future__ import annotations

from collections.abc import Mapping

from stagec_dev.scaffold import Scaffold, filled, identifier

_TAKES = "the name of a command"

_COMMAND = '''"""`stagec @name@`: @@."""

from __future__ import annotations

import click


@click.command
def @name@() -> None:
    """Say in one sentence what the command does: @@."""
    click.echo("@@")
'''

_TEST = """from __future__ import annotations

import pytest

from stagec.cli.app import run


def test_the_command_says_what_it_is_for(capsys: pytest.CaptureFixture[str]) -> None:
    status = run(["@name@"])
    assert (status, capsys.readouterr().out) == (0, "what it should print, not @@\\n")
"""


def _files(words: tuple[str, ...]) -> Mapping[str, str]:
    name = identifier(words, _TAKES)
    return {
        f"compiler/stagec/cli/commands/{name}.py": filled(_COMMAND, name=name),
        f"tests/cli/commands/test_{name}.py": filled(_TEST, name=name),
    }


COMMAND = Scaffold(_TAKES, _files)
