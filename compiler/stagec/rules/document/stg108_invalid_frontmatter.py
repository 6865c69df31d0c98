"""The frontmatter of a Markdown file cannot be used.

## Why this matters
Frontmatter is what a program learns from a prompt or stage file. Where it is not closed, or is no mapping, most readers
take all of it for prose and say nothing.

## How to fix
Write `key: value` lines between two lines `---`, the first of which is the first line of the file. Repeat a value
instead of referring to it with an anchor, and leave out tags.
"""

from collections.abc import Iterator

from stagec.core.rule import Finding, Related
from stagec.core.words import quote
from stagec.rules.document import name_value, rule
from stagec.sources.tree import Tree

_SENTENCES = {
    "anchor": (
        "{subject} begins with {character}, as an anchor or alias does, which frontmatter must not have; "
        "put {value} in quotes, or repeat what it stands for"
    ),
    "misspelt": "no line of this frontmatter is a key with a value; write {written}",
    "not-a-mapping": "frontmatter must consist of 'key: value' lines",
    "tag": "{subject} begins with {character}, as a tag does, which frontmatter must not have; put {value} in quotes",
    "unclosed": "the frontmatter that begins here is not closed by a second line '---'",
}


@rule(since="0.1", origin=("rulings:everywhere", "stage-definitions:frontmatter-yaml"), groups=("mandatory",))
def check(tree: Tree) -> Iterator[Finding]:
    for fault in tree.about("invalid-frontmatter"):
        facts = {name: given if isinstance(given, int) else quote(given) for name, given in fault.facts.items()}
        related = tuple(Related(at, f"{quote(found)} is not '---'") for at, found in fault.related)
        yield Finding(fault.at, _SENTENCES[fault.reason].format_map(facts | {"subject": name_value(fault)}), related)
