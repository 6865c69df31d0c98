from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from patience import ends

from stagec.core.budgets import Budgets, SearchScope
from stagec.core.diagnostic import Severity
from stagec.core.failure import Exit, Failure
from stagec.core.value import replace
from stagec.runtime.world.models.retries import RetryPolicy
from stagec.sources.project.configuration import Configuration, accepts, configure, well_formed
from stagec.sources.project.settings import Settings, keys_of, settings_of
from stagec.sources.project.toml import line_of

FULL = """
roots = ["agents"]
include = ["*.json"]
exclude = ["old/"]
gitignore = false
select = ["STG1"]
extend-select = ["STG2"]
ignore = ["STG105"]
fail-on = "never"
output-format = "json"
required-version = ">=0.1"
documentation = "https://docs.example.org/stagec/"
severity = { STG101 = "off", registry = "note" }
budgets.depth = 10
"""
FULL_SETTINGS = Settings(
    scope=SearchScope(("agents",), ("*.json",), ("old/",), gitignore=False),
    select=("STG1",),
    extend_select=("STG2",),
    ignore=("STG105",),
    severity={"STG101": None, "registry": Severity.NOTE},
    fail_on=None,
    budgets=replace(Budgets(), depth=10),
    output_format="json",
    required_version=">=0.1",
    documentation="https://docs.example.org/stagec/",
)


def write(folder: Path, text: str, name: str = "stagec.toml") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(text, encoding="utf-8")
    return folder


def refused(folder: Path, text: str, name: str = "stagec.toml") -> list[str]:
    with pytest.raises(Failure) as caught:
        configure((write(folder, text, name),))
    assert caught.value.status is Exit.USAGE
    return str(caught.value).split("\n")


