"""Templates of the package: what is filled in stays text, and nothing is left out silently."""

from __future__ import annotations

from pathlib import Path

import pytest
from jinja2 import UndefinedError

from stagec.core.templates import render

PACKAGE = "templates_of_a_test"
HOSTILE = "<b title='\"'>&{{ 7 * 7 }}{% raw %}{# gone #}"


@pytest.fixture
def template(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder of a package of its own, in which a test puts its template."""
    folder = tmp_path / f"{PACKAGE}_{tmp_path.name.replace('-', '_')}"
    folder.mkdir()
    (folder / "__init__.py").touch()
    monkeypatch.syspath_prepend(tmp_path)
    return folder


def test_a_value_is_text_in_html(template: Path) -> None:
    (template / "page.html.jinja").write_text('<p title="{{ given }}">{{ given }}</p>\n', encoding="utf-8")
    escaped = "&lt;b title=&#39;&#34;&#39;&gt;&amp;{{ 7 * 7 }}{% raw %}{# gone #}"
    assert render(template.name, "page.html.jinja", given=HOSTILE) == f'<p title="{escaped}">{escaped}</p>\n'


@pytest.mark.parametrize("name", ["new.svg.jinja", "new.xml.jinja", "new.jinja"])
def test_a_template_of_an_unknown_kind_is_escaped(template: Path, name: str) -> None:
    (template / name).write_text("{{ given }}", encoding="utf-8")
    assert render(template.name, name, given="<") == "&lt;"


@pytest.mark.parametrize("name", ["stage.md.jinja", "rule.py.jinja"])
def test_a_value_is_itself_in_markdown_and_python(template: Path, name: str) -> None:
    (template / name).write_text("{{ given }}\n", encoding="utf-8")
    assert render(template.name, name, given=HOSTILE) == f"{HOSTILE}\n"


@pytest.mark.parametrize(
    "text", ["{{ lost }}", "{{ given.lost }}", "{% if lost %}x{% endif %}", "{% for x in lost %}{{ x }}{% endfor %}"]
)
def test_a_variable_without_a_value_is_an_error(template: Path, text: str) -> None:
    (template / "a.html.jinja").write_text(text, encoding="utf-8")
    with pytest.raises(UndefinedError, match="lost"):
        render(template.name, "a.html.jinja", given={"known": 1})


def test_every_template_of_the_package_is_called_by_name() -> None:
    top = Path(__file__).parents[1] / "compiler"
    callers = [*top.rglob("*.py"), *top.rglob("*.jinja")]  # a template can extend or include another
    texts = "".join(path.read_text(encoding="utf-8") for path in callers)
    assert [path.name for path in top.rglob("*.jinja") if f'"{path.name}"' not in texts] == []


def test_pages_show_characters_that_hide_something(template: Path) -> None:
    (template / "page.html.jinja").write_text("<p>{{ given }}</p>", encoding="utf-8")
    shown = render(template.name, "page.html.jinja", given="a\u202eb\x1b[1m\u200b\n<c>\t\u00e9")
    assert shown == "<p>a\\u202eb\\x1b[1m\\u200b\n&lt;c&gt;\t\u00e9</p>"
