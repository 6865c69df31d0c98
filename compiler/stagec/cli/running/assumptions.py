"""The assumptions of figures about costs: options, the configuration of a project, and the table of prices."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

import click

from stagec.cli.files import read_file
from stagec.cli.running.options import command_timeout, prices
from stagec.core.failure import Failure
from stagec.core.value import NOTHING, value
from stagec.core.words import quote
from stagec.sources.project.configuration import Configuration
from stagec.sources.project.find import find_inside
from stagec.sources.project.prices import BUNDLED, PriceTable, read_prices
from stagec.sources.project.settings import COST

TYPE_CHECKING = False  # the real one costs the import of `typing`

if TYPE_CHECKING:
    from stagec.ir.graph.figures import Assumptions
    from stagec.ir.graph.usage import AssumedUse, Interval, NamedModel


def find_configured(configuration: Mapping[str, object], root: Path) -> Path | None:
    """Return the table that a project names; raise `Failure` unless it is a regular file inside the project."""
    if "prices" not in configuration:
        return None
    return find_inside(root, str(configuration["prices"]), "cost.prices")


def load_prices(file: Path | None = None) -> PriceTable:
    """Return the table in a file, else the bundled one; raise `Failure` for what is none."""
    path = BUNDLED if file is None else file
    try:
        text = read_file(path, "file-size").decode()
    except UnicodeDecodeError as error:
        raise Failure(f"the price table {quote(path)} is not UTF-8 text") from error
    return read_prices(text, "bundled with stagec" if file is None else str(file))


F = TypeVar("F", bound=Callable[..., Any])
_LARGEST = 10**9
_BETWEEN = ".."
_WRITTEN = "1.."


def read_span(text: str) -> tuple[float, float | None]:
    """Return the ends of `1..20`, `1..`, `..20` or `20`, which has no least; raise `ValueError` for other texts."""
    first, between, last = text.partition(_BETWEEN)
    if not between:
        first, last = "0", first
    least, most = float(first or "0"), float(last) if last else None
    if not 0 <= least <= (_LARGEST if most is None else most) <= _LARGEST or not (first or last):
        raise ValueError(text)
    return least, most


class SpanText(click.types.StringParamType):
    """A span, `LEAST..MOST`, or the most alone."""

    name = "span"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the text of a span; refuse what is none."""
        try:
            read_span(value)
        except ValueError:
            self.fail(f"{quote(value)} is not a span: write LEAST..MOST, such as 1..20, or only the most", param, ctx)
        return str(value)


@value
class CostOptions:
    """The assumptions in options, None where one is absent; times are in seconds."""

    prices: Path | None = None
    models: tuple[str, ...] = ()
    turn: str | None = None
    calls: str | None = None
    responses: str | None = None
    input_tokens: str | None = None
    output_tokens: str | None = None
    command_timeout: float = 600


models = click.option(
    "--model",
    "models",
    multiple=True,
    metavar="[KEY=]PROVIDER:NAME",
    envvar="STAGEC_MODEL",
    show_envvar=True,
    help="The model for all requests, for a name in the plan, or for 'node:' and a node.",
)


def takes_assumptions(command: F) -> F:
    """Give a command the options of what figures about cost assume, the fields of `CostOptions`."""
    spans = (
        (
            "--turn",
            "SECONDS",
            "Assume that a model turn, with its tool calls, takes this long.",
        ),
        ("--calls", "SPAN", "Assume this many tool calls in a response of a model."),
        ("--responses", "SPAN", "Assume this many responses of a model until a step has its answer; by default 1..50."),
        ("--input-tokens", "SPAN", "Assume that a model reads this many tokens in a request."),
        ("--output-tokens", "SPAN", "Assume that a model writes this many tokens in a response."),
    )
    options = [
        prices,
        models,
        *(click.option(name, type=SpanText(), metavar=metavar, help=text) for name, metavar, text in spans),
        command_timeout,
    ]
    for option in reversed(options):
        command = option(command)
    return command


@value
class CostBasis:
    """The basis of figures: the assumptions, the table of prices, and the models that answer, by key."""

    assumptions: Assumptions
    table: PriceTable
    models: Mapping[str, str] = NOTHING


def assume(options: CostOptions, configuration: Configuration, known: Mapping[str, str] | None = None) -> CostBasis:
    """Return the assumptions of figures: from options, else from the configuration; `known` models are settled."""
    from stagec.cli.running.models import choose_models, read_models
    from stagec.ir.graph.figures import Assumptions
    from stagec.ir.graph.usage import Assumed, NamedModel

    told, settings = configuration.settings.cost, configuration.settings
    table = load_prices(options.prices or find_configured(told, configuration.root))
    models = read_models(options.models, settings.models) if known is None else known
    choice = choose_models(models)

    def choose(node: str, wish: str | None) -> NamedModel:
        model = choice.choose(node, wish)
        return NamedModel(model, None if model is None else table.find(model))

    spans = _Spans(told)
    turn = spans.read(options.turn, "turn", "", 1000)
    times = Assumed(turn.most, max(1, round(options.command_timeout * 1000)), turn.least)
    return CostBasis(Assumptions(times, spans.read_use(options), choose), table, models)


class _Spans:
    """The spans of a configuration."""

    def __init__(self, told: Mapping[str, str | int]) -> None:
        self._told = told

    def read_use(self, options: CostOptions) -> AssumedUse:
        """Return the assumptions about requests to models."""
        from stagec.ir.graph.usage import AssumedUse

        return AssumedUse(
            self.read(options.calls, "calls", ""),
            self.read(options.responses, "responses", ""),
            self.read(options.input_tokens, "input-tokens", ""),
            self.read(options.output_tokens, "output-tokens", _WRITTEN),
            int(self._told.get("token-characters", COST["token-characters"] or 1)),
        )

    def read(self, option: str | None, key: str, otherwise: str, scale: int = 1) -> Interval:
        """Return a span as an option gives it, else the configuration, else the default."""
        from stagec.ir.graph.usage import Interval

        text = str(self._told.get(key, COST[key] or otherwise)) if option is None else option
        if not text:
            return Interval()
        try:
            least, most = read_span(text)
        except ValueError as error:
            raise Failure(f"'cost.{key}' is not a span: {quote(text)}; write LEAST..MOST, such as 1..20") from error
        return Interval(round(least * scale), None if most is None else max(1, round(most * scale)))
