"""A plan of every gate and every source of a variable, of programs, a judge and validations."""

from __future__ import annotations

from plan_vectors.writing import DONE, Contents, Json, Piece, among, complete, edge, exists, go, reads


def gates() -> Json:
    """Return the payload."""
    contents = Contents()
    provided = ("iteration", "completed_iterations", "max_iterations", "remaining", "completion_keyword", "max_checks")
    names = (*provided, "check_count", "previous_summary", "verdict_criteria", "branch")
    told = {name: {"is": "provided", "name": name} for name in names}
    holes: list[Piece] = [piece for name in names for piece in (f"{name}=", ["variable", name], "\n")]
    plan = {
        "id": "gates",
        "names": {"node": "step", "outcome": "intent"},
        "entries": {"first": "begin", "second": "check"},
        "entry": "first",
        "limits": {"executions": 12, "reached": "done"},
        "inputs": {
            "name": {"required": True},
            "branch": {"default": "main", "schema": contents.add('{"type":"string"}')},
            "stdin": {},
        },
        "system": {
            "prompt": contents.template("Round ", ["variable", "round"], " of ", ["variable", "nobody"], ".\n"),
            "variables": {
                "round": {"is": "provided", "name": "iteration"},
                "nobody": {"is": "provided", "name": "nobody"},
            },
        },
        "judge": {
            "kind": "meta:composite",
            "settings": {
                "operator": "or",
                "maxChecks": 4,
                "verdictKeyword": "DONE",
                "conditions": [
                    {"type": "count:check", "config": {"maxChecks": 4}},
                    {"type": "poll:state", "config": {"resourceType": "issue"}},
                    {"type": "detect:keyword", "config": {"verdictKeyword": "DONE"}},
                    {"type": "detect:structured", "config": {"signalType": "end", "requiredFields": ["why"]}},
                    {"type": "count:iteration", "config": {"maxIterations": 11}},
                    {"type": "detect:graph"},
                ],
            },
        },
        "validators": _validators(),
        "tools": {"Read": {"origin": "unknown", "effects": "read"}},
        "nodes": {**_asking(contents, told, holes), **_ending(contents)},
    }
    return complete(plan, contents)


def _validators() -> Json:
    every = ("parseChangedFiles", "parseStagedFiles", "parseUnstagedFiles", "errorOutput", "errors", "failedTests")
    more = ("diff", "missingPaths", "expectedPath", "lintFiles", "exitCode", "unknownToAll")
    return {
        "clean": {
            "command": "check ${what} ${nothing} $HOME",
            "success": {"kind": "matches", "argument": "^ok [0-9]+\\s*$"},
            "pattern": "unclean",
            "extract": {name: name for name in (*every, *more)},
        },
        "tidy": {"command": "tidy", "success": {"kind": "contains", "argument": "tidy"}, "pattern": "untidy"},
    }


def _asking(contents: Contents, told: Json, holes: list[Piece]) -> Json:
    gate = {"is": "intent", "field": ["next", 0, "action"], "intents": ["next", "jump", "repeat"]}
    optional = {"is": "carried", "node": "check", "key": "tries", "required": False}
    return {
        "begin": {
            "act": {
                "is": "prompt",
                "prompt": contents.template("Begin with ", ["variable", "name"], " ", ["stdin"], "\n", *holes),
                "variables": {**told, "name": {"is": "given", "name": "name"}},
                "needed": ["name"],
            },
            "gate": {
                **gate,
                "failFast": False,
                "fallback": "next",
                "target": ["to"],
                "handoff": [["found"], ["deep", "found"], ["list"]],
            },
            "edges": [
                edge("jump", {"is": "named", "nodes": {"check": "check", "again": "begin", "1": "built"}}),
                edge("jump", go("judged")),
                edge("next", go("built", otherwise="check"), reads(["handoff", "found"], "1", "[true]", "")),
                edge("next", go("built"), among(["handoff", "found"], 2, {"a": [2, True]})),
                edge("next", go("run"), exists(["handoff", "list"]), among(["answer", "list", 1], None)),
                edge("next", {"is": "chain", "nodes": ["check", "judged"]}, among(["answer", "then"], "chain")),
                edge(
                    "next",
                    {"is": "fork", "nodes": ["check", "run"], "join": "judged"},
                    reads(["answer", "then"], "fork"),
                ),
                edge("next", {"is": "fork", "nodes": ["check"]}, reads(["answer", "then"], "alone")),
                edge("next", go("check")),
                edge("repeat", go("begin")),
            ],
        },
        "check": {
            "act": {
                "is": "prompt",
                "prompt": contents.template("Check ", ["variable", "found"], ["variable", "tries"], ["variable", "by"]),
                "variables": {
                    "found": {"is": "carried", "node": "begin", "key": "found", "required": False},
                    "tries": optional,
                    "by": {"is": "carried", "node": "begin", "key": "by", "default": {"who": ["me", 1.5]}},
                },
                "needed": ["by"],
                "schema": contents.add('{"required":["next"],"properties":{"tries":{"type":"integer"}}}'),
                "tools": ["Read"],
                "model": "small",
                "permission": "plan",
            },
            "gate": {**gate, "intents": ["next"]},
            "edges": [edge("next", go("judged"))],
        },
        "built": {
            "act": {"is": "prompt", "builtin": "verification_default"},
            "gate": {**gate, "intents": ["next"]},
            "edges": [edge("next", go("judged"))],
        },
    }


def _ending(contents: Contents) -> Json:
    names = ("parseChangedFiles", "parseStagedFiles", "parseUnstagedFiles", "lintFiles", "missingPaths", "unknownToAll")
    pieces: list[Piece] = [piece for name in names for piece in (f"{name}: ", ["failure", name], "\n")]
    errors = {
        "is": "each",
        "path": ["failure", "errors"],
        "body": contents.template(["this", "file"], ":", ["this", "line"], " ", ["this", "rule"], ["this", "no"], "\n"),
    }
    rest = {
        "is": "choice",
        "path": ["failure", "failedTests"],
        "then": contents.template("Tests: ", ["failure", "failedTests"], "\n"),
        "otherwise": contents.template("No tests, ", ["failure", "exitCode"], ", ", ["failure", "diff"]),
    }
    return {
        "judged": {
            "act": {"is": "prompt", "prompt": contents.template("Is it done?\n")},
            "gate": {"is": "judge"},
            "edges": [edge("verdict", DONE), edge("next", go("run"))],
            "validation": {
                "conditions": [{"validator": "clean", "params": {"what": ["a", 1]}}, {"validator": "tidy"}],
                "attempts": 2,
                "prompts": {"unclean": contents.template("Not clean.\n", *pieces, errors, rest)},
            },
        },
        "run": {
            "act": {
                "is": "command",
                "words": [contents.template("make"), contents.template("-", ["input", "name"]), []],
                "milliseconds": 1000,
            },
            "gate": {"is": "exit"},
            "edges": [edge("closing", DONE, exists(["answer", "exit"])), edge("repeat", go("begin"))],
            "validation": {"conditions": [{"validator": "tidy"}], "action": "skip"},
        },
    }
