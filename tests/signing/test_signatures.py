"""Signatures of plans agree with the reference implementations, and nothing altered, foreign or expired counts."""

from __future__ import annotations

import base64
import json
import subprocess
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

import pytest
from altered import PLAN
from campaigns import sample
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
)
from securesystemslib.dsse import Envelope
from securesystemslib.signer import SSlibKey

from stagec.core.failure import Failure
from stagec.ir.plan.loader import load
from stagec.ir.signing import (
    KeyPasswordError,
    RefusedSignatureError,
    SignerEvidence,
    SigningKey,
    check_signature,
    read_private_key,
    read_trusted_keys,
    seal,
    write_statement,
)

KEY, OTHER = Ed25519PrivateKey.from_private_bytes(b"k" * 32), Ed25519PrivateKey.from_private_bytes(b"o" * 32)
NOW = datetime(2026, 6, 1, tzinfo=UTC)
STATEMENT = write_statement(load(PLAN), PLAN, "review.plan.json", SignerEvidence({"errors": 0}, "c0ffee"))
SEALED = seal(STATEMENT, SigningKey(KEY)).decode()
needs_ssh_keygen = pytest.mark.needs("ssh-keygen")


def write_public(key: Ed25519PrivateKey) -> bytes:
    return key.public_key().public_bytes(Encoding.OpenSSH, PublicFormat.OpenSSH)


def trust(*lines: str) -> tuple[object, ...]:
    return read_trusted_keys("\n".join(lines).encode(), "keys")


OWN = read_trusted_keys(write_public(KEY), "key.pub")


def refuse(text: str, data: bytes = PLAN, keys: object = OWN) -> str:
    with pytest.raises(RefusedSignatureError) as refused:
        check_signature(text, data, keys, NOW)  # type: ignore[arg-type]
    return str(refused.value)


def test_what_was_signed_is_vouched_for() -> None:
    vouching = check_signature(SEALED, PLAN, OWN, NOW)
    assert vouching.key == OWN[0]
    assert vouching.statement is not None
    assert vouching.statement.predicate["findings"] == {"errors": 0}
    assert vouching.statement.predicate["revision"] == {"git": "c0ffee"}


def test_the_reference_implementation_accepts_envelopes_and_the_statement_is_one_of_in_toto() -> None:
    envelope = Envelope.from_dict(json.loads(SEALED))
    (keyid,) = envelope.signatures
    assert envelope.verify([SSlibKey.from_crypto(KEY.public_key(), keyid=keyid)], 1)
    statement = json.loads(envelope.payload)
    assert statement["_type"] == "https://in-toto.io/Statement/v1"
    assert [each["name"] for each in statement["subject"]] == ["review.plan.json", "review.plan"]


def test_the_bytes_that_are_signed_are_those_of_the_specification_of_dsse() -> None:
    # the test vector of the specification's `protocol.md`
    envelope = Envelope(b"hello world", "http://example.com/HelloWorld", {})
    assert envelope.pae() == b"DSSEv1 29 http://example.com/HelloWorld 11 hello world"


def test_an_envelope_without_names_of_keys_is_read_too() -> None:
    given = json.loads(SEALED)
    for each in given["signatures"]:
        del each["keyid"]
    assert check_signature(json.dumps(given), PLAN, OWN, NOW).key == OWN[0]


def test_one_trusted_signature_of_several_suffices() -> None:
    given = json.loads(SEALED)
    given["signatures"] = [*json.loads(seal(STATEMENT, SigningKey(OTHER)))["signatures"], *given["signatures"]]
    assert check_signature(json.dumps(given), PLAN, OWN, NOW).key == OWN[0]


def test_an_envelope_with_one_character_altered_vouches_for_nothing_else() -> None:
    genuine = check_signature(SEALED, PLAN, OWN, NOW)
    for at in sample(range(len(SEALED) - 1), 150, full=300):
        altered = SEALED[:at] + ("A" if SEALED[at] != "A" else "B") + SEALED[at + 1 :]
        # the name of the key is only a hint, and Base64 ends in bits that mean nothing
        with suppress(RefusedSignatureError):
            vouching = check_signature(altered, PLAN, OWN, NOW)
            assert (vouching.key, vouching.statement) == (OWN[0], genuine.statement), at


def test_a_plan_with_one_byte_altered_is_refused() -> None:
    for at in sample(range(len(PLAN)), 150, full=600):
        altered = PLAN[:at] + bytes([PLAN[at] ^ 1]) + PLAN[at + 1 :]
        assert refuse(SEALED, altered) == "the statement is about another plan", at


def test_a_foreign_key_is_refused() -> None:
    assert refuse(SEALED, keys=read_trusted_keys(write_public(OTHER), "x")).startswith("no trusted key made")


