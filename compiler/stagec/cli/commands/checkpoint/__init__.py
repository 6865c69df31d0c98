"""`stagec checkpoint`: verify checkpoints of stages, list them, and bring in those of others."""

from __future__ import annotations

from pathlib import Path

import click

from stagec import reporters
from stagec.cli import options
from stagec.cli.parameters import ExistingPath, Group, OneOf
from stagec.cli.running import options as running
from stagec.core.shelf import names
from stagec.protocol.manifest_shape import TRUST_LEVELS

COMMAND = Group(
    "checkpoint",
    help="Verify, list and import checkpoints of stages.",
    short_help="Verify, list and import checkpoints of stages.",
)
_paths = click.argument("paths", nargs=-1, required=True, type=ExistingPath())


@COMMAND.subcommand("verify", "Verify checkpoints and their artifacts.")
@_paths
@click.option(
    "--trust",
    type=OneOf(TRUST_LEVELS),
    default="local",
    show_default=True,
    help="The origin of the checkpoints: this project, another project of yours, or any other source.",
)
@options.output_format(*names(reporters), default="text")
def _verify(paths: tuple[Path, ...], trust: str, output_format: str) -> None:
    """Verify the checkpoints in PATHS: manifests, and folders with manifests.

    stagec checks every digest, size, path and link, at the stricter of --trust and the level in the manifest. It
    executes nothing in a checkpoint.

    Exit status: 0 every checkpoint is valid, 1 one is not, 2 usage or environment, 3 no checkpoint, 4 internal error.
    """
    from stagec.cli.commands.checkpoint.verify import verify

    click.get_current_context().exit(verify(paths, trust, output_format))


@COMMAND.subcommand("list", "List checkpoints.")
@_paths
@options.output_format("text", "json", default="text")
def _list(paths: tuple[Path, ...], output_format: str) -> None:
    """List the checkpoints in PATHS: the stage, the time, the trust level and the validity of each."""
    from stagec.cli.commands.checkpoint.listing import print_checkpoints

    print_checkpoints(paths, output_format)


@COMMAND.subcommand("import", "Import a checkpoint of another project.")
@click.argument("path", type=ExistingPath(folder=False))
@click.option(
    "--trust",
    type=OneOf(TRUST_LEVELS[1:]),
    required=True,
    help="The origin of the checkpoint: another project of yours, or any other source.",
)
@click.option("--run", required=True, metavar="REPORT/RUN", help="The run that gets the checkpoint.")
@click.option(
    "--project",
    type=ExistingPath(file=False),
    default=".",
    help="The folder of this project; by default the current one.",
)
@running.runs
@click.option("--allow-untrusted", is_flag=True, help="Import an untrusted checkpoint.")
def _import(path: Path, trust: str, run: str, *, allow_untrusted: bool, **folders: Path) -> None:
    """Copy the checkpoint PATH and its artifacts into a run of this project, and record its origin.

    The run must have started, and no process may execute it. stagec verifies the copy, and overwrites nothing. When the
    run is resumed, the stage counts as complete. stagec executes nothing in the checkpoint.

    Exit status: 0 imported, 1 the checkpoint is not valid or the run has results, 2 usage or environment,
    4 internal error.
    """
    from stagec.cli.commands.checkpoint.bring_in import ImportRequest, bring_in
    from stagec.protocol.manifest import TrustLevel

    request = ImportRequest(path, TrustLevel(trust), run, **folders, allow_untrusted=allow_untrusted)
    click.get_current_context().exit(bring_in(request))
