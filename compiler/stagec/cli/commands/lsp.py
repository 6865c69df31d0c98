"""`stagec lsp`: findings, fixes and names in editors."""

from __future__ import annotations

import click


@click.command(short_help="Serve an editor by the Language Server Protocol.")
@click.option("--stdio", is_flag=True, help="Speak over standard input and output, as without the option.")
@click.pass_context
def lsp(context: click.Context, *, stdio: bool) -> None:
    """Serve an editor, which starts this command and speaks the Language Server Protocol with it.

    Editors show the findings of 'stagec validate' while you type, with the same configuration, suppressions and
    baseline. It needs the extra 'lsp'.

    Exit status: 0 the editor has ended it, 2 usage or environment, 4 internal error.
    """
    from stagec.cli.editor_server import serve_editor

    _ = stdio  # what editors add to the command line of most servers
    context.exit(serve_editor())