class TestRoot:
    def test_without_a_configuration_a_named_folder_is_the_root(self, tmp_path: Path) -> None:
        found = configure((tmp_path,))
        assert (found.root, found.settings, found.file) == (tmp_path, Settings(), None)
        assert set(found.provenance.values()) == {"default"}

    def test_of_a_file_it_is_its_folder(self, tmp_path: Path) -> None:
        (write(tmp_path / "a", "", "x.json"))
        assert configure((tmp_path / "a" / "x.json",)).root == tmp_path / "a"

    def test_of_several_paths_it_is_what_holds_them_all(self, tmp_path: Path) -> None:
        write(tmp_path / "a" / "b", "", "x.json")
        write(tmp_path / "a" / "c", "", "y.json")
        assert configure((tmp_path / "a" / "b", tmp_path / "a" / "c" / "y.json")).root == tmp_path / "a"

    def test_of_nothing_it_is_the_current_folder(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.chdir(tmp_path)
        assert configure().root == tmp_path

    def test_of_a_path_that_is_not_there_it_is_the_nearest_folder(self, tmp_path: Path) -> None:
        assert configure((tmp_path / "no" / "such.json",)).root == tmp_path

    def test_the_nearest_configuration_above_is_found(self, tmp_path: Path) -> None:
        write(tmp_path, "")
        write(tmp_path / "a", "")
        (tmp_path / "a" / "b" / "c").mkdir(parents=True)
        assert configure((tmp_path / "a" / "b" / "c",)).root == tmp_path / "a"

    def test_the_search_ends_at_the_top_of_a_repository(self, tmp_path: Path) -> None:
        write(tmp_path, "")
        (tmp_path / "a" / ".git").mkdir(parents=True)
        (tmp_path / "a" / "b").mkdir()
        assert configure((tmp_path / "a" / "b",)).root == tmp_path / "a"

    @pytest.mark.parametrize("named", [".", ".agent", ".agent/one", ".agent/one/agent.json"])
    @pytest.mark.parametrize("is_repository", [True, False])
    def test_which_part_is_named_does_not_move_the_root(
        self, tmp_path: Path, named: str, *, is_repository: bool
    ) -> None:
        (tmp_path / ".agent" / "one").mkdir(parents=True)
        (tmp_path / ".agent" / "one" / "agent.json").write_text("{}")
        (tmp_path / ".git").mkdir() if is_repository else None
        assert configure((tmp_path / named,)).root == tmp_path

    def test_a_configuration_wins_over_its_repository(self, tmp_path: Path) -> None:
        (tmp_path / ".git").mkdir()
        (tmp_path / "a").mkdir()
        write(tmp_path / "a", "")
        assert configure((tmp_path / "a",)).root == tmp_path / "a"

    def test_without_a_path_the_current_folder_is_looked_at(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        (tmp_path / ".git").mkdir()
        (tmp_path / "a").mkdir()
        monkeypatch.chdir(tmp_path / "a")
        found = configure()
        assert (found.root, found.settings.scope.roots, found.provenance["roots"]) == (tmp_path, ("a",), "default")

    def test_a_root_that_is_given_is_not_searched_for(self, tmp_path: Path) -> None:
        write(tmp_path, "gitignore = false")
        (tmp_path / "a").mkdir()
        found = configure((tmp_path,), tmp_path / "a")
        assert (found.root, found.file) == (tmp_path / "a", None)


class TestFiles:
    def test_every_key_is_understood(self, tmp_path: Path) -> None:
        given = configure((write(tmp_path, FULL),)).settings
        assert replace(given, filed=frozenset()) == FULL_SETTINGS
        assert given.filed == {"select", "ignore", "severity.STG101", "severity.registry"}

    def test_a_table_of_pyproject_means_the_same(self, tmp_path: Path) -> None:
        text = "[project]\nname = 'x'\n[tool.stagec]\ngitignore = false\n"
        found = configure((write(tmp_path, text, "pyproject.toml"),))
        assert (found.settings, found.file) == (Settings(scope=SearchScope(gitignore=False)), "pyproject.toml")
        assert found.provenance["gitignore"] == "pyproject.toml"

    def test_a_pyproject_without_the_table_is_none(self, tmp_path: Path) -> None:
        write(tmp_path, "", "stagec.toml")
        write(tmp_path / "a", "[project]\nname = 'stagec'\n", "pyproject.toml")
        assert configure((tmp_path / "a",)).root == tmp_path

    def test_a_broken_pyproject_of_somebody_else_does_not_matter(self, tmp_path: Path) -> None:
        assert configure((write(tmp_path, "not = = toml", "pyproject.toml"),)).file is None

    def test_two_in_one_folder_are_refused(self, tmp_path: Path) -> None:
        write(tmp_path, "[tool.stagec]\n", "pyproject.toml")
        assert refused(tmp_path, "") == [
            f"'{tmp_path}' has a stagec.toml and a [tool.stagec] in its pyproject.toml; keep one of them"
        ]

    def test_the_command_line_wins_and_tables_are_merged(self, tmp_path: Path) -> None:
        write(tmp_path, 'ignore = ["STG1"]\n[severity]\nSTG1 = "note"\n')
        found = configure((tmp_path,), None, {"ignore": ("STG2",), "severity": {"STG2": "off"}})
        assert found.settings.ignore == ("STG2",)
        assert found.settings.severity == {"STG1": Severity.NOTE, "STG2": None}
        origins = {key: origin for key, origin in found.provenance.items() if origin != "default"}
        assert origins == {"ignore": "command line", "severity.STG1": "stagec.toml", "severity.STG2": "command line"}

    def test_a_byte_order_mark_does_not_matter(self, tmp_path: Path) -> None:
        assert configure((write(tmp_path, "\ufeffgitignore = false\n"),)).settings.scope.gitignore is False

    def test_a_link_out_of_the_folder_is_not_opened(self, tmp_path: Path) -> None:
        (tmp_path / "a").mkdir()
        write(tmp_path, "secret = 1")
        (tmp_path / "a" / "stagec.toml").symlink_to(tmp_path / "stagec.toml")
        with pytest.raises(Failure, match=r"^stagec.toml is a link that leads out of the project$"):
            configure((tmp_path / "a",))

    def test_a_pipe_is_not_opened(self, tmp_path: Path) -> None:
        os.mkfifo(tmp_path / "stagec.toml")
        with pytest.raises(Failure, match=r"^stagec.toml is not a regular file$"):
            configure((tmp_path,))

    def test_a_file_that_is_too_large_is_not_opened(self, tmp_path: Path) -> None:
        assert refused(tmp_path, "#" * 1_000_001) == ["stagec.toml is larger than 1,000,000 bytes"]

    def test_a_file_that_is_not_utf8_is_refused(self, tmp_path: Path) -> None:
        (tmp_path / "stagec.toml").write_bytes(b"a = '\xff'")
        with pytest.raises(Failure, match=r"^stagec.toml is not UTF-8: byte 0xff at offset 5$"):
            configure((tmp_path,))


class TestMistakes:
    def test_every_mistake_is_told_with_its_line(self, tmp_path: Path) -> None:
        top = 'rots = ["a"]\nroots = 5\nfail-on = "notes"\n'
        text = f'{top}[severity]\nSTG1 = "of"\n[budgets]\ndepth = 0\nfile_size = 2\n'
        weights = "'error', 'warning', 'note'"
        assert refused(tmp_path, text) == [
            "stagec.toml:1: unknown key 'rots'; did you mean 'roots'?",
            "stagec.toml:2: 'roots' must be an array of at least one path, found 5",
            f"stagec.toml:3: 'fail-on' must be {weights} or 'never', found 'notes'; did you mean 'note'?",
            f"stagec.toml:5: 'severity.STG1' must be {weights} or 'off', found 'of'; did you mean 'off'?",
            "stagec.toml:7: 'budgets.depth' must be an integer from 1 to 200, found 0",
            "stagec.toml:8: unknown key 'budgets.file_size'; did you mean 'file-size'?",
        ]

    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            ("roots = []", "'roots' must be an array of at least one path, found an array"),
            ('roots = [""]', "'roots[0]' must be a path, found ''"),
            ("include = [1]", "'include[0]' must be a pattern, found 1"),
            ("gitignore = 1", "'gitignore' must be true or false, found 1"),
            ("budgets = true", "'budgets' must be a table, found true"),
            ("severity = []", "'severity' must be a table of rules, found an array"),
            (
                "documentation = 1",
                "'documentation' must be the address of a site such as 'https://docs.example.org/stagec', found 1",
            ),
            ("output-format = 1979-05-27", "'output-format' must be the name of a reporter, found 1979-05-27"),
            ("budgets.nodes = inf", "'budgets.nodes' must be an integer from 1 to 1,000,000,000, found inf"),
            (
                'required-version = "~=1"',
                "'required-version' must be comparisons with release numbers such as '>=0.1,<2', found '~=1'",
            ),
        ],
    )
    def test_a_value_of_the_wrong_kind_is_told_what_was_expected(
        self, tmp_path: Path, text: str, expected: str
    ) -> None:
        assert refused(tmp_path, text) == [f"stagec.toml:1: {expected}"]

    def test_lines_of_pyproject_are_found(self, tmp_path: Path) -> None:
        text = "[project]\nroots = 1\n[tool.stagec.budgets]\ndepth = 0\n"
        assert refused(tmp_path, text, "pyproject.toml") == [
            "pyproject.toml:4: 'budgets.depth' must be an integer from 1 to 200, found 0"
        ]

    def test_the_table_of_pyproject_must_be_one(self, tmp_path: Path) -> None:
        expected = ["pyproject.toml:2: 'tool.stagec' must be a table"]
        assert refused(tmp_path, "[tool]\nstagec = 1\n", "pyproject.toml") == expected

    def test_broken_toml_is_told_with_its_line(self, tmp_path: Path) -> None:
        assert refused(tmp_path, "a = 1\nb = = 2\n") == ["stagec.toml:2: invalid value"]
        conflict = "a = 1\n<<<<<<< HEAD\nb = 2\n=======\nb = 3\n>>>>>>> other\n"
        assert refused(tmp_path, conflict) == ["stagec.toml:2: invalid statement; a merge conflict?"]

    def test_toml_that_ends_too_early_is_told_with_its_last_line(self, tmp_path: Path) -> None:
        (line,) = refused(tmp_path, 'a = 1\nb = """')
        assert line.startswith("stagec.toml:2: ")

    @pytest.mark.parametrize("text", ["a = " + "[" * 100_000, "a = " + "9" * 5_000])
    def test_hostile_toml_is_refused(self, tmp_path: Path, text: str) -> None:
        (line,) = refused(tmp_path, text)
        assert line.startswith("stagec.toml")

    def test_a_tool_that_is_no_argument_vector_is_told(self, tmp_path: Path) -> None:
        (tmp_path / "stagec.toml").write_text('[tools]\na = "x"\nb = []\nc = [1]\nd = [""]\n')
        with pytest.raises(Failure) as caught:
            configure(root=tmp_path)
        told = str(caught.value).splitlines()
        assert told[0] == "stagec.toml:2: 'tools.a' must be a list of a program and its arguments, found 'x'"
        assert told[2] == "stagec.toml:4: 'tools.c[0]' must be a word of a command line, found 1"
        assert len(told) == 4

    def test_of_very_many_mistakes_the_first_are_told(self, tmp_path: Path) -> None:
        with ends():
            assert len(refused(tmp_path, "".join(f"key-{number} = 1\n" for number in range(50_000)))) == 20

    def test_terminal_escapes_in_names_are_shown_escaped(self, tmp_path: Path) -> None:
        assert refused(tmp_path, '"\\u001b[31m" = 1') == ["stagec.toml:1: unknown key '\\x1b[31m'"]


