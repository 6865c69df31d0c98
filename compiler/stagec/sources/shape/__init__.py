"""Whether documents have the shape they should: ours by published schemas, users' schemas by their dialect."""

from stagec.sources.shape.document import judge, judge_numbers
from stagec.sources.shape.instance import judge_by
from stagec.sources.shape.schema import judge_member, judge_patterns, judge_schema

__all__ = ["judge", "judge_by", "judge_member", "judge_numbers", "judge_patterns", "judge_schema"]
