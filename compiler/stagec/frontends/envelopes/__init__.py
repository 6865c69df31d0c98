"""Stage plans: envelopes of the stage protocol, in one document or in the files of a folder."""

from __future__ import annotations

from stagec.frontends import Flow, FrontEnd
from stagec.frontends.envelopes.document import StagePlan
from stagec.frontends.envelopes.read import read
from stagec.frontends.envelopes.recognise import considers, recognises, sees


def _claims(_file: str) -> bool:
    return False


def _lower(_document: StagePlan) -> Flow | None:
    return None


FRONTEND = FrontEnd("envelopes", _claims, recognises, read, _lower, sees, considers=considers)
