"""How nodes ask their models, as the files of a project say it: by setting, and in a configuration by pattern."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from fnmatch import translate
from functools import lru_cache
from typing import Any

from stagec.core.canonical import to_count
from stagec.core.json import Json, text_in
from stagec.core.nearest import NameIndex, is_slip
from stagec.core.place import Place
from stagec.core.value import NOTHING, replace, value
from stagec.core.words import format_count
from stagec.ir.plan.act import Converse, Policy, Prompt
from stagec.ir.plan.document import Draft

_SECOND = 1000
"""Milliseconds."""
_DIGITS = 3
"""Digits behind the point of milliseconds; those beyond come from the product of two doubles, as in 1.1 seconds."""


@value
class UnmatchedPattern:
    """A pattern of a configuration that is about no node that asks a model, with its place.

    `nodes` are those that ask one; `others` tells that it matches a node that asks none. A pattern that is the provider
    of a model is about no model: `provider` is the one that it was meant to be.
    """

    pattern: str
    at: Place
    nodes: NameIndex = NameIndex(())
    others: bool = False
    provider: str | None = None


_NAMES = (
    "alibaba anthropic azure azure-responses bedrock bedrock-mantle cerebras cohere crusoe deepseek fireworks github"
    " github-copilot google google-cloud groq heroku huggingface litellm local meta mistral moonshotai nebius ollama"
    " openai openai-chat openai-codex openai-responses openrouter ovhcloud sambanova snowflake"
    " system-one together vercel vllm xai zai"
)
PROVIDERS = tuple(_NAMES.split())
"""Providers of models that runs can ask; a library of another version may know more."""


def find_misspelt(provider: str) -> str | None:
    """Return the provider that another one was meant to be, which runs cannot ask; None where that is not certain."""
    return None if provider in PROVIDERS else next((each for each in PROVIDERS if is_slip(provider, each)), None)


@value
class NodePolicy:
    """The model that a node asks, and how; what nobody says is None."""

    model: str | None = None
    asks: Policy = Policy()

    def fill(self, other: NodePolicy) -> NodePolicy:
        """Return this policy, with what it does not say as the other one has it."""
        return NodePolicy(self.model or other.model, _fill(self.asks, other.asks))

    @property
    def written(self) -> Policy | None:
        """The settings of the model as plans have them: None if there are none."""
        return None if self.asks == Policy() else self.asks


def _fill(policy: Policy, other: Policy) -> Policy:
    names = Policy.__match_args__
    return Policy(**{each: _first(getattr(policy, each), getattr(other, each)) for each in names})


def _first(one: Any, other: Any) -> Any:
    return other if one is None else one


def read_policy(given: Mapping[str, Json]) -> NodePolicy:
    """Return the policy of some settings, by their names in stage files; what has another form is left out."""
    seconds = _number(given.get("requestTimeout"))
    return NodePolicy(
        text_in(given, "model") or None,
        Policy(
            temperature=_number(given.get("temperature")),
            output_tokens=to_count(given.get("maxOutputTokens")),
            milliseconds=None if seconds is None else to_count(round(seconds * _SECOND, _DIGITS)),
            attempts=to_count(given.get("requestAttempts")),
        ),
    )


def _number(given: Json) -> float | None:
    return given if isinstance(given, int | float) and not isinstance(given, bool) else None


def describe_policy(policy: Policy | None) -> Iterator[str]:
    """Yield in a few words each how a model is asked."""
    if policy is None:
        return
    if policy.temperature is not None:
        yield f"temperature {policy.temperature:g}"
    if policy.output_tokens is not None:
        yield f"at most {format_count(policy.output_tokens, 'token')} in a response"
    if policy.milliseconds is not None:
        yield f"at most {policy.milliseconds / _SECOND:g} s for a request"
    if policy.attempts is not None:
        yield f"at most {format_count(policy.attempts, 'attempt')} of a request"


def read_setting_name(key: str) -> str:
    """Return the name in stage files of a setting in a configuration: `maxOutputTokens` for `max-output-tokens`."""
    first, *others = key.split("-")
    return first + "".join(map(str.capitalize, others))


_WILD = re.compile(r"[*?\[\]]")


class NodePatterns:
    """Patterns of nodes, indexed for the question which of them are about a node.

    `*` stands for any text, `?` for one character. A pattern is compared only with nodes that begin as it does, or end
    as it does if it begins with a wildcard, and that contain the longest text between its wildcards.
    """

    def __init__(self, patterns: Iterable[str]) -> None:
        self._patterns = tuple(patterns)
        self._exact: dict[str, int] = {}
        self._beginnings: dict[str, list[int]] = {}
        self._ends: dict[str, list[int]] = {}
        self._inside: list[str] = []
        self._compiled: dict[int, re.Pattern[str]] = {}
        for at, pattern in enumerate(self._patterns):
            beginning, *others = _WILD.split(pattern)
            self._inside.append("" if "[" in pattern else max((beginning, *others), key=len))
            if not others:
                self._exact[pattern] = at
            elif beginning:
                self._beginnings.setdefault(beginning, []).append(at)
            else:
                self._ends.setdefault(others[-1], []).append(at)
        self._first_lengths = {*map(len, self._beginnings)}
        self._last_lengths = {*map(len, self._ends)}

    def find(self, node: str) -> list[int]:
        """Return the positions of the patterns that are about a node, in order."""
        size = len(node)
        near = [at for most in self._first_lengths if most <= size for at in self._beginnings.get(node[:most], ())]
        near += (at for most in self._last_lengths if most <= size for at in self._ends.get(node[size - most :], ()))
        inside = self._inside
        found = [at for at in near if inside[at] in node and self._compile(at).match(node)]
        if node in self._exact:
            found.append(self._exact[node])
        return sorted(found)

    def find_used(self, nodes: Iterable[str]) -> set[str]:
        """Return the patterns that are about any of some nodes."""
        return {self._patterns[at] for each in nodes for at in self.find(each)}

    def _compile(self, at: int) -> re.Pattern[str]:
        if at not in self._compiled:
            self._compiled[at] = re.compile(translate(self._patterns[at]))
        return self._compiled[at]


@lru_cache(maxsize=1)
def index_patterns(patterns: tuple[str, ...]) -> NodePatterns:
    """Return the index of the patterns of a configuration, which all flows of a project share."""
    return NodePatterns(patterns)


def apply_policies(draft: Draft, patterns: Mapping[str, Mapping[str, Json]] = NOTHING) -> Draft:
    """Return a draft whose nodes ask their models as the patterns of a configuration say, and as they say themselves.

    Of the patterns that match a node the last one counts, setting by setting. The model of a node that only has the
    usual model of its flow is the one of the patterns.
    """
    if not patterns:
        return draft
    index, policies = index_patterns(tuple(patterns)), tuple(patterns.values())
    made: dict[tuple[int, NodePolicy], Prompt | Converse] = {}  # large flows share acts
    nodes = dict(draft.plan.nodes)
    for name, node in draft.plan.nodes.items():
        act, found = node.act, _merge(_read_configured(policies[at]) for at in index.find(name))
        if found == NodePolicy() or not isinstance(act, Prompt | Converse):
            continue
        is_usual = name in draft.usual_models
        usual = replace(found, model=found.model or act.model) if is_usual else found
        key = (id(act), usual)
        if key not in made:
            own = NodePolicy(None if is_usual else act.model, act.policy or Policy())
            told = own.fill(usual)
            made[key] = replace(act, model=told.model, policy=told.written)
        nodes[name] = replace(node, act=made[key])
    return replace(draft, plan=replace(draft.plan, nodes=nodes))


def _read_configured(given: Mapping[str, Json]) -> NodePolicy:
    return read_policy({read_setting_name(key): each for key, each in given.items()})


def _merge(policies: Iterable[NodePolicy]) -> NodePolicy:
    """Return the combination of policies; the last one counts."""
    found = NodePolicy()
    for each in policies:
        found = each.fill(found)
    return found
