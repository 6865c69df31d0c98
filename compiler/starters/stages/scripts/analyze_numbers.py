"""The second stage: STAGEC_INPUTS has the path of what the first one has published."""

import json
import os
from pathlib import Path

inputs = json.loads(os.environ["STAGEC_INPUTS"])
outputs = json.loads(os.environ["STAGEC_OUTPUTS"])

numbers = json.loads(Path(inputs["numbers"]).read_text(encoding="utf-8"))
summary = {"smallest": min(numbers), "largest": max(numbers), "mean": sum(numbers) / len(numbers)}
Path(outputs["summary"]).write_text(json.dumps(summary, indent=2), encoding="utf-8")
