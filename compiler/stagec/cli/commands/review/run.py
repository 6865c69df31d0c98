"""Compare two sides that a user names, and print what a reviewer has to know of them."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from stagec.cli.allowances import read_codes
from stagec.cli.baselines import report_known
from stagec.cli.commands.review.document import format_review
from stagec.cli.commands.review.gather import gather
from stagec.cli.commands.review.markdown import write_comment
from stagec.cli.commands.review.page import draw_review
from stagec.cli.drawn_sides import draw_sides
from stagec.cli.limits import load_configuration
from stagec.cli.revisions import find_merge_base
from stagec.cli.running.assumptions import CostOptions, assume
from stagec.cli.sheet import Sheet
from stagec.cli.streams import find_canvas, put, show_progress
from stagec.core.failure import Exit
from stagec.core.value import replace, value


@value
class ReviewRequest:
    """The arguments and options as given; None where one is absent."""

    against: str
    path: str = "."
    merge_base: bool = False
    flow: str | None = None
    allow: tuple[str, ...] = ()
    prices: Path | None = None
    models: tuple[str, ...] = ()
    output_format: str = "text"


def run(request: ReviewRequest) -> Exit:
    """Print the review, and return the exit status."""
    allowed = read_codes(request.allow)
    path = Path(request.path)
    with show_progress("reviewing …"):
        beside = path if path.exists() and request.path != "-" else Path()
        cost = CostOptions(prices=request.prices, models=request.models)
        given = assume(cost, load_configuration((beside,))).assumptions
        old = find_merge_base(request.against, beside) if request.merge_base else request.against
        drawn = draw_sides(old, request.path, request.flow)
        review = gather(drawn, allowed, given)
        review = replace(review, branch=request.against if request.merge_base else "")
    if request.output_format == "json":
        put(format_review(review))
    elif request.output_format == "markdown":
        put(write_comment(review))
    else:
        sheet = Sheet(find_canvas(sys.stdout, os.environ))
        draw_review(sheet, review)
        put(sheet.text())
    report_known(drawn.new.acceptance)
    return Exit.FINDINGS if review.is_bad else Exit.CLEAN
