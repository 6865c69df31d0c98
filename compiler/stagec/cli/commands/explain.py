"""`stagec explain`: the page of a rule, or a list of rules."""

from __future__ import annotations

import os
import sys

import click

from stagec.cli import options
from stagec.cli.completions import complete_rule


@click.command(short_help="Print the page of a rule, or list rules.")
@click.argument("chosen", nargs=-1, metavar="[CODE|NAME|FAMILY|GROUP]...", shell_complete=complete_rule)
@options.output_format("text", "markdown", "json", default="text")
def explain(chosen: tuple[str, ...], output_format: str) -> None:
    """Print why a rule exists, how to fix its findings, and an example.

    Name a rule by its code (STG201) or its name (unknown-target). A family, a group or a prefix of a code lists its
    rules; without a name, all rules are listed. Rules with a severity in brackets apply only if you select them.
    """
    from stagec.check.pipeline import list_families
    from stagec.cli.rule_catalogue import draw_page, draw_table, find_rules, list_rules, read_example, write_page
    from stagec.cli.streams import find_canvas, put

    paper = find_canvas(sys.stdout, os.environ)
    every = list_rules(list_families())
    wanted = {each.rule.code for name in chosen for each in find_rules(every, name)}
    found = tuple(each for each in every if not chosen or each.rule.code in wanted)
    if output_format == "json":
        from json import dumps

        pages = [
            {**each.facts(), "explanation": each.rule.explanation.strip(), "example": read_example(each.rule)}
            for each in found
        ]
        put(dumps(pages[0] if len(pages) == 1 else pages, indent=2) + "\n")
    elif output_format == "markdown":
        put("\n".join(map(write_page, found)))
    elif len(found) == 1:
        put(draw_page(found[0], paper))
    else:
        put(draw_table(found, paper.width))
