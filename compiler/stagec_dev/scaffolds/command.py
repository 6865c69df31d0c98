"""A command: what a user types behind `stagec`."""

from __future__ import annotations

from stagec_dev.scaffold import make_one_word_scaffold

COMMAND = make_one_word_scaffold(
    "the name of a command",
    {
        "compiler/stagec/cli/commands/{name}.py": "command.py.jinja",
        "tests/cli/commands/test_{name}.py": "test_command.py.jinja",
    },
)
