"""Step registries: `steps_registry.json` with its agent definition, output schemas and prompts."""

from stagec.frontends import FrontEnd
from stagec.frontends.registry.files import claims, recognises
from stagec.frontends.registry.lower import lower
from stagec.frontends.registry.read import read

FRONTEND = FrontEnd("registry", claims, recognises, read, lower)
