"""`stagec rules`: all rules at a glance."""

from __future__ import annotations

import os
import sys

import click

from stagec.cli import options


@click.command(short_help="List all rules.")
@options.select
@options.output_format("text", "json", default="text")
def rules(select: tuple[str, ...] | None, output_format: str) -> None:
    """List the rules with their severities; those in brackets apply only when they are selected."""
    from stagec.cli.rule_catalogue import draw_table, find_rules, list_rules
    from stagec.cli.streams import find_canvas, put
    from stagec.pipeline import list_families

    every = list_rules(list_families())
    if select is not None:
        found = [every if selector == "ALL" else find_rules(every, selector) for selector in select]
        chosen = {each.rule.code for some in found for each in some}
        every = tuple(each for each in every if each.rule.code in chosen)
    if output_format == "json":
        from json import dumps

        put(dumps([each.facts() for each in every], indent=2) + "\n")
    else:
        put(draw_table(every, find_canvas(sys.stdout, os.environ).width))
