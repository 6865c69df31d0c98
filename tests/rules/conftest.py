r"""Collect every `STGnnn` specification beside this file: each `## ` section is one test.

A section is a sentence or two and then fenced blocks. The info string of an input is `LANGUAGE path/in/the/project`;
a word behind the path changes what happens with it: `escaped` reads `\xff` and its like in the body as bytes, `named`
hands the file to stagec as if a user had typed its name; `times=N` writes the last line N times; a checkpoint that is
`imported` or `untrusted` is to be brought into the run `wine/run-002`. The language `link` makes a symbolic link to its
body. The language `log` is a log with markers instead of a project; a word `stage=ID` behind its path names the running
stage.
A `toml stagec.toml` configures the run. The last block, `diagnostics`, is what the rule must say, one line each.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import pytest

from stagec_dev.rule_pages import FencedBlock, Section, read_sections

if TYPE_CHECKING:
    from stagec.core.diagnostic import Diagnostic
    from stagec.core.place import Span

_SPEC = re.compile(r"stg\d{3,4}_[a-z0-9_]+\.md")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--accept", action="store_true", help="rewrite the expected diagnostics of specifications")


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    return SpecFile.from_parent(parent, path=file_path) if _SPEC.fullmatch(file_path.name) else None


@pytest.fixture
def sections() -> Callable[[Path], tuple[Section, ...]]:
    return read_sections


class SpecFile(pytest.File):
    def collect(self) -> Iterator[pytest.Item]:
        for section in read_sections(self.path):
            yield Case.from_parent(self, name=section.title, section=section)


class Case(pytest.Item):
    """A section with its inputs in a temporary project."""

    def __init__(self, *, section: Section, **rest: object) -> None:
        super().__init__(**rest)  # type: ignore[arg-type]
        self.section = section
        self.code = self.path.stem.partition("_")[0].upper()

    def runtest(self) -> None:
        with TemporaryDirectory() as folder:
            logs = [block for block in self.section.inputs if block.info[0] == "log"]
            found = _judge_logs(logs) if logs else _compile(Path(folder), self.section.inputs, self.code)
        if not self.code.startswith("STG1"):
            broken = [each for each in found if each.code.startswith("STG1") and each.severity == "error"]
            assert not broken, f"this case is vacuous, the document family found errors in it:\n{_render(broken)}"
        actual = _render([each for each in found if each.code == self.code])
        if self.config.getoption("--accept", default=False):
            _accept(self.path, self.section.title, actual)
        else:
            assert actual == self.section.expected.body

    def reportinfo(self) -> tuple[Path, int, str]:
        return self.path, self.section.line, f"{self.path.stem}: {self.name}"


def _compile(root: Path, inputs: tuple[FencedBlock, ...], code: str) -> tuple[Diagnostic, ...]:
    from stagec.change.flow_tests.witness import search_briefly
    from stagec.check.pipeline import Project, compile_project
    from stagec.core.value import replace

    write_inputs(root, inputs)
    if code in _CHECKPOINTS:
        return _judge_checkpoints(root, inputs)
    settings = _settings(root)
    settings = replace(settings, extend_select=(*settings.extend_select, code))
    named = tuple(root / block.info[1] for block in inputs if "named" in block.info[2:])
    return compile_project(Project(root, named, settings), search_briefly if code in _SEARCHED else None).diagnostics


_SEARCHED = {f"STG{number}" for number in range(650, 700)}
"""Codes of rules that judge what a search for completed runs has found."""


_CHECKPOINTS = {f"STG{number}" for number in range(850, 900)}
"""Codes of rules that judge what runs have left instead of what projects hold."""


def _judge_checkpoints(root: Path, inputs: tuple[FencedBlock, ...]) -> tuple[Diagnostic, ...]:
    """Verify the checkpoints in a project; those with a word such as `imported` are to be brought into a run."""
    from stagec.cli.commands.checkpoint import report_checkpoints
    from stagec.ir.protocol.checkpoint import TrustLevel
    from stagec.runtime.world.checkpoints import judge_checkpoint, judge_import, list_manifests
    from stagec.runtime.world.stage_files import RunFolder

    sources = {block.info[1]: TrustLevel(word) for block in inputs for word in block.info[2:]}
    run = RunFolder(root, "wine", "run-002")
    found = []
    for path in list_manifests(root):
        file = path.relative_to(root).as_posix()
        trust = sources.get(file)
        judged = judge_checkpoint(path, shown=file) if trust is None else judge_import(path, trust, run, file)
        found.append(judged)
    return report_checkpoints(tuple(found)).report.diagnostics


def _judge_logs(logs: list[FencedBlock]) -> tuple[Diagnostic, ...]:
    from stagec.check.marker_log import check_markers

    return tuple(each for log in logs for each in check_markers([_data(log)], log.info[1], stage=_running(log)))


def _running(log: FencedBlock) -> str | None:
    named = [each.removeprefix("stage=") for each in log.info[2:] if each.startswith("stage=")]
    return named[0] if named else None


def _data(block: FencedBlock) -> bytes:
    body = block.body
    for word in block.info[2:]:
        if word.startswith("times="):
            body += body.splitlines(keepends=True)[-1] * (int(word.removeprefix("times=")) - 1)
    data = body.encode()
    return codecs.escape_decode(data)[0] if "escaped" in block.info[2:] else data  # type: ignore[attr-defined, no-any-return]


def _settings(root: Path) -> object:
    from stagec.sources.project.settings import Settings

    if not (root / "stagec.toml").exists():
        return Settings()
    from stagec.sources.project.configuration import configure

    return configure((), root).settings


def write_inputs(root: Path, inputs: tuple[FencedBlock, ...]) -> None:
    """Write the files of a case into a folder."""
    for block in inputs:
        _write(root, block)


def _write(root: Path, block: FencedBlock) -> None:
    language, path, *_ = block.info
    target = root / path
    target.parent.mkdir(parents=True, exist_ok=True)
    if language == "link":
        target.symlink_to(block.body.strip())
    else:
        target.write_bytes(_data(block))


def _render(found: list[Diagnostic]) -> str:
    return "".join(line + "\n" for each in found for line in _lines(each))


def _lines(each: Diagnostic) -> Iterator[str]:
    yield f"{each.at.file}:{_range(each.span)} {each.severity} {each.code} {each.message}"
    for also in each.related:
        start = also.span.start
        yield f"  related {also.at.file}:{start.line}:{start.column} {also.message}"
    if each.fix is not None:
        yield f"  {'' if each.fix.is_safe else 'unsafe '}fix: {each.fix.message}"
    if each.folded:
        yield f"  folded: {each.folded}"


def _range(span: Span) -> str:
    return f"{span.start.line}:{span.start.column}-{span.end.line}:{span.end.column}"


def _accept(path: Path, title: str, actual: str) -> None:
    """Rewrite one section's expectation, looked up again because the sections before it may have changed length."""
    (section,) = (each for each in read_sections(path) if each.title == title)
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    lines[section.expected.start : section.expected.end] = [actual]
    path.write_text("".join(lines), encoding="utf-8")
