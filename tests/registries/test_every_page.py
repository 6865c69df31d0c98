"""The examples of every page: their form is right, and each is executed by a test or says here why it is not."""

from __future__ import annotations

import ast
import inspect
import json
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterator
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

import click
import jsonschema_rs
import nursery
import pytest
import yaml
from packaging.requirements import Requirement
from pages import FENCE, check_command
from registries.test_blocks import REASON, SETTINGS

from stagec.cli.app import stagec as program
from stagec.core.shelf import names
from stagec_dev import tools

TOP = Path(__file__).parents[2]
GUIDE = TOP / "docs" / "user-guide"

EXECUTED = {
    "README.md": "tests/registries/test_examples.py",
    "docs/configuration.md": "tests/project/test_documentation.py",
    "docs/deploy.md": "tests/registries/test_deploy_page.py",
    "docs/drivers.md": "tests/conformance/test_page.py",
    "docs/plan-format.md": "tests/plan_vectors/forms.py",
    "docs/scenarios.md": "tests/registries/test_shown_output.py",
    "docs/user-guide/checkpoints.md": "tests/registries/test_checkpoints_page.py",
    "docs/user-guide/ci.md": "tests/packaging/test_services.py",
    "docs/user-guide/climpt-versions.md": "tests/registries/test_versions_page.py",
    "docs/user-guide/diagnostics.md": "here, tests/registries/test_examples.py",
    "docs/user-guide/from-agent-files.md": "tests/registries/test_guide.py",
    "docs/user-guide/markers.md": "here",
    "docs/user-guide/mutate.md": "tests/cli/test_mutate.py",
    "docs/user-guide/orchestrator-runs.md": "tests/registries/test_shown_output.py",
    "docs/user-guide/orchestrator.md": "tests/frontends/orchestrator/test_page.py",
    "docs/user-guide/pipelines.md": "tests/registries/test_guide.py",
    "docs/user-guide/resume.md": "tests/registries/test_run_page.py, tests/cli/test_plan_changes.py",
    "docs/user-guide/run.md": "tests/registries/test_run_page.py, tests/registries/test_shown_output.py",
    "docs/user-guide/runs-in-a-program.md": "tests/runs/test_examples.py",
    "docs/user-guide/stage-plans.md": "tests/registries/test_guide.py, tests/registries/test_shown_output.py",
    "docs/user-guide/tour.md": "tests/registries/test_tour.py, tests/registries/test_examples.py",
    "docs/user-guide/tools.md": "tests/registries/test_guide.py, tests/registries/test_shown_output.py",
    "docs/user-guide/tutorial-code-review.md": "tests/registries/test_tutorials.py",
    "docs/user-guide/tutorial-repair-loop.md": "tests/registries/test_tutorials.py",
    "docs/user-guide/tutorial-wine-quality.md": "tests/registries/test_stage_tutorial.py",
    "docs/world-protocol.md": "tests/world/test_program_world.py",
    "docs/your-runner.md": "tests/registries/test_run_page.py",
}
"""Where the examples of each page are executed."""

FORM_ALONE = {
    "docs/architecture.md": "drawings of the phases, the folders and the layers, which tests/laws hold",
    "docs/scale.md": "measures for minutes; tests/scale executes what it measures with",
    "docs/contributing.md": "sets up a checkout; .ci/run does the same",
    "docs/user-guide/agents.md": "settings of hosts; tests/cli/test_agent_tools.py starts the command with a client",
    "docs/index.md": "installs stagec",
    "docs/command-line.md": "written from the commands",
    "docs/runners.md": "judges a program of the reader",
    "docs/user-guide/editors.md": "settings of editors; tests/lsp/test_neovim.py starts one of them with its own",
    "docs/user-guide/models.md": "commands that ask models of providers",
    "docs/user-guide/serve.md": "a server that goes on until somebody ends it; tests/serve has the same",
    "docs/user-guide/signatures.md": "commands that need a key; tests/cli/test_signing.py has the same",
    "docs/user-guide/stage-processes.md": "a drawing of a folder",
    "docs/user-guide/step-registries.md": "parts of a registry that are no registry alone",
    "docs/user-guide/telemetry.md": "commands that send to a collector",
    "docs/user-guide/workers.md": "a server that runs until somebody ends it; test_shown_output.py submits its job",
}
"""Why the examples of other pages are not executed; whether commands and options exist is tested for all."""


