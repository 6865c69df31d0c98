"""`stagec lsp`: findings, fixes and names in editors."""

from __future__ import annotations

import os
from importlib.util import find_spec
from pathlib import Path

import click

from stagec.core.failure import Exit


@click.command(short_help="Serve an editor by the Language Server Protocol.")
@click.option("--stdio", is_flag=True, help="Speak over standard input and output, as without the option.")
@click.pass_context
def lsp(context: click.Context, *, stdio: bool) -> None:
    """Serve an editor, which starts this command and speaks the Language Server Protocol with it.

    Editors show the findings of 'stagec validate' while you type, with the same configuration, suppressions and
    baseline. It needs the extra 'lsp'.

    Exit status: 0 the editor has ended it, 2 usage or environment, 4 internal error.
    """
    _ = stdio  # what editors add to the command line of most servers
    context.exit(serve_editor())


def serve_editor() -> Exit:
    """Serve the editor at standard input and output until it ends."""
    from stagec.cli.limits import make_loader
    from stagec.cli.result_cache import find_own_folder
    from stagec.core.collector import settle_collector
    from stagec.core.extras import explain_missing_extra

    if find_spec("pygls") is None:
        raise explain_missing_extra("'stagec lsp' needs", "lsp")
    from stagec.lsp.requests import make_server

    # a server has one drawing at a time, which the next one replaces
    server = make_server(make_loader(), Path(find_own_folder() or os.curdir) / "drawings" / "flow.html")
    settle_collector()
    # the library closes its streams; whatever else is printed must not come between the messages
    messages, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    try:
        server.start_io(messages, answers)
    finally:
        server.end()
    return Exit.CLEAN
