"""STG9xx: opinions, and what other runners make of a registry; silent until selected."""

from stagec.core.diagnostic import Severity
from stagec.core.edit import Change, Edit, Fix
from stagec.core.rule import Family, Finding, Related
from stagec.core.words import quote
from stagec.frontends.registry.document import Registry

__all__ = ["Change", "Edit", "Finding", "Fix", "Registry", "Related", "Severity", "quote", "rule"]

FAMILY = Family(__name__, 900, Registry, optional=True)
rule = FAMILY.rule