COMMANDS = {f"docs/user-guide/{name}.md" for name in SETTINGS}
"""The pages whose commands are executed in `test_blocks.py`."""

OWN = {
    *("README.md", "docs/deploy.md", "docs/drivers.md", "docs/your-runner.md"),
    *(f"docs/user-guide/{name}.md" for name in ("checkpoints", "markers", "mutate", "resume", "run", "tour")),
    *(f"docs/user-guide/tutorial-{name}.md" for name in ("code-review", "repair-loop", "wine-quality")),
}
"""The pages whose commands tests of their own execute, all of them."""


class Example(NamedTuple):
    """One block of a page, with the words behind its language."""

    page: str
    kind: str
    text: str
    words: str


def examples() -> Iterator[Example]:
    for path in (TOP / "README.md", *sorted((TOP / "docs").rglob("*.md"))):
        if path.parent.name not in {"decisions", "rules"}:  # decisions are history; the specs of rules are tests
            for fence in FENCE.finditer(path.read_text(encoding="utf-8")):
                yield Example(path.relative_to(TOP).as_posix(), fence["kind"], fence["text"], fence["words"])


EVERY = [*examples()]


def shown(page: str, kind: str, start: str) -> str:
    """Return the block of a page that begins with a text."""
    (found,) = (each.text for each in EVERY if each.page == page and each.kind == kind and each.text.startswith(start))
    return found


def test_every_page_with_examples_is_executed_or_says_why_not() -> None:
    assert {each.page for each in EVERY} == {*EXECUTED, *FORM_ALONE, *COMMANDS}
    named = {word for places in EXECUTED.values() for word in re.findall(r"tests/\S+\.py", places)}
    assert [word for word in sorted(named) if not (TOP / word).is_file()] == []


def test_a_block_of_commands_is_executed_or_says_why_not() -> None:
    executed = {*COMMANDS, *OWN}
    shown = [each for each in EVERY if each.page not in executed and each.kind in {"console", "sh"}]
    assert [(each.page, each.text) for each in shown if not REASON.fullmatch(each.words.strip())] == []


def read_json(text: str) -> object:
    """Read a JSON document, or members of one, which are YAML as they stand."""
    return json.loads(text) if text.startswith(("{", "[")) else yaml.safe_load(text)


READERS: dict[str, Callable[[str], object]] = {
    "json": read_json,
    "python": ast.parse,
    "toml": tomllib.loads,
    "yaml": yaml.safe_load,
}


@pytest.mark.parametrize("kind", READERS)
def test_an_example_in_a_language_can_be_read(kind: str) -> None:
    blocks = [each.text for each in EVERY if each.kind == kind]
    assert blocks != []
    assert [text for text in blocks if READERS[kind](text) is None] == []


SHAPES = (
    ("docs/scenarios.md", "yaml", "scenario"),
    ("docs/user-guide/models.md", "yaml", "stage_definition"),
    ("docs/user-guide/orchestrator-runs.md", "yaml", "scenario"),
    ("docs/user-guide/rights.md", "yaml", "tools"),
    ("docs/user-guide/tools.md", "yaml", "tools"),
)
"""The schemas of the documents that pages show, or of parts of them; other tests judge those of other pages."""


@pytest.mark.parametrize(("page", "kind", "name"), SHAPES)
def test_members_of_an_example_are_in_its_schema(page: str, kind: str, name: str) -> None:
    schema = json.loads((TOP / "schemas" / f"{name}.schema.json").read_text(encoding="utf-8"))
    values = [READERS[kind](each.text) for each in EVERY if (each.page, each.kind) == (page, kind)]
    assert values != []
    judge = jsonschema_rs.validator_for(schema)
    found = [error.message for value in values for error in judge.iter_errors(value)]
    assert [message for message in found if not message.endswith("is a required property")] == []


CONFIGURING = [f"docs/user-guide/{name}.md" for name in ("agent-files", "models", "signatures", "tools")]
"""The pages whose blocks of TOML are settings of a project."""


