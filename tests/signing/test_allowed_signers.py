"""Files of allowed signers: stagec trusts a key in them where `ssh-keygen -Y verify` does, and nowhere else."""

from __future__ import annotations

import random
import subprocess
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

import campaigns
import pytest

from stagec.core.failure import Failure
from stagec.ir.signing import RefusedSignatureError, check_signature, read_trusted_keys

pytestmark = pytest.mark.needs("ssh-keygen")
_NOW = datetime(2026, 6, 1, 12, tzinfo=UTC)
_OPTIONS = (
    *('namespaces="stagec"', 'namespaces="git"', 'namespaces="*"', 'namespaces="!git,*"', 'namespaces="!stagec,*"'),
    *(
        'namespaces="stag??"',
        'namespaces="!git"',
        'namespaces="stagec,!stagec"',
        'namespaces=""',
        'Namespaces="STAGEC"',
    ),
    *('namespaces="s*c"', r'namespaces="stagec\""', r'namespaces="\"stagec"', 'namespaces="git, stagec"'),
    *('valid-after="20260101Z"', 'valid-after="20260602Z"', 'valid-after="20260231Z"', 'valid-after="19700101Z"'),
    *('valid-before="20260601Z"', 'valid-before="20270101"', 'valid-before="202606011200Z"', 'valid-before="2026"'),
    *('valid-before="20260601120001Z"', 'valid-before="20261301Z"', 'valid-before="20260631z"', 'valid-before=""'),
    *("cert-authority", "cert-authorityx", "no-touch-required", "valid-before", 'valid-before="20260601Z', "x"),
)
_SEPARATORS = (",", ",", ",", ",", ",,", " ", ", ", "")
_OWNERS = (
    *(
        "me",
        "me",
        "me",
        "me,you",
        "*",
        '"me"',
        "m?",
        "!you,me",
        "!me",
        '"me',
        '"me you"',
        '"me"x',
        "me,",
        ",me",
        "m*e",
        'm"e"',
        '""',
    ),
    *("!*,me", "me,!m?", "*,!me", "m*,!me", "?,!m", "!!me", "*me*", "!you", "you", '"!me,you"', "me,!me", "*,!*", "ME"),
)
_IDENTITIES = ("me", "you", "x")
"""Those for whom a signature is verified, besides the ones that a line names."""


def _mutate(chance: random.Random, key: str) -> str:
    """Return a line of allowed signers with up to four options, some of it damaged."""
    options = chance.choice(("", ",")) if chance.random() < 0.1 else ""
    for each in chance.sample(_OPTIONS, chance.choice((0, 1, 1, 2, 2, 3))):
        options += (chance.choice(_SEPARATORS) if options else "") + each
    if chance.random() < 0.1:
        options += chance.choice((",", '"', options))
    line = " ".join(filter(None, (chance.choice(_OWNERS), options, key)))
    if chance.random() < 0.3:
        at = chance.randrange(len(line))
        line = chance.choice((line[:at] + line[at + 1 :], line[:at] + chance.choice('", \t!#*\r\x0b=') + line[at:]))
    before = chance.choice(("", "", "# comment\n", "\n", " \t\n"))
    return before + line + chance.choice(("", "\n", "\r\n"))


def _judge(signers: bytes, signature: str, data: bytes) -> bool:
    try:
        check_signature(signature, data, read_trusted_keys(signers, "signers"), _NOW)
    except (Failure, RefusedSignatureError):
        return False
    return True


def _list_identities(signers: bytes) -> list[str]:
    """Return whom the owner of the last line may stand for, as it is written and as stagec reads it."""
    owners = [signers.decode().strip().rpartition("\n")[2].split(" ")[0].strip('"')]
    with suppress(Failure):
        owners += (each.owner for each in read_trusted_keys(signers, "signers"))
    patterns = {each for owner in owners for each in owner.split(",") if not each.startswith("!")}
    return sorted({each.replace("*", "").replace("?", "x") for each in patterns})


def test_stagec_and_ssh_keygen_have_the_same_verdict(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "UTC")
    key, signed, signers = tmp_path / "key", tmp_path / "plan", tmp_path / "signers"
    signed.write_bytes(b"{}")
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "x", "-f", key], check=True)
    subprocess.run(
        ["ssh-keygen", "-q", "-Y", "sign", "-n", "stagec", "-f", key, signed], check=True, capture_output=True
    )
    signature, public = Path(f"{signed}.sig").read_text(), Path(f"{key}.pub").read_text().strip()
    verify = ("ssh-keygen", "-Y", "verify", "-n", "stagec", "-s", f"{signed}.sig", "-f", str(signers))

    def trusts(identity: str) -> bool:
        words = [*verify, "-I", identity, "-Overify-time=20260601120000Z"]
        return subprocess.run(words, input=b"{}", capture_output=True, check=False).returncode == 0

    verdicts: list[bool] = []
    for seed in range(campaigns.choose(60, whole=500)):
        signers.write_bytes(_mutate(random.Random(seed), public).encode())  # noqa: S311
        identities = [*_IDENTITIES, *_list_identities(signers.read_bytes())]
        verdicts.append(any(map(trusts, identities)))  # stagec asks for no identity
        assert _judge(signers.read_bytes(), signature, b"{}") is verdicts[-1], (seed, signers.read_bytes())
    assert 0.05 < sum(verdicts) / len(verdicts) < 0.9
