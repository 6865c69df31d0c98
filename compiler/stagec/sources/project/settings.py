"""The settings of a project, and the keys of a configuration that set them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cache, lru_cache
from typing import Any

from stagec.core.budgets import Budgets, SearchScope
from stagec.core.diagnostic import Severity
from stagec.core.failure import Failure
from stagec.core.nearest import NameIndex, hint
from stagec.core.rule import AnyFamily, AnyRule
from stagec.core.value import NOTHING, replace, value
from stagec.core.version import DOCUMENTATION, locate_page
from stagec.core.words import quote

PolicySetting = float | tuple[str, ...]
"""A number, or the faults that pass."""


@value
class FileIgnore:
    """A suppression in the configuration: the rule, the pattern of files, the reason, and the line."""

    pattern: str
    selector: str
    reason: str
    line: int = 0


@value
class FileIgnores:
    """The rules that a configuration ignores by file, with its own file and text."""

    entries: tuple[FileIgnore, ...] = ()
    file: str = ""
    text: str = ""

    def by_pattern(self) -> Mapping[str, Mapping[str, str]]:
        """Return the reasons by rule, by pattern, as a configuration has them."""
        found: dict[str, dict[str, str]] = {}
        for each in self.entries:
            found.setdefault(each.pattern, {})[each.selector] = each.reason
        return found


@value
class NodePolicies:
    """How nodes ask their models: settings by pattern, the lines of the patterns, and the file and its text."""

    entries: Mapping[str, Mapping[str, str | float]] = NOTHING
    lines: Mapping[str, int] = NOTHING
    file: str = ""
    text: str = ""


@value
class NamedModels:
    """The models and providers that a configuration names, the line of each, and the file and its text."""

    lines: tuple[tuple[str, int], ...] = ()
    file: str = ""
    text: str = ""


@value
class Settings:
    """The effective settings of one run.

    `select` replaces the default set of rules when it is not None; `extend_select` adds to it and `ignore` takes away.
    Each names rules by code, code prefix, rule name, family, group or declared severity. `severity` changes how heavy
    rules are, by the same names, the most precise deciding; None turns them off. `fail_on` None means that findings
    never fail. `models` are those that answer runs: `default`, by a name of plans, or by `node:` and a node.
    `model_policies` say how long to go on asking them: by `default`, provider, model, or `node:` and a node.
    `node_policies` are part of plans. `named_models` are all models that these three name in a file.
    `tools` are the argument vectors of programs that are tools, by name. `agent_files` are the names that count beside
    those that stagec knows of other tools, by list, such as `tools`. `documentation` is the address of the site
    with the pages of rules. `baseline` is a file in the project. `require_signature` makes runs demand plans that a key
    in one of the files `trusted_keys`, relative to the root, has signed. `cost` has the table of prices, and what
    `stagec bounds` assumes, by key. `filed`
    are the keys that a file of the project has set, of those that can silence a rule.
    """

    scope: SearchScope = SearchScope()
    select: tuple[str, ...] | None = None
    extend_select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    severity: Mapping[str, Severity | None] = NOTHING
    fail_on: Severity | None = Severity.ERROR
    budgets: Budgets = Budgets()
    output_format: str = "text"
    required_version: str | None = None
    baseline: str | None = None
    documentation: str | None = DOCUMENTATION
    models: Mapping[str, str] = NOTHING
    model_policies: Mapping[str, Mapping[str, PolicySetting]] = NOTHING
    tools: Mapping[str, tuple[str, ...]] = NOTHING
    agent_files: Mapping[str, tuple[str, ...]] = NOTHING
    node_policies: NodePolicies = NodePolicies()
    named_models: NamedModels = NamedModels()
    file_ignores: FileIgnores = FileIgnores()
    require_signature: bool = False
    trusted_keys: tuple[str, ...] = ()
    cost: Mapping[str, str | int] = NOTHING
    filed: frozenset[str] = frozenset()

    @property
    def told(self) -> Settings:
        """The settings as if no file of the project had said which rules speak, for those that no file silences."""
        severity = {name: each for name, each in self.severity.items() if f"severity.{name}" not in self.filed}
        return replace(
            self,
            select=None if "select" in self.filed else self.select,
            ignore=() if "ignore" in self.filed else self.ignore,
            severity=severity,
        )

    @property
    def selects_nothing(self) -> bool:
        """Whether every rule speaks as it was declared."""
        return self.select is None and not (self.extend_select or self.ignore or self.severity)


COST: Mapping[str, str | int | None] = {
    "prices": None,
    "turn": None,
    "calls": None,
    "responses": "1..50",
    "input-tokens": None,
    "output-tokens": None,
    "token-characters": 8,
}
"""The settings of cost by key, with their defaults; None where there is none."""
FILES = ("baseline", "run.trusted-keys", "cost.prices")
"""The keys that name files."""
Value = bool | int | str | tuple[str, ...] | Mapping[str, str] | Mapping[str, PolicySetting | str] | None
BUDGETS = {name.replace("_", "-"): name for name in ("file_size", "depth", "nodes", "pattern_length", "plan_size")}
"""The budgets that can be set, by key."""


def flat(table: Mapping[str, Any]) -> dict[str, Value]:
    """Return a configuration table without tables inside it."""
    keys: dict[str, Value] = {}
    for key, given in table.items():
        if isinstance(given, Mapping):
            keys |= {f"{key}.{name}": each for name, each in given.items()}
        else:
            keys[key] = given if isinstance(given, str) or not isinstance(given, Sequence) else tuple(given)
    return keys


_BY_FILE, _POLICIES, _OF_NODES = "per-file-ignores.", "model-policies.", "node-policies."


def keys_of(settings: Settings) -> dict[str, Value]:
    """Return every key with its value, in the order in which the documentation explains them."""
    scope = settings.scope
    return {
        "roots": scope.roots,
        "include": scope.include,
        "exclude": scope.exclude,
        "gitignore": scope.gitignore,
        "select": settings.select,
        "extend-select": settings.extend_select,
        "ignore": settings.ignore,
        "fail-on": _word(settings.fail_on, "never"),
        "output-format": settings.output_format,
        "required-version": settings.required_version,
        "baseline": settings.baseline,
        "documentation": settings.documentation,
        **{f"severity.{selector}": _word(each, "off") for selector, each in settings.severity.items()},
        **{f"{_BY_FILE}{pattern}": reasons for pattern, reasons in settings.file_ignores.by_pattern().items()},
        **{f"models.{name}": each for name, each in settings.models.items()},
        **{f"{_POLICIES}{name}": each for name, each in settings.model_policies.items()},
        **{f"{_OF_NODES}{pattern}": each for pattern, each in settings.node_policies.entries.items()},
        **{f"tools.{name}": each for name, each in settings.tools.items()},
        **{f"agent-files.{name}": each for name, each in settings.agent_files.items()},
        "run.require-signature": settings.require_signature,
        "run.trusted-keys": settings.trusted_keys,
        **{f"cost.{name}": settings.cost.get(name, each) for name, each in COST.items()},
        **{f"budgets.{key}": getattr(settings.budgets, name) for key, name in BUDGETS.items()},
    }


def settings_of(keys: Mapping[str, Any]) -> Settings:
    """Return settings with the given keys, everything else at its default; the keys have been checked."""
    every = {**keys_of(Settings()), **keys}
    texts = {key: tuple(given) for key, given in every.items() if isinstance(given, tuple | list)}
    severity = {key.partition(".")[2]: given for key, given in every.items() if key.startswith("severity.")}
    return Settings(
        scope=SearchScope(texts["roots"], texts["include"], texts["exclude"], every["gitignore"]),
        select=texts.get("select"),
        extend_select=texts["extend-select"],
        ignore=texts["ignore"],
        severity={selector: _severity(given) for selector, given in severity.items()},
        fail_on=_severity(every["fail-on"]),
        budgets=Budgets(**{name: every[f"budgets.{key}"] for key, name in BUDGETS.items()}),
        output_format=every["output-format"],
        required_version=every["required-version"],
        baseline=every["baseline"],
        documentation=every["documentation"],
        models={key.partition(".")[2]: given for key, given in every.items() if key.startswith("models.")},
        model_policies={
            key.removeprefix(_POLICIES): read_policy(given) for key, given in every.items() if key.startswith(_POLICIES)
        },
        tools={key.partition(".")[2]: tuple(given) for key, given in every.items() if key.startswith("tools.")},
        agent_files={
            key.partition(".")[2]: tuple(given) for key, given in every.items() if key.startswith("agent-files.")
        },
        node_policies=NodePolicies(
            {key.removeprefix(_OF_NODES): dict(given) for key, given in every.items() if key.startswith(_OF_NODES)}
        ),
        file_ignores=_read_ignores(every),
        require_signature=every["run.require-signature"],
        trusted_keys=texts["run.trusted-keys"],
        cost={name: every[f"cost.{name}"] for name in COST if every[f"cost.{name}"] != COST[name]},
    )


def read_policy(given: Mapping[str, Any]) -> Mapping[str, PolicySetting]:
    """Return an entry of the policies for models whose form has been checked."""
    return {name: tuple(each) if isinstance(each, list | tuple) else each for name, each in given.items()}


def _read_ignores(keys: Mapping[str, Any]) -> FileIgnores:
    tables = ((key.removeprefix(_BY_FILE), given) for key, given in keys.items() if key.startswith(_BY_FILE))
    return FileIgnores(tuple(FileIgnore(pattern, *each) for pattern, given in tables for each in given.items()))


def _word(severity: Severity | None, nothing: str) -> str:
    return nothing if severity is None else severity.value


def _severity(word: str) -> Severity | None:
    return None if word in {"never", "off"} else Severity(word)


@value
class Selection:
    """The families that judge, and the severity of every rule that may speak, by code.

    `severities` is None when nothing was configured: every rule then speaks as it was declared, and need not be
    imported to find that out. `documentation` is the address of the site that has the pages of rules.
    """

    families: tuple[AnyFamily, ...]
    severities: Mapping[str, Severity] | None
    documentation: str | None = None

    @classmethod
    def of(cls, settings: Settings, families: Iterable[AnyFamily]) -> Selection:
        """Return the selection among the rules of the families; unknown names raise `Failure`.

        A mandatory rule does not hear what a file of the project says.
        """
        every = tuple(families)
        if settings.selects_nothing:
            return cls(tuple(family for family in every if not family.optional), None, settings.documentation)
        said = (settings.select, settings.extend_select, settings.ignore, tuple(settings.severity.items()))
        return cls(*_choose(every, settings.filed, *said), settings.documentation)

    def severity(self, rule: AnyRule) -> Severity | None:
        """Return how heavy the findings of a rule are, or None if it does not speak."""
        if self.severities is None:
            return None if rule.pedantic else rule.severity
        return self.severities.get(rule.code)

    def locate_page(self, rule: AnyRule) -> str | None:
        """Return the address of a rule's page, if it is published."""
        return locate_page(self.documentation, rule.code)

    def lets_speak(self, family: AnyFamily, rule: AnyRule) -> bool:
        """Tell whether a rule of a family judges, and its findings are shown."""
        return not family.asks_first(rule) if self.severities is None else rule.code in self.severities


