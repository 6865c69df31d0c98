"""Tool catalogues: `tools.yaml` with `.mcp.json` and `tools.lock.json`."""

from stagec.frontends import FrontEnd
from stagec.frontends.tools.read import claims, lower, read, recognises, sees

FRONTEND = FrontEnd("tools", claims, recognises, read, lower, sees)
