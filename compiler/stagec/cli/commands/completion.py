"""`stagec completion`: the script that teaches a shell to complete stagec's commands and options."""

from __future__ import annotations

import click

from stagec.cli.parameters import OneOf

_HELP = """Print the completion script of SHELL for commands, options, and names of rules, flows, nodes, entries and
runs.

\b
bash   stagec completion bash > ~/.local/share/bash-completion/completions/stagec
zsh    stagec completion zsh > "${fpath[1]}/_stagec"
fish   stagec completion fish > ~/.config/fish/completions/stagec.fish
"""
"""As click reads it: a paragraph that begins with a backspace keeps its lines."""


@click.command(short_help="Print the completion script of a shell.", help=_HELP)
@click.argument("shell", type=OneOf(("bash", "fish", "zsh")))
@click.pass_context
def completion(context: click.Context, shell: str) -> None:
    """Print the script of a shell."""
    from click.shell_completion import get_completion_class

    from stagec.cli.streams import put

    kind = get_completion_class(shell)
    if kind is not None:
        put(kind(context.find_root().command, {}, "stagec", "_STAGEC_COMPLETE").source() + "\n")
