"""`stagec explain`: the page of a rule, or the rules of a family or group."""

from __future__ import annotations

import os
import sys

import click

from stagec.cli import options


@click.command(short_help="Print the page of a rule, or list the rules of a family or group.")
@click.argument("rule", metavar="CODE|NAME|FAMILY|GROUP")
@options.output_format("text", "json", default="text")
def explain(rule: str, output_format: str) -> None:
    """Print why a rule exists and how to fix what it finds.

    A rule is named by its code (STG201) or its name (unknown-target); a family, a group or the beginning of a code
    lists the rules it stands for.
    """
    from stagec.cli.catalogue import entries, find
    from stagec.cli.streams import canvas, put
    from stagec.cli.table import table
    from stagec.pipeline import families

    paper = canvas(sys.stdout, os.environ)
    found = find(entries(families()), rule)
    if output_format == "json":
        from json import dumps

        pages = [{**each.facts(), "explanation": each.rule.explanation.strip()} for each in found]
        put(dumps(pages[0] if len(pages) == 1 else pages, indent=2) + "\n")
    elif len(found) == 1:
        from stagec.cli.page import page

        put(page(found[0], paper))
    else:
        put(table(found, paper.width))
