"""What a project can have many of: agents, files, folders, tools, servers, and faults that are printed."""

from __future__ import annotations

import json

from benchmarks._scaling._pipeline import pipeline, stage
from benchmarks._scaling._registry import chain, registry
from stagec.core.json import Json
from stagec_dev.cost import Dimension, Dimensions, Files


def _agents(count: int, *, faulty: bool) -> Files:
    files = registry(chain(2, **({"stepKind": "wrok"} if faulty else {})))
    return {f"agent-{at}/{name}": _named(text, at) for at in range(count) for name, text in files.items()}


def _named(text: str | bytes, at: int) -> str:
    return str(text).replace('"large"', f'"large-{at}"')


def _hidden(count: int, *, faulty: bool) -> Files:
    """Make files that the configuration leaves out, or the same that it does not."""
    files = {f"drafts/{at}/steps_registry.json": "{}" for at in range(count)}
    scope = "" if faulty else 'exclude = ["drafts/**"]\n'
    return {**registry(chain(2)), **files, "stagec.toml": scope}


def _folders(count: int, *, faulty: bool) -> Files:
    """Make folders that hold nothing to check, or each a file that cannot be read."""
    name, text = ("agent.json", "{") if faulty else ("notes.txt", "Nothing.\n")
    return {**registry(chain(2)), **{f"folder/{at // 30}/{at}/{name}": text for at in range(count)}}


def _catalogue(count: int, *, faulty: bool) -> Files:
    """Make entries of a tools file; faulty where each is there twice."""
    names: list[Json] = [f"tool_{at // (1 + faulty)}" for at in range(count)]
    return pipeline({"first": stage("first")}, [], tools=names)


def _discovered(count: int, *, faulty: bool) -> Files:
    """Make tools that somebody has described, with a schema of their own that is there or is not."""
    given: list[Json] = [
        {"name": f"tool_{at}", "effects": "raed" if faulty else "read", "schema": "schemas/t.json"}
        for at in range(count)
    ]
    made = pipeline({"first": stage("first")}, [])
    tools = "bundled: [Read]\ndiscovered:\n" + "".join(f"  - {json.dumps(each)}\n" for each in given)
    return {**made, "tools.yaml": tools, "schemas/t.json": '{"type": "object"}'}


def _same_fault(count: int, *, faulty: bool) -> Files:
    """Make faults of one kind in one file, or of no kind."""
    return registry(chain(count, **({"stepKind": "wrok", "c2": "nowhere", "usesStdin": 3} if faulty else {})))


def _syntax(count: int, *, faulty: bool) -> Files:
    """Make commas too many in a JSON file."""
    files = registry(chain(count))
    text = str(files["steps_registry.json"])
    return {**files, "steps_registry.json": text.replace("\n  }", ",\n  }") if faulty else text}


def _repeated_members(count: int, *, faulty: bool) -> Files:
    """Make members of an object, or one member so often."""
    files = registry(chain(2))
    text = "".join(f'"key{0 if faulty else at}": {at},\n' for at in range(count))
    return {**files, "steps_registry.json": str(files["steps_registry.json"]).replace("{", "{" + text, 1)}


def _frontmatter(count: int, *, faulty: bool) -> Files:
    """Make tags of a stage."""
    tags: list[Json] = [f"tag-{at // (1 + faulty)}" for at in range(count)]
    return pipeline({"first": stage("first", tags=tags)}, [])


def _flow_tests(count: int, *, faulty: bool) -> Files:
    """Make tests of a flow; faulty where each expects what no run does."""
    expected = "failed" if faulty else "done"
    answer = 'answers: {first: [{"done": true}], second: [{"done": true}]}'
    each = f"    scenario: {{{answer}}}\n    expect: {{outcome: {expected}}}\n"
    tests = "".join(f"  - name: test {at}\n{each}" for at in range(count))
    made = pipeline({"first": stage("first"), "second": stage("second")})
    return {**made, "large.flow-test.yaml": f"flow: large\ntests:\n{tests}"}


def _suppressions(count: int, *, faulty: bool) -> Files:
    """Make suppressions in one file, each of a finding, or of none."""
    files = pipeline({"first": stage("first")}, [])
    key = "x-other" if faulty else "other"
    lines = "".join(f"{key}{at}: it # stagec: ignore[STG125] a script reads it\n" for at in range(count))
    return {**files, "pipeline.yaml": str(files["pipeline.yaml"]) + lines}