class TestRequiredVersion:
    def test_another_version_is_refused_before_anything_else_is_read(self, tmp_path: Path) -> None:
        (line,) = refused(tmp_path, 'from-the-future = 1\nrequired-version = ">=99"\n')
        assert line.startswith("stagec.toml:2: this is stagec ")
        assert line.endswith("the project requires '>=99'")

    @pytest.mark.parametrize(
        ("specifier", "version", "expected"),
        [
            (">=0.1,<2", "0.1.0", True),
            (">=0.1, <2", "2.0", False),
            ("==1", "1.0.0", True),
            ("!=1.0", "1", False),
            (">1", "1.0.1", True),
            ("<=1.9", "1.10", False),
            (">=1.2", "1.2.0.dev1", True),
        ],
    )
    def test_release_numbers_are_compared_as_numbers(self, specifier: str, version: str, *, expected: bool) -> None:
        assert accepts(specifier, version) is expected

    @pytest.mark.parametrize("specifier", ["", "1.0", "~=1", ">=1,", "==1.*", ">=x"])
    def test_other_specifiers_are_not_well_formed(self, specifier: str) -> None:
        assert not well_formed(specifier)


@pytest.mark.parametrize(
    ("text", "path", "line"),
    [
        ("a = 1\nb.c = 2", ("b", "c"), 2),
        ("[b]\n'c' = 2", ("b", "c"), 2),
        ("[ b . c ]\nd = 1", ("b", "c", "d"), 2),
        ("x = 1\nb = { c = 2 }", ("b", "c"), 2),
        ("c = 1\n[b]\nd = 1", ("b", "c"), 2),
        ("[[b]]\nc = 1", ("b", "c"), 2),
        ("a = 1", ("b",), 1),
    ],
)
def test_the_line_of_a_key_is_found(text: str, path: tuple[str, ...], line: int) -> None:
    assert line_of(text, path) == line


