"""Start a run as asked."""

from __future__ import annotations

import os
from collections.abc import Mapping
from decimal import Decimal
from pathlib import Path

from stagec.cli.figures import describe_least, describe_most
from stagec.cli.limits import load_configuration
from stagec.cli.running.assumptions import CostBasis, CostOptions, assume
from stagec.cli.running.inputs import collect_inputs, read_program, refuse_unfit
from stagec.cli.running.report import announce
from stagec.cli.running.run_session import RunSetup, execute
from stagec.cli.running.runs import Runs, explain_journal_error, name_of
from stagec.cli.running.stages import (
    choose_stages,
    find_folder,
    has_stages,
    name_stage_run,
    refuse_other_results,
    refuse_unfit_stages,
)
from stagec.cli.running.telemetry import send_live
from stagec.cli.running.world_options import WorldOptions
from stagec.cli.running.world_sources import WorldSources, choose_worlds
from stagec.cli.running.worlds import WorldSetup, open_world, prepare_world, protect
from stagec.cli.signatures import demand_signature, locate_signature
from stagec.cli.streams import say
from stagec.cli.wording import join_names
from stagec.core.failure import Exit, Failure
from stagec.core.json import object_of
from stagec.core.secrets import Redactor, holds_secret
from stagec.core.value import value
from stagec.core.words import quote
from stagec.ir.graph.bounds import bound_entry
from stagec.ir.graph.figures import Figure
from stagec.ir.graph.usage import Quantity
from stagec.ir.plan.document import Plan
from stagec.runtime.drivers.local import Journal, JournalError, create
from stagec.runtime.drivers.redaction import redact_value
from stagec.runtime.machine import Program, Started
from stagec.runtime.world.scenario import Scenario
from stagec.sources.project.configuration import Configuration

_NANO = 10**9


def check_ceiling(
    plan: Plan, entry: str | None, most: Decimal, others: WorldSources, configuration: Configuration
) -> None:
    """Refuse a ceiling below the cost of every completed run, or one that cannot hold; say what a run may cost.

    This holds only if models alone answer the requests to models: the cost of other answers is known only when they
    come.
    """
    begun = plan.entry if entry is None else entry
    if begun not in plan.entries or not others.models or others.factory is not None or others.command is not None:
        return
    basis = assume(CostOptions(prices=others.prices), configuration, others.models)
    figure = bound_entry(plan, str(begun), basis.assumptions).figures[Quantity.COST]
    unknown = [each.nodes for each in figure.lacks if each.what == "price"]
    if unknown:
        raise Failure(_explain_unknown(basis, plan, unknown[0]))
    if any(each.what == "model-name" for each in figure.lacks) or figure.least is None:
        return
    allowed = f"--max-cost allows ${format(most, 'f')}"
    prices = f"by the prices of {basis.table.as_of}, {basis.table.file}"
    if Decimal(figure.least) / _NANO > most:
        least = describe_least(Quantity.COST, figure)
        hint = "'stagec bounds' explains the figure"
        raise Failure(f"a completed run costs at least {least} {prices}: {allowed}", hints=[hint])
    if _exceeds(figure, most):
        says = "has no bound" if figure.upper.most is None else f"is at most {describe_most(Quantity.COST, figure)}"
        say(f"stagec: note: the cost of a run {says} {prices}: {allowed}, and stops it then")


def _exceeds(figure: Figure, most: Decimal) -> bool:
    return figure.upper.most is None or Decimal(figure.upper.most) / _NANO > most


def _explain_unknown(basis: CostBasis, plan: Plan, nodes: tuple[str, ...]) -> str:
    models: Mapping[str, None] = {}
    for name in nodes:
        act = plan.nodes[name].act
        model = basis.assumptions.choose(name, getattr(act, "model", None)).name
        models = {**models, **({} if model is None else {model: None})}
    named = join_names(sorted(models)) if models else "the models of its agents"
    return (
        f"the price of a model is unknown, so stagec cannot enforce --max-cost: the price table of {basis.table.as_of},"
        f" {quote(basis.table.file)}, has no row for {named}; add one with --prices, or use --max-tokens"
    )


@value
class StartRequest:
    """The arguments and options as given; None where one is absent."""

    plan: Path
    runs: Path
    world: WorldOptions
    name: str | None = None
    inputs: tuple[str, ...] = ()
    entry: str | None = None
    digest: str | None = None

    def choose_path(self, plan: Plan) -> Path:
        """Return the file of a run that is to begin; its directory, if it has one, must be free, too."""
        runs = Runs(self.runs)
        path = runs.new(name_stage_run(runs) if self.name is None and has_stages(plan) else self.name, plan.id)
        if not os.path.lexists(path):
            refuse_other_results(find_folder(plan, name_of(path), choose_stages(self.world)))
        return path

    def describe_start(self, program: Program, scenario: Scenario, name: str) -> Started:
        """Return the event with which the run begins; raise `Failure` if its inputs are unfit."""
        entry = self.entry if self.entry is not None else scenario.entry
        inputs = redact_value(Redactor(os.environ), dict(collect_inputs(program, scenario.inputs, self.inputs)))
        started = Started(name, entry, object_of(inputs))
        refuse_unfit(program, started)
        return started


def start(request: StartRequest) -> Exit:
    """Run a plan; return the exit status of its end."""
    data, program = read_program(request.plan, request.digest)
    options = request.world
    refuse_unfit_stages(program.plan, choose_stages(options))
    path = request.choose_path(program.plan)
    configuration = load_configuration((Path(),))
    vouched = demand_signature(request.plan, data, configuration)
    others = choose_worlds(options, configuration.settings, configuration.root)
    named = (request.plan, locate_signature(request.plan))
    setup = prepare_world(path, program, options, others, protect(path.parent, options, configuration, named))
    started = request.describe_start(program, setup.scenario, name_of(path))
    if options.max_cost is not None and options.scenario is None:
        check_ceiling(program.plan, started.entry, options.max_cost, others, configuration)
    with open_world(setup) as opened:
        journal = _create_journal(path, data, program, {**_list_facts(setup), **vouched})
        setup.mail.begin(is_new=True)
        announce(program.plan, program.digest, name_of(path), quiet=options.events is not None)
        run = RunSetup(path, journal, program, opened.world, setup.reporter, setup.mail, options.max_parallel)
        with send_live(options, run):
            return execute(run, started)


def _list_facts(setup: WorldSetup) -> Mapping[str, str]:
    """Return the facts from which a later resume restores the world, and the budget for the page."""
    scenario = setup.options.scenario
    where = "" if scenario is None else os.path.abspath(scenario)
    known = {"scenario": where} if where and where.isprintable() else {}  # a name may hold what is no text
    stages = choose_stages(setup.options).list_facts(setup.path) if setup.folder else {}
    budget = {name.replace("_", "-"): getattr(setup.options, name) for name in ("max_tokens", "max_cost", "max_time")}
    budgets = {name: str(most) for name, most in budget.items() if most is not None}
    facts = {**known, **setup.others.facts, **stages, **budgets}
    secret = [name for name, each in facts.items() if holds_secret(each, os.environ)]
    for name in secret:
        say(f"stagec: note: --{name} holds a secret, so no journal remembers it: name it again to resume the run")
    return {name: each for name, each in facts.items() if name not in secret}


def _create_journal(path: Path, data: bytes, program: Program, facts: Mapping[str, str]) -> Journal:
    """Begin the journal, which remembers what resuming the run takes."""
    try:
        return create(path, data, program.digest, facts)
    except JournalError as error:
        raise explain_journal_error(name_of(path), error) from error
