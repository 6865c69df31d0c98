"""The log of a run is the same in whatever pieces output comes, holds no secret, and has bounds."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import given
from hypothesis import strategies as st

from stagec.core.secrets import LONGEST, Redactor
from stagec.runtime.world.supervised_program import LogStream, RunLog

VALUE = "correct horse battery"
KEY = "-----BEGIN RSA PRIVATE KEY-----\n" + "MIIEowIBAAKCAQEA\n" * 50 + "-----END RSA PRIVATE KEY-----\n"
LINES = st.sampled_from(
    [
        "plain\n",
        "\n",
        f"the token is {VALUE}, so\n",
        "ghp_" + "a1B2" * 10 + "\n",
        "Authorization: Bearer abcdefghijklmnopqrstuvwxyz\n",
        "ünï¢ödé ✓\n",
        "windows\r\n",
        KEY,
    ]
)


def write(pieces: Sequence[bytes], path: Path, most: int = 10_000_000) -> str:
    """Return what becomes of pieces of output in a log."""
    log = RunLog(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600))
    stream = LogStream(log, Redactor({"MY_TOKEN": VALUE}), most)
    for each in pieces:
        stream.take(each)
    stream.close()
    log.close()
    return path.read_text(encoding="utf-8")


def cut(data: bytes, sizes: Sequence[int]) -> Iterator[bytes]:
    for size in sizes:
        yield data[:size]
        data = data[size:]
    yield data


@given(st.lists(LINES, max_size=12), st.lists(st.integers(1, 60), max_size=40))
def test_no_piece_of_output_shows_a_secret(lines: list[str], sizes: list[int]) -> None:
    with TemporaryDirectory() as folder:
        text = write(list(cut("".join([*lines, "without end"]).encode(), sizes)), Path(folder, "log"))
    assert VALUE not in text
    assert "ghp_" not in text
    assert "MIIE" not in text
    assert "abcdefghijklm" not in text
    plain = [line for line in text.splitlines() if "redacted" not in line]
    wanted = [line for line in "".join(lines).splitlines() if line in {"plain", "ünï¢ödé ✓", "windows"}]
    assert [line for line in plain if line in {"plain", "ünï¢ödé ✓", "windows"}] == wanted


def test_a_secret_where_a_long_line_is_cut_is_hidden_as_a_whole(tmp_path: Path) -> None:
    for before in (LONGEST - 5, LONGEST - len(VALUE), LONGEST):
        data = ("x" * before + VALUE + "y" * 3 * LONGEST + "\nnext\n").encode()
        text = write(list(cut(data, [60_000] * 4)), tmp_path / "log")
        assert "correct" not in text
        assert "battery" not in text
        assert text.endswith(" […]\nnext\n")


def test_a_stream_has_bounds_and_says_so(tmp_path: Path) -> None:
    text = write([b"line\n" * 1_000] * 100, tmp_path / "log", most=12_000)
    assert text.startswith("line\n" * 2_400)
    assert len(text) < 20_000
    assert text.splitlines()[-1] == "[…] 12,000 bytes of an output are kept"


def test_a_log_that_cannot_be_written_says_why_once(tmp_path: Path) -> None:
    log = RunLog(os.open("/dev/full", os.O_WRONLY))
    log.write("one\n")
    log.write("two\n")
    assert log.trouble is not None
    assert log.trouble.strerror == "No space left on device"
    log.close()
