"""The first stage: STAGEC_OUTPUTS has the paths of its files by name, as JSON."""

import json
import os
from pathlib import Path

outputs = json.loads(os.environ["STAGEC_OUTPUTS"])

numbers = [number * number % 17 for number in range(1, 11)]
Path(outputs["numbers"]).write_text(json.dumps(numbers), encoding="utf-8")
