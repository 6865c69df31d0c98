"""Write the pages of a project's handbook, or say which are out of date."""

from __future__ import annotations

from pathlib import Path

from stagec.cli.baselines import load_configured_baseline
from stagec.cli.commands.handbook.chapter import ChapterWriter
from stagec.cli.commands.handbook.coverage import HandbookTests
from stagec.cli.commands.handbook.site import MARK, name_pages, write_site
from stagec.cli.files import read_file, update_folder
from stagec.cli.limits import load_configuration
from stagec.cli.plans import Freezer
from stagec.cli.running.assumptions import CostOptions, assume
from stagec.cli.streams import put, say, show_progress
from stagec.cli.unfound import explain_missing_flow
from stagec.core.failure import Exit, Failure
from stagec.core.value import value
from stagec.core.words import format_count, listing, quote


@value
class HandbookRequest:
    """The arguments and options as given; None where one is absent."""

    paths: tuple[Path, ...] = ()
    root: Path | None = None
    output: Path = Path("handbook")
    check: bool = False

    def make_pages(self) -> dict[str, bytes]:
        """Return the pages by the name of their file."""
        configuration = load_configuration(self.paths, self.root)
        freezer = Freezer(configuration, self.paths)
        meanings = freezer.compilation.meanings
        if not meanings:
            raise explain_missing_flow("describe", freezer.project, freezer.compilation)
        shown = freezer.judge_as_configured(load_configured_baseline(configuration))
        tests = HandbookTests(configuration)
        writer = ChapterWriter(freezer, shown.diagnostics, assume(CostOptions(), configuration), tests)
        names = name_pages(each.flow.id for each in meanings)
        return write_site(
            shown,
            tests.troubles,
            [writer.write(each, name) for each, name in zip(meanings, names, strict=True)],
        )


def run(request: HandbookRequest) -> Exit:
    """Write the site, and return the exit status."""
    with show_progress("writing …"):
        pages = request.make_pages()
    before = _read_earlier(request.output, pages)
    changed = {name: data for name, data in pages.items() if before.get(name) != data}
    stale = sorted(before.keys() - pages.keys())
    if request.check:
        for name in (*changed, *stale):
            say(f"stagec: {quote(str(request.output / name))} is out of date: 'stagec handbook' writes it")
        return Exit.FINDINGS if changed or stale else Exit.CLEAN
    update_folder(request.output, changed, before, stale)
    put(f"Wrote {format_count(len(pages), 'page')}: open {request.output / 'index.html'}\n")
    return Exit.CLEAN


def _read_earlier(folder: Path, pages: dict[str, bytes]) -> dict[str, bytes]:
    """Return the pages of an earlier handbook; refuse a folder in which a page would replace something else."""
    paths = [path for path in sorted(folder.glob("*.html")) if path.is_file()]
    found = {path.name: read_file(path) for path in paths}
    foreign = [name for name in found if name in pages and MARK not in found[name]]
    if foreign:
        raise Failure(
            f"{listing(foreign)} in {quote(str(folder))} was not written by 'stagec handbook': name another folder"
        )
    return {name: data for name, data in found.items() if MARK in data}