def test_the_statement_about_another_plan_is_refused() -> None:
    other = write_statement(load(PLAN), PLAN + b" ", "x", SignerEvidence())
    given = json.loads(other)
    given["subject"] = given["subject"][:1]
    assert refuse(seal(json.dumps(given).encode(), SigningKey(KEY)).decode()) == "the statement is about another plan"


@pytest.mark.parametrize(
    "payload",
    [b"", b"[]", b"{}", b'{"_type": "https://in-toto.io/Statement/v1"}', b"\xff", b"[" * 100_000],
    ids=["empty", "list", "object", "no predicate", "no text", "deep"],
)
def test_a_signed_payload_that_is_no_statement_is_refused(payload: bytes) -> None:
    assert refuse(seal(payload, SigningKey(KEY)).decode()).startswith("the signature is refused: it is not ")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{}",
        "[]",
        "null",
        "7",
        "[" * 100_000,
        '{"payload": 1, "payloadType": 2, "signatures": [3]}',
        '{"payload": "", "payloadType": "", "signatures": []}',
        json.dumps({**json.loads(SEALED), "payloadType": "text/plain"}),
        json.dumps({**json.loads(SEALED), "signatures": json.loads(SEALED)["signatures"] * 65}),
        "-----BEGIN SSH SIGNATURE-----",
        "-----BEGIN SSH SIGNATURE-----\nAAAA\n-----END SSH SIGNATURE-----",
        "-----BEGIN SSH SIGNATURE-----\n%%%%\n-----END SSH SIGNATURE-----",
        "-----BEGIN SSH SIGNATURE-----\n"
        + base64.b64encode(b"SSHSIG\0\0\0\1" + b"\xff" * 4).decode()
        + "\n-----END SSH SIGNATURE-----",
    ],
)
def test_what_is_no_signature_is_refused_with_a_reason(text: str) -> None:
    assert refuse(text).startswith("the signature is refused: it ")


class TestKeys:
    def test_pem_and_openssh_are_the_same_key(self) -> None:
        pem = KEY.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
        assert read_trusted_keys(pem, "a")[0].raw == OWN[0].raw

    @pytest.mark.parametrize("form", [PrivateFormat.PKCS8, PrivateFormat.OpenSSH])
    def test_private_keys_may_have_a_password(self, form: PrivateFormat) -> None:
        data = KEY.private_bytes(Encoding.PEM, form, BestAvailableEncryption(b"secret"))
        assert read_private_key(data, "k", b"secret").opened.private_bytes_raw() == b"k" * 32
        for wrong in (None, b"other"):
            with pytest.raises(KeyPasswordError):
                read_private_key(data, "k", wrong)

    @pytest.mark.parametrize("form", [PrivateFormat.PKCS8, PrivateFormat.OpenSSH])
    def test_a_password_for_a_key_without_one_changes_nothing(self, form: PrivateFormat) -> None:
        data = KEY.private_bytes(Encoding.PEM, form, NoEncryption())
        assert read_private_key(data, "k", b"needless").opened.private_bytes_raw() == b"k" * 32

    @pytest.mark.parametrize("data", [b"", b"x", b"-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n"])
    def test_what_is_no_key_is_refused(self, data: bytes) -> None:
        with pytest.raises(Failure, match="holds no private key"):
            read_private_key(data, "k", None)
        with pytest.raises(Failure, match=r"'k' holds |k:1: 'x' cannot be read: expected OWNER"):
            read_trusted_keys(data, "k")

    def test_a_line_of_allowed_signers_has_an_owner_and_a_time(self) -> None:
        key = write_public(KEY).decode()
        (found,) = trust(
            "# releases",
            "",
            f'ci@example.org namespaces="git,stagec",valid-after="20260101Z",valid-before="202607011200Z" {key}',
        )
        assert found.named.startswith("'ci@example.org' (SHA256:")  # type: ignore[attr-defined]
        assert found.before == datetime(2026, 7, 1, 12, tzinfo=UTC)  # type: ignore[attr-defined]

    @pytest.mark.parametrize(
        ("options", "why"),
        [
            ('valid-before="20260531Z"', "has expired: it was valid until 2026-05-31"),
            ('valid-after="20260602Z"', "is valid from 2026-06-02"),
        ],
    )
    def test_a_key_counts_in_its_time_only(self, options: str, why: str) -> None:
        assert why in refuse(SEALED, keys=trust(f"me {options} {write_public(KEY).decode()}"))

    def test_one_valid_line_for_a_key_suffices(self) -> None:
        key = write_public(KEY).decode()
        keys = trust(f'me valid-before="20250101Z" {key}', f'me valid-after="20250101Z" {key}')
        assert check_signature(SEALED, PLAN, keys, NOW)  # type: ignore[arg-type]

    def test_of_two_keys_that_signed_the_one_that_has_not_expired_counts(self) -> None:
        given = json.loads(SEALED)
        given["signatures"] += json.loads(seal(STATEMENT, SigningKey(OTHER)))["signatures"]
        old, new = f'old valid-before="20250101Z" {write_public(KEY).decode()}', f"new {write_public(OTHER).decode()}"
        for lines in ((old, new), (new, old)):
            keys = trust(*lines)
            assert check_signature(json.dumps(given), PLAN, keys, NOW).key.owner == "new"  # type: ignore[arg-type]
        assert "has expired" in refuse(json.dumps(given), keys=trust(old))

    @pytest.mark.parametrize(
        "options",
        [
            *("valid-before=20250101Z", "valid-before", 'valid-befor="20250101Z"', 'valid-before="20250101Z'),
            *('valid-before="20250101Z" namespaces="stagec"', "namespaces", 'no-touch-required,namespaces="stagec"'),
        ],
    )
    def test_an_option_that_cannot_be_read_is_told_and_limits_nothing_in_silence(self, options: str) -> None:
        with pytest.raises(Failure, match=r"keys:1: .* cannot be read"):
            trust(f"me {options} {write_public(KEY).decode()}")

    @pytest.mark.parametrize("options", ["cert-authority", 'namespaces="git"', 'namespaces=""'])
    def test_a_line_for_something_else_does_not_count(self, options: str) -> None:
        with pytest.raises(Failure, match="holds no Ed25519 key"):
            trust(f"me {options} {write_public(KEY).decode()}")

    @pytest.mark.parametrize("time", ["", "2026", "20261301", "yesterday", "20260101ZZ"])
    def test_a_time_that_is_none_is_told_with_its_line(self, time: str) -> None:
        with pytest.raises(Failure, match=r"keys:1: .* is not a time"):
            trust(f'me valid-before="{time}" {write_public(KEY).decode()}')


