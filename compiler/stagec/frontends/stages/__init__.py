"""Stage definitions and pipelines: Markdown files with frontmatter, and what joins them."""

from stagec.frontends import FrontEnd
from stagec.frontends.stages.lower import lower
from stagec.frontends.stages.read import read
from stagec.frontends.stages.recognise import claims, recognises, sees

FRONTEND = FrontEnd("stages", claims, recognises, read, lower, sees)
