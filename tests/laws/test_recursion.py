"""No function calls itself on what users write, unless a budget far below Python's limit bounds how deep."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from laws.modules import PACKAGE, tree_of, walk

from stagec.core.precedence import components, repeats

Function = ast.FunctionDef | ast.AsyncFunctionDef
_ANSWER = "values that are nested more than `json_values.DEPTH` deep are refused before"
_FILE = "a file is at most `Budgets.depth` deep, and no project, user or command line makes that more than 200"
_OWN = "the types of plans, which stagec defines"
_SLOTS = "each slot of the message loop leads to the next one, once, until the world is asked"
_STATES = "functions that name each other as the next state, and return; a loop calls them"
ALLOWED = {
    **{
        f"runtime.machine.answer_schemas:{each}": "plain schemas are `_LEVELS` deep, and their values at most `_FEW`"
        for each in ("is_plain", "_is_plain_keyword", "is_simple", "satisfies", "_satisfies_keyword")
    },
    "cli.commands.conformance:find_difference": "a line of a program is at most `json_reader.DEPTH` deep",
    "cli.app:_add_help": "commands and their subcommands",
    "runtime.world.samples:_demand": "`_DEEPEST` levels are wished for",
    "runtime.world.samples:_Maker._of_kind": "`_DEEPEST` levels and `_MOST` values are made",
    "runtime.world.samples:_Maker.simplest": "`_DEEPEST` levels and `_MOST` values are made",
    "runtime.world.samples:_Maker._make_array": "`_DEEPEST` levels and `_MOST` values are made",
    "runtime.world.samples:_Maker._make_object": "`_DEEPEST` levels and `_MOST` values are made",
    "sources.shape.faults:_swap": "documents are no deeper than their budget allows",
    **{
        f"sources.contract.{each}": "parts of schemas are compared `_DEPTH` deep"
        for each in (
            *(f"inclusion:_Proof._{name}" for name in ("implies", "split")),
            *(f"inclusion:_Sampler.{name}" for name in ("samples", "_arrays", "_objects", "_of_kind")),
        )
    },
    **{
        f"sources.contract.conflict:_Writer.{each}": "`_DEEPEST` schemas inside each other are written"
        for each in ("write", "_write_schema", "_write_target", "_write_keyword")
    },
    "sources.contract.conflict:_Search._judge_all": "`_DEEPEST` members inside each other are compared",
    "sources.contract.conflict:_Search._inside": "`_DEEPEST` members inside each other are compared",
    "sources.contract.conflict:_Search.conflict": "`_DEEPEST` members inside each other are compared",
    **{
        f"sources.contract.conflict:{each}": "`_DEEPEST` members inside each other are looked at"
        for each in ("_judge", "_judge_keywords", "judge_member")
    },
    **{
        f"sources.contract.variants:{each}": "paths are no longer than an answer is deep"
        for each in ("_is_there", "_judge_keywords", "_judge_member", "judge_variant", "path_tree")
    },
    "sources.contract.variants:_Search._member": "paths are no longer than an answer is deep",
    "sources.contract.variants:_Search._members": "paths are no longer than an answer is deep",
    "sources.contract.variants:_Search._of": "paths are no longer than an answer is deep",
    "sources.contract.variants:_Search.below": "paths are no longer than an answer is deep",
    "sources.contract.variants:_absent": "paths are no longer than an answer is deep",
    **{
        f"change.flow_tests.witness.refutation:_TextSearch.{each}": "`_DEEPEST` parts of a schema, each once"
        for each in ("may_hold", "_look_into")
    },
    "change.flow_tests.execution:merge_patch": "files of tests are no deeper than their budget allows",
    "change.mutation.operators.routes:_widen": "paths of plans are no longer than an answer is deep",
    "change.mutation.mutant:_put": "`_DEEPEST` levels are walked",
    **dict.fromkeys(
        (f"change.mutation.operators.values:{each}" for each in ("_drop_holes", "_drop_inside")),
        "templates are no deeper than `DEEPEST`",
    ),
    "ir.graph.usage:NodeUse._measure": "templates are nested at most `template.DEEPEST` deep",
    "ir.graph.usage:NodeUse._measure_piece": "templates are nested at most `template.DEEPEST` deep",
    "check.fixes:_Rounds._search": "halves of a list are as deep as its length has binary digits",
    "views.emitters.html:_finite": "the data of a page, which stagec makes",
    **dict.fromkeys(
        (f"cli.commands.handbook.steps:FieldTable.{each}" for each in ("_add", "_list_kinds", "describe")),
        "`_DEEPEST` levels of fields and `_DEEPEST_WORDS` levels of words are told",
    ),
    "core.canonical:_large": "once, for the part of a number",
    "core.canonical:_number": "once, for the part of a number",
    "core.canonical:_write": "a value that is nested too deeply is an error of its caller, which names it",
    **{
        f"languages.stages.{each}": "`inner.DEEPEST` pipelines run inside each other, and only these are followed"
        for each in (
            *("lower:lower", "lower:inline", "lower:_list_inner", "lower:read_rights"),
            *("freezing:_freeze_nodes", "freezing:_list_members", "freezing:find_required", "inner:count_parallel"),
            *("inner:_count_executions", "inner:count_executions"),
        )
    },
    "ir.plan.facts:_components": "a name that a function shadows",
    "ir.plan.facts:cycles": "a name that a function shadows",
    **dict.fromkeys(
        (
            "ir.plan.codec:_choose",
            "ir.plan.codec:_list_fields",
            "ir.plan.codec:_of_union",
            "ir.plan.codec:_record",
            "ir.plan.codec:_refine",
            "ir.plan.codec:_table",
            "ir.plan.codec:_union",
            "ir.plan.codec:bound",
            "ir.plan.codec:codec_of",
            "ir.plan.codec:member_of",
            "ir.plan.codec:write",
        ),
        _OWN,
    ),
    "sources.shape.quick_check:QuickCheck._judge": _FILE,
    "sources.shape.quick_check:QuickCheck._judge_keyword": _FILE,
    "sources.project.mistakes:_as_json": "a configuration is at most 64 levels deep",
    "runtime.machine.advance:advance": "once, for the plan of an agent, which has no agents",
    **{f"cli.commands.review:{each}": "a name that a function shadows" for each in ("review", "run", "write_comment")},
    **dict.fromkeys(
        (
            *(
                f"check.formatting.reading:LayoutReader._read_{each}"
                for each in ("block", "brackets", "container", "item")
            ),
            *("check.formatting.reading:LayoutReader._read_items", "check.formatting.reading:LayoutReader._read_value"),
            *(f"check.formatting.writing:_write_{each}" for each in ("block", "brackets", "item", "row", "value")),
        ),
        "what is nested more than `_DEEPEST` deep is left as it is",
    ),
    **{
        f"runtime.machine.acts.converse:{each}": _SLOTS
        for each in ("_after_calls", "_compose", "_continue", "_enter", "_loop")
    },
    "runtime.machine.program:Renderer._pieces": "a plan is refused whose templates are over `template.DEEPEST` deep",
    "runtime.machine.scheduler:_begin_fallback": "what begins instead of a node has nothing that begins instead of it",
    "runtime.machine.scheduler:begin": "what begins instead of a node has nothing that begins instead of it",
    "runtime.machine.json_values:_round": _ANSWER,
    "core.json:equal": _ANSWER,
    **{
        f"sources.formats.json.scan:Scanner.{each}": _STATES
        for each in (
            *("_after", "_close", "_colon", "_key", "_misplace", "_next", "_no_item", "_no_key", "_no_value", "_open"),
            "_value",
        )
    },
    "sources.formats.json.scan:Tokens._odd": "once, behind a comment",
    "sources.formats.json.scan:Tokens.take": "once, behind a comment",
    "sources.shape.faults:_pointers": _FILE,
    **{
        f"sources.yaml_text.quick:_Reader.{each}": _FILE
        for each in ("_below", "_block", "_compact", "_mapping", "_sequence", "_value")
    },
    **{f"sources.yaml_text.quick:{each}": _FILE for each in ("_element", "_mapping", "_sequence", "flow")},
    **{f"sources.yaml_text.reading:_Values.{each}": _FILE for each in ("_alias", "_mapping", "_sequence", "read")},
    "runtime.world.tools.callable_host:_translate": "annotations of a module that the user names, in its own process",
}
"""Functions that recurse, as module:name, each with what bounds how deep."""


def module_of(path: Path) -> str:
    return ".".join(path.relative_to(PACKAGE).with_suffix("").parts).removesuffix(".__init__")


def functions(body: list[ast.stmt], owner: str = "") -> Iterator[tuple[str, Function]]:
    """Yield the functions of a module and the methods of its classes; what stands in a function belongs to it."""
    for node in body:
        if isinstance(node, Function):
            yield f"{owner}{node.name}", node
        elif isinstance(node, ast.ClassDef):
            yield from functions(node.body, f"{node.name}.")
        elif isinstance(node, ast.If | ast.Try):
            yield from functions(node.body, owner)


def imports(tree: ast.Module) -> dict[str, str]:
    """Return what names mean that are imported from modules of the package."""
    return {
        each.asname or each.name: f"{(node.module or '').removeprefix('stagec.')}:{each.name}"
        for node in walk(tree)
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("stagec.")
        for each in node.names
    }


def used(module: str, name: str, function: Function, known: dict[str, str]) -> Iterator[str]:
    """Yield what a function may call: functions by name, methods of its own class by `self`."""
    owner = name.rpartition(".")[0]
    for node in ast.walk(function):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            yield known.get(node.id, f"{module}:{node.id}")
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in {"self", "cls"}:
            yield f"{module}:{owner}.{node.attr}"


def calls(folder: Path) -> dict[str, set[str]]:
    """Return for every function of a package what it may call."""
    found: dict[str, set[str]] = {}
    for path in sorted(folder.rglob("*.py")):
        tree = tree_of(path)
        module = ".".join(path.relative_to(folder).with_suffix("").parts).removesuffix(".__init__")
        known = imports(tree)
        for name, function in functions(tree.body):
            found.setdefault(f"{module}:{name}", set()).update(used(module, name, function, known))
    return {name: targets & found.keys() for name, targets in found.items()}


@cache
def recursive(folder: Path) -> frozenset[str]:
    """Return the functions from which calls lead back to themselves."""
    graph = calls(folder)
    names = sorted(graph)
    index = {name: position for position, name in enumerate(names)}
    leads = [sorted(index[each] for each in graph[name]) for name in names]
    return frozenset(names[each] for found in components(leads) if repeats(leads, found) for each in found)


def test_every_recursion_has_a_bound() -> None:
    assert sorted(recursive(PACKAGE) - ALLOWED.keys()) == []


def test_every_allowed_recursion_is_one() -> None:
    assert sorted(ALLOWED.keys() - recursive(PACKAGE)) == []


def test_the_law_sees_what_it_is_about(tmp_path: Path) -> None:
    text = """
from stagec.b import far
def direct(n): return direct(n - 1)
def mutual(n): return [other(each) for each in n]
def other(n): return map(mutual, n)
def plain(n): return inner(n)
def inner(n): return far(n)
class A:
    def walk(self): return self.step()
    def step(self): return self.walk()
    def name(self): return other_one.name
"""
    (tmp_path / "a.py").write_text(text, encoding="utf-8")
    (tmp_path / "b.py").write_text("from stagec.a import plain\ndef far(n): return plain(n)\n", encoding="utf-8")
    assert recursive(tmp_path) == {
        *("a:direct", "a:mutual", "a:other", "a:plain", "a:inner", "b:far", "a:A.walk", "a:A.step"),
    }
