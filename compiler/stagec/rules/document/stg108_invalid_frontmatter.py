"""The frontmatter of a Markdown file cannot be used.

## Why this matters
Frontmatter is what a program learns from a prompt or stage file. Where it is not closed, or is no mapping, most readers
take all of it for prose and say nothing.

## How to fix
Write `key: value` lines between two lines `---`, the first of which is the first line of the file. Repeat a value
instead of referring to it with an anchor, and leave out tags.
"""

from collections.abc import Iterator

from stagec.rules.document import Finding, Tree, quote, rule

_SENTENCES = {
    "anchor": "{character} makes or uses an anchor, which frontmatter must not; put the value in quotes, or repeat it",
    "long": "the frontmatter that begins here has more than {limit:,} characters; put prose below its second line",
    "not-a-mapping": "frontmatter must consist of 'key: value' lines",
    "tag": "{character} begins a tag, which frontmatter must not have; put the value in quotes if it is text",
    "unclosed": "the frontmatter that begins here is not closed by a second line '---'",
}


@rule(since="0.1", origin=("rulings:everywhere",))
def check(tree: Tree) -> Iterator[Finding]:
    for fault in tree.about("invalid-frontmatter"):
        facts = {name: given if isinstance(given, int) else quote(given) for name, given in fault.facts.items()}
        yield Finding(fault.at, _SENTENCES[fault.reason].format_map(facts))
