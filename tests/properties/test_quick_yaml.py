"""Reading YAML quickly gives what the parser gives, or nothing: for written, random and third-party texts."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random

import pytest
from campaigns import choose
from hypothesis import example, given, settings
from hypothesis import strategies as st

from stagec.core.budgets import Budgets
from stagec.sources.formats.markdown import split
from stagec.sources.yaml_text.quick import quick
from stagec.sources.yaml_text.reading import read

CORPUS = os.environ.get("STAGEC_CORPUS")
TOP = Path(__file__).parents[2]
CHUNKS, CHUNK = choose(4, whole=16), choose(200, whole=400)
BUDGETS = Budgets(depth=8)
"""Shallow, so that random texts are sometimes too deep."""

SAFE: list[str] = re.findall(r"\S+", "a b1 x_y read-only 12 -7 true ~ v1.2 http://a.b/c a-b Read é x/y it's a,b")
STRANGE: list[str] = [
    *re.findall(
        r"\S+",
        r"""012 0x1F 0o14 1_000 1. .5e1 -1e999 .inf .NaN null Null FALSE yes 2024-01-01 -x --- -- ... - ? : . .. a: :a
        a:b a::b a#b #c a[0] [x] {x} {{x}} <<: <b> *a &a !t @x `x` %x |x >x ?x :x “q” 'x "x x' $x (x) =x ^x ;x +1 +x
        /x a?b a? a! a& a"b \n \x _ 😀""",
    ),
    *("\xa0", "\u2003", "a\xa0b", "a\x85b", "a\u2028b", "a\tb", "\ufeff"),
]
WORDS = SAFE + STRANGE
ESCAPES = [r"\n", r"\"", r"\\", r"\/", r"\t", r"\x41", r"\u00e9"]
ODD_ESCAPES = [r"\ud83d\ude00", r"\ud83d", r"\U0001F600", r"\U00110000", r"\q", r"\0", r"\N", r"\x4", "\\ ", "\\\n"]
MARKS: list[str] = [*" \n\t\r:#-?,[]{}&*!|>'\"%@`\\~a0é\u2028\x85\0", ": ", " #", "- ", "  ", "\n\n", "---\n", "...\n"]