@cache
def names_of(family: AnyFamily, rule: AnyRule) -> frozenset[str]:
    """Return every name that selects a rule: code and its prefixes, rule, family, groups, severity and `ALL`.

    A prefix may be written as pages do: `STG6xx` is `STG6`, for codes of this length.
    """
    prefixes = [rule.code[:length] for length in range(len("STG"), _LONGEST_PREFIX + 1)]
    ranges = (each.ljust(len(rule.code), "x") for each in prefixes[1:])
    return frozenset({"ALL", rule.code, rule.name, family.name, rule.severity.value, *rule.groups, *prefixes, *ranges})


@lru_cache(maxsize=16)
def _choose(
    families: tuple[AnyFamily, ...],
    filed: frozenset[str],
    select: tuple[str, ...] | None,
    extend_select: tuple[str, ...],
    ignore: tuple[str, ...],
    severity: tuple[tuple[str, Severity | None], ...],
) -> tuple[tuple[AnyFamily, ...], Mapping[str, Severity]]:
    """Return the families that judge, and the severity of each rule that may speak: the same in many checks."""
    settings = Settings(select=select, extend_select=extend_select, ignore=ignore, severity=dict(severity), filed=filed)
    named = [(family, rule, names_of(family, rule)) for family in families for rule in family.rules()]
    _refuse_unknown(settings, frozenset().union(*(names for _, _, names in named)))
    chosen: dict[str, Severity] = {}
    speaking = {family.name for family in families if not family.optional}
    mandatory = settings.told
    for family, rule, names in named:
        heard = mandatory if rule.mandatory else settings
        weight = _weigh(heard, rule, names)
        if weight is not None and _is_selected(heard, names, asks_first=family.asks_first(rule)):
            chosen[rule.code] = weight
            speaking.add(family.name)
    return tuple(each for each in families if each.name in speaking), chosen


