"""STG95x: what climpt makes of an orchestrator file, and other runners may not; silent until selected."""

from stagec.core.rule import Family
from stagec.frontends.orchestrator.document import Workflow

FAMILY = Family(__name__, (range(950, 1000),), Workflow, optional=True)
rule = FAMILY.rule