class Writer:
    """Writes random YAML: mostly well formed, in every style that people use."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self._wild = random.random() < 0.3

    def chance(self, part: float) -> bool:
        return self.random.random() < part

    def text(self) -> str:
        """Return a document, damaged or not."""
        begin = self.random.choice(["", "", "", "", "---\n", "# c\n", "\n", "--- \n", "# c\n---\n", "%YAML 1.2\n---\n"])
        written = begin + self.random.choice([self.mapping, self.mapping, self.mapping, self.sequence])(0, 3)
        if self.chance(0.05):
            written = self.flow(3)
        for _ in range(self.random.choice([0, 0, 0, 1, 1, 2, 4])):
            written = self.random.choice(DAMAGES)(self.random, written)
        if self.chance(0.1):
            written = written.replace("\n", "\r\n")
        return written.rstrip("\n") if self.chance(0.1) else written

    def mapping(self, indent: int, left: int) -> str:
        return "".join(self.member(indent, left) for _ in range(self.random.choice([1, 1, 2, 3])))

    def member(self, indent: int, left: int) -> str:
        return f"{self.blank()}{' ' * indent}{self.key()}:{self.value(indent, left, in_mapping=True)}"

    def sequence(self, indent: int, left: int) -> str:
        return "".join(self.item(indent, left) for _ in range(self.random.choice([1, 2, 3])))

    def item(self, indent: int, left: int) -> str:
        if left and self.chance(0.4):
            width = self.random.choice([2, 2, 2, 3, 4])
            inside = self.random.choice([self.mapping, self.sequence])(indent + width, left - 1).lstrip(" ")
            return f"{self.blank()}{' ' * indent}-{' ' * (width - 1)}{inside}"
        return f"{self.blank()}{' ' * indent}-{self.value(indent, left, in_mapping=False)}"

    def value(self, indent: int, left: int, *, in_mapping: bool) -> str:
        deeper = indent + self.random.choice([1, 2, 2, 4])
        kind = self.random.random()
        if left and kind < 0.3:
            if in_mapping and self.chance(0.2):
                deeper = indent
            collection = self.sequence if deeper == indent else self.random.choice([self.mapping, self.sequence])
            return f"{self.end()}{collection(deeper, left - 1)}"
        if kind < 0.45:
            return f" {self.block(deeper)}"
        if kind < 0.65:
            return f" {self.flow(left)}{self.end()}"
        if kind < 0.7:
            return self.end()
        space = f"\n{' ' * deeper}" if self.chance(0.1) else "  " if self.chance(0.1) else " "
        return f"{space}{self.scalar(deeper)}{self.end()}"

    def end(self) -> str:
        return self.random.choice(
            ["\n", "\n", "\n", "\n", "\n", " \n", " # c: d\n", "\n\n", "  #\n", "\n  # c\n", "#c\n"]
        )

    def blank(self) -> str:
        return self.random.choice(["\n", "# c\n", "   # c\n", "  \n"]) if self.chance(0.05) else ""

    def key(self) -> str:
        name = self.random.choice(["a", "b", "c", "d", "id", "x-y", "x y", "1", "on", "a.b", "$ref", "null"])
        kind = self.random.random()
        if self._wild and kind < 0.2:
            return self.random.choice(
                [self.plain(), self.quoted(), "? a", "[a]", "a" * 1100, "a" + " " * 1100, "a ", "<<"]
            )
        return f'"{name}"' if kind < 0.25 else f"'{name}'" if kind < 0.3 else name

    def plain(self) -> str:
        words = self.random.choices(WORDS if self._wild else SAFE, k=self.random.choice([1, 1, 1, 2, 3]))
        return self.random.choice([" ", " ", "  ", ""]).join(words)

    def quoted(self) -> str:
        words = self.random.choices(WORDS, k=self.random.choice([0, 1, 2, 3]))
        if self.chance(0.5):
            return "'" + " ".join(words).replace("'", "''") + "'"
        inside = " ".join(words).replace("\\", "\\\\").replace('"', '\\"')
        escape = self.random.choice(ESCAPES + ODD_ESCAPES if self._wild else ESCAPES) if self.chance(0.4) else ""
        return f'"{inside}{escape}{self.random.choice(["", "", " ", "x"])}"'

    def scalar(self, indent: int) -> str:
        written = self.plain() if self.chance(0.6) else self.quoted()
        if self.chance(0.2):
            breaks = self.random.choice(["\n", "\n", " \n", "\n\n", "\n \n\n"])
            written = written.replace(" ", breaks + " " * self.random.choice([indent, indent, 0, 9]), 1)
        return written

    def block(self, indent: int) -> str:
        header = self.random.choice("|>") + self.random.choice(["", "", "-", "+"])
        if self._wild and self.chance(0.3):
            header += self.random.choice(["2", "x", "-1", " # c", " c"])
        return f"{header}\n" + "".join(f"{self.line(indent)}\n" for _ in range(self.random.choice([1, 2, 3, 4])))

    def line(self, indent: int) -> str:
        kind = self.random.random()
        if kind < 0.2:
            return " " * self.random.choice([0, 0, 0, 1, 9])
        return " " * (indent + (kind < 0.3) - (self._wild and kind > 0.95)) + self.plain()

    def flow(self, left: int) -> str:
        count = self.random.choice([0, 1, 1, 2, 3])
        space = self.random.choice(["", " ", " ", "\n  "]) if self.chance(0.3) else ""
        comma = self.random.choice([",", ", ", ", ", " , ", ",\n   ", ", # c\n "]) if self.chance(0.5) else ", "
        trailing = "," if self.chance(0.05) else ""
        if self.chance(0.5):
            return f"[{space}{comma.join(self.element(left) for _ in range(count))}{trailing}{space}]"
        colon = self.random.choice([": ", ": ", ": ", ":", " : ", ":\n "])
        pairs = (f"{self.key()}{colon}{self.element(left)}" for _ in range(count))
        return f"{{{space}{comma.join(pairs)}{trailing}{space}}}"

    def element(self, left: int) -> str:
        if left and self.chance(0.25):
            return self.flow(left - 1)
        if self._wild and self.chance(0.05):
            return ""
        return self.quoted() if self.chance(0.3) else self.plain()


def inserted(random: Random, text: str) -> str:
    at = random.randint(0, len(text))
    return text[:at] + random.choice(MARKS) + text[at:]


def deleted(random: Random, text: str) -> str:
    at = random.randint(0, len(text))
    return text[:at] + text[at + random.choice([1, 1, 1, 2, 5]) :]


def doubled(random: Random, text: str) -> str:
    at = random.randint(0, len(text))
    return text[: at + 1] + text[at:]


def misindented(random: Random, text: str) -> str:
    lines = text.split("\n")
    at = random.randrange(len(lines))
    lines[at] = f" {lines[at]}" if random.random() < 0.5 else lines[at].removeprefix(" ")
    return "\n".join(lines)


def repeated(random: Random, text: str) -> str:
    lines = text.split("\n")
    at = random.randrange(len(lines))
    lines.insert(random.randrange(len(lines)), lines[at])
    return "\n".join(lines)


def swapped(random: Random, text: str) -> str:
    lines = text.split("\n")
    at = random.randrange(len(lines))
    lines[at - 1], lines[at] = lines[at], lines[at - 1]
    return "\n".join(lines)


DAMAGES: list[Callable[[Random, str], str]] = [
    inserted,
    inserted,
    deleted,
    doubled,
    misindented,
    misindented,
    repeated,
    swapped,
]


def frontmatter_of(path: Path) -> str | None:
    """Return the YAML of a file, if there is any that can be decoded."""
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError:
        return None
    if path.suffix in {".yml", ".yaml"}:
        return text
    fenced = split(text)
    return text[fenced.start : fenced.end] if fenced and fenced.closed else None


def texts_in(*folders: str) -> Iterator[str]:
    """Yield the YAML of every YAML and Markdown file below folders."""
    for folder in folders:
        for path in sorted(Path(folder).rglob("*")):
            text = frontmatter_of(path) if path.is_file() else None
            if text is not None:
                yield text


def agree(text: str, budgets: Budgets = BUDGETS) -> bool:
    """Assert that reading quickly gives what the parser does, types and order included; tell whether it did."""
    given = quick(text, budgets.depth)
    if given is None:
        return False
    parsed = read("f.yaml", text, budgets)
    assert (repr(given), parsed.faults) == (repr(parsed.value), ()), text
    return True


@pytest.mark.parametrize("seed", range(CHUNKS))
def test_random_texts_are_read_like_the_parser_does(seed: int) -> None:
    random = Random(seed)  # noqa: S311
    answered = sum(agree(Writer(random).text()) for _ in range(CHUNK))
    assert answered > CHUNK // 5


TOKENS = st.sampled_from(
    [*MARKS, *SAFE, "a: ", "\n  ", "\n- ", "\n  - ", "[", "]", "{", "}", ", ", "'", '"', "|\n", ">-\n", "\n"]
)


@given(st.lists(TOKENS, max_size=14).map("".join))
@example("a: 'x\ny'\n")
@example("a:\n- b\n - c\n")
@example("a: b\n c\n")
@example("a: |\n\n  b\n")
@example("a: |")
@example("a:\n  b: 1\n c: 2\n")
@example("a: [b\n]\n")
@example("a: {b: c}: d\n")
@example("- - a\n  - b\n -\n")
@settings(max_examples=choose(120, whole=3_000), deadline=None)
def test_any_tokens_are_read_like_the_parser_does(text: str) -> None:
    agree(text)


@given(
    st.text(max_size=30).filter(lambda text: text.isprintable()),
    st.sampled_from(["a: {}\n", "a: '{}'\n", 'a: "{}"\n', "a: [{}]\n", "a: |\n  {}\n"]),
)
@settings(max_examples=choose(80, whole=1_000), deadline=None)
def test_any_characters_are_read_like_the_parser_does(text: str, form: str) -> None:
    agree(form.replace("{}", text))


@pytest.mark.skipif(CORPUS is None, reason="needs STAGEC_CORPUS")
def test_third_party_texts_are_read_like_the_parser_does() -> None:
    texts = list(texts_in(str(CORPUS)))
    random = Random(0)  # noqa: S311
    well_formed = [text for text in texts if not read("f.yaml", text, Budgets()).faults]
    answered = [text for text in texts if agree(text, Budgets())]
    for text in texts:
        agree(random.choice(DAMAGES)(random, text), Budgets())
    assert len(answered) > 0.95 * len(well_formed)


def test_the_yaml_of_this_project_is_read_like_the_parser_does() -> None:
    files = [path.read_text(encoding="utf-8") for path in sorted((TOP / "tests").rglob("*.md"))]
    blocks = (block for text in files for block in re.findall(r"```ya?ml[^\n]*\n(.*?)```", text, re.DOTALL))
    for text in (*texts_in(str(TOP / "tests"), str(TOP / "registries"), str(TOP / "docs")), *blocks):
        agree(text, Budgets())
