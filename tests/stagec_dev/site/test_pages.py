"""Pages as the generator reads them, and the navigation."""

from __future__ import annotations

import tomllib

import pytest

from stagec.check.pipeline import list_families
from stagec.core.rule import AnyRule
from stagec_dev.checkout import ROOT
from stagec_dev.tools.site import SiteSection, SiteSources, configure, convert_page, read_navigation, read_sources


def rules() -> list[AnyRule]:
    return [rule for family in list_families() for rule in family.rules()]


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("```json a/b.json", '```json title="a/b.json"'),
        ("```markdown plan.md named", '```markdown title="plan.md"'),
        ("````markdown plan.md", '````markdown title="plan.md"'),
        ("```diagnostics", "```text"),
        ("```console", "```console"),
        ("```console not run: asks a model", "```console"),
        ("```", "```"),
    ],
)
def test_a_fence_has_a_language_and_a_title(written: str, read: str) -> None:
    end = written.rstrip("abcdefghijklmnopqrstuvwxyz/. ")
    page = f"# T\n\n{written}\n[x](../../tests/x.md)\n```json y\n{end}\n"
    inside = "" if end == "```" else "```json y\n"
    assert convert_page("a/p.md", page).startswith(f"# T\n\n{read}\n[x](../../tests/x.md)\n{inside}")


@pytest.mark.parametrize(
    ("name", "link", "read"),
    [
        ("p.md", "[the schema](../schemas/plan.schema.json)", "[the schema](schemas/plan.schema.json)"),
        ("a/p.md", "[the schema](../../schemas/plan.schema.json)", "[the schema](../schemas/plan.schema.json)"),
        ("a/p.md", "[beside](../b.md#c) [below](d.md)", "[beside](../b.md#c) [below](d.md)"),
        ("p.md", "[traces](../tests/x/README.md), so", "traces (`tests/x/README.md` in the repository), so"),
        ("p.md", "[web](https://example.org/../x)", "[web](https://example.org/../x)"),
    ],
)
def test_a_link_out_of_the_documentation_leads_to_what_is_published(name: str, link: str, read: str) -> None:
    assert convert_page(name, f"{link}\n") == f"{read}\n"


def test_a_page_begins_with_its_title() -> None:
    assert convert_page("rules/STG999.md", "<!-- written -->\n# STG999 x\n\nText.\n") == "# STG999 x\n\nText.\n"


def test_the_navigation_is_the_home_page_and_all_decisions() -> None:
    pages = {
        "index.md": "# T\n\nSee [a](a.md).\n\n## One\n\n- [b](b.md): b\n- [c](u/c-d.md#e), [b](b.md)\n\n"
        "## None\n\ntext\n\n## Two\n\n[f](f.md)\n",
        "decisions/0002-y.md": "",
        "decisions/0001-x.md": "",
    }
    assert read_navigation(pages) == (
        SiteSection("One", ("b.md",)),
        SiteSection("Two", ("f.md",)),
        SiteSection("Decisions", ("decisions/0001-x.md", "decisions/0002-y.md")),
    )


def test_the_configuration_can_be_read_whatever_titles_say() -> None:
    home = '## A "b" \\ c\n\n- [x](x.md)\n- [y](y.md)\n'
    pages = {"index.md": home, "x.md": '# `X` "é😀"\n', "y.md": "", "decisions/1.md": ""}
    found = tomllib.loads(configure(SiteSources(pages, {}), "https://docs.example.org/stagec"))["project"]
    assert found["site_url"] == "https://docs.example.org/stagec/"
    assert found["nav"][1] == {'A "b" \\ c': [{'X "é😀"': "x.md"}, {"y.md": "y.md"}]}
    assert "site_url" not in tomllib.loads(configure(SiteSources(pages, {})))["project"]


def test_every_rule_and_every_page_is_a_source_once() -> None:
    sources = read_sources(ROOT)
    assert {f"rules/{rule.code}.md" for rule in rules()} | {"rules/index.md"} == {
        name for name in sources.pages if name.startswith("rules/")
    }
    named = [name for section in read_navigation(sources.pages) for name in section.pages]
    assert len(named) == len({*named})
    assert {*named, "index.md"} == {name for name in sources.pages if not name.startswith("rules/")}
    assert "schemas/plan.schema.json" in sources.files
