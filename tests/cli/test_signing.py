"""`stagec sign` and `verify --key`, and projects in which only signed plans run."""

from __future__ import annotations

import base64
import json
import subprocess
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
)
from playable import STEPS, steps

from stagec.cli.app import run
from stagec.core.value import replace
from stagec.ir.plan import dump
from stagec.ir.signing import fingerprint

Shown = pytest.CaptureFixture[str]
KEY = Ed25519PrivateKey.from_private_bytes(b"k" * 32)
NAME = fingerprint(KEY.public_key().public_bytes_raw())
HALF = "inputs: {topic: winter}\nanswers:\n  draft: {action: next}\n"
POLICY = '[run]\nrequire-signature = true\ntrusted-keys = ["keys/signers"]\n'


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in a folder with a plan, its scenario and a key."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("STAGEC_KEY_PASSWORD", raising=False)
    Path("p.plan.json").write_bytes(dump(steps()))
    Path("whole.yaml").write_text(STEPS, encoding="utf-8")
    Path("key").write_bytes(KEY.private_bytes(Encoding.PEM, PrivateFormat.OpenSSH, NoEncryption()))
    Path("keys").mkdir()
    Path("keys/key.pub").write_bytes(KEY.public_key().public_bytes(Encoding.OpenSSH, PublicFormat.OpenSSH))
    trust("")
    return tmp_path


def trust(options: str, file: str = "keys/signers") -> None:
    Path(file).write_text(f"ci@example.org {options} {Path('keys/key.pub').read_text()}\n")


def read_predicate(path: str) -> Any:
    return json.loads(base64.b64decode(json.loads(Path(path).read_bytes())["payload"]))["predicate"]


def start(*more: str) -> int:
    return run(["run", "p.plan.json", "--scenario", "whole.yaml", "--run", "one", *more])


def test_a_plan_is_signed_and_its_signature_verified(capfd: Shown) -> None:
    assert run(["sign", "p.plan.json", "--key", "key"]) == 0
    out = capfd.readouterr().out
    assert out.startswith("p.plan.json.dsse.json: signed: 'writer', sha256:")
    assert out.endswith(f" with {NAME}\n")
    assert run(["verify", "p.plan.json", "--key", "keys/key.pub", "--key", "keys/signers"]) == 0
    assert f", signed by {NAME}\n" in capfd.readouterr().out


def remove(sidecar: Path) -> None:
    sidecar.unlink()


def trust_another(_: Path) -> None:
    other = Ed25519PrivateKey.generate().public_key().public_bytes(Encoding.OpenSSH, PublicFormat.OpenSSH)
    Path("keys/signers").write_text(f"me {other.decode()}")


def alter(sidecar: Path) -> None:
    given = json.loads(sidecar.read_text())
    given["payload"] = base64.b64encode(base64.b64decode(given["payload"]) + b" ").decode()
    sidecar.write_text(json.dumps(given))


def compile_another(_: Path) -> None:
    Path("p.plan.json").write_bytes(dump(replace(steps(), id="other")))


def expire(_: Path) -> None:
    trust(f'valid-before="{datetime.now(UTC) - timedelta(days=1):%Y%m%d%H%MZ}"')


@pytest.mark.parametrize(
    ("spoil", "resumed"), [(remove, 0), (trust_another, 2), (alter, 0), (compile_another, 0), (expire, 2)]
)
def test_what_nobody_vouches_for_is_refused(spoil: Callable[[Path], None], resumed: int, capfd: Shown) -> None:
    assert run(["sign", "p.plan.json", "--key", "key"]) == 0
    Path("half.yaml").write_text(HALF)
    Path("stagec.toml").write_text(POLICY)
    assert run(["run", "p.plan.json", "--scenario", "half.yaml", "--run", "begun"]) == 2
    spoil(Path("p.plan.json.dsse.json"))
    capfd.readouterr()
    assert run(["verify", "p.plan.json", "--key", "keys/signers"]) == 1
    assert ": refused: " in capfd.readouterr().out
    assert start() == 2
    assert "'run.require-signature' in stagec.toml requires one of a trusted key" in capfd.readouterr().err
    assert not Path(".stagec/runs/one.run").exists()
    # the journal keeps the signature: only what became of the key counts
    assert run(["resume", "begun", "--scenario", "whole.yaml"]) == resumed


def test_a_run_that_began_before_the_policy_needs_the_signed_plan(capfd: Shown) -> None:
    Path("half.yaml").write_text(HALF)
    assert run(["run", "p.plan.json", "--scenario", "half.yaml", "--run", "begun"]) == 2
    Path("stagec.toml").write_text(POLICY)
    capfd.readouterr()
    assert run(["resume", "begun", "--scenario", "whole.yaml"]) == 2
    assert "its journal keeps no signature, and --plan names no plan that has one" in capfd.readouterr().err
    assert run(["sign", "p.plan.json", "--key", "key"]) == 0
    assert run(["resume", "begun", "--scenario", "whole.yaml", "--plan", "p.plan.json"]) == 0


def test_another_plan_needs_a_signature_of_its_own(capfd: Shown) -> None:
    Path("half.yaml").write_text(HALF)
    assert run(["sign", "p.plan.json", "--key", "key"]) == 0
    Path("stagec.toml").write_text(POLICY)
    assert run(["run", "p.plan.json", "--scenario", "half.yaml", "--run", "begun"]) == 2
    Path("new.plan.json").write_bytes(dump(replace(steps(), title="Another title")))
    change = ["resume", "begun", "--plan", "new.plan.json"]
    capfd.readouterr()
    assert run([*change, "--scenario", "whole.yaml"]) == 2
    assert "'new.plan.json' is refused: it has no signature" in capfd.readouterr().err
    assert run(["sign", "new.plan.json", "--key", "key"]) == 0
    assert run(change) == 2  # changed, and stopped where nobody answers
    for each in ("new.plan.json", "new.plan.json.dsse.json", "p.plan.json.dsse.json"):
        Path(each).unlink()
    assert run(["resume", "begun", "--scenario", "whole.yaml"]) == 0
    assert "continues with" not in capfd.readouterr().err


