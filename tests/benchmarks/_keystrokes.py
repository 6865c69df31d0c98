"""Keystrokes in an editor: seconds from each to the findings that the language server tells."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from lsp.client import Client

_WARM, _COUNT, _RANK = 5, 100, 95
"""Keystrokes before those that count, those that count, and the percentile of these that is returned."""


def measure_keystrokes(folder: Path, file: str, word: str) -> float:
    """Return the 95th percentile in seconds: each other keystroke breaks a word of a file, and the next one mends it.

    The word is the last one of its kind, and its break is an error in this file.
    """
    with _serve(folder) as client:
        client.begin()
        text = client.open(file)
        at = text.rindex(word)
        line, character = text.count("\n", 0, at), at - text.rfind("\n", 0, at) - 1
        taken: list[float] = []
        for number in range(_WARM + _COUNT):
            begin = time.perf_counter()
            client.change(file, line, character, character + number % 2, "" if number % 2 else "x")
            client.wait_for(file, lambda codes, is_broken=not number % 2: bool(codes) is is_broken)
            taken.append(time.perf_counter() - begin)
            time.sleep(0.2)  # people do not type faster, and what follows on the findings is not what is measured
        client.end()
    return sorted(taken[_WARM:])[_COUNT * _RANK // 100 - 1]


@contextmanager
def _serve(folder: Path) -> Iterator[Client]:
    with (folder / "errors").open("w+b") as errors:
        client = Client(folder, errors)
        try:
            yield client
        finally:
            client.process.kill()
            client.process.communicate()
