"""Run one of the contributors' tools: `python -m stagec_dev TOOL ARGUMENTS`."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, RawDescriptionHelpFormatter

from stagec.core.shelf import member, names
from stagec_dev import tools
from stagec_dev.tools import DeveloperTool


def main(argv: list[str]) -> int:
    """Run the tool that the first argument names on the others and return the exit status."""
    known = names(tools)
    if argv and argv[0] in known:
        tool = member(tools, argv[0], DeveloperTool)
        parser = ArgumentParser(f"python -m stagec_dev {argv[0]}", description=summary(argv[0]))
        tool.declare(parser)
        return tool.run(parser.parse_args(argv[1:]))
    listed = "\n".join(f"  {name:<12} {summary(name)}" for name in known)
    parser = ArgumentParser(
        "python -m stagec_dev",
        description=f"tools:\n{listed}\n\n`TOOL --help` tells what a tool takes",
        formatter_class=RawDescriptionHelpFormatter,
    )
    parser.add_argument("tool", choices=known, metavar="TOOL")
    parser.parse_args(argv)
    return 2


def summary(name: str) -> str:
    """Return the first line of a tool's docstring."""
    member(tools, name, DeveloperTool)
    return (sys.modules[f"{tools.__name__}.{name}"].__doc__ or "").strip().partition("\n")[0]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