@pytest.mark.parametrize("shown", [each for each in EVERY if each.kind == "toml" and each.page in CONFIGURING])
def test_settings_of_a_page_are_taken(shown: Example, tmp_path: Path) -> None:
    (tmp_path / "keys").mkdir()
    (tmp_path / "keys" / "allowed_signers").touch()  # a file that settings name is there
    (tmp_path / "stagec.toml").write_text(shown.text, encoding="utf-8")
    ended = nursery.run(["config", "show"], tmp_path, nursery.environment())
    assert (ended.returncode, ended.stderr.decode()) == (0, "")


PRINTED = {"README.md", *(f"docs/user-guide/{name}.md" for name in ("diagnostics", "review", "run"))}
"""The pages with texts that tests compare with what is printed, besides what stands below a command."""


def test_a_text_is_printed_or_says_what_it_is() -> None:
    texts = [each for each in EVERY if each.kind in {"", "text"} and each.page not in PRINTED]
    own = [each for each in texts if each.page != "docs/command-line.md"]
    assert [(each.page, each.text) for each in own if not REASON.fullmatch(each.words.strip())] == []


COMMAND = re.compile(r"^(?:\$ )?(?:.*[|&] |timeout \S+ \S+ \S+ )?(?:\S*/)?stagec (?P<words>.*)", re.MULTILINE)


def find_refusal(words: list[str]) -> str:
    """Return what is wrong with a command whose files are there; it is parsed whole, and not executed."""
    try:
        check_command(words)
    except click.UsageError as error:
        return "" if error.message.endswith("does not exist") else error.message
    return ""


def test_every_command_can_be_given() -> None:
    lines = [(each.page, line) for each in EVERY for line in COMMAND.findall(each.text) if line != "--version"]
    given = [(page, shlex.split(re.split(r"\s+(?:[|<>#&]|-- )", line)[0])) for page, line in lines]
    assert [(page, words, told) for page, words in given if (told := find_refusal(words))] == []


def list_other_commands() -> Iterator[list[str]]:
    """Yield the commands of pages that start another program than stagec, without settings of the environment."""
    for block in EVERY:
        lines = block.text.splitlines() if block.kind in {"console", "sh"} else []
        own = [line.removeprefix("$ ") for line in lines if line.startswith("$ ") or not block.text.startswith("$ ")]
        for part in (part for line in own for part in re.split(r" (?:&&|;) ", re.split(r"\s+#", line)[0]) if part):
            words = [word for word in shlex.split(part) if not word.startswith("PYTHONPATH=")]
            if not words[0].endswith("stagec"):
                yield words