def test_a_policy_without_keys_is_told(capfd: Shown) -> None:
    Path("stagec.toml").write_text("[run]\nrequire-signature = true\n")
    assert run(["sign", "p.plan.json", "--key", "key"]) == 0
    capfd.readouterr()
    assert start() == 2
    assert "'run.trusted-keys' names no file" in capfd.readouterr().err


def test_without_a_policy_an_unsigned_plan_runs_and_its_journal_keeps_no_signature() -> None:
    Path("stagec.toml").write_text('[run]\ntrusted-keys = ["keys/signers"]\n')
    assert run(["sign", "p.plan.json", "--key", "key"]) == 0
    assert start() == 0
    assert b"payloadType" not in Path(".stagec/runs/one.run").read_bytes()


class TestSources:
    """`--against` puts findings and revision into the statement, and signs nothing else than what was compiled."""

    @pytest.fixture(autouse=True)
    def project(self) -> None:
        assert run(["init", "demo"]) == 0
        assert run(["compile", "demo", "-o", "d.plan.json"]) == 0

    def commit(self) -> str:
        identity = ["-c", "user.name=x", "-c", "user.email=x@example.org"]
        for command in (["init", "-q"], ["add", "demo"], [*identity, "commit", "-qm", "x"]):
            subprocess.run(["git", *command], check=True, capture_output=True)
        return subprocess.run(["git", "rev-parse", "HEAD"], check=True, capture_output=True, text=True).stdout.strip()

    @pytest.mark.needs("git")
    def test_findings_and_the_commit_are_written(self) -> None:
        commit = self.commit()
        assert run(["sign", "d.plan.json", "--key", "key", "--against", "demo"]) == 0
        predicate = read_predicate("d.plan.json.dsse.json")
        assert predicate["revision"] == {"git": commit}
        assert set(predicate["findings"]) == {"errors", "warnings", "notes"}
        assert set(predicate["sources"]) >= {"pipeline.yaml"}

    @pytest.mark.needs("git")
    def test_a_commit_without_the_sources_is_not_named(self) -> None:
        self.commit()
        stage = next(Path("demo/stages").iterdir())
        stage.write_text(f"{stage.read_text()}\nBe brief.\n")
        assert run(["compile", "demo", "-o", "d.plan.json"]) == 0
        assert run(["sign", "d.plan.json", "--key", "key", "--against", "demo"]) == 0
        assert "revision" not in read_predicate("d.plan.json.dsse.json")

    def test_a_plan_that_is_stale_is_not_signed(self, capfd: Shown) -> None:
        stage = next(Path("demo/stages").iterdir())
        stage.write_text(f"{stage.read_text()}\nBe brief.\n")
        assert run(["sign", "d.plan.json", "--key", "key", "--against", "demo"]) == 1
        assert "differs from the sources" in capfd.readouterr().out
        assert not Path("d.plan.json.dsse.json").exists()


class TestPasswords:
    @pytest.fixture(autouse=True)
    def locked(self) -> None:
        data = KEY.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, BestAvailableEncryption(b"secret"))
        Path("locked").write_bytes(data)

    def test_the_environment_gives_it(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("STAGEC_KEY_PASSWORD", "secret")
        assert run(["sign", "p.plan.json", "--key", "locked"]) == 0

    @pytest.mark.parametrize("given", [None, "wrong"])
    def test_without_the_right_one_nothing_is_signed(
        self, given: str | None, monkeypatch: pytest.MonkeyPatch, capfd: Shown
    ) -> None:
        if given is not None:
            monkeypatch.setenv("STAGEC_KEY_PASSWORD", given)
        assert run(["sign", "p.plan.json", "--key", "locked"]) == 2
        assert "STAGEC_KEY_PASSWORD" in capfd.readouterr().err
        assert not Path("p.plan.json.dsse.json").exists()


@pytest.mark.parametrize(
    ("line", "why"),
    [
        (["sign", "p.plan.json"], "--key"),
        (["sign", "p.plan.json", "--key", "keys/key.pub"], "holds no private key"),
        (["sign", "p.plan.json", "--key", "gone"], "gone"),
        (["sign", "p.plan.json", "--key", "key", "--root", "keys"], "--root needs --against"),
        (["verify", "p.plan.json", "--key", "key"], "holds a private key: only the public one is needed"),
        (["verify", "p.plan.json", "--signature", "x"], "--signature is for one plan"),
        (["verify", "p.plan.json", "p.plan.json", "--key", "keys/key.pub", "--signature", "x"], "is for one plan"),
    ],
)
def test_a_wrong_command_line_is_told(line: list[str], why: str, capfd: Shown) -> None:
    assert run(line) == 2
    assert why in capfd.readouterr().err


def test_a_damaged_plan_is_not_signed(capfd: Shown) -> None:
    Path("p.plan.json").write_bytes(Path("p.plan.json").read_bytes().replace(b"draft", b"trafd", 1))
    assert run(["sign", "p.plan.json", "--key", "key"]) == 1
    assert "refused: it was changed" in capfd.readouterr().out


def test_a_link_is_not_followed_where_the_signature_is_written(tmp_path: Path) -> None:
    Path("precious").write_text("kept")
    Path("p.plan.json.dsse.json").symlink_to("precious")
    run(["sign", "p.plan.json", "--key", "key"])
    assert Path("precious").read_text() == "kept"
