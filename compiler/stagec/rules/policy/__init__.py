"""STG9xx: opinions, and what other runners make of a registry; silent until selected."""

from stagec.core.rule import Family
from stagec.frontends.registry.document import Registry

FAMILY = Family(__name__, (range(900, 950),), Registry, optional=True)
rule = FAMILY.rule
