"""The files of the page about deployments are whole: their commands exist, with these options, and fit together."""

from __future__ import annotations

import configparser
import re
import shlex
import subprocess
import tomllib
from pathlib import Path

import click
import pytest
import yaml
from packaging.requirements import Requirement
from pages import check_command

TOP = Path(__file__).parents[2]
PAGE = (TOP / "docs/deploy.md").read_text(encoding="utf-8")
WORD = re.compile(r"\bstagec ((?:database (?:migrate|check|limit|prune)|worker|submit|runs list)[^`\n]*)")


def read_block(kind: str) -> str:
    (found,) = re.findall(rf"^```{kind}\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)
    assert isinstance(found, str)
    return found


COMPOSE = yaml.safe_load(read_block("yaml"))
UNIT = configparser.ConfigParser(strict=False, interpolation=None)
UNIT.optionxform = str
UNIT.read_string(read_block("systemd"))


@pytest.mark.parametrize("command", [each for each in WORD.findall(PAGE) if "--" in each or "database" in each])
def test_every_command_of_the_page_is_taken(command: str) -> None:
    check_command(shlex.split(command.replace("%i", "1")))


def test_a_command_that_is_none_is_found() -> None:
    with pytest.raises(click.UsageError):
        check_command(["worker", "--graces", "3"])


def test_the_services_of_compose_fit_together() -> None:
    services = COMPOSE["services"]
    for name, service in services.items():
        for other, condition in service.get("depends_on", {}).items():
            assert other in services, name
            assert ("healthcheck" in services[other]) == (condition["condition"] == "service_healthy")
        for secret in service.get("secrets", []):
            assert secret in COMPOSE["secrets"]
        for volume in service.get("volumes", []):
            assert volume.partition(":")[0] in COMPOSE["volumes"]
    words = shlex.split(services["worker"]["command"])[1:]
    context = check_command(words)
    assert int(services["worker"]["stop_grace_period"].removesuffix("s")) > context.params["grace"]
    assert services["worker"]["stop_signal"] == "SIGTERM"
    health = " ".join(services["worker"]["healthcheck"]["test"])
    assert f":{context.params['listen'].rpartition(':')[2]}/health" in health
    assert services["worker"]["environment"]["STAGEC_DATABASE"] == services["migrate"]["environment"]["STAGEC_DATABASE"]
    assert "PASSWORD=" not in read_block("yaml")


def test_the_unit_of_systemd_ends_workers_in_order() -> None:
    service = UNIT["Service"]
    words = shlex.split(service["ExecStart"].replace("%i", "1"))
    context = check_command(words[words.index("stagec") + 1 :])
    assert float(service["TimeoutStopSec"]) > context.params["grace"]
    assert (service["KillSignal"], service["KillMode"]) == ("SIGTERM", "mixed")
    assert service["WorkingDirectory"] in service["ReadWritePaths"]


@pytest.mark.needs("systemd-analyze")
def test_systemd_takes_the_unit(tmp_path: Path) -> None:
    assert UNIT.sections() == ["Unit", "Service", "Install"]
    unit = tmp_path / "stagec-worker@1.service"
    own = {"User=stagec\n": "", "EnvironmentFile=/etc/stagec/worker.env\n": "", "/srv/stagec": str(tmp_path)}
    text = read_block("systemd")
    for old, new in own.items():
        assert old in text
        text = text.replace(old, new)
    unit.write_text(text, encoding="utf-8")
    said = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", str(unit)], capture_output=True, text=True, check=False
    )
    assert said.stderr == ""
    assert said.returncode == 0


def find_copied(path: str) -> str:
    """Return the folder that the image has for a part of the wheel: whole, but of the tests only the vectors."""
    return "/".join(path.split("/")[: 2 if path.startswith("tests/") else 1])


def test_the_image_copies_what_a_build_needs_and_installs_extras_that_exist() -> None:
    lines = [shlex.split(each) for each in read_block("dockerfile").splitlines()]
    copied = {each for words in lines if words[0] == "COPY" for each in words[1:-1]}
    assert all(words[-1] in {"./", *words[1:-1]} for words in lines if words[0] == "COPY")
    project = tomllib.loads((TOP / "pyproject.toml").read_text(encoding="utf-8"))
    built = project["tool"]["hatch"]["build"]["targets"]["wheel"]["only-include"]
    metadata = (project["project"]["readme"], *project["project"]["license-files"])
    assert {"pyproject.toml", *metadata, *(find_copied(each) for each in built)} == copied
    (installed,) = [words[-1] for words in lines if words[:3] == ["RUN", "pip", "install"]]
    extras = Requirement(f"stagec{installed.removeprefix('.')}").extras
    assert {"dbos", "models"} == extras <= project["project"]["optional-dependencies"].keys()
    assert all((TOP / each).exists() for each in copied)
