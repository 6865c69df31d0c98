"""STG4xx: stage plans: envelopes, ids of stages, dependencies, inputs and outputs, durations, and what runs leave."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from stagec.core.place import Place, spell_path
from stagec.core.rule import Family, Finding, Related
from stagec.core.words import listing, quote, with_article
from stagec.languages.envelopes.document import StageInput, StagePlan
from stagec.sources.tree import Fault

if TYPE_CHECKING:  # most projects have no stage plan
    from stagec.languages.envelopes.inputs import OwnRead

FAMILY = Family(__name__, (range(400, 500),), StagePlan)
rule = FAMILY.rule

_LIMITS = {"minimum": "at least 1", "minLength": "at least one character long", "minItems": "at least one text long"}


def name_owner(plan: StagePlan, at: Place) -> str:
    """Return the name of the part of a plan around a place for people: `stage 'S01_load_data'`."""
    envelope = plan.find_envelope(at)
    if envelope is None:
        return "the plan"
    return "the envelope" if envelope.id is None else f"stage {quote(envelope.id)}"


def report_missing(plan: StagePlan, topic: str, default: str = "") -> Iterator[Finding]:
    """Say of every envelope that lacks a member which one it is."""
    return (report_absence(plan, fault, default) for fault in plan.list_faults(topic))


def report_absence(plan: StagePlan, fault: Fault, default: str = "") -> Finding:
    """Name the probable misspelling of a missing member, and the default."""
    (name,), misspelt = list_names(fault.facts["missing"]), list_names(fault.facts["misspelt"])
    doubt = f"; is it {listing(misspelt, 'or')}, misspelt?" if misspelt else ""
    effect = f": {default}" if default else ""
    related = tuple(Related(at, "written here") for at, _ in fault.related)
    return Finding(fault.at, f"{name_owner(plan, fault.at)} has no {quote(name)}{effect}{doubt}", related)


def describe_type(plan: StagePlan, fault: Fault) -> str:
    """Return the expected type of a member and the value found."""
    subject = f"{quote(_name_member(plan, fault.at))} of {name_owner(plan, fault.at)}"
    if fault.reason in _LIMITS:
        return f"{subject} must be {_LIMITS[fault.reason]}"
    wanted = " or ".join(map(with_article, list_names(fault.facts["allowed"])))
    return f"{subject} must be {wanted}, found {describe_found(fault)}"


def describe_found(fault: Fault) -> str:
    """Return the value at the place of a fault: a text or a number as it is, of anything else its kind."""
    got, kind = fault.facts["got"], str(fault.facts["kind"])
    if isinstance(got, str):
        return f"the text {quote(got)}"
    return with_article(kind) if got is None else str(got).lower()


def list_names(given: object) -> tuple[str, ...]:
    """Return the names in a fact."""
    return tuple(str(each) for each in given) if isinstance(given, tuple) else ()


def _name_member(plan: StagePlan, at: Place) -> str:
    """Return the way to a member from what it belongs to."""
    envelope = plan.find_envelope(at)
    start = len(envelope.at.pointer) if envelope is not None else 0
    return spell_path(at.pointer[start:])


def relate_writer(read: OwnRead) -> tuple[Related, ...]:
    """Return the place where the stage declares this output."""
    if read.output is None:
        return (Related(read.writer.id_at, "this stage has the folder"),)
    return (Related(read.writer.place_output(read.output), "written here"),)


def suggest_input(read: OwnRead) -> str:
    """Return how the input is written as what another stage makes."""
    if read.output is None:
        return ""
    return f"; write {quote(f'{read.writer.name}/{read.writer.outputs[read.output]}')} to make it wait"


def describe_makers(given: StageInput) -> str:
    """Return the stages that make a file that an input names although the stage does not wait for them."""
    stages = given.candidates
    if not stages:
        return ""
    if len(stages) == 1:
        return f"; stage {listing(stages)} makes such a file, but is not a dependency"
    more = " and more" if len(stages) > _SHOWN else ""
    return f"; stages {listing(stages[:_SHOWN])}{more} make such a file, but are not dependencies"


_SHOWN = 8