_LONGEST_PREFIX = len("STG20")
"""A longer one would be a code: `STG200` is one rule, and not ten rules from `STG2000`."""


def _weigh(settings: Settings, rule: AnyRule, names: frozenset[str]) -> Severity | None:
    fitting = names & settings.severity.keys()
    nearest = max(sorted(fitting), key=lambda selector: _precision(selector, rule), default=None)
    return rule.severity if nearest is None else settings.severity[nearest]


def _is_selected(settings: Settings, names: frozenset[str], *, asks_first: bool) -> bool:
    base = not asks_first if settings.select is None else not names.isdisjoint(settings.select)
    return (base or not names.isdisjoint(settings.extend_select)) and names.isdisjoint(settings.ignore)


def _precision(selector: str, rule: AnyRule) -> int:
    if selector in {rule.code, rule.name}:
        return 100
    if selector in rule.groups:
        return 1
    return len(selector.rstrip("x")) if selector.startswith("STG") else 0


def _refuse_unknown(settings: Settings, known: frozenset[str]) -> None:
    for selector in (*(settings.select or ()), *settings.extend_select, *settings.ignore, *settings.severity):
        if selector not in known:
            near = hint(selector, NameIndex(sorted(known))) or "; 'stagec explain' lists them"
            raise Failure(f"no rule is called {quote(selector)}{near}")
