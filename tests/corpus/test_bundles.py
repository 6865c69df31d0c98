"""The corpus: every answer's schema is written as one text that stands by itself."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NoReturn

import jsonschema
import jsonschema_rs
import pytest

from stagec.core.budgets import Budgets
from stagec.languages.registry import FRONTEND
from stagec.sources.contract.bundle import bundle
from stagec.sources.contract.schemas import Schema, Schemas
from stagec.sources.read import Sources

REGISTRY = "steps_registry.json"


def agents() -> list[Path]:
    """Return the folders of the agents."""
    if "STAGEC_CORPUS" not in os.environ:
        return []
    return sorted(file.parent for file in Path(os.environ["STAGEC_CORPUS"], "agents").rglob(REGISTRY))


def bundles(agent: Path) -> Iterator[tuple[str, str]]:
    """Yield the id and the bundled schema of every step whose answer has one."""
    sources = Sources(agent, Budgets())
    schemas = Schemas(sources)
    for registry in FRONTEND.read(sources, (REGISTRY,)):
        for step in registry.steps.values():
            if step.output is not None and isinstance(step.output.found, Schema):
                yield step.id, bundle(schemas, step.output.found)


def references(given: Any) -> Iterator[str]:
    if isinstance(given, dict):
        yield from (each for key, each in given.items() if key == "$ref" and isinstance(each, str))
        given = list(given.values())
    for each in given if isinstance(given, list) else ():
        yield from references(each)


def refuse(uri: str) -> NoReturn:
    raise AssertionError(f"{uri} is outside")


@pytest.mark.parametrize("agent", agents(), ids=lambda agent: agent.name)
def test_every_answer_of_a_real_agent_has_a_schema_that_stands_by_itself(agent: Path) -> None:
    for step, text in bundles(agent):
        schema = json.loads(text)
        assert [each for each in references(schema) if not each.startswith("#")] == [], step
        jsonschema.validators.validator_for(schema).check_schema(schema)
        jsonschema_rs.validator_for(schema, retriever=refuse)


@pytest.mark.skipif("STAGEC_CORPUS" not in os.environ, reason="STAGEC_CORPUS is not set")
def test_the_agents_have_many_such_schemas() -> None:
    assert sum(len(list(bundles(agent))) for agent in agents()) > 150
