"""The commands that execute runs have the same options for the world of a run."""

from __future__ import annotations

import click
import pytest

from stagec.cli.commands.resume import resume
from stagec.cli.commands.run import run
from stagec.cli.running.world_options import WorldOptions


@pytest.mark.parametrize("command", [run, resume])
def test_each_field_of_the_world_is_an_option_of_a_command_that_executes_runs(command: click.Command) -> None:
    """A world that a run can start with can be named when it is resumed, too."""
    names = [each.name for each in command.params if each.name in WorldOptions.__match_args__]
    assert sorted(map(str, names)) == sorted(WorldOptions.__match_args__)


def test_absent_options_are_what_the_fields_say() -> None:
    """A world that is made without the command line is the one of a command without options."""
    given = run.make_context("run", ["x.plan.json"], resilient_parsing=True).params
    absent = {name: given[name] for name in WorldOptions.__match_args__}
    assert WorldOptions(**absent) == WorldOptions()