NAMES = st.lists(st.text(min_size=1), max_size=3).map(tuple)


@given(NAMES, NAMES, st.dictionaries(st.text(min_size=1), st.sampled_from([None, *Severity])), st.integers(1, 200))
def test_settings_survive_being_written_as_keys(
    select: tuple[str, ...], exclude: tuple[str, ...], severity: dict[str, Severity | None], depth: int
) -> None:
    scope = SearchScope(exclude=exclude)
    settings = Settings(scope, select=select, severity=severity, budgets=replace(Budgets(), depth=depth))
    assert settings_of(keys_of(settings)) == settings


def test_the_schema_knows_every_key_and_its_default() -> None:
    schema = json.loads(Path("schemas/stagec.schema.json").read_text("utf-8"))
    keys = dict(schema["properties"])
    tables = {name: keys.pop(name)["properties"] for name in ("budgets", "run", "cost")}
    inside = {f"{name}.{key}": each for name, table in tables.items() for key, each in table.items()}
    del (
        keys["severity"],
        keys["models"],
        keys["tools"],
        keys["agent-files"],
        keys["per-file-ignores"],
        keys["node-policies"],
    )
    settings = keys.pop("model-policies")["additionalProperties"]["properties"]
    known = {key: each["default"] for key, each in settings.items()}
    policy = {name.replace("_", "-"): getattr(RetryPolicy(), name) for name in RetryPolicy.__match_args__}
    assert known == {**policy, "transient": list(policy["transient"])}
    assert {key: each.get("default") for key, each in {**keys, **inside}.items()} == json.loads(
        json.dumps(keys_of(Settings()))
    )


def test_nothing_heavy_is_imported_without_a_configuration(tmp_path: Path) -> None:
    code = (
        "import sys\nfrom pathlib import Path\nfrom stagec.sources.project.configuration import configure\n"
        f"configure((Path({str(tmp_path)!r}),))\n"
        "print(sorted({'tomllib', 'jsonschema_rs', 'json', 'difflib', 'pathspec'} & set(sys.modules)))"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment)
    assert run.stdout == "[]\n"


def test_a_configuration_is_a_value() -> None:
    assert Configuration(Path(), Settings(), {}, None) == Configuration(Path(), Settings(), {}, None)
