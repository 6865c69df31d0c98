"""The processor time of the driver for an answer, against that of the library that asks the model for it."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from statistics import median
from unittest.mock import patch

from benchmarks._fans import Slow, fan, run_fan
from stagec.core.failure import Failure
from stagec.runtime.world.models.port import ModelMessage, ModelRequest
from stagec.runtime.world.models.pydantic_provider import PydanticProvider
from stagec_dev.checkout import ROOT
from stagec_dev.cost import Benchmark, NoBaselineError

_SERVER = """
import sys
from world.models.wire import Said, serve

with serve(Said("Done.")) as wire:
    print(wire.url, flush=True)
    sys.stdin.read()
"""
_ANSWERS = 100


@contextmanager
def _serve() -> Iterator[str]:
    """Serve a model in a process of its own, which pays for what the server does."""
    environment = {**os.environ, "PYTHONPATH": f"{ROOT / 'compiler'}{os.pathsep}{ROOT / 'tests'}"}
    argv = (sys.executable, "-c", _SERVER)
    with subprocess.Popen(argv, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:
        yield next(iter(server.stdout or ())).strip()
        server.communicate()


def _ask() -> float:
    """Return the processor time of a request by the library, once it has loaded what it needs."""
    request = ModelRequest("openai:gpt-5.4", (ModelMessage("user", "Work."),))
    with _serve() as url, patch.dict(os.environ, OPENAI_BASE_URL=f"{url}/v1", OPENAI_API_KEY="none"):
        try:
            provider = PydanticProvider()
        except Failure as error:
            raise NoBaselineError(str(error)) from error
        with closing(provider):
            provider.request("first", request)
            used = time.process_time()
            for number in range(_ANSWERS):
                provider.request(str(number), request)
            return (time.process_time() - used) / _ANSWERS


def _measure(folder: Path) -> tuple[float, float]:
    data = fan(20, 20)
    return median(run_fan(folder, data, Slow(0.1)).processor for _ in range(5)), _ask()


ANSWER_EFFORT_BENCHMARK = Benchmark(
    "the driver's processor time for an answer of 20 parallel stages",
    "the library that asks the model",
    _measure,
    wish=0.5,
)
