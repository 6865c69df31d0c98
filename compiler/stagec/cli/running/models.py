"""The models of a run: selected by options and configuration, and the providers that ask them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from stagec.cli.streams import say
from stagec.core.failure import Failure
from stagec.core.json import Json
from stagec.core.value import NOTHING, value
from stagec.core.words import quote
from stagec.ir.plan.act import Converse, Prompt
from stagec.ir.plan.document import Plan
from stagec.runtime.world.models.local_provider import PREFIX, LocalProvider, name_file
from stagec.runtime.world.models.model_world import ModelChoice, ModelSetup, ModelWorld, Onlooker, Tools
from stagec.runtime.world.models.port import Provider, Providers
from stagec.runtime.world.models.retries import DEFAULT, NODE, Patience, PolicyEntries, PolicyTable, RetryingProvider
from stagec.sources.project.mistakes import mistakes
from stagec.sources.project.prices import PriceTable


def read_models(given: Iterable[str], configured: Mapping[str, str] = NOTHING) -> Mapping[str, str]:
    """Return the models of a configuration and of the options `PROVIDER:NAME` and `KEY=PROVIDER:NAME`, which win.

    Files of models have whole paths, so that a run can be resumed from another folder.
    """
    models = dict(configured)
    for each in given:
        key, equals, model = ("", "", each) if each.startswith(PREFIX) else each.rpartition("=")
        if not model.partition(":")[2]:
            raise Failure(f"--model {quote(each)} names no model: write PROVIDER:NAME, such as 'openai:gpt-5.4'")
        models[key if equals else DEFAULT] = model
    return {key: name_file(each) for key, each in models.items()}


def choose_models(models: Mapping[str, str]) -> ModelChoice:
    """Return the choice of models, by the keys of options and configurations."""
    nodes = {name.removeprefix(NODE): each for name, each in models.items() if name.startswith(NODE)}
    return ModelChoice(models.get(DEFAULT), models, nodes)


def read_policies(given: Iterable[str]) -> PolicyEntries:
    """Return the policies of the options `[WHOM.]SETTING=VALUE`."""
    found: dict[str, dict[str, Json]] = {}
    for option in given:
        named, equals, text = option.rpartition("=")
        whom, _, setting = named.rpartition(".")
        amount: Json = [*text.split(",")] if setting == "transient" else _read_number(text)
        wrong = [each.message for each in mistakes({TABLE: {whom or DEFAULT: {setting: amount}}})]
        if wrong or not equals:
            told = wrong[0] if equals else "write [WHOM.]SETTING=VALUE, such as 'openai.attempts=8'"
            raise Failure(f"--model-policy {quote(option)}: {told}")
        found.setdefault(whom or DEFAULT, {})[setting] = amount
    return found


TABLE = "model-policies"
"""The table of the configuration with policies, which also checks those of options."""


def _read_number(text: str) -> int | float | str:
    """Return a number as TOML writes it; any other text stays a text, which the schema refuses."""
    try:
        return int(text) if text.isdecimal() else float(text)
    except ValueError:
        return text


@value
class Retries:
    """How long to go on asking models: by policies, and `wait` seconds for a provider that is down."""

    policies: PolicyEntries = NOTHING
    wait: float | None = None


_USUAL = Retries()


def open_models(
    plan: Plan,
    models: Mapping[str, str],
    tools: Tools,
    onlooker: Onlooker | None = None,
    prices: PriceTable | None = None,
    retries: Retries = _USUAL,
) -> ModelWorld:
    """Return the world that asks the models of a run; raise `Failure` for a model that cannot answer it."""
    choice = choose_models(models)
    providers = Providers(_open_others, {PREFIX.rstrip(":"): LocalProvider})
    try:
        _refuse_unfit_models(plan, choice, providers)
    except Failure:
        providers.close()
        raise
    patience = Patience(retries.wait or 0.0, lambda sentence: say(f"stagec: {sentence}"))
    asked = RetryingProvider(providers, PolicyTable(retries.policies), patience)
    return ModelWorld(plan, ModelSetup(asked, choice, tools, onlooker=onlooker, prices=prices))


def _open_others() -> Provider:
    from stagec.runtime.world.models.pydantic_provider import PydanticProvider

    return PydanticProvider()


def _refuse_unfit_models(plan: Plan, choice: ModelChoice, provider: Provider) -> None:
    """Refuse a model that is not there, and one that cannot be asked as the plan says.

    Without strict tool calls a conversation never hands in, and a temperature that is not taken would be left out.
    """
    for name, node in plan.nodes.items():
        if not isinstance(node.act, Prompt | Converse):
            continue
        model, policy = choice.choose(name, node.act.model), node.act.policy
        if model is None:
            continue
        provider.prepare(model)
        if isinstance(node.act, Converse) and not provider.supports_tools(model):
            raise Failure(f"{quote(model)} has no strict tool calls, which {plan.names.node} {quote(name)} needs")
        if policy is not None and policy.temperature is not None and not provider.takes_temperature(model):
            asked = f"{plan.names.node} {quote(name)} asks it with {policy.temperature:g}"
            raise Failure(f"{quote(model)} takes no temperature, and {asked}: remove it, or choose another model")