def find_fault(words: list[str]) -> str:
    """Return why a command cannot be given: the program, the module, the tool or the package is unknown."""
    name, *rest = Path(words[0]).name, *words[1:]
    if name in {"python", "python3"} and rest[:1] == ["-m"]:
        name, *rest = rest[1:]
        if find_spec(name) is None:
            return f"no module {name}"
    if name == "stagec_dev":
        source = inspect.getsource(import_module(f"stagec_dev.tools.{rest[0]}")) if rest[0] in names(tools) else ""
        return "" if source and all(f'"{word}"' in source for word in rest[1:]) else "no such tool of contributors"
    if name != "pip":
        starts = " ".join((name, *rest)).startswith(OTHERS) or find_spec(name) is not None
        return "" if starts else f"an unknown program {name}"
    if rest[:1] != ["install"]:
        return "an unknown command of pip"
    project = tomllib.loads((TOP / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    own = [Requirement(f"stagec{word.removeprefix('.')}") for word in rest if word.startswith(".")]
    extras = {extra for each in own for extra in each.extras} - {*project["optional-dependencies"]}
    installed = (TOP / ".ci" / "run").read_text(encoding="utf-8")
    packages = [word for word in rest[1:] if not word.startswith((".", "-")) and f" {word}==" not in installed]
    return f"nothing is called {[*extras, *packages]}" if extras or packages else ""


OTHERS = (
    *("curl -H ", "docker build -t ", "echo ", "export OPENAI_API_KEY=", "export STAGEC_DATABASE=", "jq ", "ls -A "),
    *("mkdir -p ", "ssh-keygen -t ed25519 ", "tail -f ", "timeout -s KILL ", "python driver.py", "python world.py"),
)
"""How commands of other programs begin, in pages."""


def test_what_a_page_installs_or_starts_exists() -> None:
    commands = [*list_other_commands()]
    assert len(commands) > len(OTHERS)
    assert [(words, fault) for words in commands if (fault := find_fault(words))] == []


def find_unknown(words: list[str]) -> list[str]:
    """Return the commands and options of a command line that stagec does not have."""
    command: click.Command = program
    context = click.Context(program)
    while isinstance(command, click.Group) and words and not words[0].startswith("-"):
        name, *words = words
        found = command.get_command(context, name)
        if found is None:
            return [name]
        command = found
    known = {option for each in command.get_params(context) for option in (*each.opts, *each.secondary_opts)}
    return [word for word in words if word.startswith("--") and word.partition("=")[0] not in known]


def test_every_command_in_a_sentence_has_its_options() -> None:
    """In a sentence, a command may lack its arguments. The page of the command line is written from the commands."""
    paths = (TOP / "README.md", *sorted((TOP / "docs").glob("*.md")), *sorted(GUIDE.glob("*.md")))
    texts = {path.name: FENCE.sub("", path.read_text(encoding="utf-8")) for path in paths}
    commands = [
        (name, " ".join(command.split()))
        for name, text in texts.items()
        if name != "command-line.md"
        for command in re.findall(r"(?<!`)`stagec ([^`]+)`", text)
    ]
    lines = [(name, re.split(r"\s+(?:[|<>#&]|-- )", command)[0]) for name, command in commands]
    unknown = [(name, line, find_unknown(shlex.split(line))) for name, line in lines]
    assert [each for each in unknown if each[-1]] == []


def list_options(command: click.Command, context: click.Context) -> Iterator[str]:
    """Yield the options of a command and of the commands below it."""
    for each in command.get_params(context):
        yield from (*each.opts, *each.secondary_opts)
    for name in command.list_commands(context) if isinstance(command, click.Group) else ():
        below = command.get_command(context, name)
        assert below is not None
        yield from list_options(below, context)


def test_every_option_in_a_sentence_of_the_guide_is_one_of_a_command() -> None:
    known = {*list_options(program, click.Context(program))}
    texts = {path.name: FENCE.sub("", path.read_text(encoding="utf-8")) for path in sorted(GUIDE.glob("*.md"))}
    named = [(name, option) for name, text in texts.items() for option in re.findall(r"(?<!`)`(--[a-z][\w-]*)", text)]
    assert named != []
    assert [(name, option) for name, option in named if option not in known] == []


def test_every_tool_of_contributors_exists() -> None:
    page = (TOP / "docs" / "contributing.md").read_text(encoding="utf-8")
    assert {*re.findall(r"-m stagec_dev ([a-z]+)", page)} - {*names(tools)} == set()


def stagec(folder: Path, *arguments: str) -> str:
    return nursery.run(arguments, folder, nursery.environment()).stdout.decode()


def test_the_prices_of_the_page_can_be_read(tmp_path: Path) -> None:
    prices = tmp_path / "prices.toml"
    prices.write_text(shown("docs/user-guide/bounds.md", "toml", "as-of"), encoding="utf-8")
    assert "'acme:x'" in stagec(TOP, "bounds", "registries/docs-repair", "--model", "acme:x", "--prices", str(prices))


def test_the_diagnostic_of_the_page_is_printed(tmp_path: Path) -> None:
    shutil.copytree(TOP / "registries", tmp_path / "registries")
    (tmp_path / ".git").mkdir()  # the root of the project, which an unpacked archive of this one does not show
    on_page = json.loads(shown("docs/user-guide/diagnostics.md", "json", "{"))
    printed = json.loads(stagec(tmp_path, "validate", "registries", "--format", "json"))["diagnostics"]
    assert [each for each in printed if each["code"] == on_page["code"]] == [on_page]


def test_the_log_of_the_page_is_judged_as_shown(tmp_path: Path) -> None:
    command, _, printed = shown("docs/user-guide/markers.md", "console", "$ stagec markers").partition("\n")
    (tmp_path / "run.log").write_text("[STAGE:begin:load_data]\n")
    assert stagec(tmp_path, *command.split()[2:]) == printed
    program = shown("docs/user-guide/markers.md", "python", "from stagec import")
    environment = {"PYTHONPATH": str(TOP / "compiler")}
    ended = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, env=environment, capture_output=True, text=True, check=True
    )
    assert [line.split()[:2] for line in ended.stdout.splitlines()] == [["1", "STG803"], ["1", "STAGE"]]
