"""STG31xx: agent files of other tools: what the tool that owns a file cannot read, drops, or understands otherwise."""

from stagec.core.rule import Family
from stagec.frontends.agent_files.document import AgentFiles

FAMILY = Family(__name__, (range(3100, 3200),), AgentFiles)
rule = FAMILY.rule
