"""Compile a project as asked."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from stagec.cli.commands.compile.output import (
    UP_TO_DATE,
    choose_target,
    compare_file,
    list_plans,
    name_files,
    print_findings,
    print_refusals,
    write_plans,
)
from stagec.cli.options import load_configuration
from stagec.cli.plans import Freezer, Frozen, Refused, choose_flows
from stagec.cli.streams import show_progress
from stagec.core.failure import Exit, Failure
from stagec.core.value import value
from stagec.core.words import listing
from stagec.pipeline import Meaning


@value
class CompileRequest:
    """The arguments and options as given; None where one is absent."""

    paths: tuple[Path, ...] = ()
    root: Path | None = None
    output: str | None = None
    flow: str | None = None
    check: bool = False


def run(request: CompileRequest) -> Exit:
    """Compile what was asked for, write it or compare it with the files, and return the exit status."""
    with show_progress("compiling …"):
        freezer = _open_freezer(request)
        chosen = _choose(freezer, request.flow)
        target = choose_target(request.output, len(chosen))
        if request.check and target.path is None:
            raise Failure("--check compares with files: --output names them")
        made = {name: freezer.freeze(each) for name, each in chosen.items()}
    print_findings(freezer, None if request.flow is None else [each.flow for each in chosen.values()])
    plans = [(target.file(name), each) for name, each in made.items() if isinstance(each, Frozen)]
    if request.check:
        states = [compare_file(path, each.data) for path, each in plans]
    else:
        states = [""] * len(plans)
        write_plans(target, [(path, each.data) for path, each in plans])
    list_plans(plans, states)
    refused = [each for each in made.values() if isinstance(each, Refused)]
    is_broken = print_refusals(freezer, refused, is_all=request.flow is None)
    return Exit.FINDINGS if is_broken or not {*states} <= {"", UP_TO_DATE} else Exit.CLEAN


def _open_freezer(request: CompileRequest) -> Freezer:
    configuration = load_configuration(request.paths, request.root)
    freezer = Freezer(configuration, request.paths)
    if not freezer.compilation.flows:
        looked_in = listing([os.path.relpath(path) for path in request.paths or (configuration.root,)])
        why = "; 'stagec validate' says why" if freezer.compilation.diagnostics else ""
        raise Failure(f"nothing to compile: {looked_in} holds no flow that can be read{why}", Exit.NOTHING)
    return freezer


def _choose(freezer: Freezer, wanted: str | None) -> Mapping[str, Meaning]:
    """Return what is compiled by the name of its file, which does not depend on what else is chosen or broken."""
    every = freezer.compilation.meanings
    names = name_files(each.flow.id for each in every)
    flows = {id(flow) for flow in choose_flows(wanted, freezer.compilation.flows)}
    return {name: each for name, each in zip(names, every, strict=True) if id(each.flow) in flows}
