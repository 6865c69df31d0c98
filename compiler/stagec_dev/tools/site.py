"""Build the documentation as a site, and check every link in it."""

from __future__ import annotations

import shutil
import sys
from argparse import ArgumentParser, Namespace
from pathlib import Path
from tempfile import TemporaryDirectory

from stagec.core.failure import Failure
from stagec_dev.checkout import ROOT
from stagec_dev.site import build, complete, find_faults, read_sources
from stagec_dev.tools import DeveloperTool


def _declare(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--output", type=Path, default=ROOT / "site", help="the folder that is replaced (default: site)"
    )
    parser.add_argument("--address", help="where the site will be published")
    parser.add_argument("--root", type=Path, default=ROOT, help="the checkout (default: this one)")


def _run(options: Namespace) -> int:
    if options.output.exists() and not (options.output / "search.json").is_file():
        sys.stderr.write(f"{options.output} exists and is no site\n")
        return 2
    with TemporaryDirectory() as folder:
        try:
            site = build(read_sources(options.root), Path(folder), options.address)
        except Failure as failure:
            sys.stderr.write(f"{failure}\n")
            return 1
        complete(site)
        faults = [*find_faults(site)]
        sys.stdout.writelines(f"{fault}\n" for fault in faults)
        pages = sum(1 for _ in site.rglob("*.html"))
        shutil.rmtree(options.output, ignore_errors=True)
        shutil.copytree(site, options.output)
    sys.stdout.write(f"{pages} pages in {options.output}\n")
    return int(bool(faults))


SITE = DeveloperTool(_declare, _run)