def _settings(count: int, *, faulty: bool) -> Files:
    """Make permissions in the settings of an agent tool; faulty where no agent can match them."""
    rules: list[Json] = [f"Bash(run{at}{' ' if faulty else ':'}*" + ")" * (not faulty) for at in range(count)]
    settings = json.dumps({"permissions": {"allow": rules}}, indent=1)
    agent = "---\nname: worker\ndescription: Works.\ntools: Read, Bash\n---\nWork.\n"
    return {".claude/settings.json": settings, ".claude/agents/worker.md": agent}


def _node_policies(count: int, *, faulty: bool) -> Files:
    """Make patterns of nodes in the configuration, all about one stage, or about none."""
    name = "examination-of-details"
    patterns = (
        "".join("?" if at >> place & 1 else letter for place, letter in enumerate(name)) + "x" * faulty
        for at in range(count)
    )
    lines = "".join(f'"{each}" = {{ temperature = 0 }}\n' for each in patterns)
    return {**pipeline({name: stage(name)}), "stagec.toml": f"[node-policies]\n{lines}"}


def _named_models(count: int, *, faulty: bool) -> Files:
    """Make models of a configuration, of a provider that runs know or of a misspelt one."""
    provider = "opnai" if faulty else "openai"
    lines = "".join(f'model-{at} = "{provider}:gpt-{at}"\n' for at in range(count))
    return {**pipeline({"first": stage("first")}), "stagec.toml": f"[models]\n{lines}"}


def _file_ignores(count: int, *, faulty: bool) -> Files:
    """Make rules that files of the configuration are not judged by; each silences nothing, or has no reason."""
    reason = "" if faulty else "kept"
    lines = "".join(f'"legacy-{at}/**" = {{ STG601 = "{reason}" }}\n' for at in range(count))
    return {**pipeline({"first": stage("first")}), "stagec.toml": f"[per-file-ignores]\n{lines}"}


def _skills(count: int, *, faulty: bool) -> Files:
    """Make skills; faulty where each has the name of another one."""
    return {
        f".claude/skills/skill-{at}/SKILL.md": (
            f"---\nname: skill-{0 if faulty else at}\ndescription: Does thing {at}.\n---\nDo thing {at}.\n"
        )
        for at in range(count)
    }


def _delegating(count: int, *, faulty: bool) -> Files:
    """Make agents that name each other, or agents that there are not."""
    return {
        f".claude/agents/agent-{at}.md": (
            f"---\nname: agent-{at}\ndescription: Use agent-{(at + 1) % count} and @agent-{(at + 2) % count}.\n"
            f"tools: Read, Task\n---\nAsk {'nobody' if faulty else 'agent'}-{(at + 3) % count} to do it.\n"
        )
        for at in range(count)
    }


_CHECKED = ("validate text", "validate json", "permissions", "format")
_CONFIGURED = ("validate text", "validate json", "compile", "format", "diff", "review")

PROJECTS = Dimensions(
    (
        Dimension("agents", _agents, 400),
        Dimension("excluded files", _hidden, 4000),
        Dimension("folders", _folders, 4000),
        Dimension("entries of a catalogue", _catalogue, 65_000),
        Dimension("described tools", _discovered, 13_000),
        Dimension("faults of a file", _same_fault, 1200),
        Dimension("syntax errors", _syntax, 1200),
        Dimension("members of an object", _repeated_members, 30_000),
        Dimension("tags", _frontmatter, 1200),
        Dimension("tests of a flow", _flow_tests, 4_000, ("validate text", "test", "mutate", "format", "handbook")),
        Dimension("suppressions", _suppressions, 12_000, _CHECKED),
        Dimension("rules of settings", _settings, 30_000, _CHECKED),
        Dimension("patterns of node policies", _node_policies, 12_000, _CONFIGURED),
        Dimension("models of a configuration", _named_models, 20_000, _CONFIGURED),
        Dimension("patterns of files that rules ignore", _file_ignores, 16_000, _CONFIGURED),
        Dimension("skills", _skills, 4_000, _CHECKED),
        Dimension("delegating agents", _delegating, 3_000, _CHECKED),
    )
)