@needs_ssh_keygen
class TestSsh:
    """`ssh-keygen` signs what stagec verifies."""

    @pytest.fixture
    def key(self, tmp_path: Path) -> Path:
        path = tmp_path / "key"
        path.write_bytes(KEY.private_bytes(Encoding.PEM, PrivateFormat.OpenSSH, NoEncryption()))
        path.chmod(0o600)
        return path

    def sign(self, key: Path, namespace: str = "stagec", *options: str) -> str:
        plan = key.with_name("plan")
        plan.write_bytes(PLAN)
        command = ["ssh-keygen", "-Y", "sign", "-q", "-n", namespace, *options, "-f", str(key), str(plan)]
        subprocess.run(command, check=True, capture_output=True)
        return plan.with_name("plan.sig").read_text()

    @pytest.mark.parametrize("options", [(), ("-O", "hashalg=sha256")], ids=["sha512", "sha256"])
    def test_its_signatures_count(self, key: Path, options: tuple[str, ...]) -> None:
        assert check_signature(self.sign(key, "stagec", *options), PLAN, OWN, NOW).statement is None

    def test_one_for_something_else_does_not(self, key: Path) -> None:
        assert "it is for 'git'" in refuse(self.sign(key, "git"))

    def test_one_of_other_bytes_or_of_a_foreign_key_does_not(self, key: Path) -> None:
        signature = self.sign(key)
        assert refuse(signature, PLAN + b" ") == "the signature is one of other bytes"
        assert "is none of the trusted ones" in refuse(signature, keys=read_trusted_keys(write_public(OTHER), "x"))

    def test_another_kind_of_key_does_not(self, tmp_path: Path) -> None:
        path = tmp_path / "rsa"
        subprocess.run(["ssh-keygen", "-q", "-t", "ecdsa", "-N", "", "-f", str(path)], check=True, capture_output=True)
        assert "it is of another kind" in refuse(self.sign(path))

    def test_its_own_verdict_of_times_is_that_of_stagec(self, key: Path) -> None:
        signature = key.with_name("plan.sig")
        text = self.sign(key)
        signers = key.with_name("signers")
        for options, day in (('valid-before="20260531Z"', "20260530"), ('valid-after="20260602Z"', "20260603")):
            line = f"me {options} {write_public(KEY).decode()}\n"
            signers.write_text(line)
            for moment in (day, "20260601120000Z"):
                command = [
                    "ssh-keygen",
                    "-Y",
                    "verify",
                    "-f",
                    str(signers),
                    "-I",
                    "me",
                    "-n",
                    "stagec",
                    "-s",
                    str(signature),
                ]
                ended = subprocess.run(
                    [*command, "-O", f"verify-time={moment}"], input=PLAN, capture_output=True, check=False
                )
                assert (ended.returncode == 0) is (moment == day)
            assert "SHA256:" in refuse(text, keys=trust(line.strip()))
