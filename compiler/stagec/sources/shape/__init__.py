"""Whether documents have the shape they should: ours by published schemas, users' schemas by their dialect."""

from stagec.sources.shape.document import judge
from stagec.sources.shape.schema import judge_schema

__all__ = ["judge", "judge_schema"]
