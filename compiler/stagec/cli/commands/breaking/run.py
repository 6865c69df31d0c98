"""Compare what is there with what runs in flight were begun with, and print what that means for them."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from stagec.cli.allowances import read_codes
from stagec.cli.commands.breaking.document import format_flows
from stagec.cli.commands.breaking.markdown import write_comment
from stagec.cli.commands.breaking.page import draw_flows
from stagec.cli.sheet import Sheet
from stagec.cli.sides import read_sides
from stagec.cli.streams import find_canvas, put, show_progress
from stagec.comparison.classify import judge_flow
from stagec.comparison.flows import compare_flows
from stagec.comparison.kind import Grade
from stagec.core.failure import Exit
from stagec.core.value import value


@value
class BreakingRequest:
    """The arguments and options as given; None where one is absent."""

    against: str
    path: str = "."
    flow: str | None = None
    allow: tuple[str, ...] = ()
    output_format: str = "text"


def run(request: BreakingRequest) -> Exit:
    """Print what the changes mean, and return the exit status."""
    allowed = read_codes(request.allow)
    with show_progress("comparing …"):
        before, after = read_sides(request.against, request.path, Path(), request.flow)
        flows = tuple(judge_flow(each) for each in compare_flows(before.plans, after.plans))
    if request.output_format == "json":
        put(format_flows(before, after, flows, allowed))
    elif request.output_format == "markdown":
        put(write_comment(before, after, flows, allowed))
    else:
        sheet = Sheet(find_canvas(sys.stdout, os.environ))
        draw_flows(sheet, flows, allowed)
        put(sheet.text())
    judged = (each for flow in flows for each in flow.changes)
    is_broken = any(each.kind.grade is Grade.BREAKING and each.kind.code not in allowed for each in judged)
    return Exit.FINDINGS if is_broken else Exit.CLEAN
