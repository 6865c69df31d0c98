"""One attempt of a stage, from its inputs to what it has left: what `Execute` asks for."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence

from stagec.core.json import Json
from stagec.core.secrets import Redactor
from stagec.core.value import NOTHING, value
from stagec.core.words import listing, quote
from stagec.protocol.emission import Status, format_stage_begin, format_stage_end
from stagec.runtime.exchange import Execute
from stagec.world.program_log import RunLog
from stagec.world.stages.run_folder import ATTEMPTS, RunFolder, name_attempt
from stagec.world.stages.stage_files import (
    InputTroubleError,
    Published,
    StageInputs,
    collect_outputs,
    explain,
    find_changed,
    find_inputs,
    prepare_attempt,
)
from stagec.world.stages.stage_process import ProcessEnd, StageProcess, describe_stage
from stagec.world.supervisor_link import Job

_LONGEST = 300
"""Characters of the last line of an error output that the journal keeps."""
Tell = Callable[[str, str], None]
"""Is told of a stage, by its id, what happens to it and changes nothing."""


@value
class Surroundings:
    """What the processes of stages start with: a folder, variables, and an open file that all of them hold.

    `executor` are the words of a stage that has none.
    """

    folder: str
    variables: Mapping[str, str] = NOTHING
    held: int | None = None
    executor: tuple[str, ...] = ()


class StageRun:
    """One attempt of a stage in a directory of its own."""

    def __init__(self, effect: Execute, run: RunFolder, log: RunLog, tell: Tell, published: Published) -> None:
        self._effect, self._run, self._log, self._tell = effect, run, log, tell
        self._published = published
        self._attempt = name_attempt(effect.key)
        self._path = os.path.join(run.path, ATTEMPTS, self._attempt)

    def execute(self, process: StageProcess, around: Surroundings, redactor: Redactor) -> Mapping[str, Json]:
        """Run the process, and return what has come of it."""
        effect = self._effect
        try:
            inputs = find_inputs(effect.inputs, self._run, self._published)
            with self._run.enter(ATTEMPTS, make=True) as attempts:
                prepare_attempt(attempts, self._attempt, effect.outputs.values())
        except InputTroubleError as error:
            return self._refuse(str(error))
        except OSError as error:
            return self._refuse(f"its attempt directory cannot be made: {explain(error)}")
        self._log.write(format_stage_begin(effect.node) + "\n")
        end = process.run(self._describe_job(inputs, around), self._log, redactor)
        return self._judge(end, inputs)

    def _describe_job(self, inputs: StageInputs, around: Surroundings) -> Job:
        effect = self._effect
        places = {
            "ATTEMPT_DIR": self._path,
            "INPUTS": inputs.places,
            "OUTPUTS": {name: os.path.join(self._path, path) for name, path in effect.outputs.items()},
        }
        told = describe_stage(effect.key, effect.node, self._run.run, places)
        return Job(effect.words or around.executor, {**around.variables, **told}, around.folder, around.held)

    def _judge(self, end: ProcessEnd, inputs: StageInputs) -> Mapping[str, Json]:
        """Look at what the process has left, once nothing of it runs any more."""
        effect = self._effect
        try:
            with self._run.enter(f"{ATTEMPTS}/{self._attempt}") as attempt:
                outputs, faults = collect_outputs(attempt, effect.outputs)
        except OSError as error:
            outputs, faults = {}, dict.fromkeys(effect.outputs, explain(error))
        changed = find_changed(effect.inputs, inputs, self._run)
        status = _choose_status(end, is_whole=not faults and not changed)
        said = end.last.strip()[:_LONGEST]
        if end.status != status:
            self._log.write(format_stage_end(effect.node, status, end.seconds) + "\n")
        for each in _explain(end, faults, changed):
            self._tell(effect.node, each)
        if self._log.trouble is not None:
            self._tell(effect.node, f"the log lacks some of its output: {explain(self._log.trouble)}")
        return {
            "exit": end.exit,
            "interrupted": end.interrupted,
            "status": end.status,
            "missing": sorted(faults),
            "changed": sorted(changed),
            "outputs": outputs,
            "error": end.error,
            "seconds": round(end.seconds, 3),
            **({"said": said} if status == "failed" and said else {}),
        }

    def _refuse(self, sentence: str) -> Mapping[str, Json]:
        """Return the answer for a process that never started."""
        end = ProcessEnd(None, None, None, (), 0.0, sentence)
        self._log.write(format_stage_begin(self._effect.node) + "\n")
        return self._judge(end, StageInputs({}, {}))


def _choose_status(end: ProcessEnd, *, is_whole: bool) -> Status:
    """Return what stagec itself says of the end of a stage; markers are evidence against success, never for it."""
    if end.interrupted is not None:
        return "interrupted"
    is_success = end.exit == 0 and end.error is None and is_whole and end.status in {None, "success"}
    return "success" if is_success else "failed"


def _explain(end: ProcessEnd, faults: Mapping[str, str], changed: Sequence[str]) -> list[str]:
    """Return what is to be told of an end besides its outcome."""
    told = [] if end.error is None else [end.error]
    if end.error is None and end.interrupted is None and end.exit == 0:
        told += [f"the output {quote(name)} is none: {words}" for name, words in sorted(faults.items())]
    told += [f"the input {quote(name)} has changed while the stage ran" for name in sorted(changed)]
    if end.others:
        told.append(f"prints markers of {listing(end.others)}, which say nothing about it")
    return told
